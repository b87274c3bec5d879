package sandbox

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSuspendedTransactions(t *testing.T) {
	bubble(t, func(c *caller) {
		c.box.NextTransaction(Suspended(), Suspended(), Suspended())
		completed, cancelled := c.pay("A"), c.pay("B")
		preauth := c.made(preauth("C", goodCard))
		c.sleep(2 * time.Second)
		const path = "/transactions/suspended?supplierBusinessCode=SANDBOX01&month=2000-01"
		assert.Equal(t, []string{preauth, cancelled, completed}, c.receipts(path))
		assert.Equal(t, "SUSPENDED", c.read(completed)["fraudGuardResult"])
		assert.Contains(t, c.refused(captureOf(preauth, "1.00")), original)
		c.must(422, c.post("/transactions/"+completed+"/void", nil))

		c.sleep(10 * time.Hour)
		require.NoError(t, c.box.Portal(completed, CompleteTransaction))
		require.NoError(t, c.box.Portal(cancelled, CancelTransaction))
		require.NoError(t, c.box.Portal(preauth, CompleteTransaction))
		assert.Empty(t, c.receipts(path))
		body := c.read(completed)
		assert.Equal(t, []any{"Approved", "0", "2000-01-02"}, []any{body["status"], body["summaryCode"], body["settlementDate"]})
		body = c.read(cancelled)
		assert.Equal(t, []any{"Declined", "1", "17"}, []any{body["status"], body["summaryCode"], body["responseCode"]})
		c.made(captureOf(preauth, "1.00"))
		assert.Equal(t, int64(1050), c.box.Ledger().Net("A"))
		assert.Zero(t, c.box.Ledger().Net("B"))

		require.Error(t, c.box.Portal(completed, CompleteTransaction))
		require.Error(t, c.box.Portal(cancelled, CancelTransaction))
		require.Error(t, c.box.Portal("1", CompleteTransaction))
	})
}

func TestSuspendedTransactionsFilters(t *testing.T) {
	bubble(t, func(c *caller) {
		get := func(query string) response { return c.get("/transactions/suspended?" + query) }
		for _, month := range []string{"2000-02", "2000-01", "1999-12", "1999-07"} {
			c.must(200, get("supplierBusinessCode=SANDBOX01&month="+month))
		}
		for _, query := range []string{
			"supplierBusinessCode=X&month=2000-01", "supplierBusinessCode=SANDBOX01&month=1999-06",
		} {
			c.must(404, get(query))
		}
		c.box.NextTransaction(Suspended())
		suspended := c.pay("O")
		c.sleep(31 * 24 * time.Hour)
		assert.Equal(t, []string{suspended}, c.receipts("/transactions/suspended?supplierBusinessCode=SANDBOX01&month=2000-01"))
		assert.Empty(t, c.receipts("/transactions/suspended?supplierBusinessCode=SANDBOX01&month=2000-02"))
	})
}

func TestScheduledRetries(t *testing.T) {
	bubble(t, func(c *caller) {
		c.box.NextTransaction(Declined("01").ThenRetried(time.Hour, Declined("01").ThenRetried(2*time.Hour, Approved())))
		first := c.made(changed(cardPayment("O"), "paymentReferenceNumber", "P-1"))
		c.sleep(2 * time.Second)
		path := "/transactions/" + first + "/retries"
		assert.Empty(t, c.receipts(path))
		c.sleep(time.Hour)
		assert.Len(t, c.receipts(path), 1)
		c.sleep(2 * time.Hour)
		c.sleep(30 * 24 * time.Hour)
		retries := c.receipts(path)
		require.Len(t, retries, 2)
		body := c.read(retries[0])
		for name, want := range map[string]any{
			"transactionType": "PAYMENT", "originalReceiptNumber": first, "summaryCode": "0", "paymentReferenceNumber": "P-1",
			"customerReferenceNumber": "O", "transactionTime": "2000-01-01T14:00:00+1100",
		} {
			assert.Equal(t, want, body[name], name)
		}
		assert.Equal(t, "1", c.read(first)["summaryCode"], "the first attempt stays declined")
		assert.Len(t, c.box.Ledger().Charged("O"), 1)
		assert.Equal(t, append(retries, first), c.receipts("/transactions/for-reference-number?referenceNumber=P-1"))
		c.must(404, c.get("/transactions/1/retries"))
		require.Error(t, func() error { _, err := c.box.RetryPayment(first); return err }())
	})
	bubble(t, func(c *caller) { // by the facility's schedule, with the outcome of the card
		first := c.made(changed(cardPayment("O"), "creditCard", cardDetails("4111111117444490")))
		other := c.made(changed(cardPayment("O"), "creditCard", cardDetails("4111111115444492")))
		c.box.NextTransaction(Rejected("QA"))
		c.sleep(365 * 24 * time.Hour)
		assert.Len(t, c.receipts("/transactions/"+first+"/retries"), 2)
		assert.Empty(t, c.receipts("/transactions/"+other+"/retries"), "not a soft decline")
		assert.Equal(t, "3", c.must(201, c.post("/transactions", cardPayment("N")))["summaryCode"], "retries use no script")
		assert.Empty(t, c.box.Ledger().Charged("O"))
	})
}

