package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const voids = "POST /transactions/{receiptNumber}/void"

// followUp commits a follow-up of a write under a new id, and returns that.
func (s *shop[TTx]) followUp(ask func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error)) (id string, err error) {
	err = s.commit(func(tx TTx) error {
		written, _, err := ask(tx, s.newWrite(""))
		id = written.ID
		return err
	})
	return id, err
}

// tryRefund asks for a refund of a part of a payment, and refund gets one.
func (s *shop[TTx]) tryRefund(of string, cents int64) (id string, err error) {
	return s.followUp(func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
		return s.engine.Refund(s.Context(), tx, w, of, quickstream.RefundParams{PrincipalAmount: decimal.New(cents, -2), Currency: quickstream.CurrencyAUD})
	})
}

func (s *shop[TTx]) refund(of string, cents int64) string {
	s.Helper()
	id, err := s.tryRefund(of, cents)
	require.NoError(s, err)
	return id
}

// tryReverse asks for all that is left of a payment, and reverse gets it.
func (s *shop[TTx]) tryReverse(of string) (id string, err error) {
	return s.followUp(func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
		return s.engine.Reverse(s.Context(), tx, w, of)
	})
}

func (s *shop[TTx]) reverse(of string) string {
	s.Helper()
	id, err := s.tryReverse(of)
	require.NoError(s, err)
	return id
}

func (s *shop[TTx]) tryVoid(of string) (id string, err error) {
	return s.followUp(func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
		return s.engine.Void(s.Context(), tx, w, of)
	})
}

// settledLongAgo returns a payment that can be refunded and not voided any more.
func (s *shop[TTx]) settledLongAgo(order string) durable.Record {
	s.Helper()
	p := s.settled(s.pay(order, s.card(sandbox.CardAttempted)))
	s.clock.Advance(48 * time.Hour)
	return p
}

// morning moves the clock on to the next morning in Sydney, hours before the cut-off.
func (s *shop[TTx]) morning() {
	s.Helper()
	sydney, err := time.LoadLocation("Australia/Sydney")
	require.NoError(s, err)
	now := s.clock.Now().In(sydney)
	s.clock.Advance(time.Date(now.Year(), now.Month(), now.Day()+1, 9, 0, 0, 0, sydney).Sub(now))
}

// net is what an order has cost in the end, in cents.
func (s *shop[TTx]) net(orderID string) int64 {
	net := int64(0)
	receipts := map[string]bool{}
	for _, e := range s.box.Ledger() {
		switch {
		case e.Outcome != "approved":
		case e.Metadata["quickstreamOrder"] == orderID:
			receipts[e.Receipt] = true
			net += e.Amount
		case e.Type == "REFUND" && receipts[e.OriginalReceipt]:
			net -= e.Amount
		}
	}
	return net
}

func TestReverse(t *testing.T) { everywhere(t, testReverse[*sql.Tx], testReverse[pgx.Tx]) }

// All of a payment is voided before it is settled, and what is left of it is refunded after.
func testReverse[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	assert.Equal(t, approved, s.settled(s.reverse(p.ID)).Text())
	assert.Equal(t, voided, s.read(p.ID).Text())
	assert.ElementsMatch(t, []string{approved, approved, voided}, s.states("A"))

	p = s.settledLongAgo("B")
	s.reaches(s.refund(p.ID, 1000), approved, time.Minute)
	rest := s.reaches(s.reverse(p.ID), approved, time.Minute)
	assert.Equal(t, "2.34", rest.Amount.String())
	_, err := s.tryRefund(p.ID, 1)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	_, err = s.tryReverse(p.ID)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	assert.Zero(t, s.net("B"))
}

func TestTwoEqualRefunds(t *testing.T) {
	everywhere(t, testTwoEqualRefunds[*sql.Tx], testTwoEqualRefunds[pgx.Tx])
}

// Refunds of the same amount for two lines of an order are two, and each call is one, also when it
// is repeated after its refund has ended.
func testTwoEqualRefunds[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	refund := func(line string) (refund durable.FollowUp, created bool) {
		require.NoError(t, s.commit(func(tx TTx) (err error) {
			refund, created, err = s.engine.Refund(t.Context(), tx, durable.NewWrite{ID: line, Order: "A"}, p.ID,
				quickstream.RefundParams{PrincipalAmount: decimal.New(500, -2), Currency: quickstream.CurrencyAUD})
			return err
		}))
		return refund, created
	}
	for _, line := range []string{"line 1", "line 2"} {
		_, created := refund(line)
		require.True(t, created)
	}
	for _, line := range []string{"line 1", "line 2"} {
		s.reaches(line, approved, time.Minute)
		again, created := refund(line)
		require.False(t, created)
		assert.Equal(t, approved, again.Text())
		assert.Equal(t, p.ID, again.Follows)
	}
	assert.EqualValues(t, 234, s.net("A"))
}

