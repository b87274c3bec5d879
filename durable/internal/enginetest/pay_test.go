package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// TestPay: a payment is sent once after its commit, OnOutcome is notified once, and the same id returns it.
func TestPay(t *testing.T) { everywhere(t, testPay[*sql.Tx], testPay[pgx.Tx]) }

func testPay[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.card(sandbox.CardAttempted)
	w := s.pay("A", p)
	assert.Equal(t, durable.StateQueued, w.State)
	settled, err := s.Engine().Wait(t.Context(), "A")
	require.NoError(t, err)
	assert.Equal(t, "approved", settled.Name())
	assert.True(t, settled.Paid() && settled.Notified && !settled.MayPayAgain())
	assert.NotEmpty(t, settled.ReceiptNumber)
	assert.NotEmpty(t, settled.CardDigits)
	assert.Equal(t, []string{"approved"}, s.names("A"))
	again, err := s.tryPay(durable.NewWrite{ID: "A", Order: "A"}, s.card(sandbox.CardAttempted))
	require.NoError(t, err, "another token is the same request")
	assert.Equal(t, settled.ReceiptNumber, again.ReceiptNumber)
	paid, err := s.tryPay(durable.NewWrite{ID: "A/2", Order: "A"}, s.card(sandbox.CardAttempted))
	require.ErrorIs(t, err, durable.ErrOrderOpen)
	assert.Equal(t, "A", paid.ID, "the payment of the order")
	p.PrincipalAmount = p.PrincipalAmount.Add(p.PrincipalAmount)
	_, err = s.tryPay(durable.NewWrite{ID: "A", Order: "A"}, p)
	require.ErrorIs(t, err, durable.ErrIDReused)
	assert.Equal(t, 1, s.charged("A"))
	events, err := s.Engine().Events(t.Context(), "A")
	require.NoError(t, err)
	var kinds []durable.EventKind
	for _, e := range events {
		kinds = append(kinds, e.Kind)
	}
	assert.Equal(t, []durable.EventKind{durable.EventQueued, durable.EventClaimed, durable.EventAnswered}, kinds)
	s.Judge("A")
}

// TestSlowHook: an answer does not wait for long for OnOutcome, which is then called again.
func TestSlowHook(t *testing.T) { everywhere(t, testSlowHook[*sql.Tx], testSlowHook[pgx.Tx]) }

func testSlowHook[TTx any](t *testing.T, db store[TTx]) {
	var calls atomic.Int32
	s := open(t, db, func(o *durable.Options[TTx]) {
		reported := o.OnOutcome
		o.OnOutcome = func(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
			if calls.Add(1) == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return reported(ctx, tx, change)
		}
	})
	begun := time.Now()
	s.pay("A", s.card(sandbox.CardAttempted))
	s.Settled("A")
	assert.Less(t, time.Since(begun), 20*time.Second)
	assert.Equal(t, []string{"approved"}, s.names("A"))
	assert.EqualValues(t, 2, calls.Load())
	assert.Equal(t, 1, s.charged("A"))
	s.Judge("A")
}

// TestRolledBack: nothing of a transaction that fails is sent.
func TestRolledBack(t *testing.T) { everywhere(t, testRolledBack[*sql.Tx], testRolledBack[pgx.Tx]) }

func testRolledBack[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	failed := errors.New("the order cannot be stored")
	err := s.Tx(func(tx TTx) error {
		_, _, err := s.Engine().Pay(t.Context(), tx, durable.NewWrite{ID: "A", Order: "A"}, s.card(sandbox.CardAttempted))
		return errors.Join(err, failed)
	})
	require.ErrorIs(t, err, failed)
	_, err = s.Engine().Get(t.Context(), "A")
	require.ErrorIs(t, err, durable.ErrNoWrite)
	s.pay("B", s.card(sandbox.CardAttempted))
	s.Settled("B")
	s.Judge("B")
}

// TestDeclined: a declined payment frees its order, and another one can be made under a new id.
func TestDeclined(t *testing.T) { everywhere(t, testDeclined[*sql.Tx], testDeclined[pgx.Tx]) }

func testDeclined[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.pay("A", s.card("4111111111444496"))
	w := s.Settled("A")
	assert.Equal(t, "declined", w.Name())
	assert.True(t, w.MayPayAgain() && !w.Paid())
	_, err := s.tryPay(durable.NewWrite{ID: "A/2", Order: "A"}, s.card(sandbox.CardAttempted))
	require.NoError(t, err)
	assert.True(t, s.Settled("A/2").Paid())
	s.Judge("A")
}

