package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// A process that is killed right before or after any durable step, at whichever time it
// comes there, loses nothing and doubles nothing.
func TestKillAtSteps(t *testing.T) {
	times := max(1, kills(t)/100)
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { killAtSteps(t, "", times) })
	t.Run("PostgreSQL", func(t *testing.T) { killAtSteps(t, emptyDatabase(t), times) })
}

func killAtSteps(t *testing.T, address string, times int) {
	begun := time.Now()
	v := newVillage(t, worlds.World{}, address, 1, 0, sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.PayToApprovedAfter = time.Minute // so that there are events all the time
	}))
	require.NoError(t, v.box.Inject(worlds.RandomFaults(0.03)...))
	for time := range times {
		for _, step := range steps() {
			v.killAt(step, 1+time%5)
		}
	}
	v.judged(1)
	report := new(strings.Builder)
	for _, step := range steps() {
		fmt.Fprintf(report, "\n  %-32s %4d", step, v.died[step])
		assert.Equal(t, times, v.died[step], step)
	}
	t.Logf("killed in %.0f s at%s", time.Since(begun).Seconds(), report)
}

// steps are the names of all durable steps.
func steps() []string {
	return []string{
		"before the write's commit",
		"before the claim", "before the claim's commit", "after the claim's commit", "after the claim", "after the answer", "after the outcome",
		"before the choice", "after the choice",
		"before OnOutcome", "after OnOutcome", "before the observation's commit", "after the observation's commit",
		"before the inbox", "before the inbox's commit", "after the inbox",
		"before the event's effect", "before the event's commit", "after the event's effect",
		"before the sweep's commit", "after the sweep's commit",
	}
}

// killAt has a process work until it kills itself at a step, at the hit-th time.
func (v *village) killAt(step string, hit int) {
	v.Helper()
	v.place(4*hit, func(i int, p *placed) {
		switch i % 4 {
		case 0:
			p.kind, p.outcomes, p.lines = "mandate", nil, nil
		case 1:
			p.kind, p.outcomes, p.lines = "account", nil, []int64{0}
		}
	})
	p := v.start(func(c *workerConfig) { c.Step, c.Hit, c.Pace = step, hit, 50*time.Millisecond })
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		select {
		case <-p.ended:
			v.kills++
			return
		case <-tick.C:
			v.step(20 * time.Second)
		}
	}
	p.kill()
	v.Errorf("%q was not come to %d times", step, hit)
}