func TestRefundsWaitInLine(t *testing.T) {
	everywhere(t, testRefundsWaitInLine[*sql.Tx], testRefundsWaitInLine[pgx.Tx])
}

// Refunds are sent one after the other. One of unknown outcome counts, and holds only those of the
// same amount, which the service could take for it.
func testRefundsWaitInLine[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	require.NoError(t, s.box.Inject(
		sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 1},
		sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(500, sandbox.HTML)},
		sandbox.Fault{Operation: "GET /transactions", Kind: sandbox.Status(500, sandbox.HTML)},
	))
	first := s.refund(p.ID, 500)
	s.reaches(first, resolving, 0)
	equal, other := s.refund(p.ID, 500), s.refund(p.ID, 200)
	_, err := s.tryRefund(p.ID, 35)
	require.ErrorIs(t, err, durable.ErrTooMuch, "those that wait count too")
	s.reaches(other, approved, 0)
	assert.Equal(t, queued, s.read(equal).Text())
	assert.Equal(t, resolving, s.read(first).Text())
	s.box.ClearFaults()
	s.reaches(first, approved, time.Minute)
	s.reaches(equal, approved, time.Minute)
	assert.EqualValues(t, 34, s.net("A"))
}

func TestRefundsOfThePortal(t *testing.T) {
	everywhere(t, testRefundsOfThePortal[*sql.Tx], testRefundsOfThePortal[pgx.Tx])
}

// What was refunded in the portal is read before a refund is sent: nothing is sent that would exceed
// the payment, and a reversal refunds what that leaves. What cannot be read is not sent.
func testRefundsOfThePortal[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	_, err := s.client.Transactions.Refund(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: p.ReceiptNumber, PrincipalAmount: decimal.New(1000, -2), Currency: quickstream.CurrencyAUD,
	})
	require.NoError(t, err)
	s.clock.Advance(time.Minute)
	s.box.ResetRequests()
	refused := s.reaches(s.refund(p.ID, 500), notSent, time.Minute)
	assert.Contains(t, refused.Problem, "refunds made elsewhere leave 2.34")
	assert.Zero(t, s.sent())
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/{receiptNumber}/refunds", Kind: sandbox.Status(500, sandbox.HTML)}))
	rest := s.reverse(p.ID)
	require.Eventually(t, func() bool { return s.read(rest).Failures > 0 }, 2*time.Minute, 20*time.Millisecond)
	assert.Zero(t, s.sent())
	s.box.ClearFaults()
	assert.Equal(t, "2.34", s.reaches(rest, approved, time.Minute).Amount.String())
	assert.Zero(t, s.net("A"))
}

func TestVoidIsMeantOnce(t *testing.T) {
	everywhere(t, testVoidIsMeantOnce[*sql.Tx], testVoidIsMeantOnce[pgx.Tx])
}

// While a void is on its way nothing else of the payment comes back.
func testVoidIsMeantOnce[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: voids, Kind: sandbox.ResetAfterCommit(), Times: 1}))
	void := func() (written durable.FollowUp, created bool) {
		require.NoError(t, s.commit(func(tx TTx) (err error) {
			written, created, err = s.engine.Void(t.Context(), tx, durable.NewWrite{ID: "void"}, p.ID)
			return err
		}))
		return written, created
	}
	_, created := void()
	require.True(t, created)
	_, created = void()
	require.False(t, created)
	for name, try := range map[string]func() (string, error){
		"another void":     func() (string, error) { return s.tryVoid(p.ID) },
		"a refund":         func() (string, error) { return s.tryRefund(p.ID, 100) },
		"a whole reversal": func() (string, error) { return s.tryReverse(p.ID) },
	} {
		_, err := try()
		require.ErrorIs(t, err, durable.ErrTooMuch, name)
	}
	s.reaches("void", approved, time.Minute)
	assert.Equal(t, voided, s.read(p.ID).Text())
	written, created := void()
	require.False(t, created)
	assert.Equal(t, approved, written.Text())
}

func TestPaymentOfAnotherOrder(t *testing.T) {
	everywhere(t, testPaymentOfAnotherOrder[*sql.Tx], testPaymentOfAnotherOrder[pgx.Tx])
}

