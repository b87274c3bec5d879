package store

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

var (
	rowPattern = regexp.MustCompile(`<div[^>]*><dt>([^<]*)</dt><dd>([^<]*)</dd></div>`)
	buttonText = regexp.MustCompile(`<button type="submit" id="pay-button">([^<]*)</button>`)
)

// rows are the lines of a summary or a receipt.
func (p shown) rows() map[string]string {
	rows := map[string]string{}
	for _, row := range rowPattern.FindAllStringSubmatch(p.body, -1) {
		rows[row[1]] = row[2]
	}
	return rows
}

// receipt waits until the service shows what was paid for an order, which is a moment after it was taken.
func (b *browser) receipt(id string) shown {
	b.Helper()
	page := b.becomes("/orders/"+id, approved, 10*time.Second)
	for deadline := time.Now().Add(30 * time.Second); page.rows()["Paid"] == ""; page = b.get("/orders/" + id) {
		assert.Contains(b, page.body, "follows here in a moment")
		require.Less(b, time.Now(), deadline, "the receipt stays as it is")
		b.clock.Jump(time.Second)
	}
	return page
}

// A receipt says what the service has taken, how and when, and of the card its last digits only. If the service does not
// answer, it says no more than the shop knows.
func TestReceipt(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("beans")
	b.pay(id, visa)
	page := b.receipt(id)
	rows, entry := page.rows(), w.box.Ledger().Order(id)[0]
	assert.Contains(t, page.body, "We have your payment of $24.90.")
	assert.Regexp(t, `^\d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d AE[DS]T$`, rows["Paid on"])
	delete(rows, "Paid on")
	assert.Equal(t, map[string]string{
		"1 × Coffee beans": "$24.90", "Paid": "$24.90", "Paid by": "VISA ending in 242", "Receipt number": entry.Receipt, "Order": id,
	}, rows)
	assert.NotContains(t, page.body, visa[:6], "no more of the number")

	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "GET /transactions/{receiptNumber}", Kind: sandbox.ResetBeforeCommit()}))
	page = b.get("/orders/" + id)
	assert.Equal(t, map[string]string{"1 × Coffee beans": "$24.90", "Receipt number": entry.Receipt, "Order": id}, page.rows())
	assert.Contains(t, page.body, "We have your payment.")
}

// Who pays by PayTo has that on the receipt.
func TestReceiptOfPayTo(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("cup")
	b.post("/orders/"+id+"/pay", "name", "Alex Example", "payid", payID)
	for _, agreement := range w.box.Agreements() {
		require.NoError(t, w.box.Payer(agreement.Token, sandbox.ConfirmAgreement))
	}
	assert.Equal(t, "PayTo, from your bank account", b.receipt(id).rows()["Paid by"])
}

// What a card costs more is said before it is paid, and is on the receipt. If the service does not say it, the checkout
// does not say that there is none.
func TestSurcharge(t *testing.T) {
	w := newWorld(t, sandbox.WithBusiness(sandbox.DefaultBusiness, "Corner Shop", sandbox.Surcharge{Scheme: "VISA", CardType: "CREDIT", BasisPoints: 110}))
	b := w.browser()
	id := b.order("beans")
	page := b.get("/checkout/" + id)
	assert.Equal(t, map[string]string{"1 × Coffee beans": "$24.90", "Surcharge for VISA CREDIT": "1.10%", "Total before a surcharge": "$24.90"}, page.rows())
	assert.Equal(t, "Pay $24.90, and the card's surcharge", buttonText.FindStringSubmatch(page.body)[1])
	b.pay(id, visa)
	page = b.receipt(id)
	assert.Equal(t, "$0.27", page.rows()["Card surcharge"])
	assert.Equal(t, "$25.17", page.rows()["Paid"])
	assert.Contains(t, page.body, "We have your payment of $25.17.")

	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "GET /businesses/{supplierBusinessCode}/list-card-surcharges", Kind: sandbox.ResetBeforeCommit()}))
	page = b.get("/checkout/" + b.order("cup"))
	assert.Equal(t, map[string]string{"1 × Cup": "$12.50", "Card surcharge": "not known now", "Total before a surcharge": "$12.50"}, page.rows())
	assert.Equal(t, "Pay $12.50, and the card's surcharge if there is one", buttonText.FindStringSubmatch(page.body)[1])
}

// A shop that adds nothing says so.
func TestNoSurcharge(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	page := b.get("/checkout/" + b.order("cup"))
	assert.Equal(t, map[string]string{"1 × Cup": "$12.50", "Card surcharge": "none", "Total": "$12.50"}, page.rows())
	assert.Equal(t, "Pay $12.50", buttonText.FindStringSubmatch(page.body)[1])
}
