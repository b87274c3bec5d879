package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// notFound pays an order whose payment is never made, until a person has to decide.
func (s *shop[TTx]) notFound(order string) durable.Write {
	s.T.Helper()
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(502, sandbox.HTML), Times: 1})
	s.pay(order, s.card(sandbox.CardAttempted))
	return s.reaches(order, "needs_person.not_found")
}

// TestDecide: a decision needs the version that the person saw, and a look-up that succeeded in the last minute.
func TestDecide(t *testing.T) { everywhere(t, testDecide[*sql.Tx], testDecide[pgx.Tx]) }

func testDecide[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	w := s.notFound("A")
	decide := func(version int64) error {
		return s.Tx(func(tx TTx) error {
			return s.Engine().Decide(ctx, tx, "A", durable.Decision{Verdict: durable.VerdictNotSent, By: "Kim", Note: "support says so", Version: version})
		})
	}
	again := func(version int64) error {
		return s.Tx(func(tx TTx) error {
			_, _, err := s.Engine().PayAgain(ctx, tx, durable.NewWrite{ID: "A/2", Order: "A", Version: version, By: "Kim", Note: "support says so"}, "A", s.card(sandbox.CardAttempted))
			return err
		})
	}
	s.Advance(2 * time.Minute)
	for _, do := range []func(int64) error{decide, again} {
		require.ErrorIs(t, do(0), durable.ErrStale)
		require.ErrorIs(t, do(w.Version-1), durable.ErrStale)
		require.ErrorIs(t, do(s.get("A").Version), durable.ErrLookUpFirst)
	}
	s.inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(500, sandbox.ServiceError)})
	_, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
	require.NoError(t, err)
	for _, do := range []func(int64) error{decide, again} {
		require.ErrorIs(t, do(s.get("A").Version), durable.ErrLookUpFirst)
	}
	s.Sandbox.ClearFaults()
	seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
	require.NoError(t, err)
	require.Len(t, seen, 1)
	require.NoError(t, again(seen[0].Version))
	assert.True(t, s.Settled("A/2").Paid())
	assert.Equal(t, "A/2", s.get("A").ReplacedBy)
	events, err := s.Engine().EventsBy(ctx, "Kim")
	require.NoError(t, err)
	assert.Len(t, events, 3)
	s.Judge("A")
}

// TestDecideEarly: nothing is decided before look-ups must show what was sent.
func TestDecideEarly(t *testing.T) { everywhere(t, testDecideEarly[*sql.Tx], testDecideEarly[pgx.Tx]) }

func testDecideEarly[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db, func(o *durable.Options[TTx]) { o.LookupLag = 45 * time.Minute })
	ctx := t.Context()
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(502, sandbox.HTML), Times: 1})
	s.pay("A", s.stored())
	s.reaches("A", "unknown")
	decide := func() error {
		seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
		require.NoError(t, err)
		return s.Tx(func(tx TTx) error {
			return s.Engine().Decide(ctx, tx, "A", durable.Decision{Verdict: durable.VerdictNotSent, By: "Kim", Note: "it is not there", Version: seen[0].Version})
		})
	}
	s.Advance(30 * time.Minute)
	eventually(s.T, func() bool { // the engine looks it up too
		sending, early := errors.AsType[*durable.TooEarlyError](decide())
		return early && sending.Until.After(s.Now())
	}, "it is too early")
	s.Advance(16 * time.Minute)
	eventually(s.T, func() bool { return decide() == nil }, "it is decided")
}

// TestFoundAfterPayAgain: a payment can be replaced when it is not_found and not before. If it is found after all, both are
// charged, and the second one is double_charged.
func TestFoundAfterPayAgain(t *testing.T) {
	everywhere(t, testFoundAfterPayAgain[*sql.Tx], testFoundAfterPayAgain[pgx.Tx])
}