// A follow-up of an order never changes another order's payment, nor its refund.
func testPaymentOfAnotherOrder[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	refund := s.settled(s.refund(p.ID, 100))
	s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	for _, of := range []string{p.ID, refund.ID} {
		for name, write := range map[string]func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error){
			"reverse": func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
				return s.engine.Reverse(t.Context(), tx, w, of)
			},
			"void": func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
				return s.engine.Void(t.Context(), tx, w, of)
			},
			"refund": func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
				return s.engine.Refund(t.Context(), tx, w, of, quickstream.RefundParams{PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD})
			},
			"capture": func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
				return s.engine.Capture(t.Context(), tx, w, of, quickstream.CaptureParams{PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD})
			},
		} {
			err := s.commit(func(tx TTx) error {
				_, _, err := write(tx, s.newWrite("B"))
				return err
			})
			require.ErrorIs(t, err, durable.ErrNotAllowed, name)
		}
	}
	assert.EqualValues(t, 1134, s.net("A"))
	assert.EqualValues(t, 1234, s.net("B"))
}

func TestMoneyComesBackOnce(t *testing.T) {
	everywhere(t, testMoneyComesBackOnce[*sql.Tx], testMoneyComesBackOnce[pgx.Tx])
}

// Nothing is refunded of a payment that was voided or has come back, nor voided beside a
// refund, nor refunded in another currency.
func testMoneyComesBackOnce[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	gone := s.settled(s.pay("voided", s.card(sandbox.CardAttempted)))
	id, err := s.tryVoid(gone.ID)
	require.NoError(t, err)
	s.settled(id)
	back := s.settled(s.pay("returned", s.card(sandbox.CardAttempted)))
	s.corrupt(isReturned, back.ID)
	for _, p := range []durable.Record{gone, back} {
		_, err = s.tryRefund(p.ID, 100)
		require.ErrorIs(t, err, durable.ErrTooMuch, p.Order)
		_, err = s.tryReverse(p.ID)
		require.ErrorIs(t, err, durable.ErrTooMuch, p.Order)
	}
	p := s.settled(s.pay("refunded", s.card(sandbox.CardAttempted)))
	_, err = s.followUp(func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
		return s.engine.Refund(t.Context(), tx, w, p.ID, quickstream.RefundParams{PrincipalAmount: p.Amount, Currency: quickstream.CurrencyNZD})
	})
	require.ErrorIs(t, err, durable.ErrNotAllowed)
	s.clock.Advance(48 * time.Hour)
	s.settled(s.refund(p.ID, 100))
	_, err = s.tryVoid(p.ID)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	assert.EqualValues(t, 1134, s.net("refunded"))
}

func TestReverseThatCannotBe(t *testing.T) {
	everywhere(t, testReverseThatCannotBe[*sql.Tx], testReverseThatCannotBe[pgx.Tx])
}

// A reversal that can be neither a void nor a refund for a week was not sent.
func testReverseThatCannotBe[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	_, err := s.client.Transactions.Void(t.Context(), p.ReceiptNumber) // in the portal
	require.NoError(t, err)
	id := s.reverse(p.ID)
	require.Eventually(t, func() bool { return s.read(id).Failures > 0 }, 2*time.Minute, 20*time.Millisecond)
	assert.Equal(t, queued, s.read(id).Text())
	s.age(id, 8*24*time.Hour)
	s.reaches(id, notSent, time.Minute)
	assert.Equal(t, []string{approved, notSent}, s.states("A"))
}

func TestRefundWithThePaymentsReference(t *testing.T) {
	everywhere(t, testRefundWithThePaymentsReference[*sql.Tx], testRefundWithThePaymentsReference[pgx.Tx])
}

// A refund that was made elsewhere under its payment's reference is not taken for the payment.
func testRefundWithThePaymentsReference[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	elsewhere := sandboxtest.Client(t, s.box, quickstream.WithIntentMetadata(""))
	refund, err := elsewhere.Transactions.Refund(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: p.ReceiptNumber, PrincipalAmount: p.Amount, Currency: p.Currency, FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: p.Reference},
	})
	require.NoError(t, err)
	s.clock.Advance(time.Minute) // until the list has it
	require.NoError(t, s.engine.Compare(t.Context(), refund.SettlementDate))
	assert.Equal(t, []string{approved}, s.states("A"))
}

func TestCutOffPasses(t *testing.T) {
	everywhere(t, testCutOffPasses[*sql.Tx], testCutOffPasses[pgx.Tx])
}

