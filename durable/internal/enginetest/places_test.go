package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/internal/needs"
)

// TestPlaces: a server is the same at its other address and at its Unix socket, and after a restart for a process that goes
// on. After a restart that no process has seen a new one restores. A server in another place may be a copy: what was queued
// before waits for a person.
func TestPlaces(t *testing.T) {
	t.Parallel()
	sv := newServer(t)
	s := open(t, sv.store())
	s.pay("before", s.stored())
	s.Settled("before")
	for name, address := range map[string]string{
		"another address": fmt.Sprintf("postgres://quickstream@127.0.0.2:%d/shop", sv.port),
		"a socket":        fmt.Sprintf("host=%s port=%d user=quickstream dbname=shop", sv.data, sv.port),
	} {
		db := onServer(t, address)
		engine := s.beside(db)
		payBy(s, engine, db, durable.NewWrite{ID: name, Order: name})
		isPaid(s, engine, name)
		assert.Zero(t, healthOf(t, engine).Restoring, name)
		require.NoError(t, engine.Stop(t.Context()))
	}

	sv.stop("fast")
	sv.start()
	s.db.reconnect()
	s.pay("after a restart", s.stored())
	s.Settled("after a restart")
	assert.Zero(t, s.health().Restoring)

	require.NoError(t, s.Engine().Stop(t.Context()))
	s.db.reconnect()
	sv.stop("fast")
	sv.start()
	db := sv.store()
	engine := s.beside(db)
	assert.NotZero(t, healthOf(t, engine).Restoring)
	assert.False(t, healthOf(t, engine).MaybeCopy)
	payBy(s, engine, db, durable.NewWrite{ID: "a new process", Order: "a new process"})
	isPaid(s, engine, "a new process")
	require.NoError(t, engine.Stop(t.Context()))

	payBy(s, engine, db, durable.NewWrite{ID: "queued", Order: "queued"})
	db.reconnect()
	sv.stop("fast")
	moved := filepath.Join(sharedDir(t), "moved")
	require.NoError(t, os.Rename(sv.data, moved))
	sv.data, sv.port = moved, freePort(t)
	sv.start()
	db = sv.store()
	engine = s.beside(db)
	assert.True(t, healthOf(t, engine).MaybeCopy)
	payBy(s, engine, db, durable.NewWrite{ID: "new", Order: "new"})
	isPaid(s, engine, "new")
	w, err := engine.Get(t.Context(), "queued")
	require.NoError(t, err)
	assert.Equal(t, durable.StateQueued, w.State, "it may be a copy")
	require.NoError(t, engine.ConfirmHistory(t.Context(), "Kim", "the server has moved"))
	isPaid(s, engine, "queued")
	assert.Len(t, s.Sandbox.Ledger(), 7)
}

// TestPooler: behind PgBouncer in transaction mode, which reaches the server at two addresses in turn, payments are made
// without any restoring. A program that is not set up for a pooler is refused.
func TestPooler(t *testing.T) {
	t.Parallel()
	sv := newServer(t)
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		needs.Skip(t, "PostgreSQL: pgbouncer")
	}
	dir, port := sharedDir(t), freePort(t)
	file := filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `[databases]
shop = host=127.0.0.1,127.0.0.2 port=%d user=quickstream pool_size=4
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
server_round_robin = 1
`, sv.port, port), 0o644))
	pooler := exec.Command(program, file)
	pooler.SysProcAttr = &syscall.SysProcAttr{Credential: serverUser(t)}
	require.NoError(t, pooler.Start())
	t.Cleanup(func() {
		_ = pooler.Process.Kill()
		_ = pooler.Wait()
	})
	address := fmt.Sprintf("postgres://quickstream@127.0.0.1:%d/shop", port)
	eventually(t, func() bool {
		connection, err := pgx.Connect(t.Context(), address)
		return err == nil && connection.Close(t.Context()) == nil
	}, "pgbouncer answers")
	for refused, opts := range map[string][]postgres.Option{"a pooler such as pgbouncer": nil, "default_query_exec_mode=exec": {postgres.WithPooler()}} {
		pool, err := pgxpool.New(t.Context(), address)
		require.NoError(t, err)
		defer pool.Close()
		require.ErrorContains(t, durable.MigrateUp(t.Context(), postgres.Pgx(pool, opts...)), refused)
	}

	db := onServer(t, address+"?default_query_exec_mode=exec", postgres.WithPooler())
	addresses, begun := map[string]bool{}, make([]database.Tx, 2)
	for i := range begun {
		begun[i], err = db.Begin(t.Context())
		require.NoError(t, err)
		rows, err := begun[i].Query(t.Context(), "SELECT host(inet_server_addr())")
		require.NoError(t, err)
		var at string
		require.True(t, rows.Next())
		require.NoError(t, rows.Scan(&at))
		rows.Close()
		addresses[at] = true
	}
	for _, tx := range begun {
		require.NoError(t, tx.Rollback(t.Context()))
	}
	assert.Len(t, addresses, 2)
	s := open(t, db)
	for i := range 20 {
		s.pay(fmt.Sprint("order ", i), s.stored())
	}
	for i := range 20 {
		assert.True(t, s.Settled(fmt.Sprint("order ", i)).Paid())
		assert.Zero(t, s.health().Restoring)
	}
	assert.Len(t, s.Sandbox.Ledger(), 20)
}