func testFoundAfterPayAgain[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.CommitLate(9 * 24 * time.Hour), Times: 1})
	s.pay("A", s.stored())
	again := func() error {
		for {
			seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
			require.NoError(t, err)
			p := s.card(sandbox.CardAttempted)
			err = s.Tx(func(tx TTx) error {
				_, _, err := s.Engine().PayAgain(ctx, tx, durable.NewWrite{ID: "A/2", Order: "A", Version: seen[0].Version, By: "Kim", Note: "it will not come"}, "A", p)
				return err
			})
			if !errors.Is(err, durable.ErrStale) { // the engine has looked it up too
				return err
			}
		}
	}
	eventually(s.T, func() bool { return s.get("A").State == durable.StateUnknown }, "its answer is lost")
	require.ErrorContains(t, again(), "may still be on its way")
	s.Advance(16 * time.Minute)
	require.ErrorContains(t, again(), "it is unknown")
	s.reaches("A", "needs_person.not_found")
	require.NoError(t, again())
	eventually(s.T, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return slices.ContainsFunc(s.changes, func(c durable.OutcomeChange) bool { return c.Write.ID == "A" && c.Write.MayPayAgain() })
	}, "OnOutcome is notified that it does not hold its order any more")
	assert.True(t, s.Settled("A/2").Paid())
	w := s.reaches("A", "needs_person.double_charged")
	assert.True(t, w.Paid() && !w.MayPayAgain())
	assert.Equal(t, 1, s.health().NeedPerson[durable.ReasonDoubleCharged])
	assert.Equal(t, 2, s.charged("A"))
}

// TestCancel: a queued write can be cancelled, and one that was sent cannot.
func TestCancel(t *testing.T) { everywhere(t, testCancel[*sql.Tx], testCancel[pgx.Tx]) }

func testCancel[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "a wrong price"))
	s.pay("A", s.card(sandbox.CardAttempted))
	require.Error(t, s.Engine().Cancel(ctx, "A", "", ""))
	require.NoError(t, s.Engine().Cancel(ctx, "A", "Kim", "a wrong price"))
	require.NoError(t, s.Engine().Cancel(ctx, "A", "Kim", "once more"))
	assert.Equal(t, "not_sent.cancelled", s.Settled("A").Name())
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "go on"))
	s.pay("B", s.card(sandbox.CardAttempted))
	s.Settled("B")
	require.ErrorIs(t, s.Engine().Cancel(ctx, "B", "Kim", "too late"), durable.ErrTooLate)
	require.ErrorIs(t, s.Engine().Cancel(ctx, "none", "Kim", "none"), durable.ErrNoWrite)
	assert.Equal(t, 0, s.charged("A"))
	s.Judge("A", "B")
}

// TestPause: until a person unpauses, no waiting or new payment is sent.
func TestPause(t *testing.T) { everywhere(t, testPause[*sql.Tx], testPause[pgx.Tx]) }

func testPause[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "a wrong price"))
	w := s.pay("A", s.card(sandbox.CardAttempted))
	s.Work(w)
	assert.Equal(t, "queued", s.get("A").Name())
	assert.Equal(t, "Kim", s.health().PausedBy)
	require.NoError(t, s.Engine().Ready(ctx))
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "go on"))
	settled, err := s.Engine().Wait(ctx, "A")
	require.NoError(t, err)
	assert.True(t, settled.Paid())
	assert.True(t, s.health().Paused.IsZero())
	_, err = s.tryPay(durable.NewWrite{ID: "B", Order: "B", By: "Lee", Note: "by telephone"}, s.stored())
	require.NoError(t, err)
	deeds, err := s.Engine().EventsBy(ctx, "Lee")
	require.NoError(t, err)
	require.Len(t, deeds, 1)
	assert.Equal(t, "B by telephone", deeds[0].WriteID+" "+deeds[0].Note)
}

// TestReadyAfterAPause: what has waited for a pause makes no process unready when the pause ends, unless it still waits.
func TestReadyAfterAPause(t *testing.T) {
	everywhere(t, testReadyAfterAPause[*sql.Tx], testReadyAfterAPause[pgx.Tx])
}

