//go:build !race

// Not with the race detector: one worker to a world has few races to find, and takes ten times as long.

package main

import "testing"

// TestWorlds runs in the worlds that cover every pair of what the contract leaves open.
// .ci/long runs more of them.
func TestWorlds(t *testing.T) {
	pass(t, "-worlds 466 -payments 2", "-worlds 40 -payments 6 -seed 1000 -resend=false", "-worlds 40 -payments 6 -seed 2000 -faults 0")
}
