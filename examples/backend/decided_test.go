package main

import (
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// What a person decides stays: the row is looked up no more, and the order can be paid.
func TestDecided(t *testing.T) {
	shop, box, clock := stopped(t)
	lose(t, box, sandbox.ResetBeforeCommit(), 3)
	press(t.Context(), shop, "ORDER-1", "4242424242424242")
	check(t, box, shop, "ORDER-1", "held", 0)
	if _, err := shop.DB.Exec(`UPDATE attempts SET state = 'free', look_at = NULL WHERE order_number = 'ORDER-1'`); err != nil {
		t.Fatal(err)
	}
	press(t.Context(), shop, "ORDER-1", "4242424242424242")
	clock.Advance(30 * 24 * time.Hour)
	if err := shop.Resolve(t.Context()); err != nil {
		t.Error(err)
	}
	check(t, box, shop, "ORDER-1", "paid", 1)
}
