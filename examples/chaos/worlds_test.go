//go:build !race

// Not with the race detector: one worker to a world has few races to find, and takes ten times as long.

package main

import "testing"

// TestWorlds runs in some worlds. .ci/long runs in those that cover every pair of what the
// contract leaves open, and in more.
func TestWorlds(t *testing.T) {
	pass(t, "-worlds 100 -payments 2", "-worlds 20 -payments 6 -seed 1000 -resend=false", "-worlds 20 -payments 6 -seed 2000 -faults 0")
}
