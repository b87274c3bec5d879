package store

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The answer of an approved payment is lost: it is sent again with the same key, charges
// once.
func TestAnswerLost(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("pot")
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "POST /transactions", Nth: 1, Kind: sandbox.ResetAfterCommit()}))
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	assert.Equal(t, 1, w.charged(id))
}

// All answers of a payment are lost, and another process looks it up: the customer is told not
// to pay again, and all of it is one trace, from the customer's request.
func TestAllAnswersLost(t *testing.T) {
	w := newTracedWorld(t)
	b := w.browser()
	id := b.order("pot")
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}))
	b.pay(id, visa)
	page := b.becomes("/orders/"+id, "unknown", 0)
	assert.Contains(t, page.body, "do not pay again")
	w.close()
	w.open()
	b.becomes("/orders/"+id, approved, 10*time.Second)
	assert.Equal(t, 1, w.charged(id))
	names := w.traceWith("Transactions.Pay")
	for _, name := range []string{"POST /orders/{order}/pay", "POST /transactions", "Transactions.Pay", "Transactions.Resume"} {
		assert.Contains(t, names, name)
	}
}

// A notification whose signature is wrong is refused. The same one with the right signature is not.
func TestForgedNotification(t *testing.T) {
	w := newWorld(t)
	w.browser().agree()
	w.box.NextDelivery(sandbox.DeliveryFault{Tampered: true})
	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	require.NoError(t, w.box.Flush(t.Context()))
	answers := func(status int, n int) string {
		return fmt.Sprintf("shop_webhooks_answers_total{http_response_status_code=\"%d\"} %d\n", status, n)
	}
	metrics := w.scrape()
	assert.Contains(t, metrics, answers(http.StatusUnauthorized, 1))
	assert.Contains(t, metrics, answers(http.StatusOK, 0))
	require.NoError(t, w.box.Redeliver(w.box.Deliveries()[0].ID))
	require.NoError(t, w.box.Flush(t.Context()))
	assert.Contains(t, w.scrape(), answers(http.StatusOK, 1))
}
