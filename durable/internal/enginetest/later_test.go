package enginetest

import (
	"context"
	"database/sql"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestNextKey: a payment that is refused for longer than a key is kept is sent under its next key, after the look-up lag,
// and charged once.
func TestNextKey(t *testing.T) { everywhere(t, testNextKey[*sql.Tx], testNextKey[pgx.Tx]) }

func testNextKey[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(401, sandbox.ServiceError), Times: 1})
	s.pay("A", s.stored())
	refused := s.Until("A", func(w durable.Write) bool { return w.Sends == 1 && w.State == durable.StateQueued })
	s.Advance(2 * time.Minute)
	w := s.Settled("A")
	assert.True(t, w.Paid())
	assert.Equal(t, 1, s.charged("A"))
	keys := map[string]time.Time{}
	for _, r := range s.Sandbox.Requests() {
		if r.Operation == "POST /transactions" {
			keys[r.IdempotencyKey] = r.Time
		}
	}
	assert.Len(t, keys, 2)
	assert.Greater(t, keys[s.Sandbox.Ledger()[0].IdempotencyKey].Sub(refused.Written), 15*time.Minute)
	s.Judge("A")
}

// TestCancelRefused: a payment that was refused so far is looked up before a person's cancellation ends it.
func TestCancelRefused(t *testing.T) {
	everywhere(t, testCancelRefused[*sql.Tx], testCancelRefused[pgx.Tx])
}

func testCancelRefused[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(503, sandbox.ServiceError)})
	s.pay("A", s.stored())
	s.Until("A", func(w durable.Write) bool { return w.Sends == 1 && w.State == durable.StateQueued })
	require.NoError(t, s.Engine().Cancel(t.Context(), "A", "Kim", "the customer has left"))
	s.Sandbox.ResetRequests()
	assert.Equal(t, "not_sent.cancelled", s.Settled("A").Name())
	assert.True(t, slices.ContainsFunc(s.Sandbox.Requests(), func(r sandbox.Request) bool { return r.Operation == "GET /transactions/for-reference-number" }))
	assert.Zero(t, s.charged("A"))
}

// TestVoidedElsewhere: a payment that is voided in the portal is voided here after a look-up.
func TestVoidedElsewhere(t *testing.T) {
	everywhere(t, testVoidedElsewhere[*sql.Tx], testVoidedElsewhere[pgx.Tx])
}

func testVoidedElsewhere[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.pay("A", s.stored())
	paid := s.Settled("A")
	_, err := s.Client.Transactions.Void(t.Context(), paid.ReceiptNumber)
	require.NoError(t, err)
	s.Advance(time.Minute)
	_, err = s.Engine().LookUp(t.Context(), "Kim", "the customer asks", "A")
	require.NoError(t, err)
	assert.Equal(t, "voided", s.Settled("A").Name())
	assert.Equal(t, []string{"approved", "voided"}, s.names("A"))
	_, err = s.Engine().LookUp(t.Context(), "Kim", "once more", "A")
	require.NoError(t, err)
	assert.Equal(t, "voided", s.get("A").Name())
	s.Judge("A")
}

// TestSuspended: a payment that fraud screening holds blocks its order until a person has decided in the portal.
func TestSuspended(t *testing.T) { everywhere(t, testSuspended[*sql.Tx], testSuspended[pgx.Tx]) }

func testSuspended[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for order, action := range map[string]sandbox.PortalAction{"approved": sandbox.CompleteTransaction, "declined": sandbox.CancelTransaction} {
		s.Sandbox.NextTransaction(sandbox.Suspended())
		s.pay(order, s.stored())
		w := s.reaches(order, "pending.suspended")
		_, err := s.tryPay(durable.NewWrite{ID: order + "/2", Order: order}, s.stored())
		require.ErrorIs(t, err, durable.ErrOrderOpen)
		require.NoError(t, s.Sandbox.Portal(w.ReceiptNumber, action))
		assert.Equal(t, order, s.Settled(order).Name())
	}
}

