// Package leaktest finds goroutines that tests leave behind, such as those of a connection.
package leaktest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// patience is how long goroutines may take to end, such as those of a closed connection, on the
// slowest machine.
const patience = time.Minute

// Main runs the tests of a package and fails if they leave something behind. It returns the exit
// code for TestMain.
func Main(m *testing.M) int {
	before := goroutines()
	code := m.Run()
	if left := leftOver(before, patience); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "FAIL: the tests of this package left behind:\n%s\n", left)
		return 1
	}
	return code
}

// leftOver describes the goroutines that were started since before and have not ended; "" as soon as none is left.
func leftOver(before map[string]string, wait time.Duration) string {
	for deadline := time.Now().Add(wait); ; <-time.After(5 * time.Millisecond) {
		now := goroutines()
		maps.DeleteFunc(now, func(name, _ string) bool { return before[name] != "" })
		if len(now) == 0 {
			return ""
		}
		if time.Now().After(deadline) {
			return strings.Join(slices.Sorted(maps.Values(now)), "\n\n")
		}
	}
}

// goroutines returns all stacks but the caller's and that of the signal handler, which never ends.
func goroutines() map[string]string {
	stacks := make([]byte, 1<<20)
	for {
		n := runtime.Stack(stacks, true)
		if n < len(stacks) {
			stacks = stacks[:n]
			break
		}
		stacks = make([]byte, 2*len(stacks))
	}
	found := map[string]string{}
	for i, stack := range bytes.Split(stacks, []byte("\n\n")) {
		if name, _, ok := strings.Cut(string(stack), " ["); ok && i > 0 && !bytes.Contains(stack, []byte("os/signal.loop")) {
			found[name] = string(stack)
		}
	}
	return found
}