func TestManualRetry(t *testing.T) {
	bubble(t, func(c *caller) {
		c.box.NextTransaction(Declined("01"), Declined("05"), Declined("01"), Approved())
		soft, hard := c.pay("O"), c.pay("H")
		_, err := c.box.RetryPayment(hard)
		require.Error(t, err)
		again, err := c.box.RetryPayment(soft)
		require.NoError(t, err)
		_, err = c.box.RetryPayment(again)
		require.Error(t, err, "the first attempt is retried, not its retry")
		last, err := c.box.RetryPayment(soft)
		require.NoError(t, err)
		c.sleep(2 * time.Second)
		assert.Equal(t, []string{last, again}, c.receipts("/transactions/"+soft+"/retries"))
		assert.Equal(t, last, c.box.Ledger().Charged("O")[0].Receipt)
		c.sleep(365 * 24 * time.Hour)
		assert.Len(t, c.box.Ledger().Order("O"), 3, "the schedule stops at success")
	})
}

func TestReturns(t *testing.T) {
	bubble(t, func(c *caller) {
		var all []string
		for range 4 {
			all = append([]string{c.made(bankPayment("O", "032-053"))}, all...) // returned after a day
			c.sleep(time.Second)
		}
		shop := c.made(changed(bankPayment("S", "032-999"), "supplierBusinessCode", "SHOP"))
		card := c.pay("C")
		c.sleep(2 * time.Second)
		assert.Empty(t, c.receipts("/transactions/returns?date=2000-01-02"))
		c.sleep(24 * time.Hour)
		require.NoError(t, c.box.ReturnPayment(shop, "6"))
		require.Error(t, c.box.ReturnPayment(shop, "6"))
		require.Error(t, c.box.ReturnPayment(card, "6"))
		assert.Equal(t, append([]string{shop}, all...), c.receipts("/transactions/returns?date=2000-01-02"))
		assert.Equal(t, []string{shop}, c.receipts("/transactions/returns?date=2000-01-02&supplierBusinessCode=SHOP"))
		assert.Empty(t, c.receipts("/transactions/returns?date=2000-01-01"))
		body := c.read(shop)
		assert.Equal(t, []any{"Declined", "1", "6", false}, []any{body["status"], body["summaryCode"], body["responseCode"], body["refundable"]})
		assert.Empty(t, c.box.Ledger().Charged("O"))
		c.must(404, c.get("/transactions/returns?date=2000-01-02&supplierBusinessCode=X"))
	}, WithBusiness("SHOP", "The Shop"))
}

func TestHandlesOfAClosedSandbox(t *testing.T) {
	box := New()
	box.Close()
	require.Error(t, box.Portal("1", CancelTransaction))
	_, err := box.RetryPayment("1")
	require.Error(t, err)
}

// Each order gets its own outcomes, in any order of calls.
func TestNextTransactionFor(t *testing.T) {
	b := New()
	defer b.Close()
	b.NextTransaction(Rejected("QA"))
	b.NextTransactionFor("ORDER-1", Declined("51"), Erred())
	var got []string
	for _, order := range []string{"order-1", "ORDER-2", "ORDER-1", "ORDER-1"} {
		o := b.decide(&transaction{customerReference: order}, b.Now())
		got = append(got, string(o.result))
	}
	assert.Equal(t, []string{"declined", "rejected", "erred", "approved"}, got)
}
