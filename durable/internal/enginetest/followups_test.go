package enginetest

import (
	"database/sql"
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

// giveBack commits that money of a payment is to be given back.
func (s *shop[TTx]) giveBack(p durable.Payment, cents int64) (id string, err error) {
	err = s.commit(func(tx TTx) error {
		id, err = s.engine.GiveBack(s.Context(), tx, p.OrderID, p.ReceiptNumber, decimal.New(cents, -2), quickstream.CurrencyAUD)
		return err
	})
	return id, err
}

func TestGiveBack(t *testing.T) { everywhere(t, testGiveBack[*sql.Tx], testGiveBack[pgx.Tx]) }

// All of a payment is voided before it is settled, and refunded after; a part is
// refunded when it may be.
func testGiveBack[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	voided := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	id, err := s.giveBack(voided, 1234)
	require.NoError(t, err)
	assert.Equal(t, durable.StateVoided, s.settled(id).State)
	p := s.read(voided.ID)
	assert.Equal(t, durable.StateVoided, p.State)
	assert.Equal(t, []durable.State{durable.StateApproved, durable.StateVoided, durable.StateVoided}, s.states("A"))

	refunded := s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	s.clock.Advance(48 * time.Hour)
	for _, cents := range []int64{1000, 234} {
		id, err = s.giveBack(refunded, cents)
		require.NoError(t, err)
		s.reaches(id, durable.StateApproved, time.Minute)
	}
	_, err = s.giveBack(refunded, 1)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	assert.Zero(t, s.net("B"))
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

func TestOneFollowUp(t *testing.T) { everywhere(t, testOneFollowUp[*sql.Tx], testOneFollowUp[pgx.Tx]) }

// While money may be on its way back nothing else is done to the payment, and an unknown
// refund counts. Two refunds of the same amount may both be meant, so that the second is
// never taken for the first without a word; a void can be meant only once.
func testOneFollowUp[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.clock.Advance(48 * time.Hour)
	other := s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 3}))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(500, sandbox.HTML)}))
	first, err := s.giveBack(p, 800)
	require.NoError(t, err)
	for _, cents := range []int64{800, 434} {
		open, err := s.giveBack(p, cents)
		require.ErrorIs(t, err, durable.ErrFollowUpOpen)
		assert.Equal(t, first, open)
	}
	void := func() string {
		return s.write(func(tx TTx) (string, error) { return s.engine.Void(t.Context(), tx, "B", other.ReceiptNumber) })
	}
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: voids, Kind: sandbox.HangBeforeCommit(), Times: 1}))
	assert.Equal(t, void(), void())
	err = s.commit(func(tx TTx) error {
		_, err := s.engine.Pay(t.Context(), tx, "B", quickstream.RefundParams{
			OriginalReceiptNumber: other.ReceiptNumber, PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
		})
		return err
	})
	require.ErrorIs(t, err, durable.ErrFollowUpOpen, "a refund beside a void")
	s.box.ClearFaults()
	s.reaches(first, durable.StateApproved, time.Minute)
	_, err = s.giveBack(p, 800)
	require.ErrorIs(t, err, durable.ErrTooMuch)
}

func TestReceiptOfAnotherOrder(t *testing.T) {
	everywhere(t, testReceiptOfAnotherOrder[*sql.Tx], testReceiptOfAnotherOrder[pgx.Tx])
}

// A follow-up of an order never changes another order's payment, nor its refund.
func testReceiptOfAnotherOrder[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.clock.Advance(48 * time.Hour)
	id, err := s.giveBack(p, 100)
	require.NoError(t, err)
	refund := s.settled(id)
	for _, receipt := range []string{p.ReceiptNumber, refund.ReceiptNumber} {
		for name, write := range map[string]func(tx TTx) (string, error){
			"give back": func(tx TTx) (string, error) {
				return s.engine.GiveBack(t.Context(), tx, "B", receipt, decimal.New(1, 0), quickstream.CurrencyAUD)
			},
			"void": func(tx TTx) (string, error) { return s.engine.Void(t.Context(), tx, "B", receipt) },
			"refund": func(tx TTx) (string, error) {
				return s.engine.Pay(t.Context(), tx, "B", quickstream.RefundParams{
					OriginalReceiptNumber: receipt, PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD,
				})
			},
		} {
			err := s.commit(func(tx TTx) error { _, err := write(tx); return err })
			require.ErrorIs(t, err, durable.ErrNotAllowed, name)
		}
	}
	assert.EqualValues(t, 1134, s.net("A"))
}

func TestMoneyComesBackOnce(t *testing.T) {
	everywhere(t, testMoneyComesBackOnce[*sql.Tx], testMoneyComesBackOnce[pgx.Tx])
}

