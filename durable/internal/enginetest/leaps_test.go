package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// leapVariable says how many payments are in each state while a server's clock is wrong: 3 unless it does.
const leapVariable = "DURABLE_LEAPS"

// leapingServer starts a server whose clock leap sets ahead of the machine's.
func leapingServer(t *testing.T) (sv *server, leap func(ahead time.Duration)) {
	t.Helper()
	postgresServer(t)
	sv = newServer(t)
	found, err := filepath.Glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
	require.NoError(t, err)
	require.NotEmpty(t, found, "libfaketime is missing: install Debian's package libfaketime")
	file := filepath.Join(sharedDir(t), "ahead")
	leap = func(ahead time.Duration) {
		t.Helper()
		require.NoError(t, os.WriteFile(file+".new", fmt.Appendf(nil, "%+d", int(ahead.Seconds())), 0o644))
		require.NoError(t, os.Rename(file+".new", file))
	}
	leap(0)
	sv.stop("fast")
	sv.environment = []string{"LD_PRELOAD=" + found[0], "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", "NO_FAKE_STAT=1"}
	sv.start()
	return sv, leap
}

// leaps are how far a clock is wrong.
var leaps = []time.Duration{-365 * 24 * time.Hour, -24 * time.Hour, 24 * time.Hour, 365 * 24 * time.Hour}

// leapt is a shop on a server whose clock leaps. Nothing of it may be given up, emptied or charged twice.
type leapt struct {
	*shop[pgx.Tx]
	leap      func(ahead time.Duration)
	n, orders int
}

func newLeapt(t *testing.T) *leapt {
	t.Helper()
	sv, leap := leapingServer(t)
	s := &leapt{&shop[pgx.Tx]{T: t, db: sv.store(), clock: runningClock(t)}, leap, times(t, leapVariable, 3), 0}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag = 0, 5*time.Minute // what was lost is resolving for so long
	}))
	s.engine = s.works()
	return s
}

func (s *leapt) works() *durable.Engine[pgx.Tx] {
	s.Helper()
	return s.start(func(o *durable.Options[pgx.Tx]) {
		o.Keep = durable.Keep{Payments: 90 * 24 * time.Hour, FollowUps: 90 * 24 * time.Hour}
	})
}

// sells has payments settled at once.
func (s *leapt) sells() {
	s.Helper()
	params := s.stored()
	for range s.n {
		s.orders++
		require.Equal(s, approved, s.settled(s.pay(fmt.Sprint("sold ", s.orders), params)).Text())
	}
}

// keeps has some payments wait for half an hour, as after refusals, and others become resolving.
func (s *leapt) keeps() {
	s.Helper()
	params := s.stored()
	require.NoError(s, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit()}))
	lost := make([]string, s.n)
	for i := range lost {
		s.orders++
		lost[i] = s.pay(fmt.Sprint("lost ", s.orders), params)
	}
	for _, id := range lost {
		s.reaches(id, resolving, 0)
	}
	s.box.ClearFaults()
	for range s.n {
		s.orders++
		order := fmt.Sprint("waiting ", s.orders)
		require.NoError(s, s.commit(func(tx pgx.Tx) error {
			id, err := s.ask(tx, order, params)
			if err != nil {
				return err
			}
			_, err = s.db.Join(tx).Exec(s.Context(), "UPDATE quickstream.write SET failures = 1, next_at = $2, due_at = $2 WHERE id = $1", id, s.clock.Now().Add(30*time.Minute))
			return err
		}))
	}
}

// stands waits until the clock of the server is seen, and after some sales doubted or not, and looks that
// all is as it was.
func (s *leapt) stands(ahead time.Duration, doubted bool, kept int) {
	s.Helper()
	s.until(0, func(status durable.Health) bool { return (status.DatabaseAhead - ahead).Abs() < time.Hour })
	s.sells()
	s.until(0, func(status durable.Health) bool { return status.ClockDoubted == doubted })
	assert.Equal(s, map[durable.State]int{durable.StateQueued: kept, durable.StateResolving: kept}, s.status().Writes)
	assert.Equal(s, s.orders-2*kept, s.over())
	assert.Zero(s, s.count("SELECT count(*) FROM quickstream.write WHERE intent = ''"))
}

// settles has what waits go on.
func (s *leapt) settles() {
	s.Helper()
	s.until(30*time.Second, func(durable.Health) bool { return s.over() == s.orders })
	assert.Zero(s, s.count("SELECT count(*) FROM quickstream.write WHERE intent = ''"))
	assert.Equal(s, s.orders, s.charged())
}

// The clock of a server leaps while an engine works, and goes back.
func TestServerClockLeaps(t *testing.T) {
	t.Parallel()
	s := newLeapt(t)
	s.sells()
	s.keeps()
	for i, ahead := range leaps {
		s.leap(ahead)
		s.stands(ahead, true, (i+1)*s.n)
		s.keeps()
		s.leap(0)
		s.stands(0, false, (i+2)*s.n)
	}
	s.settles()
}

// An engine starts while the clock of the server is wrong, and works until it is right.
func TestServerClockWrongAtStart(t *testing.T) {
	t.Parallel()
	s := newLeapt(t)
	for _, ahead := range leaps {
		before := s.orders
		s.sells()
		s.keeps()
		require.NoError(t, s.engine.Stop(t.Context()))
		s.leap(ahead)
		s.engine = s.works()
		s.stands(ahead, true, s.n)
		s.keeps()
		s.leap(0)
		s.stands(0, false, 2*s.n)
		s.settles()
		t.Logf("%s: %d orders", ahead, s.orders-before)
	}
}
