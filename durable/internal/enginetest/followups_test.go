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
)

// follow commits a follow-up.
func (s *shop[TTx]) follow(id, of string, do func(ctx context.Context, tx TTx, w durable.NewWrite, of string) (durable.Write, bool, error)) (w durable.Write, err error) {
	err = s.Tx(func(tx TTx) (err error) {
		w, _, err = do(s.T.Context(), tx, durable.NewWrite{ID: id}, of)
		return err
	})
	return w, err
}

// TestRefunds: two refunds are two, they never exceed the payment, and those made in the portal count.
func TestRefunds(t *testing.T) { everywhere(t, testRefunds[*sql.Tx], testRefunds[pgx.Tx]) }

func testRefunds[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.pay("A", s.card(sandbox.CardAttempted))
	paid := s.Settled("A")
	s.Advance(48 * time.Hour) // it is settled
	for _, id := range []string{"R1", "R2"} {
		_, err := s.refund(id, "A", 500)
		require.NoError(t, err)
	}
	_, err := s.refund("R3", "A", 500)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	for _, id := range []string{"R1", "R2"} {
		w := s.Settled(id)
		assert.Equal(t, "approved", w.Name())
		assert.Equal(t, "A", w.Follows)
		assert.False(t, w.Paid() || w.MayPayAgain())
	}
	assert.True(t, s.get("A").Refunded.Equal(decimal.New(1000, -2)))
	assert.True(t, s.get("A").Paid())
	_, err = s.Client.Transactions.Refund(t.Context(), quickstream.RefundParams{OriginalReceiptNumber: paid.ReceiptNumber, PrincipalAmount: decimal.New(200, -2), Currency: quickstream.CurrencyAUD})
	require.NoError(t, err)
	s.Advance(time.Hour) // it is in the list now
	_, err = s.refund("R4", "A", 234)
	require.NoError(t, err, "the engine does not know the portal's yet")
	assert.Equal(t, "not_sent.nothing", s.Settled("R4").Name())
	assert.Equal(t, int64(1200), s.refunded())
	s.Judge("A")
}

// TestLostRefunds: refunds whose answers are lost are looked up, and none is made twice. One that is not found holds up the next.
func TestLostRefunds(t *testing.T) { everywhere(t, testLostRefunds[*sql.Tx], testLostRefunds[pgx.Tx]) }

func testLostRefunds[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.pay("A", s.card(sandbox.CardAttempted))
	s.Settled("A")
	s.Advance(s.Now().Truncate(24 * time.Hour).Add(84 * time.Hour).Sub(s.Now())) // it is settled, and the day's cut-off is past
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1}, sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetBeforeCommit(), Nth: 2, Times: 1})
	for i := range 3 {
		_, err := s.refund(fmt.Sprint("R", i), "A", 300)
		require.NoError(t, err)
	}
	assert.True(t, s.Settled("R0").Done())
	assert.Equal(t, "needs_person.not_found", s.Settled("R1").Name())
	assert.Equal(t, "queued", s.get("R2").Name(), "it waits for a person's decision about the other one")
	s.Advance(24 * time.Hour) // a week since it was stored
	assert.Equal(t, "not_sent.too_late", s.Settled("R2").Name())
	assert.Equal(t, int64(300), s.refunded())
	s.Judge("A")
}

// TestReverse: all that is left is voided before the settlement and refunded after. A void that is refused takes nothing back.
func TestReverse(t *testing.T) { everywhere(t, testReverse[*sql.Tx], testReverse[pgx.Tx]) }

func testReverse[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for _, order := range []string{"A", "B", "C"} {
		s.pay(order, s.stored())
		s.Settled(order)
	}
	_, err := s.follow("VA", "A", s.Engine().Reverse)
	require.NoError(t, err)
	assert.Equal(t, "approved", s.Settled("VA").Name())
	assert.Equal(t, "voided", s.Settled("A").Name())
	assert.True(t, s.get("A").MayPayAgain())
	assert.Zero(t, s.refunded())
	s.Advance(48 * time.Hour)
	_, err = s.refund("PB", "B", 234)
	require.NoError(t, err)
	s.Settled("PB")
	_, err = s.follow("RB", "B", s.Engine().Reverse)
	require.NoError(t, err)
	w := s.Settled("RB")
	assert.Equal(t, "approved", w.Name())
	assert.True(t, w.Amount.Equal(decimal.New(1000, -2)))
	assert.Equal(t, int64(1234), s.refunded())
	_, err = s.follow("RB2", "B", s.Engine().Reverse)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	testReverseOfTheRest(s)
	_, err = s.follow("VC", "C", s.Engine().Void)
	require.NoError(t, err)
	assert.Equal(t, durable.StateDeclined, s.Settled("VC").State, "it is settled, and cannot be voided")
	assert.True(t, s.get("C").Paid())
	s.Judge("A", "B", "C", "D")
}