// Nothing is refunded of a payment that was voided or has come back, nor voided beside a
// refund, nor refunded by Send beyond the payment, nor in another currency.
func testMoneyComesBackOnce[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	void := func(p durable.Payment) (id string, err error) {
		err = s.commit(func(tx TTx) error {
			id, err = s.engine.Void(t.Context(), tx, p.OrderID, p.ReceiptNumber)
			return err
		})
		return id, err
	}
	voided := s.settled(s.pay("voided", s.card(sandbox.CardAttempted)))
	id, err := void(voided)
	require.NoError(t, err)
	s.settled(id)
	returned := s.settled(s.pay("returned", s.card(sandbox.CardAttempted)))
	s.corrupt("state = 'returned'", returned.ID)
	for _, p := range []durable.Payment{voided, returned} {
		_, err = s.giveBack(p, 100)
		require.ErrorIs(t, err, durable.ErrTooMuch, p.OrderID)
	}
	p := s.settled(s.pay("refunded", s.card(sandbox.CardAttempted)))
	err = s.commit(func(tx TTx) error {
		_, err := s.engine.GiveBack(t.Context(), tx, p.OrderID, p.ReceiptNumber, p.Amount, quickstream.CurrencyNZD)
		return err
	})
	require.ErrorIs(t, err, durable.ErrNotAllowed)
	s.clock.Advance(48 * time.Hour)
	id, err = s.giveBack(p, 100)
	require.NoError(t, err)
	s.settled(id)
	_, err = void(p)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	for order, what := range map[string]error{"refunded": durable.ErrTooMuch, "another": durable.ErrNotAllowed} {
		_, err = durable.Send(t.Context(), s.engine, order, func(stored quickstream.CallOption) (*quickstream.Transaction, error) {
			return s.client.Transactions.Refund(t.Context(), quickstream.RefundParams{
				OriginalReceiptNumber: p.ReceiptNumber, PrincipalAmount: p.Amount, Currency: p.Currency,
			}, stored)
		})
		require.ErrorIs(t, err, quickstream.ErrNotSent)
		require.ErrorIs(t, err, what)
	}
	assert.EqualValues(t, 1134, s.net("refunded"))
}

func TestGiveBackThatCannotBe(t *testing.T) {
	everywhere(t, testGiveBackThatCannotBe[*sql.Tx], testGiveBackThatCannotBe[pgx.Tx])
}

// What was claimed once and can be neither voided nor refunded for a week is for a person.
func testGiveBackThatCannotBe[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	require.NoError(t, s.engine.Stop(t.Context()))
	id, err := s.giveBack(p, 1234)
	require.NoError(t, err)
	_, err = s.client.Transactions.Void(t.Context(), p.ReceiptNumber) // in the portal
	require.NoError(t, err)
	s.corrupt("claim = 'an earlier one'", id)
	s.age(id, 8*24*time.Hour)
	s.engine = s.start()
	s.reaches(id, durable.StateEscalated, time.Minute)
}

func TestRefundWithThePaymentsReference(t *testing.T) {
	everywhere(t, testRefundWithThePaymentsReference[*sql.Tx], testRefundWithThePaymentsReference[pgx.Tx])
}

// A refund that was made elsewhere under its payment's reference is not taken for the payment.
func testRefundWithThePaymentsReference[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.clock.Advance(48 * time.Hour)
	elsewhere := sandboxtest.Client(t, s.box, quickstream.WithIntentMetadata(""))
	refund, err := elsewhere.Transactions.Refund(t.Context(), quickstream.RefundParams{
		OriginalReceiptNumber: p.ReceiptNumber, PrincipalAmount: p.Amount, Currency: p.Currency, PaymentReferenceNumber: p.Reference,
	})
	require.NoError(t, err)
	s.clock.Advance(time.Minute) // until the list has it
	require.NoError(t, s.engine.Compare(t.Context(), refund.SettlementDate))
	assert.Equal(t, []durable.State{durable.StateApproved}, s.states("A"))
}

func TestCutOffPasses(t *testing.T) {
	everywhere(t, testCutOffPasses[*sql.Tx], testCutOffPasses[pgx.Tx])
}

// A void that is refused, because the cut-off has passed since the transaction was read,
// becomes a refund; and so does one whose answer was lost and that did not happen.
func testCutOffPasses[TTx any](t *testing.T, db store[TTx]) {
	for name, kind := range map[string]sandbox.FaultKind{
		"refused": sandbox.Status(422, sandbox.ServiceError), "lost": sandbox.ResetBeforeCommit(),
	} {
		s := open(t, db)
		p := s.settled(s.pay(name, s.card(sandbox.CardAttempted)))
		require.NoError(t, s.box.Inject(sandbox.Fault{Operation: voids, Kind: kind}))
		id, err := s.giveBack(p, 1234)
		require.NoError(t, err)
		refund := s.reaches(id, durable.StateApproved, 6*time.Hour)
		assert.Equal(t, quickstream.Operation("GiveBack"), refund.Operation)
		assert.Zero(t, s.net(name))
		require.NoError(t, s.engine.Stop(t.Context()))
	}
}
