package store

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// lines are an order's timeline: kind and text of each entry.
func (w *world) lines(order string) []string {
	w.Helper()
	d, err := w.shop.orderView(w.Context(), order)
	require.NoError(w, err)
	var all []string
	for _, e := range d.Timeline {
		all = append(all, e.Kind+": "+e.What)
	}
	return all
}

// has reports the first line from one on that begins and goes on so, and fails without one.
func (w *world) has(lines []string, kind, part string) {
	w.Helper()
	for _, line := range lines {
		if strings.HasPrefix(line, kind+": ") && strings.Contains(line, part) {
			return
		}
	}
	assert.Failf(w, "It is not in the timeline", "%s with %q in %q", kind, part, lines)
}

// The answer of an approved payment is lost: it is sent again with the same key, charges
// once, and the timeline shows both requests.
func TestAnswerLost(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	id := b.order("pot")
	require.NoError(t, w.box.Inject(sandbox.Fault{Operation: "POST /transactions", Nth: 1, Kind: sandbox.ResetAfterCommit()}))
	b.pay(id, visa)
	b.becomes("/orders/"+id, approved, 0)
	assert.Equal(t, 1, w.charged(id))
	lines := w.lines(id)
	w.has(lines, kindAttempt, "three-ds2-authentication, answered 200")
	w.has(lines, kindAttempt, "POST /transactions, no answer")
	w.has(lines, kindAttempt, "sent again with the same key (2)")
	w.has(lines, kindOutcome, "Transactions.Pay: approved")
}

// All answers of a payment are lost, and another process looks it up: the customer is told not
// to pay again, the timeline goes on, and all of it is one trace, from the customer's request.
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
	lines := w.lines(id)
	w.has(lines, kindLookUp, "answered 200")
	w.has(lines, kindOutcome, "Transactions.Pay: approved")
	names := w.traceWith("Transactions.Pay")
	for _, name := range []string{"POST /orders/{order}/pay", "POST /transactions", "Transactions.Pay", "Transactions.Resume"} {
		assert.Contains(t, names, name)
	}
}

// A notification whose signature is wrong is refused and noted nowhere. The same one with
// the right signature is.
func TestForgedNotification(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	_, path := b.agree()
	reference := strings.TrimPrefix(path, "/payto/")
	events := func() (n int) {
		for _, line := range w.lines(reference) {
			if strings.HasPrefix(line, kindEvent) {
				n++
			}
		}
		return n
	}
	w.box.NextDelivery(sandbox.DeliveryFault{Tampered: true})
	require.NoError(t, w.inBankApp(sandbox.ConfirmAgreement))
	require.NoError(t, w.box.Flush(t.Context()))
	assert.Zero(t, events())
	require.NoError(t, w.box.Redeliver(w.box.Deliveries()[0].ID))
	require.NoError(t, w.box.Flush(t.Context()))
	assert.Equal(t, 1, events())
}
