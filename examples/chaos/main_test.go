package main

import (
	"io"
	"strings"
	"testing"
)

func TestNobodyIsChargedTwice(t *testing.T) {
	pass(t, "-payments 80", "-payments 80 -seed 2 -resend=false", "-payments 50 -faults 0", "-payments 50 -workers 1")
}

// TestAFewWorlds is TestWorlds for the race detector.
func TestAFewWorlds(t *testing.T) { pass(t, "-worlds 20 -payments 3") }

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
	for _, args := range []string{"-payments -1", "-workers -1", "-faults 2", "-unknown"} {
		if err := run(t.Context(), io.Discard, strings.Fields(args)); err == nil {
			t.Errorf("%s is accepted", args)
		}
	}
}

// TestARunRepeats runs the flags that a finding prints: they find it again, and nothing else. Several
// workers would find something else each time.
func TestARunRepeats(t *testing.T) {
	var outs [3]strings.Builder
	var finding string
	args := []string{"-worlds", "6", "-payments", "20", "-naive", "-faults", "1"} // few enough that all is listed
	for i := range outs {
		if err := run(t.Context(), &outs[i], args); err == nil {
			t.Fatal("the naive client passes")
		}
		if i == 1 {
			listed, printed, found := strings.Cut(outs[i].String(), "\n      -")
			if !found {
				t.Fatal("no finding prints its flags")
			}
			finding = listed[strings.LastIndex(listed, "\n")+1:]
			line, _, _ := strings.Cut(printed, "\n")
			before, world, _ := strings.Cut("-"+line, " -world '")
			world, after, _ := strings.Cut(world, "' ")
			args = append(append(strings.Fields(before), "-world", world), strings.Fields(after)...)
		}
	}
	if outs[0].String() != outs[1].String() {
		t.Errorf("the same flags gave\n%s\nand\n%s", outs[0].String(), outs[1].String())
	}
	if !strings.Contains(outs[2].String(), "\n"+finding+"\n") {
		t.Errorf("the flags of a finding do not find it again: %s\n%s", finding, outs[2].String())
	}
	for line := range strings.Lines(outs[2].String()) {
		if strings.HasPrefix(line, "    ") && !strings.Contains(outs[0].String(), line) {
			t.Errorf("the flags of a finding find another: %s", line)
		}
	}
}