// TestReversedAfterLostAnswer: a person decides about a payment whose answers were lost, and that was found approved, and
// then voided.
func TestReversedAfterLostAnswer(t *testing.T) {
	everywhere(t, testReversedAfterLostAnswer[*sql.Tx], testReversedAfterLostAnswer[pgx.Tx])
}

func testReversedAfterLostAnswer[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.StatusAfterCommit(502, sandbox.HTML), Times: 3})
	s.pay("A", s.stored())
	w := s.Settled("A")
	require.True(t, w.Paid())
	s.inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.DelayAfterCommit(500 * time.Millisecond), Times: 1})
	before := make(chan error)
	go func() { // it shows the approval, and ends after the look-up that shows the void
		_, err := s.Engine().LookUp(t.Context(), "Kim", "before the void", "A")
		before <- err
	}()
	eventually(s.T, func() bool { return s.Sandbox.FaultCounts()["DelayAfterCommit"] > 0 }, "it is read")
	_, err := s.Client.Transactions.Void(t.Context(), w.ReceiptNumber) // as an acquirer may
	require.NoError(t, err)
	_, err = s.Engine().LookUp(t.Context(), "Lee", "after the void", "A")
	require.NoError(t, err)
	require.NoError(t, <-before)
	w = s.Until("A", func(w durable.Write) bool { return !w.Paid() && w.Notified })
	assert.Equal(t, "needs_person.reversed", w.Name())
	assert.False(t, w.MayPayAgain())
	assert.Equal(t, []string{"approved", "needs_person.reversed"}, s.names("A"))
	s.Advance(2 * time.Minute)                                                                  // no process can be sending it any more
	for _, verdict := range []durable.Verdict{durable.VerdictVoided, durable.VerdictApproved} { // whatever the person says, who has seen that
		eventually(s.T, func() bool {
			seen, err := s.Engine().LookUp(t.Context(), "Kim", "before I decide", "A")
			require.NoError(t, err)
			return s.Tx(func(tx TTx) error {
				return s.Engine().Decide(t.Context(), tx, "A", durable.Decision{Verdict: verdict, By: "Kim", Note: "support says so", Version: seen[0].Version})
			}) == nil
		}, "it is decided")
		s.Advance(25 * time.Hour)
		seen, err := s.Engine().LookUp(t.Context(), "Kim", "to see", "A")
		require.NoError(t, err)
		assert.Equal(t, string(verdict), seen[0].Name())
		s.edit("state = 'needs_person', reason = 'reversed'", "A") // for the other verdict
	}
}

// TestRefundBeforeSettlement: a refund waits until its payment is settled. One that the service never makes ends not_sent.
func TestRefundBeforeSettlement(t *testing.T) {
	everywhere(t, testRefundBeforeSettlement[*sql.Tx], testRefundBeforeSettlement[pgx.Tx])
}

func testRefundBeforeSettlement[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.pay("A", s.stored())
	s.Settled("A")
	_, err := s.refund("R", "A", 500)
	require.NoError(t, err)
	assert.True(t, s.Settled("R").Done())
	assert.Equal(t, int64(500), s.refunded())
	s.pay("held", s.preauthorisation())
	s.Settled("held")
	s.Advance(48 * time.Hour)
	for id, do := range map[string]func() error{
		"refund":   func() error { _, err := s.refund("refund", "held", 500); return err },
		"reversal": func() error { _, err := s.follow("reversal", "held", s.Engine().Reverse); return err },
	} {
		require.NoError(t, do())
		assert.Equal(t, "not_sent.impossible", s.Settled(id).Name())
	}
	_, err = s.Client.Transactions.Refund(t.Context(), quickstream.RefundParams{OriginalReceiptNumber: s.get("A").ReceiptNumber, PrincipalAmount: decimal.New(734, -2), Currency: quickstream.CurrencyAUD})
	require.NoError(t, err)
	s.Advance(time.Hour)
	_, err = s.follow("rest", "A", s.Engine().Reverse)
	require.NoError(t, err)
	assert.Equal(t, "not_sent.nothing", s.Settled("rest").Name())
	assert.Equal(t, int64(1234), s.refunded())
}