// TestAnswers: the standing of a payment after each answer, and how often it is charged.
func TestAnswers(t *testing.T) { everywhere(t, testAnswers[*sql.Tx], testAnswers[pgx.Tx]) }

func testAnswers[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	tests := []struct {
		order   string
		kind    sandbox.FaultKind
		times   int
		want    string
		charged int
	}{
		{"lost", sandbox.ResetAfterCommit(), 1, "approved", 1},
		{"never made", sandbox.ResetBeforeCommit(), 1, "approved", 1}, // sent again within the call
		{"refused", sandbox.Status(422, sandbox.ServiceError), 1, "declined.refused", 0},
		{"unauthorised", sandbox.Status(401, sandbox.ServiceError), 1, "approved", 1},
		{"too many", sandbox.Status(429, sandbox.ServiceError), 1, "approved", 1},
		{"away", sandbox.Status(503, sandbox.ServiceError), 1, "not_sent.too_late", 0}, // its key is spent, and its token does not live until the next one
		{"no connection", sandbox.Unreachable(sandbox.ConnectionRefused), 3, "approved", 1},
		{"late", sandbox.CommitLate(5 * time.Minute), 1, "approved", 1},
		{"proxy's page", sandbox.Status(403, sandbox.HTML), 1, "needs_person.not_found", 0},
	}
	for _, test := range tests {
		s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: test.kind, Times: test.times})
		s.pay(test.order, s.card(sandbox.CardAttempted))
		assert.Equal(t, test.want, s.Settled(test.order).Name(), test.order+s.history(test.order))
		assert.Equal(t, test.charged, s.charged(test.order), test.order)
		s.Sandbox.ClearFaults()
		var nudges []string
		eventually(s.T, func() bool { return s.health().Paused.IsZero() || s.nudge(&nudges) }, test.order+": the pause has ended")
		for _, order := range nudges { // so that none meets the next fault
			s.Settled(order)
		}
	}
}

// nudge pays another order, by which a pause can end.
func (s *shop[TTx]) nudge(orders *[]string) bool {
	order := "nudge " + time.Now().Format(time.RFC3339Nano)
	*orders = append(*orders, order)
	s.pay(order, s.card(sandbox.CardAttempted))
	s.Advance(time.Minute)
	return false
}

// TestMetadata: metadata of an option is sent beside the engine's own, and replaces none of it.
func TestMetadata(t *testing.T) { everywhere(t, testMetadata[*sql.Tx], testMetadata[pgx.Tx]) }

func testMetadata[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.stored()
	p.Metadata = map[string]string{"colour": "red"}
	require.NoError(t, s.Tx(func(tx TTx) error {
		_, _, err := s.Engine().Pay(t.Context(), tx, durable.NewWrite{ID: "A", Order: "O"}, p, quickstream.WithMetadata(map[string]string{"campaign": "x", "quickstreamOrder": "other"}))
		return err
	}))
	paid, err := s.Client.Transactions.Get(t.Context(), s.Settled("A").ReceiptNumber)
	require.NoError(t, err)
	delete(paid.Metadata, "intentId")
	assert.Equal(t, map[string]string{"colour": "red", "campaign": "x", "quickstreamInstallation": "shop", "quickstreamOrder": "O", "quickstreamWrite": "A"}, paid.Metadata)
}

// TestHookHoldsNoPlace: while OnOutcome takes its time the next payment is sent, although only one call at a time is made.
func TestHookHoldsNoPlace(t *testing.T) {
	t.Parallel()
	second := make(chan struct{})
	first, waited := true, false
	s := open(t, onServer(t, emptyDatabase(t)), func(o *durable.Options[pgx.Tx]) {
		reported := o.OnOutcome
		o.Workers = 1
		o.OnOutcome = func(ctx context.Context, tx pgx.Tx, change durable.OutcomeChange) error {
			switch {
			case change.Write.ID == "B":
				close(second)
			case first:
				first = false
				select {
				case <-second:
					waited = true
				case <-time.After(3 * time.Second): // before a call counts as hanging
				}
			}
			return reported(ctx, tx, change)
		}
	})
	s.pay("A", s.card(sandbox.CardAttempted))
	eventually(s.T, func() bool { return s.charged("A") == 1 }, "it is paid")
	s.pay("B", s.card(sandbox.CardAttempted))
	s.Settled("A")
	assert.True(t, waited)
	s.Judge("A", "B")
}
