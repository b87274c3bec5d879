package store

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// chargedTwice is an order whose first payment nobody could find, so that a person decided
// that it never reached the service, which was paid again, and whose first payment came
// then. It returns the ids of the payments, the first payment's first.
func (w *world) chargedTwice(customer *browser) (id string, payments [2]string) {
	w.Helper()
	w.box.NextTransaction(sandbox.Erred().ThenAfter(60*24*time.Hour, sandbox.Approved()))
	id = customer.order("pot")
	customer.pay(id, visa)
	customer.becomes("/orders/"+id, "person", 2*time.Hour)
	p, err := w.shop.engine.PaymentOf(w.Context(), id)
	require.NoError(w, err)
	never := durable.Decision{Verdict: durable.VerdictNotSent, By: "Robin", Note: "Support has no such payment"}
	require.NoError(w, w.shop.within(w.Context(), func(tx *sql.Tx) error { return w.shop.engine.Decide(w.Context(), tx, p.ID, never) }))
	customer.get("/checkout/" + id)
	customer.pay(id, visa)
	customer.becomes("/orders/"+id, approved, 0)
	w.clock.Jump(60 * 24 * time.Hour)
	customer.becomes("/orders/"+id, "twice", time.Hour)
	list, err := charges(w.Context(), w.shop.db, id)
	require.NoError(w, err)
	require.Len(w, list, 2)
	return id, [2]string{list[0].ID, list[1].ID}
}

// Who was charged twice is told so everywhere, and the case is closed as soon as one of the
// two payments is back, whichever it is, by a void and by a refund. The other one pays.
func TestChargedTwice(t *testing.T) {
	for name, test := range map[string]struct {
		which int
		after time.Duration
	}{"the first": {0, 0}, "the second": {1, 48 * time.Hour}, "the first, settled": {0, 48 * time.Hour}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			customer := w.browser()
			id, payments := w.chargedTwice(customer)
			w.clock.Jump(test.after)
			assert.Contains(t, customer.get("/orders/"+id).body, "You were charged twice")
			assert.Contains(t, customer.get("/").body, "charged twice: we give one payment back")
			require.NoError(t, w.shop.within(t.Context(), func(tx *sql.Tx) error {
				_, _, err := w.shop.engine.Reverse(t.Context(), tx, durable.NewWrite{ID: "back"}, payments[test.which])
				return err
			}))
			page := customer.becomes("/orders/"+id, approved, time.Hour)
			assert.Contains(t, page.body, "You had paid twice, and have one payment back.</p>")
			other, err := w.shop.engine.Write(t.Context(), payments[1-test.which])
			require.NoError(t, err)
			assert.Contains(t, page.body, other.Common().ReceiptNumber)
			assert.Contains(t, customer.get("/").body, `<span class="quiet">paid, and a second payment given back</span>`)
			assert.Equal(t, "/orders/"+id, customer.get("/checkout/"+id).path, "it is not paid a third time")
		})
	}
}