// TestVoidedAfterLostAnswer: a payment whose answer was lost is still looked up when it is voided. Its order can be paid again,
// whatever the look-ups show of the voided one.
func TestVoidedAfterLostAnswer(t *testing.T) {
	everywhere(t, testVoidedAfterLostAnswer[*sql.Tx], testVoidedAfterLostAnswer[pgx.Tx])
}

func testVoidedAfterLostAnswer[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for order, back := range map[string]func(context.Context, TTx, durable.NewWrite, string) (durable.Write, bool, error){"A": s.Engine().Void, "B": s.Engine().Reverse} {
		s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1})
		s.pay(order, s.stored())
		require.False(t, s.Settled(order).Due.IsZero(), "it is looked up again")
		_, err := s.follow(order+"/back", order, back)
		require.NoError(t, err)
		assert.True(t, s.Settled(order+"/back").Done())
		s.Until(order, func(w durable.Write) bool { return w.LookedUp.After(w.Changed) })
		for _, read := range []string{"GET /transactions/for-reference-number", "GET /transactions/{receiptNumber}"} {
			s.inject(sandbox.Fault{Operation: read, Kind: sandbox.Status(500, sandbox.ServiceError)})
		}
		s.Until(order, func(w durable.Write) bool {
			return w.Case.Lookups[len(w.Case.Lookups)-1].Result == resolve.LookupFailed
		})
		s.Sandbox.ClearFaults()
		assert.True(t, s.Until(order, func(w durable.Write) bool { return w.Due.IsZero() }).MayPayAgain())
		assert.Equal(t, []string{"approved", "voided"}, s.names(order))
		_, err = s.tryPay(durable.NewWrite{ID: order + "/2", Order: order}, s.stored())
		require.NoError(t, err)
		assert.True(t, s.Settled(order+"/2").Paid())
	}
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1})
	s.pay("C", s.stored())
	s.Settled("C")
	s.paid("C/2")
	s.edit("order_id = 'C', replaced_by = 'C', state = 'needs_person', reason = 'double_charged'", "C/2")
	s.inject(sandbox.Fault{Operation: "POST /transactions/{receiptNumber}/void", Kind: sandbox.ResetAfterCommit(), Times: 1},
		sandbox.Fault{Operation: "GET /transactions/{receiptNumber}", Kind: sandbox.Status(500, sandbox.ServiceError)})
	_, err := s.follow("C/void", "C", s.Engine().Void)
	require.NoError(t, err)
	s.reaches("C/void", "unknown")
	s.reaches("C", "needs_person.reversed") // it is looked up before its void
	s.Sandbox.ClearFaults()
	assert.True(t, s.Settled("C/void").Done())
	assert.Equal(t, "voided", s.get("C").Name())
	assert.Equal(t, "approved", s.get("C/2").Name())
	s.Judge("A", "B", "C")
}

// TestVoidedAfterCapture: a pre-authorisation that was captured, or may be, is not voided. If the service shows it as voided a
// person has to look: the captured money is not back.
func TestVoidedAfterCapture(t *testing.T) {
	everywhere(t, testVoidedAfterCapture[*sql.Tx], testVoidedAfterCapture[pgx.Tx])
}