func testReadyAfterAPause[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "a wrong price"))
	s.pay("A", s.stored())
	require.NoError(t, s.Engine().Stop(ctx))
	s.Advance(10 * time.Minute)
	web, err := durable.New(ctx, db.Database, s.Client, durable.Options[TTx]{Installation: "shop", ServiceRetries: serviceRetries(), OnOutcome: s.reported})
	require.NoError(t, err)
	require.NoError(t, web.Unpause(ctx, "Kim", "go on"))
	require.NoError(t, web.Ready(ctx))
	s.Advance(6 * time.Minute)
	require.ErrorIs(t, web.Ready(ctx), durable.ErrNotReady, "no process sends it")
}

// TestHook: OnOutcome runs once. If it fails nothing of the outcome is lost, and it runs again; NotifyAgain calls it once more.
func TestHook(t *testing.T) { everywhere(t, testHook[*sql.Tx], testHook[pgx.Tx]) }

func testHook[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.refuses(errors.New("no such table: 4111111111111111"))
	s.pay("A", s.card(sandbox.CardAttempted))
	w, err := s.Engine().Wait(ctx, "A")
	require.NoError(t, err)
	assert.True(t, w.Paid() && !w.Notified)
	assert.Contains(t, w.Problem, "OnOutcome failed")
	assert.NotContains(t, w.Problem, "4111", "what a hook says is not stored")
	assert.Equal(t, 1, s.health().HookFailed)
	list, err := s.Engine().List(ctx, durable.Filter{Unnotified: true})
	require.NoError(t, err)
	assert.Len(t, list.Writes, 1)
	s.refuses(nil)
	s.Settled("A")
	assert.Equal(t, []string{"approved"}, s.names("A"))
	assert.Zero(t, s.health().HookFailed)
	require.NoError(t, s.Engine().NotifyAgain(ctx, "A", "Kim", "its table was lost"))
	assert.Equal(t, []string{"approved", "approved"}, s.names("A"))
	s.mu.Lock()
	assert.Equal(t, durable.Standing{}, s.changes[0].Before)
	assert.Equal(t, durable.Standing{State: durable.StateApproved}, s.changes[1].Before)
	s.mu.Unlock()
}

// TestPanickingHook: a panic is stored as its type and place.
func TestPanickingHook(t *testing.T) {
	t.Parallel()
	db := onFile(t, t.TempDir()+"/shop.db")
	failed := false
	s := open(t, db, func(o *durable.Options[*sql.Tx]) {
		reported := o.OnOutcome
		o.OnOutcome = func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
			if !failed {
				failed = true
				panic("4111111111111111")
			}
			return reported(ctx, tx, change)
		}
	})
	s.pay("A", s.card(sandbox.CardAttempted))
	s.reaches("A", "approved")
	s.Settled("A")
	assert.Equal(t, []string{"approved"}, s.names("A"))
}

// TestAltered: a write that was edited in the database is not sent, and needs a person.
func TestAltered(t *testing.T) { everywhere(t, testAltered[*sql.Tx], testAltered[pgx.Tx]) }

func testAltered[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "somebody edits"))
	s.pay("A", s.card(sandbox.CardAttempted))
	require.NoError(t, db.exec(ctx, "UPDATE quickstream.write SET intent = replace(intent, '12.34', '99999.00') WHERE id = 'A'"))
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "go on"))
	assert.Equal(t, "needs_person.altered", s.Settled("A").Name())
	assert.Empty(t, s.Sandbox.Ledger())
	seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
	require.NoError(t, err)
	assert.Equal(t, "needs_person.altered", seen[0].Name(), "a look-up does not say who has edited it")
	eventually(s.T, func() bool { // the engine looks it up too
		w := s.get("A")
		return s.Tx(func(tx TTx) error {
			return s.Engine().Decide(ctx, tx, "A", durable.Decision{Verdict: durable.VerdictNotSent, By: "Kim", Note: "it was a test", Version: w.Version})
		}) == nil
	}, "it is decided")
	assert.True(t, s.Settled("A").MayPayAgain())
}

