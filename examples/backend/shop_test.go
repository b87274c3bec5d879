package main

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

func TestLostAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // an hour takes no time in here
		shop, box, err := open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer box.Close()
		defer shop.DB.Close()
		if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3}); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the customer presses twice
			press(t.Context(), shop, "ORDER-1", "4242424242424242")
			check(t, box, shop, "ORDER-1", "held", 1)
		}
		<-time.After(time.Hour)
		if err := shop.Resolve(t.Context()); err != nil {
			t.Error(err)
		}
		check(t, box, shop, "ORDER-1", "paid", 1)
	})
}

// check compares what the shop says with what the service has taken.
func check(t *testing.T, box *sandbox.Sandbox, shop *Shop, order, state string, charges int) {
	t.Helper()
	if got, charged := shop.State(t.Context(), order), len(box.Ledger().Charged(order)); got != state || charged != charges {
		t.Errorf("%s is %s with %d charges, and should be %s with %d", order, got, charged, state, charges)
	}
}
