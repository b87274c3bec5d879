package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/sandbox"
)

// synchronous starts a standby for which the commits of this server wait.
func (sv *server) synchronous() *server {
	sv.Helper()
	follower := sv.standby()
	sv.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
	sv.ask("SELECT pg_reload_conf()")
	sv.waitsFor("current_setting('synchronous_standby_names') = '*' AND EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
	return follower
}

// either is a store on the one of two servers that can be written to, as programs name both.
func either(a, b *server) store[pgx.Tx] {
	a.Helper()
	pool, err := pgxpool.New(a.Context(), fmt.Sprintf("postgres://quickstream@127.0.0.1:%d,127.0.0.1:%d/shop?target_session_attrs=read-write", a.port, b.port))
	require.NoError(a, err)
	a.Cleanup(pool.Close)
	return store[pgx.Tx]{Database: postgres.Pgx(pool), anew: pool.Reset}
}

const awaited = "EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query = 'commit')"

// claiming asks for a payment, and returns its id when its claim is about to be committed. proceed lets
// it be. claims counts those whose commit has ended.
func claiming(s *shop[pgx.Tx], order string) (id string, proceed func(), claims chan bool) {
	s.Helper()
	reached, held := make(chan bool, 1000), make(chan bool)
	claims = make(chan bool, 1000)
	s.db.step = func(name string) {
		switch name {
		case "before the claim's commit":
			reached <- true
			<-held
		case "after the claim's commit":
			claims <- true
		}
	}
	s.engine = s.start(func(o *durable.Options[pgx.Tx]) { o.Logger = nil }) // all fails that is asked of a server that is down
	id = s.pay(order, s.card(sandbox.CardAttempted))
	<-reached
	return id, func() { close(held) }, claims
}

// newSynchronous starts a server with a synchronous standby, and a shop that can reach both.
func newSynchronous(t *testing.T) (primary, follower *server, s *shop[pgx.Tx]) {
	t.Helper()
	primary = newServer(t)
	require.NoError(t, durable.MigrateUp(t.Context(), primary.store().Database))
	follower = primary.synchronous()
	s = open(t, either(primary, follower))
	require.NoError(t, s.engine.Stop(t.Context()))
	return primary, follower, s
}

// The primary is lost while a claim waits for the standby, which does not have it: nothing was sent under
// it, and the payment is sent once by the same engine from the standby.
func TestSynchronousStandbyPromoted(t *testing.T) {
	t.Parallel()
	primary, follower, s := newSynchronous(t)
	id, proceed, _ := claiming(s, "A")
	follower.stop("immediate")
	s.box.ResetRequests()
	proceed()
	primary.waitsFor(awaited)
	primary.stop("immediate")
	follower.start()
	assert.Equal(t, queued, follower.ask("SELECT state FROM quickstream.write"))
	follower.run("pg_ctl", "-D", follower.data, "-w", "promote")
	assert.Zero(t, s.sent(), "it was sent under a claim that is lost")
	require.Eventually(t, func() bool {
		s.clock.Advance(10 * time.Second)
		w, err := s.engine.Write(t.Context(), id)
		return err == nil && w.Common().Text() == approved
	}, time.Minute, 50*time.Millisecond)
	assert.Equal(t, 1, s.sent())
	assert.Equal(t, 1, s.charged())
}

// The wait for a standby that is gone is cancelled: PostgreSQL commits without it, and warns.
// Nothing is sent under such a claim, which a promotion would undo.
func TestSynchronousWaitCancelled(t *testing.T) {
	t.Parallel()
	primary, follower, s := newSynchronous(t)
	id, proceed, claims := claiming(s, "A")
	follower.stop("immediate")
	s.box.ResetRequests()
	proceed()
	require.Eventually(t, func() bool {
		s.clock.Advance(time.Second) // it is queued again
		primary.ask("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		return len(claims) > 2 || s.sent() > 0
	}, time.Minute, 20*time.Millisecond)
	assert.Zero(t, s.sent(), "it was sent under a claim that the standby does not have")
	follower.start()
	s.reaches(id, approved, time.Second)
	assert.Equal(t, 1, s.sent())
	assert.Equal(t, 1, s.charged())
}

// A program whose commits do not wait for the standbys that there are is refused, and one that would not
// hear of a wait that was cancelled.
func TestSynchronousCommit(t *testing.T) {
	t.Parallel()
	primary := newServer(t)
	s := open(t, primary.store())
	primary.synchronous()
	for setting, refused := range map[string]bool{
		"synchronous_commit=local": true, "synchronous_commit=off": true, "client_min_messages=error": true,
		"synchronous_commit=on": false, "synchronous_commit=remote_write": false, "synchronous_commit=remote_apply": false, "client_min_messages=warning": false,
	} {
		pool, err := pgxpool.New(t.Context(), primary.address()+"?"+setting)
		require.NoError(t, err)
		defer pool.Close()
		_, err = durable.New(t.Context(), postgres.Pgx(pool), s.client, durable.Options[pgx.Tx]{Installation: "shop", OnOutcome: s.told, ServiceRetries: serviceRetries()})
		if !refused {
			require.NoError(t, err, setting)
			continue
		}
		name, _, _ := strings.Cut(setting, "=")
		require.ErrorContains(t, err, name+" is", setting)
	}
}
