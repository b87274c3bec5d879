package main

import (
	"strings"
	"testing"
)

// TestAFewWorlds is TestWorlds for the race detector, and with several workers.
func TestAFewWorlds(t *testing.T) {
	pass(t, "-worlds 20 -payments 3", "-worlds 8 -payments 30 -workers 16", "-worlds 4 -payments 30 -workers 16 -resend=false")
}

// pass runs the merchant's program, of which nothing may be wrong.
func pass(t *testing.T, runs ...string) {
	t.Helper()
	for _, args := range runs {
		t.Run(args, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), &out, strings.Fields(args)); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}

// TestTheProofCanFail runs the client that charges twice. The same flags find the same again.
func TestTheProofCanFail(t *testing.T) {
	var outs [2]strings.Builder
	for i := range outs {
		err := run(t.Context(), &outs[i], strings.Fields("-worlds 6 -payments 20 -naive -faults 1"))
		if err == nil || !strings.Contains(err.Error(), "charged twice") {
			t.Errorf("the naive client passes: %v", err)
		}
	}
	if found := outs[0].String(); found != outs[1].String() || !strings.Contains(found, " was charged ") {
		t.Errorf("the same flags gave\n%s\nand\n%s", found, outs[1].String())
	}
}