func testVoidedAfterCapture[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	w := s.paid("A") // the service voids no pre-authorisation, so a payment stands for one
	s.edit("operation = 'Transactions.Preauthorise'", "A")
	require.NoError(t, s.Engine().Pause(t.Context(), "Kim", "the capture stays open"))
	require.NoError(t, s.Tx(func(tx TTx) error {
		_, _, err := s.Engine().Capture(t.Context(), tx, durable.NewWrite{ID: "C"}, "A", quickstream.CaptureParams{PrincipalAmount: w.Amount, Currency: w.Currency, StoredCredential: params(nil).StoredCredential})
		return err
	}))
	for _, back := range []func(context.Context, TTx, durable.NewWrite, string) (durable.Write, bool, error){s.Engine().Void, s.Engine().Reverse} {
		_, err := s.follow("V", "A", back)
		require.ErrorIs(t, err, durable.ErrNotAllowed)
	}
	_, err := s.Client.Transactions.Void(t.Context(), w.ReceiptNumber)
	require.NoError(t, err)
	s.Advance(time.Minute)
	seen, err := s.Engine().LookUp(t.Context(), "Kim", "the customer asks", "A")
	require.NoError(t, err)
	assert.Equal(t, "needs_person.reversed", seen[0].Name())
	require.NoError(t, s.Tx(func(tx TTx) error {
		return s.Engine().Decide(t.Context(), tx, "A", durable.Decision{Verdict: durable.VerdictApproved, By: "Kim", Note: "it was captured", Version: seen[0].Version})
	}))
	s.Advance(time.Minute)
	seen, err = s.Engine().LookUp(t.Context(), "Kim", "the customer asks again", "A")
	require.NoError(t, err)
	assert.Equal(t, "needs_person.reversed", seen[0].Name(), "what the service shows does not free it either")
	_, err = s.tryPay(durable.NewWrite{ID: "A/2", Order: "A"}, s.stored())
	require.ErrorIs(t, err, durable.ErrOrderOpen)
}

// TestVoidedAfterDecision: a payment that a person has decided as approved by a receipt, and that the service shows as voided, needs
// a person again.
func TestVoidedAfterDecision(t *testing.T) {
	everywhere(t, testVoidedAfterDecision[*sql.Tx], testVoidedAfterDecision[pgx.Tx])
}

func testVoidedAfterDecision[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	portal, err := s.Client.Transactions.Pay(ctx, s.stored())
	require.NoError(t, err)
	_, err = s.Client.Transactions.Void(ctx, portal.ReceiptNumber) // which the person does not know
	require.NoError(t, err)
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit(), Times: 3})
	s.pay("A", s.stored())
	s.reaches("A", "unknown")
	s.Advance(16 * time.Minute)
	eventually(s.T, func() bool {
		seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
		require.NoError(t, err)
		return s.Tx(func(tx TTx) error {
			return s.Engine().Decide(ctx, tx, "A", durable.Decision{Verdict: durable.VerdictApproved, ReceiptNumber: portal.ReceiptNumber, By: "Kim", Note: "paid in the portal", Version: seen[0].Version})
		}) == nil
	}, "it is decided")
	s.reaches("A", "approved")
	s.Advance(time.Minute)
	s.compare(portal.SettlementDate)
	assert.Equal(t, "needs_person.reversed", s.get("A").Name())
}

// TestPaysAlone: when one of two payments of an order is voided, the other one pays the order: OnOutcome is notified of it, and
// nothing needs a person any more.
func TestPaysAlone(t *testing.T) { everywhere(t, testPaysAlone[*sql.Tx], testPaysAlone[pgx.Tx]) }

func testPaysAlone[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.paid("A")
	s.paid("A/2")
	s.edit("order_id = 'A', replaced_by = 'A', state = 'needs_person', reason = 'double_charged'", "A/2")
	_, err := s.follow("V", "A", s.Engine().Void)
	require.NoError(t, err)
	require.True(t, s.Settled("V").Done())
	assert.Equal(t, "voided", s.Settled("A").Name())
	assert.Equal(t, "approved", s.Settled("A/2").Name())
	assert.Equal(t, []string{"approved", "approved"}, s.names("A/2"))
	assert.Empty(t, s.health().NeedPerson)
	_, err = s.tryPay(durable.NewWrite{ID: "A/3", Order: "A"}, s.stored())
	require.ErrorIs(t, err, durable.ErrOrderOpen)

	s.pay("B", s.bankAccount())
	w := s.Settled("B")
	s.paid("B/2")
	s.edit("order_id = 'B', replaced_by = 'B', state = 'needs_person', reason = 'double_charged'", "B/2")
	s.Advance(48 * time.Hour)
	_, err = s.refund("B/2/back", "B/2", 1234)
	require.NoError(t, err)
	require.True(t, s.Settled("B/2/back").Done())
	require.NoError(t, s.Sandbox.ReturnPayment(w.ReceiptNumber, "6"))
	s.Advance(24 * time.Hour)
	s.Daily()
	assert.Equal(t, "returned", s.get("B").Name())
	assert.Equal(t, "needs_person.double_charged", s.get("B/2").Name(), "its money is back too")

	s.paid("C")
	s.paid("C/2")
	s.edit("order_id = 'C', replaced_by = 'C', state = 'needs_person', reason = 'double_charged'", "C/2")
	s.Advance(3 * time.Minute)
	s.decides("C", durable.VerdictDeclined, func() { s.edit("state = 'needs_person', reason = 'unresolved'", "C") })
	assert.Equal(t, "approved", s.reaches("C/2", "approved").Name(), "the other one took nothing")
}

