package main

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func TestTheOutcomeIsUnknown(t *testing.T) {
	box, clock, shop := open(t)
	lose(t, box, sandbox.ResetAfterCommit(), 3)
	for range 2 { // the customer presses twice
		press(t.Context(), shop, "ORDER-1", tokenOf(t, shop, "4242424242424242"))
		check(t, box, shop, "ORDER-1", "held", 1)
	}
	clock.Advance(time.Hour)
	if err := shop.Resolve(t.Context()); err != nil {
		t.Error(err)
	}
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
		first.Go(func() { press(t.Context(), shop, "ORDER-1", token) })
		<-time.After(time.Second)
		press(t.Context(), shop, "ORDER-1", token)
		check(t, box, shop, "ORDER-1", "held", 1)
		first.Wait()
		box.ClearFaults()
		press(t.Context(), shop, "ORDER-2", token) // 422: it is used
		check(t, box, shop, "ORDER-2", "free", 0)
		check(t, box, shop, "ORDER-1", "held", 1)
		<-time.After(time.Hour)
		if err := shop.Resolve(t.Context()); err != nil {
			t.Error(err)
		}
		check(t, box, shop, "ORDER-1", "paid", 1)
	})
}
