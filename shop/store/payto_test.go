package store

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

const payID = "alex@example.com"

// agree asks for an agreement about the monthly product, and returns its order and page.
func (b *browser) agree() (order, path string) {
	b.Helper()
	order = b.order("monthly")
	page := b.post("/payto", "order", order, "name", "Alex Example", "payid", payID)
	require.True(b, strings.HasPrefix(page.path, "/payto/"), "%s: %s", page.path, page.body)
	return order, page.path
}

// inBankApp has the payer of the only agreement act on it.
func (w *world) inBankApp(action sandbox.PayerAction) error {
	w.Helper()
	all := w.box.Agreements()
	require.Len(w, all, 1)
	return w.box.Payer(all[0].Token, action)
}

// collected counts what was taken by PayTo.
func (w *world) collected() int {
	n := 0
	for _, entry := range w.box.Ledger() {
		if entry.AgreementToken != "" && entry.Outcome == approved {
			n++
		}
	}
	return n
}

// collects waits until so many months were collected: a bank takes a while for each.
func (w *world) collects(months int) {
	w.Helper()
	for deadline := time.Now().Add(30 * time.Second); w.collected() < months; {
		if time.Now().After(deadline) {
			require.Failf(w, "It was not collected", "%+v", w.box.Ledger())
		}
		w.clock.Jump(10 * time.Second)
		<-time.After(50 * time.Millisecond)
	}
}

// A customer agrees in the bank's app, and is charged once a month, whatever the shop's
// program does meanwhile.
func TestMonthlyCollection(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	order, path := b.agree()
	assert.True(t, strings.HasPrefix(b.get(path).state(), "pending"))
	again := b.post("/payto", "order", order, "name", "Alex Example", "payid", payID).path
	assert.Equal(t, path, again, "asked for again it is the same agreement")
	assert.Equal(t, path, b.post("/orders/"+order+"/pay", "name", "Alex Example", "payid", payID).path, "and not paid beside it")
	assert.Equal(t, path, b.post("/orders/"+order+"/pay", "token", "any").path)
	assert.Len(t, w.box.Agreements(), 1)
	assert.Empty(t, w.box.Ledger())

	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	b.becomes(path, "active", 0)
	w.collects(1)
	b.becomes("/orders/"+order, approved, 10*time.Second)

	w.clock.Jump(32 * 24 * time.Hour)
	w.collects(2)
	w.close()
	w.open()
	b.becomes("/orders/"+order+"-2", approved, 10*time.Second)
	assert.Equal(t, 2, w.collected())
	assert.Contains(t, b.get(path).body, "/orders/"+order+"-2")
}

// Nothing is collected while the customer has suspended the agreement, nor after its end.
func TestSuspended(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	_, path := b.agree()
	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	w.collects(1)
	require.NoError(t, w.inBankApp(sandbox.SuspendAgreement))
	b.becomes(path, "suspended", 0)
	w.clock.Jump(32 * 24 * time.Hour)
	<-time.After(3 * time.Second) // in which the shop has looked
	assert.Equal(t, 1, w.collected())
	require.NoError(t, w.inBankApp(sandbox.ReactivateAgreement))
	b.becomes(path, "active", 0)
	w.collects(2)
	require.NoError(t, w.inBankApp(sandbox.CancelAgreement))
	b.becomes(path, "over", 0)
}

// A collection that has begun may still be taken after the customer has suspended the agreement: its page says so.
func TestSuspendedTooLate(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	order, path := b.agree()
	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	require.Eventually(t, func() bool { return len(w.box.Ledger()) == 1 }, time.Minute, 50*time.Millisecond)
	require.NoError(t, w.inBankApp(sandbox.SuspendAgreement))
	page := b.becomes(path, "suspended", 0)
	assert.NotContains(t, page.body, "Nothing is collected")
	assert.Contains(t, page.body, "may still be taken")
	b.becomes("/orders/"+order, approved, 10*time.Second)
	assert.Contains(t, b.get(path).body, "Nothing is collected until")
}

// The notifications are lost, and nobody looks at the page: the shop asks by itself.
func TestNotificationsLost(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	b.agree()
	w.box.HoldDeliveries()
	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	w.collects(1)
}

// A customer who declines in the app can ask again.
func TestAgreementDeclined(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	order, path := b.agree()
	require.NoError(t, w.inBankApp(sandbox.DeclineAgreement))
	page := b.becomes(path, "over", 0)
	assert.Contains(t, page.body, "/checkout/"+order)
	assert.Contains(t, page.body, "You or your bank declined it")
	assert.Contains(t, b.get("/customers/").body, "there is none any more")
	assert.Equal(t, "/checkout/"+order, b.get("/checkout/"+order).path)
	assert.NotEqual(t, path, b.post("/payto", "order", order, "name", "Alex Example", "payid", payID).path)
}

// An agreement that the service refuses was never there: the customer is not said to have declined it.
func TestAgreementRefused(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "POST /customers/{customerId}/payto-agreements", Kind: sandbox.Status(422, sandbox.ServiceError)}))
	b.post("/payto", "order", b.order("monthly"), "name", "Alex Example", "payid", payID)
	account := b.get("/customers/")
	path := regexp.MustCompile(`/payto/[0-9a-z-]+`).FindString(account.body)
	require.NotEmpty(t, path)
	page := b.get(path)
	assert.Contains(t, page.body, "It was not made.")
	assert.NotContains(t, page.body, "declined it")
}

// The agreement is made and the answer is lost: there is one all the same.
func TestAgreementAnswerLost(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "POST /customers/{customerId}/payto-agreements", Times: 5, Kind: sandbox.ResetAfterCommit()}))
	_, path := b.agree()
	b.becomes(path, "pending", time.Minute)
	assert.Len(t, w.box.Agreements(), 1)
}

// An order is paid from a bank account once the customer has agreed in the bank's app. The
// notification of it comes twice and does nothing twice. It, and the job that asks the service
// whether it is so, are in the payment's trace.
func TestPayByPayTo(t *testing.T) {
	w := newTracedWorld(t)
	b := w.browser()
	id := b.order("pot")
	page := b.post("/orders/"+id+"/pay", "name", "Alex Example", "payid", payID)
	assert.Equal(t, "/orders/"+id, page.path)
	b.becomes("/orders/"+id, "pending", 0)
	assert.Equal(t, "/orders/"+id, b.get("/checkout/"+id).path, "it cannot be paid again")
	w.box.NextDelivery(sandbox.DeliveryFault{Twice: true})
	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	b.becomes("/orders/"+id, approved, 10*time.Second)
	assert.Equal(t, 1, w.charged(id))
	require.NoError(t, w.box.Flush(t.Context()))
	require.Eventually(t, func() bool {
		return w.traceWith("POST /orders/{order}/pay", "Transactions.Pay", "POST /webhooks", "Transactions.Get") != nil
	}, 10*time.Second, 20*time.Millisecond)
}

// A PayID is personal: the shop sends it on, and keeps it nowhere.
func TestPayIDIsNotStored(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	b.agree()
	id := b.order("pot")
	b.post("/orders/"+id+"/pay", "name", "Alex Example", "payid", payID)
	b.becomes("/orders/"+id, "pending", 0)
	w.close()
	defer w.open()
	w.mu.Lock()
	w.received.Reset()
	w.mu.Unlock()
	assert.NotContains(t, w.everything(), payID)
}
