package main

import (
	"testing"

	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func TestNobodyIsChargedTwice(t *testing.T) {
	worlds := sandboxtest.WorldsOptions{N: 20, Seed: 1, Client: facility()}
	sandboxtest.Worlds(t, worlds, func(t *testing.T, run sandboxtest.Run) {
		shop := shopOf(t, run.Box)
		shop.Client = run.Client
		press(t.Context(), shop, "ORDER-1", "4242424242424242")
		state, charged := shop.State(t.Context(), "ORDER-1"), len(run.Box.Ledger().Charged("ORDER-1"))
		if charged > 1 || state == "paid" && charged == 0 || state == "free" && charged == 1 {
			t.Errorf("charged %d times, and the order is %s", charged, state)
		}
	})
}
