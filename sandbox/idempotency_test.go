package sandbox

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReplay(t *testing.T) {
	bubble(t, func(c *caller) {
		first := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		c.must(201, first)
		c.sleep(5*time.Minute - time.Second)
		again := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		assert.Equal(t, []any{first.status, string(first.raw)}, []any{again.status, string(again.raw)})
		assert.Len(t, c.box.Ledger().Charged("O"), 1)
		list := c.box.Requests()
		assert.Equal(t, []bool{false, true}, []bool{list[0].Replayed, list[1].Replayed})
		assert.Equal(t, []bool{true, false}, []bool{list[0].Committed, list[1].Committed})

		// Another operation, another key, no key.
		c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K"}, "Idempotency-Key", "k"))
		c.must(201, c.post("/transactions", cardPayment("O2"), "Idempotency-Key", "k2"))
		c.must(201, c.post("/transactions", cardPayment("O2")))
		c.must(201, c.post("/transactions", cardPayment("O2")))
		assert.Len(t, c.box.Ledger().Charged("O2"), 3)

		c.sleep(time.Second) // the key has expired
		later := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		assert.NotEqual(t, first.body["receiptNumber"], later.body["receiptNumber"])
		assert.Len(t, c.box.Ledger().Charged("O"), 2)
		assert.Len(t, c.box.Ledger().Order("O")[0].IdempotencyKey, 1)
	})
}

func TestReplayAssumptions(t *testing.T) {
	bubble(t, func(c *caller) {
		first := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		again := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		assert.Equal(t, []string{"", "true"}, []string{first.header.Get("Replayed"), again.header.Get("Replayed")})
		third := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		assert.Equal(t, []string{"true"}, third.header.Values("Replayed"))
	}, assuming(func(a *Assumptions) { a.ReplayHeader = "Replayed" }))

	bubble(t, func(c *caller) {
		wrong := changed(cardPayment("O"), "currency", nil)
		c.must(422, c.post("/transactions", wrong, "Idempotency-Key", "k"))
		// By default the refusal has used up the key.
		out := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		c.must(422, out)
		assert.Contains(t, out.body["developerMessage"], "another body")
		c.must(422, c.post("/transactions", wrong, "Idempotency-Key", "k"))
		assert.True(t, c.box.Requests()[2].Replayed)
		c.must(201, c.post("/transactions", cardPayment("O"), "Idempotency-Key", strings.Repeat("k", 255)))
	})
	bubble(t, func(c *caller) {
		c.must(422, c.post("/transactions", changed(cardPayment("O"), "currency", nil), "Idempotency-Key", "k"))
		c.must(201, c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k"))
		out := c.post("/transactions", cardPayment("O2"), "Idempotency-Key", "k")
		c.must(409, out)
	}, assuming(func(a *Assumptions) {
		a.ReplayedStatuses = slices.DeleteFunc(slices.Clone(a.ReplayedStatuses), func(s int) bool { return s == 422 })
		a.KeyMismatch = "409"
	}))
}

func TestKeyIsReservedWhileTheFirstRequestIsProcessed(t *testing.T) {
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: DelayBeforeCommit(time.Minute)}))
		done := make(chan response)
		r := c.request("POST", "/transactions", c.keys.Secret, cardPayment("O"), "Idempotency-Key", "k")
		go func() {
			out, _ := c.try(r)
			done <- out
		}()
		c.sleep(time.Second)
		out := c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k")
		c.must(409, out)
		assert.Equal(t, "409", out.body["status"])
		first := <-done
		assert.Equal(t, 201, first.status)
		assert.Equal(t, string(first.raw), string(c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k").raw))
		assert.Len(t, c.box.Ledger().Charged("O"), 1)
	})
}

func TestUnauthorisedRequestsDoNotTouchKeys(t *testing.T) {
	bubble(t, func(c *caller) {
		c.must(401, c.do("POST", "/transactions", "nobody", cardPayment("O"), "Idempotency-Key", "k"))
		c.must(201, c.post("/transactions", cardPayment("O"), "Idempotency-Key", "k"))
		c.must(401, c.do("POST", "/transactions", "nobody", cardPayment("O"), "Idempotency-Key", "k"))
	})
}
