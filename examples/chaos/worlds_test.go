//go:build !race

// Not with the race detector: one worker to a world has few races to find, and takes ten times as long.

package main

import "testing"

// TestWorlds runs in the worlds that cover every pair of what the contract leaves open. .ci/long runs
// more payments in all worlds.
func TestWorlds(t *testing.T) {
	pass(t, "-worlds 466 -payments 1", "-worlds 60 -payments 3 -seed 1000 -resend=false", "-worlds 60 -payments 3 -seed 2000 -faults 0")
}
