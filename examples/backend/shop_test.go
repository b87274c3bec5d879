package main

import (
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// open returns a sandbox whose clock stands still, and a shop with ORDER-1 and ORDER-2.
func open(t *testing.T) (*sandbox.Sandbox, *sandbox.Clock, *Shop) {
	clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)) // 10:00 in Sydney
	box, _ := sandboxtest.New(t, sandbox.WithClock(clock))
	return box, clock, shopOf(t, box)
}

func shopOf(t *testing.T, box *sandbox.Sandbox) *Shop {
	shop, err := NewShop(t.Context(), sandboxtest.Client(t, box, facility()...), ":memory:", box.Now)
	if err == nil {
		_, err = shop.DB.Exec(`INSERT INTO orders VALUES ('ORDER-1', '49.95'), ('ORDER-2', '49.95')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = shop.DB.Close() })
	return shop
}

// lose makes the service lose answers to payments after it has taken them.
func lose(t *testing.T, box *sandbox.Sandbox, kind sandbox.FaultKind, times int) {
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: kind, Times: times}); err != nil {
		t.Fatal(err)
	}
}

func tokenOf(t *testing.T, shop *Shop, card string) string {
	token, err := sandboxtest.CardToken(t.Context(), shop.Client, card) // stands for the browser
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// check compares what the shop says with what the service has taken.
func check(t *testing.T, box *sandbox.Sandbox, shop *Shop, order, state string, charges int) {
	t.Helper()
	if got, charged := shop.State(t.Context(), order), len(box.Ledger().Charged(order)); got != state || charged != charges {
		t.Errorf("%s is %s with %d charges, and should be %s with %d", order, got, charged, state, charges)
	}
}

func TestTheAnswerIsLost(t *testing.T) {
	box, _, shop := open(t)
	lose(t, box, sandbox.ResetAfterCommit(), 1)
	press(t.Context(), shop, "ORDER-1", tokenOf(t, shop, "4242424242424242"))
	check(t, box, shop, "ORDER-1", "paid", 1)
}
