package enginetest

import (
	"database/sql"
	"strings"
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

// TestImport: a payment of the portal is imported once. Its refund and another payment, made there under the same reference,
// are not taken for it: it is not charged twice, and refunds made in the portal count.
func TestImport(t *testing.T) { everywhere(t, testImport[*sql.Tx], testImport[pgx.Tx]) }

func testImport[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	portal := sandboxtest.Client(t, s.Sandbox, quickstream.WithIntentMetadata(""))
	params := s.stored()
	params.PaymentReferenceNumber = "INV-7"
	paid, err := portal.Transactions.Pay(ctx, params)
	require.NoError(t, err)
	for range 2 {
		p, created, err := s.Engine().Import(ctx, durable.NewWrite{ID: "portal", Order: "A"}, paid.ReceiptNumber)
		require.NoError(t, err)
		assert.Equal(t, "approved", p.Name())
		assert.Equal(t, p.Version == 2, created || p.Version > 1)
	}
	_, _, err = s.Engine().Import(ctx, durable.NewWrite{ID: "another", Order: "B"}, paid.ReceiptNumber)
	require.ErrorIs(t, err, durable.ErrIDReused)
	_, err = s.tryPay(durable.NewWrite{ID: "A/2", Order: "A"}, s.stored())
	require.ErrorIs(t, err, durable.ErrOrderOpen)
	s.Advance(48 * time.Hour)
	another, err := portal.Transactions.Pay(ctx, params)
	require.NoError(t, err)
	refund, err := portal.Transactions.Refund(ctx, quickstream.RefundParams{
		OriginalReceiptNumber: paid.ReceiptNumber, PrincipalAmount: decimal.New(300, -2), Currency: quickstream.CurrencyAUD, FollowUpDetails: quickstream.FollowUpDetails{PaymentReferenceNumber: "INV-7"},
	})
	require.NoError(t, err)
	_, _, err = s.Engine().Import(ctx, durable.NewWrite{ID: "refund", Order: "C"}, refund.ReceiptNumber)
	require.ErrorIs(t, err, durable.ErrNotAllowed)
	for _, date := range []quickstream.Date{another.SettlementDate, refund.SettlementDate} {
		require.NoError(t, s.Engine().CompareNow(ctx, date))
	}
	s.Settled("portal")
	assert.Equal(t, []string{"approved"}, s.names("portal"))
	_, err = s.refund("portal/refund", "portal", 1000)
	require.NoError(t, err)
	w := s.Settled("portal/refund")
	assert.Equal(t, "not_sent.nothing", w.Name())
	assert.Contains(t, w.Problem, "leave 9.34 of the payment")
	assert.Len(t, s.Sandbox.Ledger(), 3)
}

// TestErase: erasing a customer leaves no text of theirs in any table. Amounts and receipts, other customers, and writes that
// are not over stay.
func TestErase(t *testing.T) { everywhere(t, testErase[*sql.Tx], testErase[pgx.Tx]) }

func testErase[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.listen()
	ctx := t.Context()
	const canary = "CUSTOMER-CANARY"
	for order, reference := range map[string]string{"erased": canary, "kept": "C-2"} {
		params := s.card(sandbox.CardAttempted)
		params.CustomerReferenceNumber = reference
		s.pay(order, params)
		s.Settled(order)
	}
	s.Advance(48 * time.Hour) // it is settled
	_, err := s.follow("erased/back", "erased", s.Engine().Reverse)
	require.NoError(t, err)
	require.True(t, s.Settled("erased/back").Done())
	before := s.get("erased")
	byAgreement := s.mandate()
	byAgreement.CustomerReferenceNumber = canary
	s.Sandbox.NextTransaction(sandbox.Pending().ThenAfter(time.Hour, sandbox.Approved()))
	s.pay("open", byAgreement)
	require.Contains(t, s.tablesWith(canary), "write")
	var done durable.Erased
	erased := 0
	eventually(s.T, func() bool { // a worker may still hold one
		done, err = s.Engine().Erase(ctx, canary, "Kim", "as asked")
		erased += done.Writes
		return err == nil && erased == 2
	}, "the payment and its reversal are erased")
	assert.Positive(t, done.Left, "the open payment")
	assert.Empty(t, s.details("erased").CustomerReferenceNumber)
	assert.Equal(t, canary, s.details("open").CustomerReferenceNumber)
	after := s.get("erased")
	assert.Equal(t, []string{"12.34", before.ReceiptNumber, "approved"}, []string{after.Amount.String(), after.ReceiptNumber, after.Name()})

	receipt := s.Settled("open").ReceiptNumber
	eventually(s.T, func() bool {
		s.received()
		s.Advance(time.Minute) // it may be delivered again
		return len(s.rows("SELECT id FROM quickstream.notification WHERE state = 'done'")) > 0
	}, "a notification is confirmed")
	assert.NotContains(t, s.tablesWith(receipt), "notification", "it keeps nothing of the customer")
	for done.Left != 0 {
		s.Advance(24 * time.Hour) // until its money cannot come back
		s.Work(s.get("open"))
		done, err = s.Engine().Erase(ctx, canary, "Kim", "as asked")
		require.NoError(t, err)
		require.Less(t, s.Now().Sub(after.Changed), 40*24*time.Hour)
	}
	assert.Empty(t, s.tablesWith(canary))
	assert.Equal(t, "C-2", s.details("kept").CustomerReferenceNumber)
	_, err = s.Engine().Erase(ctx, "", "Kim", "as asked")
	require.Error(t, err)
}

// TestKept: a write that is younger than eight days, or not over, is not emptied.
func TestKept(t *testing.T) { everywhere(t, testKept[*sql.Tx], testKept[pgx.Tx]) }

func testKept[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db, func(o *durable.Options[TTx]) { o.Keep = time.Hour })
	s.paid("A")
	s.Advance(7 * 24 * time.Hour)
	s.Daily()
	assert.NotEmpty(t, s.get("A").Reference)
	s.Advance(25 * time.Hour)
	eventually(s.T, func() bool { s.Daily(); return s.get("A").Reference == "" }, "it is emptied")
	assert.True(t, s.get("A").Paid())
	_, err := s.tryPay(durable.NewWrite{ID: "A/2", Order: "A"}, s.stored())
	require.ErrorIs(t, err, durable.ErrOrderOpen)
	assert.Equal(t, 1, s.charged("A"))
}

func (s *shop[TTx]) details(id string) durable.Details {
	s.T.Helper()
	d, err := s.Engine().Details(s.T.Context(), id)
	require.NoError(s.T, err)
	return d
}

// rows returns the rows of a statement, as text.
func (s *shop[TTx]) rows(statement string, args ...any) (rows []string) {
	s.T.Helper()
	require.NoError(s.T, s.Tx(func(tx TTx) error {
		found, err := s.db.Join(tx).Query(s.T.Context(), statement, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			text := ""
			if err := found.Scan(&text); err != nil {
				return err
			}
			rows = append(rows, text)
		}
		return found.Err()
	}))
	return rows
}

// tablesWith returns the tables that hold a text in any column.
func (s *shop[TTx]) tablesWith(text string) (tables []string) {
	s.T.Helper()
	for table, columns := range map[string]string{
		"write": "title, reference, customer, intent, lookups, problem, receipt", "event": "note, by, detail", "notification": "raw, problem", "meta": "value",
	} {
		all := strings.ReplaceAll(columns, ", ", " || ' ' || ")
		if len(s.rows("SELECT 'x' FROM quickstream."+table+" WHERE "+all+" LIKE $1", "%"+text+"%")) > 0 {
			tables = append(tables, table)
		}
	}
	return tables
}