// TestReturnedAfterLostAnswer: a payment that a person has to look at, because it is approved no more, is returned when the bank
// says so.
func TestReturnedAfterLostAnswer(t *testing.T) {
	everywhere(t, testReturnedAfterLostAnswer[*sql.Tx], testReturnedAfterLostAnswer[pgx.Tx])
}

func testReturnedAfterLostAnswer[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.bankAccount()
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3})
	s.pay("A", p)
	w := s.Settled("A")
	require.True(t, w.Paid())
	require.NoError(t, s.Sandbox.ReturnPayment(w.ReceiptNumber, "6"))
	assert.Equal(t, "needs_person.reversed", s.Until("A", func(w durable.Write) bool { return !w.Paid() }).Name())
	s.Advance(24 * time.Hour)
	s.Daily()
	assert.Equal(t, "returned", s.get("A").Name())
}

// TestLateReversal: a reversal that was to be a void, and that the service did not take before the cut-off, becomes a refund.
func TestLateReversal(t *testing.T) {
	everywhere(t, testLateReversal[*sql.Tx], testLateReversal[pgx.Tx])
}

func testLateReversal[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.paid("A")
	s.inject(sandbox.Fault{Operation: "POST /transactions/{receiptNumber}/void", Kind: sandbox.Status(401, sandbox.ServiceError)})
	_, err := s.follow("R", "A", s.Engine().Reverse)
	require.NoError(t, err)
	s.Until("R", func(w durable.Write) bool { return w.Sends == 1 })
	s.Advance(48 * time.Hour)
	assert.True(t, s.Settled("R").Done())
	assert.Equal(t, int64(1234), s.refunded())
	assert.True(t, s.get("A").Refunded.Equal(decimal.New(1234, -2)))
}

// TestEqualRefundElsewhere: a refund that has waited, and was never sent, is not taken for an equal one that was made in the portal.
func TestEqualRefundElsewhere(t *testing.T) {
	everywhere(t, testEqualRefundElsewhere[*sql.Tx], testEqualRefundElsewhere[pgx.Tx])
}

func testEqualRefundElsewhere[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	w := s.paid("A")
	s.Advance(48 * time.Hour)
	portal := sandboxtest.Client(t, s.Sandbox, quickstream.WithIntentMetadata(""))
	_, err := portal.Transactions.Refund(t.Context(), quickstream.RefundParams{OriginalReceiptNumber: w.ReceiptNumber, PrincipalAmount: decimal.New(500, -2), Currency: quickstream.CurrencyAUD})
	require.NoError(t, err)
	require.NoError(t, s.Engine().Pause(t.Context(), "Kim", "the refund waits"))
	_, err = s.refund("R", "A", 500)
	require.NoError(t, err)
	s.Advance(20 * time.Minute)
	require.NoError(t, s.Engine().Unpause(t.Context(), "Kim", "go on"))
	assert.Equal(t, "approved", s.Settled("R").Name())
	assert.Equal(t, int64(1000), s.refunded())
}
