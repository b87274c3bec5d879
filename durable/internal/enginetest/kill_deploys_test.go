package enginetest

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// deploysVariable says how many deploys there are in each database: 10 unless it does.
const deploysVariable = "DURABLE_DEPLOYS"

// A deploy under load leaves nothing behind: what was claimed is finished, and what was
// not is left to the next process.
func TestDeploys(t *testing.T) {
	n := times(t, deploysVariable, 10)
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { deploy(t, "", 1, n) })
	t.Run("PostgreSQL", func(t *testing.T) { deploy(t, emptyDatabase(t), 3, n) })
}

func deploy(t *testing.T, address string, processes, deploys int) {
	begun := time.Now()
	v := newVillage(t, worlds.World{}, address, 1, 0, sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.PayToApprovedAfter = time.Minute }))
	v.config.RefuseOnce = 0
	inFlight := 0
	for range deploys {
		v.place(15, func(_ int, p *placed) { p.again = 0 })
		var running []*process
		for range processes {
			p := v.start(func(c *workerConfig) { c.Pace = 20 * time.Millisecond })
			p.ready()
			running = append(running, p)
		}
		<-time.After(time.Duration(v.dice.IntN(300)) * time.Millisecond)
		inFlight += int(v.count("SELECT count(*) FROM quickstream.write WHERE state = 'sending'"))
		for _, p := range running {
			p.stop()
		}
		v.each(func(scan func(...any) error) error {
			var order, operation, problem string
			err := scan(&order, &operation, &problem)
			v.Errorf("%s of %s is being sent, and nobody is there: %s", operation, order, problem)
			return err
		}, "SELECT order_id, operation, problem FROM quickstream.write WHERE state = 'sending'")
		v.step(time.Minute)
	}
	j := v.judged(processes)
	assert.NotZero(t, inFlight, "no deploy met a payment that was being sent")
	t.Logf("%d deploys of %d processes in %.0f s, with %d payments being sent before them: %s", deploys, processes, time.Since(begun).Seconds(), inFlight, j)
}

// cut ends all connections to the database but the test's own.
func (v *village) cut() {
	v.Helper()
	v.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()")
}

// Connections to PostgreSQL that are cut at any moment, in a commit too, end no process,
// lose nothing and double nothing.
func TestConnectionsCut(t *testing.T) {
	t.Parallel()
	v := newVillage(t, worlds.World{}, emptyDatabase(t), 1, 150)
	require.NoError(t, v.box.Inject(worlds.RandomFaults(0.05)...))
	v.db.SetMaxOpenConns(1)
	a, b := v.start(), v.start()
	a.ready()
	b.ready()
	cuts := max(40, kills(t)/10)
	for range cuts {
		<-time.After(time.Duration(20+v.dice.IntN(150)) * time.Millisecond)
		v.cut()
		v.step(time.Duration(v.dice.IntN(70)) * time.Second)
	}
	a.stop()
	b.stop()
	j := v.judged(2)
	assert.NotZero(t, j.charged, "the run shows little")
	t.Logf("%d cuts: %s", cuts, j)
}

// approves waits until so many payments are approved.
func (v *village) approves(n int64) {
	v.Helper()
	approved := int64(0)
	for deadline := time.Now().Add(time.Minute); approved != n && time.Now().Before(deadline); <-time.After(50 * time.Millisecond) {
		v.step(5 * time.Second)
		approved = v.count("SELECT count(*) FROM quickstream.write WHERE state = 'settled' AND outcome = 'approved'")
	}
	require.Equal(v, n, approved)
}

// A write of a later version of the program is left as it is, and all others go on.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	v := newVillage(t, worlds.World{}, "", 1, 0)
	v.place(8, func(_ int, p *placed) { p.kind, p.again, p.lines, p.outcomes = "account", 0, nil, nil })
	held := func(kind sandbox.FaultKind) sandbox.Fault {
		return sandbox.Fault{Operation: transactions, Kind: kind, Match: func(r sandbox.Request) bool { return r.Method == http.MethodPost }}
	}
	require.NoError(t, v.box.Inject(held(sandbox.ResetAfterCommit())))
	p := v.start()
	p.ready()
	v.approves(8)
	p.stop()
	v.box.ClearFaults()
	before := len(v.box.Ledger())

	// Two rows that a later program has written: one to be sent, one to be looked up.
	v.exec(`UPDATE quickstream.write SET state = 'queued', outcome = '', claim = '', sends = 0, lookups = '', receipt = '', next_at = 1, due_at = 1,
		intent = replace(intent, '"version":1', '"version":99') WHERE order_id = 'K-00001'`)
	v.exec(`UPDATE quickstream.write SET state = 'resolving', outcome = '', next_at = 1, due_at = 1,
		lookups = replace(lookups, '"version":1', '"version":99') WHERE order_id = 'K-00002'`)
	v.exec("DELETE FROM told")
	v.exec("DELETE FROM history")
	v.place(4, func(_ int, p *placed) { p.kind, p.again, p.lines, p.outcomes = "account", 0, nil, nil })
	p = v.start()
	p.ready()
	v.approves(10)
	require.Eventually(t, func() bool { return v.count("SELECT count(*) FROM river_job WHERE state = 'discarded'") >= 2 }, time.Minute, 20*time.Millisecond)
	p.stop()
	assert.Len(t, v.box.Ledger(), before+4)
	for order, state := range map[string]string{"K-00001": "queued", "K-00002": "resolving"} {
		assert.EqualValues(t, 1, v.count("SELECT count(*) FROM quickstream.write WHERE order_id = '"+order+"' AND state = '"+state+"'"), order)
	}
	assert.Contains(t, p.stderr.String(), "is of another version")
}
