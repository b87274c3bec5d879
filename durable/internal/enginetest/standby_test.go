package enginetest

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// standby starts a server that follows this one.
func (sv *server) standby() *server {
	sv.Helper()
	follower := &server{T: sv.T, programs: sv.programs, data: sv.baseBackup("-R"), port: freePort(sv.T)}
	follower.start()
	return follower
}

// waitsFor waits until a condition holds on the server.
func (sv *server) waitsFor(condition string) {
	sv.Helper()
	require.Eventually(sv, func() bool {
		return sv.ask("SELECT "+condition) == "t"
	}, time.Minute, 20*time.Millisecond, condition)
}

// lostVariable says how many payments a failover loses: 20 unless it does.
const lostVariable = "DURABLE_LOST"

// A standby that has not received the last payments is promoted, and their customers repeat
// at once: no order is charged twice.
func TestStandbyPromoted(t *testing.T) {
	t.Parallel()
	primary := newServer(t)
	s := open(t, primary.store())
	s.settled(s.pay("before", s.card(sandbox.CardAttempted)))
	follower := primary.standby()
	follower.waitsFor("EXISTS (SELECT FROM quickstream.write WHERE outcome = 'approved')")
	follower.ask("ALTER SYSTEM SET primary_conninfo = ''") // it receives nothing from here on
	follower.ask("SELECT pg_reload_conf()")
	follower.waitsFor("NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
	orders, ids := make([]string, times(t, lostVariable, 20)), map[string]string{}
	for i := range orders {
		orders[i] = fmt.Sprint("lost ", i)
		ids[orders[i]] = s.pay(orders[i], s.card(sandbox.CardAttempted))
		s.settled(ids[orders[i]])
	}
	require.NoError(t, s.engine.Stop(t.Context()))
	primary.stop("immediate")
	follower.run("pg_ctl", "-D", follower.data, "-w", "promote")

	s.db = follower.store()
	s.engine = s.start()
	s.repeat(orders, ids)
	s.restored()
	for _, order := range orders {
		p := s.paymentOf(order)
		s.reaches(p.ID, approved, time.Minute)
	}
	assert.Equal(t, 1+len(orders), s.charged())
}

// Of several engines that start at once on a restored database one adopts it: another one
// that did so later would look up what has been written since.
func TestAdoptedOnce(t *testing.T) {
	t.Parallel()
	s := open(t, onServer(t, emptyDatabase(t)+"?pool_max_conns=20"))
	require.NoError(t, s.engine.Stop(t.Context()))
	s.put("UPDATE quickstream.meta SET value = 'another' WHERE name = 'history'")
	adopted := new(log)
	var starting sync.WaitGroup
	require.NoError(t, s.commit(func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "INSERT INTO quickstream.meta (name, value) VALUES ('adopting', '') ON CONFLICT (name) DO UPDATE SET value = ''") // the first to adopt waits here
		for range 3 {
			engine := s.engineOf(func(o *durable.Options[pgx.Tx]) { o.Logger = slog.New(slog.NewTextHandler(adopted, nil)) })
			starting.Go(func() {
				assert.NoError(t, engine.Start(t.Context()))
				assert.NoError(t, engine.Stop(t.Context()))
			})
		}
		waits := "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
		assert.Eventually(t, func() bool { return s.count(waits) == 3 }, 2*time.Minute, 20*time.Millisecond)
		return err
	}))
	starting.Wait()
	assert.Equal(t, 1, strings.Count(adopted.text.String(), "has changed"))
}
