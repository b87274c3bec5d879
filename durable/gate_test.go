package durable

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestGate: a call that hangs gives its place to the next one, and counts as hanging until it ends, or until a pause was made.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(1)
		enter := func() func() {
			release, admitted := g.enter(t.Context())
			if !admitted {
				t.Fatal("there is no place")
			}
			return release
		}
		hangs := func(want int, why string) {
			if got := g.hanging(); got != want {
				t.Errorf("%d calls hang, not %d: %s", got, want, why)
			}
		}
		first := enter()
		wait(t.Context(), time.Second)
		enter()
		hangs(1, "the first one has given its place to the second")
		first()
		first()
		hangs(0, "it has ended, and twice does no harm")
		wait(t.Context(), hangAfter)
		synctest.Wait()
		hangs(1, "the second one")
		g.forget()
		hangs(0, "they have led to a pause")
		enter()()
		enter()()
		wait(t.Context(), 2*hangAfter)
		hangs(0, "both have ended in time")
	})
}
