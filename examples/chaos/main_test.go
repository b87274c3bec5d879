package main

import (
	"io"
	"strings"
	"testing"
)

func TestNobodyIsChargedTwice(t *testing.T) {
	for _, args := range []string{"-payments 200", "-payments 200 -seed 2 -resend=false", "-payments 50 -faults 0", "-payments 50 -workers 1"} {
		t.Run(args, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), &out, strings.Fields(args)); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}

// TestWorlds runs in the worlds that cover most pairs of what the contract leaves open.
func TestWorlds(t *testing.T) {
	for _, args := range []string{"-worlds 200 -payments 6", "-worlds 100 -payments 6 -seed 1000 -resend=false", "-worlds 100 -payments 6 -seed 2000 -faults 0"} {
		t.Run(args, func(t *testing.T) {
			var out strings.Builder
			if err := run(t.Context(), &out, strings.Fields(args)); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}

// TestTheProofCanFail runs the client that charges twice.
func TestTheProofCanFail(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), &out, []string{"-payments", "200", "-naive"})
	if err == nil || !strings.Contains(err.Error(), "charged twice") {
		t.Errorf("the naive client passes: %v", err)
	}
	if !strings.Contains(out.String(), " charged 2 times: ") {
		t.Errorf("no order that was charged twice is listed:\n%s", out.String())
	}
}

func TestFlags(t *testing.T) {
	for _, args := range []string{"-payments -1", "-workers 0", "-faults 2", "-unknown"} {
		if err := run(t.Context(), io.Discard, strings.Fields(args)); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}
