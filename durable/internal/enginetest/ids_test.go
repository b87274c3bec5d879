package enginetest

import (
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// asked commits a payment under an id, and reports whether it was stored now.
func (s *shop[TTx]) asked(w durable.NewWrite, params quickstream.TransactionParams) (payment durable.Payment, created bool, err error) {
	err = s.commit(func(tx TTx) (err error) {
		payment, created, err = s.engine.Pay(s.Context(), tx, w, params)
		return err
	})
	return payment, created, err
}

func TestSameIDInEveryState(t *testing.T) {
	everywhere(t, testSameIDInEveryState[*sql.Tx], testSameIDInEveryState[pgx.Tx])
}

// The same id with the same request gives the write as it stands, in any state and for ever, also
// after it was emptied. Nothing is sent.
func testSameIDInEveryState[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	onFile := s.stored()
	paid := s.settled(s.pay("void", onFile))
	require.NoError(t, s.engine.Stop(t.Context()))
	made := map[string]string{}
	for state, set := range map[string]string{
		queued: "state = 'queued'", sending: "state = 'sending'", resolving: isResolving, approved: "state = 'settled', outcome = 'approved'",
		declined: isDeclined, "rejected": "state = 'settled', outcome = 'rejected'", refused: isRefused, notSent: "state = 'not_sent'", notFound: isNotFound,
		escalated: isEscalated, doubleCharged: "state = 'double_charged'", voided: "state = 'settled', outcome = 'approved', reversal = 'voided'",
		returned: "state = 'settled', outcome = 'approved', reversal = 'returned'",
	} {
		_, created, err := s.asked(durable.NewWrite{ID: "attempt " + state, Order: state}, onFile)
		require.NoError(t, err)
		require.True(t, created)
		s.corrupt(set, "attempt "+state)
		made["attempt "+state] = state
	}
	emptied := "intent = '', lookups = '', reference = '', intent_id = '', claim = ''"
	for _, set := range []string{"problem = ''", emptied} {
		for id, state := range made {
			if set == emptied && (state == queued || state == sending) {
				continue // what is open is not emptied
			}
			s.corrupt(set, id)
			p, created, err := s.asked(durable.NewWrite{ID: id, Order: state}, onFile)
			require.NoError(t, err, state)
			assert.False(t, created, state)
			assert.Equal(t, id, p.ID)
			assert.Equal(t, state, p.Text())
		}
	}
	assert.Equal(t, 1, s.charged())
	assert.Equal(t, paid.ID, s.paymentOf("void").ID)
}

func TestIDReused(t *testing.T) { everywhere(t, testIDReused[*sql.Tx], testIDReused[pgx.Tx]) }

// The same id with another request is an error that names what differs, and stores nothing. A
// single-use token is another one with each form, and differs without being another request.
func testIDReused[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	onFile, w := s.stored(), durable.NewWrite{ID: "attempt", Order: "A"}
	_, _, err := s.asked(w, onFile)
	require.NoError(t, err)
	s.settled("attempt")
	for differs, change := range map[string]func(w *durable.NewWrite, p *quickstream.PayParams){
		"order":    func(w *durable.NewWrite, _ *quickstream.PayParams) { w.Order = "B" },
		"amount":   func(_ *durable.NewWrite, p *quickstream.PayParams) { p.PrincipalAmount = decimal.New(1235, -2) },
		"currency": func(_ *durable.NewWrite, p *quickstream.PayParams) { p.Currency = quickstream.CurrencyNZD },
		"business": func(_ *durable.NewWrite, p *quickstream.PayParams) { p.SupplierBusinessCode = "ANOTHER" },
		"source": func(_ *durable.NewWrite, p *quickstream.PayParams) {
			p.Source = quickstream.FromAccount("another", quickstream.AccountTypeCreditCard)
		},
	} {
		other, params := w, onFile
		change(&other, &params)
		_, created, err := s.asked(other, params)
		var reused *durable.IDReusedError
		require.ErrorAs(t, err, &reused, differs)
		require.ErrorIs(t, err, durable.ErrIDReused)
		assert.Equal(t, []string{differs}, reused.Differs)
		assert.Equal(t, approved, reused.Write.Common().Text())
		assert.False(t, created)
	}
	_, err = s.followUp(func(tx TTx, _ durable.NewWrite) (durable.FollowUp, bool, error) {
		return s.engine.Void(t.Context(), tx, durable.NewWrite{ID: "attempt"}, "attempt")
	})
	var reused *durable.IDReusedError
	require.ErrorAs(t, err, &reused)
	assert.Contains(t, reused.Differs, "operation")
	assert.Contains(t, reused.Differs, "follows")

	byToken := durable.NewWrite{ID: "by token", Order: "C"}
	for _, created := range []bool{true, false} {
		_, now, err := s.asked(byToken, s.card(sandbox.CardAttempted))
		require.NoError(t, err)
		assert.Equal(t, created, now)
		s.settled("by token")
	}
	assert.Equal(t, 2, s.charged())
}

func TestTokenUsed(t *testing.T) { everywhere(t, testTokenUsed[*sql.Tx], testTokenUsed[pgx.Tx]) }

// An old message that is handled again under a new id charges no customer by the token in it: neither
// after a decline that the customer saw, nor after a void. A token that was never sent is free.
func testTokenUsed[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	toVoid, toDecline, unsent := s.card(sandbox.CardAttempted), s.card("4111111111444496"), s.card(sandbox.CardAttempted)
	p := s.settled(s.pay("A", toVoid))
	id, err := s.tryVoid(p.ID)
	require.NoError(t, err)
	s.settled(id)
	assert.Equal(t, declined, s.settled(s.pay("B", toDecline)).Text())
	for order, params := range map[string]quickstream.PayParams{"A": toVoid, "B": toDecline, "C": toVoid} {
		_, _, err := s.asked(s.newWrite(order), params)
		var used *durable.TokenUsedError
		require.ErrorAs(t, err, &used, order)
		require.ErrorIs(t, err, durable.ErrTokenUsed)
		assert.NotEmpty(t, used.Write.Common().ReceiptNumber)
	}
	require.NoError(t, s.engine.Stop(t.Context()))
	first := s.pay("D", unsent)
	_, _, err = s.asked(s.newWrite("E"), unsent)
	require.ErrorIs(t, err, durable.ErrTokenUsed, "it waits to be sent")
	s.corrupt("state = 'not_sent', next_at = NULL, due_at = NULL", first)
	s.engine = s.start()
	assert.Equal(t, approved, s.settled(s.pay("E", unsent)).Text())
	assert.Equal(t, 1, s.charged())
}

func TestOtherBusiness(t *testing.T) {
	everywhere(t, testOtherBusiness[*sql.Tx], testOtherBusiness[pgx.Tx])
}

// An order number belongs to one business, whatever became of its payment: another business's order
// of that number is an error that names it, and is not taken for paid.
func testOtherBusiness[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.settled(s.pay("paid", s.card(sandbox.CardAttempted)))
	s.settled(s.pay("declined", s.card("4111111111444496")))
	for _, order := range []string{"paid", "declined"} {
		params := s.card(sandbox.CardAttempted)
		params.SupplierBusinessCode = "ANOTHER"
		_, _, err := s.asked(s.newWrite(order), params)
		require.ErrorIs(t, err, durable.ErrOtherBusiness, order)
		require.NotErrorIs(t, err, durable.ErrOrderOpen, order)
		assert.ErrorContains(t, err, sandbox.DefaultBusiness)
	}
	assert.Equal(t, 1, s.charged())
}

func TestConflictsAbortNothing(t *testing.T) {
	everywhere(t, testConflictsAbortNothing[*sql.Tx], testConflictsAbortNothing[pgx.Tx])
}

// A conflict never aborts the merchant's transaction: what it writes afterwards commits.
func testConflictsAbortNothing[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.put("CREATE TABLE note (text text)")
	params := s.card(sandbox.CardAttempted)
	p := s.settled(s.pay("A", params))
	other := params
	other.SupplierBusinessCode = "ANOTHER"
	amount := params
	amount.PrincipalAmount = decimal.New(1, 0)
	for i, conflict := range []struct {
		w      durable.NewWrite
		params quickstream.PayParams
		want   error
	}{
		{s.newWrite("A"), s.card(sandbox.CardAttempted), durable.ErrOrderOpen},
		{s.newWrite("B"), params, durable.ErrTokenUsed},
		{s.newWrite("A"), other, durable.ErrOtherBusiness},
		{durable.NewWrite{ID: p.ID, Order: "A"}, amount, durable.ErrIDReused},
	} {
		require.NoError(t, s.commit(func(tx TTx) error {
			_, _, err := s.engine.Pay(t.Context(), tx, conflict.w, conflict.params)
			require.ErrorIs(t, err, conflict.want)
			_, err = s.db.Join(tx).Exec(t.Context(), "INSERT INTO note (text) VALUES ($1)", err.Error())
			return err
		}))
		assert.Equal(t, i+1, s.count("SELECT count(*) FROM note"))
	}
	require.NoError(t, s.commit(func(tx TTx) error {
		_, _, err := s.engine.Refund(t.Context(), tx, s.newWrite("A"), p.ID, quickstream.RefundParams{PrincipalAmount: decimal.New(99, 0), Currency: quickstream.CurrencyAUD})
		require.ErrorIs(t, err, durable.ErrTooMuch)
		_, err = s.db.Join(tx).Exec(t.Context(), "INSERT INTO note (text) VALUES ($1)", err.Error())
		return err
	}))
	assert.Equal(t, 5, s.count("SELECT count(*) FROM note"))
	assert.Equal(t, 1, s.count("SELECT count(*) FROM quickstream.write"))
}

// Two tabs that pay one order at the same moment: one payment is stored, and neither transaction is
// aborted, nor what it wrote before.
func TestTwoTabs(t *testing.T) {
	t.Parallel()
	s := open(t, onServer(t, emptyDatabase(t)))
	s.put("CREATE TABLE note (text text)")
	for range 5 {
		w := s.newWrite("order " + s.newWrite("").ID)
		stored, ended := make(chan error, 1), make(chan error, 1)
		second := s.newWrite(w.Order)
		params := []quickstream.PayParams{s.card(sandbox.CardAttempted), s.card(sandbox.CardAttempted)}
		go func() {
			<-stored
			ended <- s.commit(func(tx pgx.Tx) error {
				_, _, err := s.engine.Pay(t.Context(), tx, second, params[1])
				if !errors.Is(err, durable.ErrOrderOpen) {
					return errors.Join(errors.New("it is stored, or aborted"), err)
				}
				_, err = tx.Exec(t.Context(), "INSERT INTO note (text) VALUES ('second')")
				return err
			})
		}()
		require.NoError(t, s.commit(func(tx pgx.Tx) error {
			_, _, err := s.engine.Pay(t.Context(), tx, w, params[0])
			stored <- nil
			require.Eventually(t, func() bool { // the other one waits for this commit
				return s.count("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
			}, 2*time.Minute, 10*time.Millisecond)
			return err
		}))
		require.NoError(t, <-ended)
	}
	assert.Equal(t, 5, s.count("SELECT count(*) FROM note"))
	assert.Equal(t, 5, s.count("SELECT count(*) FROM quickstream.write"))
}

func TestExtraMembersAreRefused(t *testing.T) {
	everywhere(t, testExtraMembersAreRefused[*sql.Tx], testExtraMembersAreRefused[pgx.Tx])
}

// A member that an intent does not hold would not be sent.
func testExtraMembersAreRefused[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	err := s.commit(func(tx TTx) error {
		_, _, err := s.engine.Pay(t.Context(), tx, durable.NewWrite{ID: "attempt", Order: "A"}, s.card(sandbox.CardAttempted), quickstream.WithExtraField("new", "a gift"))
		return err
	})
	require.ErrorContains(t, err, "cannot be stored")
	assert.Zero(t, s.charged())
}