// TestOtherAmountAfterPayAgain: a payment that was made again, and then appears with another amount, needs a person. Its order
// cannot be paid a third time until they have decided.
func TestOtherAmountAfterPayAgain(t *testing.T) {
	everywhere(t, testOtherAmountAfterPayAgain[*sql.Tx], testOtherAmountAfterPayAgain[pgx.Tx])
}

func testOtherAmountAfterPayAgain[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.Sandbox.NextTransaction(sandbox.Declined("51"))
	s.Sandbox.NextTransaction(sandbox.ApprovedInPart(500)) // of the first one, which comes later
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.CommitLate(9 * 24 * time.Hour), Times: 1})
	s.pay("A", s.stored())
	s.reaches("A", "needs_person.not_found")
	eventually(s.T, func() bool {
		seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
		require.NoError(t, err)
		return s.Tx(func(tx TTx) error {
			_, _, err := s.Engine().PayAgain(ctx, tx, durable.NewWrite{ID: "A/2", Order: "A", Version: seen[0].Version, By: "Kim", Note: "it will not come"}, "A", s.stored())
			return err
		}) == nil
	}, "it is made again")
	assert.True(t, s.Settled("A/2").MayPayAgain())
	assert.True(t, s.get("A").MayPayAgain())
	assert.Empty(t, s.health().NeedPerson)
	w := s.reaches("A", "needs_person.unresolved")
	assert.False(t, w.MayPayAgain())
	assert.Equal(t, map[durable.Reason]int{durable.ReasonUnresolved: 1}, s.health().NeedPerson)
	other, err := s.tryPay(durable.NewWrite{ID: "A/3", Order: "A"}, s.stored())
	require.ErrorIs(t, err, durable.ErrOrderOpen)
	assert.Equal(t, "A", other.ID)
	counts, err := s.Engine().PaymentOf(ctx, "A")
	require.NoError(t, err)
	assert.Equal(t, "A", counts.ID)
}

// TestDecidedByReceipt: an approval that a person has decided by the receipt of another transaction stays if the request itself
// was declined. If that was approved too, the order was charged twice.
func TestDecidedByReceipt(t *testing.T) {
	everywhere(t, testDecidedByReceipt[*sql.Tx], testDecidedByReceipt[pgx.Tx])
}

func testDecidedByReceipt[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	for order, test := range map[string]struct {
		outcome sandbox.Outcome
		times   int
		kind    sandbox.FaultKind
		want    []string
	}{
		"declined": {sandbox.Declined("51"), 3, sandbox.ResetAfterCommit(), []string{"approved"}},
		"approved": {sandbox.Approved(), 1, sandbox.CommitLate(5 * 24 * time.Hour), []string{"approved", "needs_person.double_charged"}},
	} {
		portal, err := s.Client.Transactions.Pay(ctx, s.stored())
		require.NoError(t, err)
		s.Sandbox.NextTransaction(test.outcome)
		s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: test.kind, Times: test.times})
		s.pay(order, s.stored())
		s.reaches(order, "unknown")
		s.Advance(16 * time.Minute) // no process can be sending it any more, and look-ups would show it
		eventually(s.T, func() bool {
			seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", order)
			require.NoError(t, err)
			return s.Tx(func(tx TTx) error {
				return s.Engine().Decide(ctx, tx, order, durable.Decision{Verdict: durable.VerdictApproved, ReceiptNumber: portal.ReceiptNumber, By: "Kim", Note: "paid in the portal", Version: seen[0].Version})
			}) == nil
		}, "it is decided")
		w := s.Until(order, func(w durable.Write) bool { return w.Due.IsZero() && w.Notified })
		assert.True(t, w.Paid())
		assert.Equal(t, portal.ReceiptNumber, w.ReceiptNumber)
		assert.Equal(t, test.want, s.names(order))
	}
}