// testReverseOfTheRest: what a reversal gives back does not grow when an earlier refund is cancelled.
func testReverseOfTheRest[TTx any](s *shop[TTx]) {
	ctx, before := s.T.Context(), s.refunded()
	s.pay("D", s.stored())
	s.Settled("D")
	require.NoError(s.T, s.Engine().Pause(ctx, "Kim", "two people refund"))
	_, err := s.refund("PD", "D", 500)
	require.NoError(s.T, err)
	_, err = s.follow("RD", "D", s.Engine().Reverse)
	require.NoError(s.T, err)
	require.NoError(s.T, s.Engine().Cancel(ctx, "PD", "Kim", "another order"))
	require.NoError(s.T, s.Engine().Unpause(ctx, "Kim", "go on"))
	assert.True(s.T, s.Settled("RD").Amount.Equal(decimal.New(734, -2)))
	assert.True(s.T, s.get("D").Paid())
	assert.Equal(s.T, before+734, s.refunded())
}

// TestPreauthorisation: a pre-authorisation is captured or cancelled.
func TestPreauthorisation(t *testing.T) {
	everywhere(t, testPreauthorisation[*sql.Tx], testPreauthorisation[pgx.Tx])
}

func testPreauthorisation[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for _, order := range []string{"A", "B"} {
		s.pay(order, s.preauthorisation())
		assert.True(t, s.Settled(order).Paid())
	}
	_, err := s.follow("CA", "A", func(ctx context.Context, tx TTx, w durable.NewWrite, of string) (durable.Write, bool, error) {
		return s.Engine().Capture(ctx, tx, w, of, quickstream.CaptureParams{
			PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD, StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		})
	})
	require.NoError(t, err)
	assert.Equal(t, "approved", s.Settled("CA").Name())
	_, err = s.follow("CB", "B", func(ctx context.Context, tx TTx, w durable.NewWrite, of string) (durable.Write, bool, error) {
		return s.Engine().CancelPreauthorisation(ctx, tx, w, of, quickstream.CancelPreauthorisationParams{
			Type: quickstream.CancellationTypeFull, PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD,
		})
	})
	require.NoError(t, err)
	assert.Equal(t, "approved", s.Settled("CB").Name())
	d, err := s.Engine().Details(t.Context(), "A")
	require.NoError(t, err)
	require.Len(t, d.FollowUps, 1)
}

// bankAccount returns the parameters of a payment from a bank account.
func (s *shop[TTx]) bankAccount() quickstream.PayParams {
	s.T.Helper()
	token, err := s.Client.SingleUseTokens.Create(s.T.Context(), quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Account:              quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465")},
	})
	require.NoError(s.T, err)
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token.SingleUseTokenID, quickstream.AccountTypeDirectDebit),
		PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD, IPAddress: params(nil).IPAddress,
	}
}

// TestReturned: a bank payment that comes back is returned, and its order can be paid again.
func TestReturned(t *testing.T) { everywhere(t, testReturned[*sql.Tx], testReturned[pgx.Tx]) }

func testReturned[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.pay("A", s.bankAccount())
	w := s.Settled("A")
	assert.True(t, w.Paid())
	assert.True(t, s.health().ReturnsRead.IsZero())
	s.Daily()
	read := s.health().ReturnsRead
	s.Advance(72 * time.Hour)
	require.NoError(t, s.Sandbox.ReturnPayment(w.ReceiptNumber, "6"))
	s.inject(sandbox.Fault{Operation: "GET /transactions/returns", Kind: sandbox.Status(403, sandbox.ServiceError)})
	s.Advance(20 * 24 * time.Hour)
	s.Daily()
	assert.Equal(t, read, s.health().ReturnsRead, "no list could be read")
	s.Sandbox.ClearFaults()
	s.Daily()
	assert.Equal(t, read.AddDays(23), s.health().ReturnsRead)
	assert.Equal(t, durable.StateReturned, s.Settled("A").State)
	assert.True(t, s.get("A").MayPayAgain())
	assert.Equal(t, []string{"approved", "returned"}, s.names("A"))
}
