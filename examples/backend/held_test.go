package main

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// stopped returns a sandbox whose clock stands still, and its shop.
func stopped(t *testing.T) (*Shop, *sandbox.Sandbox, *sandbox.Clock) {
	clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)) // 10:00 in Sydney
	box, _ := sandboxtest.New(t, sandbox.WithClock(clock))
	return shopOf(t, box), box, clock
}

func shopOf(t *testing.T, box *sandbox.Sandbox) *Shop {
	shop, err := NewShop(t.Context(), sandboxtest.Client(t, box, facility()...), ":memory:")
	if err == nil {
		_, err = shop.DB.Exec(`INSERT INTO orders VALUES ('ORDER-1', '49.95'), ('ORDER-2', '49.95')`)
	}
	if err != nil {
		t.Fatal(err)
	}
	shop.Now = box.Now
	t.Cleanup(func() { _ = shop.DB.Close() })
	return shop
}

// lose makes the given number of payments meet a fault.
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

// One lost answer is no unknown outcome: the client sends the payment again with the same key.
func TestOneLostAnswer(t *testing.T) {
	shop, box, _ := stopped(t)
	lose(t, box, sandbox.ResetAfterCommit(), 1)
	press(t.Context(), shop, "ORDER-1", "4242424242424242")
	check(t, box, shop, "ORDER-1", "paid", 1)
}

// Two clicks with one token, and the first gets no answer. That the token is refused as used says nothing
// about the first.
func TestTwoClicksWithOneToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box, _ := sandboxtest.New(t)
		shop := shopOf(t, box)
		lose(t, box, sandbox.HangAfterCommit(), 3)
		token := tokenOf(t, shop, "4242424242424242")
		var first sync.WaitGroup
		first.Go(func() { submit(t.Context(), shop, "ORDER-1", token) })
		<-time.After(time.Second)
		submit(t.Context(), shop, "ORDER-1", token)
		check(t, box, shop, "ORDER-1", "held", 1)
		first.Wait()
		box.ClearFaults()
		submit(t.Context(), shop, "ORDER-2", token) // 422: it is used
		check(t, box, shop, "ORDER-2", "free", 0)
		check(t, box, shop, "ORDER-1", "held", 1)
		<-time.After(time.Hour)
		if err := shop.Resolve(t.Context()); err != nil {
			t.Error(err)
		}
		check(t, box, shop, "ORDER-1", "paid", 1)
	})
}
