package enginetest

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// killsVariable says how many processes are killed in each database: 100 unless it does.
const killsVariable = "DURABLE_KILLS"

func kills(t *testing.T) int { return times(t, killsVariable, 50) }

// times is what a variable of the environment says, or another number.
func times(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// killsInWorld is how many processes are killed in each world.
const killsInWorld = 25

// Processes that are killed at any moment lose no payment and double none, in no world.
func TestKill(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { killInWorlds(t, func(*testing.T) string { return "" }, 1, 4) })
	t.Run("PostgreSQL", func(t *testing.T) {
		postgresServer(t)
		killInWorlds(t, emptyDatabase, 3, 2)
	})
}

func killInWorlds(t *testing.T, address func(*testing.T) string, processes, atOnce int) {
	n := kills(t)
	free := make(chan struct{}, atOnce)
	var running sync.WaitGroup
	last := uint64(0)
	sum := &totals{begun: time.Now()}
	for world := range worlds.Generate(1, (n+killsInWorld-1)/killsInWorld) {
		last++
		seed := last
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			t.Run(fmt.Sprint("world ", seed), func(t *testing.T) {
				v := newVillage(t, world, address(t), seed, 3*killsInWorld)
				v.storm(processes, min(n, killsInWorld))
				sum.add(v.judged(processes))
			})
		})
	}
	running.Wait()
	assert.Equal(t, sum.worlds*min(n, killsInWorld), sum.kills)
	assert.Greater(t, sum.charged, sum.kills/4, "the run shows little")
	assert.NotZero(t, sum.refunded, "the run shows no refund")
	t.Log(sum)
}

// storm has processes work and be killed at any moment, while calls fail at random and as
// the world has it.
func (v *village) storm(processes, kills int) {
	v.Helper()
	faults := append(v.world.Faults("POST /transactions"), worlds.RandomFaults(0.15)...)
	require.NoError(v, v.box.Inject(faults...))
	var left atomic.Int64
	left.Store(int64(kills))
	var slots sync.WaitGroup
	for range processes {
		v.mu.Lock()
		dice := dice(v.dice.Uint64())
		v.mu.Unlock()
		slots.Go(func() {
			for left.Add(-1) >= 0 {
				p := v.start()
				if dice.IntN(4) > 0 { // on a slow machine few would begin to work
					p.ready()
				}
				life := time.Duration(50+dice.IntN(900)) * time.Millisecond
				time.AfterFunc(life, func() { _ = p.Process.Kill() })
				// What is in hand, here or in a process that was killed, is handed out again.
				for range 3 {
					<-time.After(time.Duration(dice.Int64N(int64(life / 2))))
					v.step(time.Duration(62+dice.IntN(10)) * time.Second)
				}
				<-p.ended
				v.mu.Lock()
				v.kills++
				v.mu.Unlock()
			}
		})
	}
	slots.Wait()
}

// judged lets all come to an end, and judges it.
func (v *village) judged(processes int) *verdict {
	v.Helper()
	var last []*process
	for range processes {
		p := v.start(func(c *workerConfig) { c.Pace, c.Leaps = 0, true })
		p.ready()
		last = append(last, p)
	}
	begun := time.Now()
	v.settle()
	v.Logf("settled in %.1f s, %d steps", time.Since(begun).Seconds(), v.steps)
	for _, p := range last {
		p.stop()
	}
	j := v.judge()
	j.kills = v.kills
	assert.Empty(v, j.wrong, "in the world %s", v.world)
	v.Logf("%s", j)
	return j
}

// totals are those of many worlds.
type totals struct {
	mu    sync.Mutex
	begun time.Time
	verdict
	worlds int
}

func (s *totals) add(j *verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worlds++
	s.verdict.add(j)
}

func (s *totals) String() string {
	return fmt.Sprintf("%d worlds, %.0f s: %s", s.worlds, time.Since(s.begun).Seconds(), &s.verdict)
}