// A void that is refused, because the cut-off has passed since the transaction was read, becomes a refund.
func testCutOffPasses[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.morning()
	p := s.settled(s.pay("refused", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: voids, Kind: sandbox.Status(422, sandbox.ServiceError)}))
	refund := s.reaches(s.reverse(p.ID), approved, 6*time.Hour)
	assert.Equal(t, durable.OperationReverse, refund.Operation)
	assert.Zero(t, s.net("refused"))
}

func TestLostVoid(t *testing.T) { everywhere(t, testLostVoid[*sql.Tx], testLostVoid[pgx.Tx]) }

// A void whose answer was lost is not repeated as a refund, because the money could come back
// twice: a person decides whether it was executed. Then the payment can be reversed anew.
func testLostVoid[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.morning()
	p := s.settled(s.pay("lost", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: voids, Kind: sandbox.ResetBeforeCommit()}))
	lost := s.reverse(p.ID)
	s.reaches(lost, resolving, time.Minute)
	s.reaches(lost, notFound, 6*time.Hour)
	_, err := s.tryReverse(p.ID)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	require.NoError(t, s.commit(func(tx TTx) error {
		return s.engine.Decide(t.Context(), tx, lost, durable.Decision{Verdict: durable.VerdictDeclined, By: "Kim", Note: "the service has no void"})
	}))
	s.reaches(s.reverse(p.ID), approved, 6*time.Hour)
	assert.Zero(t, s.net("lost"))
}

func TestTakeIn(t *testing.T) { everywhere(t, testTakeIn[*sql.Tx], testTakeIn[pgx.Tx]) }

// A payment that was made elsewhere is read and stored, once, and can be refunded then. Its order is
// paid. What is no payment is not taken in, nor is what the engine has already.
func testTakeIn[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	made, err := s.client.Transactions.Pay(t.Context(), s.card(sandbox.CardAttempted))
	require.NoError(t, err)
	s.clock.Advance(48 * time.Hour)
	for _, created := range []bool{true, false} {
		p, first, err := s.engine.TakeIn(t.Context(), durable.NewWrite{ID: "portal", Order: "A"}, made.ReceiptNumber)
		require.NoError(t, err)
		assert.Equal(t, created, first)
		assert.Equal(t, approved, p.Text())
		assert.Equal(t, "12.34", p.Amount.String())
		assert.Equal(t, made.ReceiptNumber, p.ReceiptNumber)
	}
	assert.Equal(t, "portal", s.blocked("A", s.card(sandbox.CardAttempted)))
	_, _, err = s.engine.TakeIn(t.Context(), durable.NewWrite{ID: "once more", Order: "B"}, made.ReceiptNumber)
	require.ErrorIs(t, err, durable.ErrIDReused)
	refund := s.reaches(s.refund("portal", 1000), approved, time.Minute)
	s.clock.Advance(time.Minute)
	_, _, err = s.engine.TakeIn(t.Context(), durable.NewWrite{ID: "a refund", Order: "C"}, refund.ReceiptNumber)
	require.ErrorIs(t, err, durable.ErrNotAllowed)
	_, err = s.tryRefund("portal", 235)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	assert.Equal(t, []string{approved, approved}, s.states("A"))
}

func TestTakeInOnce(t *testing.T) { everywhere(t, testTakeInOnce[*sql.Tx], testTakeInOnce[pgx.Tx]) }

// One receipt is taken in once, also by several at the same moment, and never one of the engine's own.
func testTakeInOnce[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	made, err := s.client.Transactions.Pay(t.Context(), s.card(sandbox.CardAttempted))
	require.NoError(t, err)
	s.clock.Advance(time.Hour) // it can be seen
	created := make(chan bool)
	for i := range 4 {
		go func() {
			_, stored, _ := s.engine.TakeIn(context.WithoutCancel(t.Context()), durable.NewWrite{ID: fmt.Sprint("taken in ", i), Order: fmt.Sprint("P", i)}, made.ReceiptNumber)
			created <- stored
		}()
	}
	n := 0
	for range 4 {
		if <-created {
			n++
		}
	}
	assert.Equal(t, 1, n)
	own := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.clock.Advance(time.Hour)
	s.corrupt("receipt = '', state = 'sending', outcome = '', lookups = ''", own.ID) // its answer is on its way
	_, _, err = s.engine.TakeIn(t.Context(), durable.NewWrite{ID: "own", Order: "B"}, own.ReceiptNumber)
	require.ErrorIs(t, err, durable.ErrIDReused)
}
