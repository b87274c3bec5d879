package main

import (
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// The order is free after a decline, after what was not sent and after a refusal, and can then be paid.
func TestFree(t *testing.T) {
	for name, fail := range map[string]func(*sandbox.Sandbox, *sandbox.Clock, *Shop){
		"declined": func(_ *sandbox.Sandbox, _ *sandbox.Clock, shop *Shop) {
			press(t.Context(), shop, "ORDER-1", "4111111111444496")
		},
		"not sent": func(box *sandbox.Sandbox, _ *sandbox.Clock, shop *Shop) {
			token := tokenOf(t, shop, "4242424242424242")
			lose(t, box, sandbox.Unreachable(sandbox.ConnectionRefused), 3)
			submit(t.Context(), shop, "ORDER-1", token)
		},
		"refused": func(_ *sandbox.Sandbox, clock *sandbox.Clock, shop *Shop) {
			token := tokenOf(t, shop, "4242424242424242")
			clock.Advance(11 * time.Minute) // a token lives for ten
			submit(t.Context(), shop, "ORDER-1", token)
		},
	} {
		t.Run(name, func(t *testing.T) {
			shop, box, clock := stopped(t)
			fail(box, clock, shop)
			check(t, box, shop, "ORDER-1", "free", 0)
			for range 2 {
				press(t.Context(), shop, "ORDER-1", "4242424242424242")
				check(t, box, shop, "ORDER-1", "paid", 1)
			}
		})
	}
}

// A suspended payment is pending: the order is held, and no second payment is made.
func TestPending(t *testing.T) {
	shop, box, _ := stopped(t)
	box.NextTransaction(sandbox.Suspended())
	for range 2 {
		press(t.Context(), shop, "ORDER-1", "4242424242424242")
		check(t, box, shop, "ORDER-1", "held", 0)
	}
}
