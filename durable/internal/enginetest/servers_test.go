package enginetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/internal/needs"
)

// server is a PostgreSQL server of a test's own, which it may stop and put back.
type server struct {
	*testing.T
	programs, data string
	port           int
	up             bool
	ends           sync.Once // its stop at the end of the test
}

// newServer starts a server with the database "shop".
func newServer(t *testing.T) *server {
	t.Helper()
	postgresServer(t) // without a server these tests are skipped like the others
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	require.NoError(t, err)
	if len(found) == 0 {
		needs.Skip(t, "PostgreSQL: its server")
	}
	sv := &server{T: t, programs: found[len(found)-1], data: sharedDir(t), port: freePort(t)}
	sv.run("initdb", "-D", sv.data, "-A", "trust", "-U", "quickstream")
	sv.start()
	sv.on("createdb", "shop")
	return sv
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// sharedDir is a directory of the test that belongs to the server's user.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o711))
	if who := serverUser(t); who != nil {
		require.NoError(t, os.Chown(dir, int(who.Uid), int(who.Gid)))
	}
	require.NoError(t, os.Chmod(dir, 0o700))
	return dir
}

// serverUser is the user that runs the server if the tests run as root, which PostgreSQL refuses.
func serverUser(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	who, err := user.Lookup("postgres")
	require.NoError(t, err)
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	require.NoError(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// run runs one of PostgreSQL's programs. What it prints goes to a file, as a server that
// it starts would keep a pipe open.
func (sv *server) run(program string, args ...string) {
	sv.Helper()
	printed, err := os.Create(filepath.Join(sv.TempDir(), "printed"))
	require.NoError(sv, err)
	defer printed.Close()
	command := exec.Command(filepath.Join(sv.programs, program), args...)
	command.Dir, command.Stdout, command.Stderr, command.Env = "/", printed, printed, os.Environ()
	command.SysProcAttr = &syscall.SysProcAttr{Credential: serverUser(sv.T)}
	if err := command.Run(); err != nil {
		text, _ := os.ReadFile(printed.Name())
		require.NoError(sv, err, "%s: %s", program, text)
	}
}

// on runs a program that asks the server for something.
func (sv *server) on(program string, args ...string) {
	sv.Helper()
	sv.run(program, append([]string{"-h", "127.0.0.1", "-p", strconv.Itoa(sv.port), "-U", "quickstream"}, args...)...)
}

// ask runs a statement on the server, and returns the one value that it returns, or "".
func (sv *server) ask(statement string) (value string) {
	sv.Helper()
	connection, err := pgx.Connect(sv.Context(), sv.address())
	require.NoError(sv, err)
	defer connection.Close(sv.Context())
	rows, err := connection.Query(sv.Context(), statement, pgx.QueryExecModeSimpleProtocol)
	require.NoError(sv, err)
	defer rows.Close()
	for rows.Next() {
		value = string(rows.RawValues()[0])
	}
	require.NoError(sv, rows.Err())
	return value
}

func (sv *server) start() {
	sv.Helper()
	sv.run("pg_ctl", "-D", sv.data, "-w", "-l", filepath.Join(sv.data, "log"), "start",
		"-o", fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1,127.0.0.2 -c unix_socket_directories='%s'", sv.port, sv.data))
	sv.ends.Do(func() { // a standby that is started again must still outlive the engine
		sv.Cleanup(func() {
			if sv.up {
				sv.stop("immediate")
			}
		})
	})
	sv.up = true
}

func (sv *server) stop(how string) {
	sv.Helper()
	sv.run("pg_ctl", "-D", sv.data, "-w", "-m", how, "stop")
	sv.up = false
}

func (sv *server) address() string {
	return fmt.Sprintf("postgres://quickstream@127.0.0.1:%d/shop", sv.port)
}

func (sv *server) store() store[pgx.Tx] {
	sv.Helper()
	return onServer(sv.T, sv.address())
}

// backup returns a server that begins with this one's data; with "-R" it follows this one.
func (sv *server) backup(args ...string) *server {
	sv.Helper()
	copied := &server{T: sv.T, programs: sv.programs, data: sharedDir(sv.T), port: freePort(sv.T)}
	sv.on("pg_basebackup", append([]string{"-D", copied.data, "-c", "fast"}, args...)...)
	copied.start()
	return copied
}

// waitsFor waits until a condition holds on the server.
func (sv *server) waitsFor(condition string) {
	sv.Helper()
	eventually(sv.T, func() bool { return sv.ask("SELECT "+condition) == "t" }, condition)
}

// shortLag is how long look-ups may lag in these tests, whose databases have the real time.
const shortLag = 3 * time.Second

// beside returns an engine of the same merchant and service on another database.
func (s *shop[TTx]) beside(db store[TTx]) *durable.Engine[TTx] {
	s.T.Helper()
	engine, err := durable.New(s.T.Context(), db.Database, s.Client, durable.Options[TTx]{
		Installation: "shop", OnOutcome: s.reported, ServiceRetries: serviceRetries(), LookupLag: shortLag,
	})
	require.NoError(s.T, err)
	require.NoError(s.T, engine.Start(s.T.Context()))
	s.T.Cleanup(func() { assert.NoError(s.T, engine.Stop(context.Background())) })
	return engine
}

// payBy commits a payment by an engine, in its database.
func payBy[TTx any](s *shop[TTx], engine *durable.Engine[TTx], db store[TTx], n durable.NewWrite) {
	s.T.Helper()
	commit(s.T, engine, db, n, s.stored())
}

// isPaid waits until an order is paid by an engine's database.
func isPaid[TTx any](s *shop[TTx], engine *durable.Engine[TTx], order string) {
	s.T.Helper()
	eventually(s.T, func() bool {
		w, err := engine.PaymentOf(s.T.Context(), order)
		return err == nil && w.Paid()
	}, order+" is paid")
}

// lost is how many payments a failover loses.
const lost = 20

// TestStandbyPromoted: a standby that has not received the last payments is promoted, and their customers repeat at once,
// half of them under a new id: no order is charged twice.
func TestStandbyPromoted(t *testing.T) {
	t.Parallel()
	primary := newServer(t)
	s := open(t, primary.store())
	s.pay("before", s.stored())
	s.Settled("before")
	follower := primary.backup("-R")
	follower.waitsFor("EXISTS (SELECT FROM quickstream.write WHERE state = 'approved')")
	follower.ask("ALTER SYSTEM SET primary_conninfo = ''") // it receives nothing from here on
	follower.ask("SELECT pg_reload_conf()")
	follower.waitsFor("NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
	for i := range lost {
		order := fmt.Sprint("lost ", i)
		s.pay(order, s.stored())
		s.Settled(order)
	}
	require.NoError(t, s.Engine().Stop(t.Context()))
	primary.stop("immediate")
	follower.run("pg_ctl", "-D", follower.data, "-w", "promote")

	db := follower.store()
	engine := s.beside(db)
	for i := range lost {
		id := fmt.Sprint("lost ", i)
		if i%2 == 0 {
			id += " again"
		}
		payBy(s, engine, db, durable.NewWrite{ID: id, Order: fmt.Sprint("lost ", i)})
	}
	payBy(s, engine, db, durable.NewWrite{ID: "after", Order: "after"})
	for i := range lost {
		isPaid(s, engine, fmt.Sprint("lost ", i))
	}
	isPaid(s, engine, "after")
	assert.Len(t, s.Sandbox.Ledger(), 2+lost)
	eventually(t, func() bool { return healthOf(t, engine).Restoring.IsZero() }, "the restoring has ended")
}

// TestCloned: a base backup is started beside its original, and both sell. Only the original sends the queued payments; the
// copy waits for a person, and then finds them. A form that is posted to both is charged once.
func TestCloned(t *testing.T) {
	t.Parallel()
	original := newServer(t)
	s := open(t, original.store())
	s.pay("before", s.stored())
	s.Settled("before")
	require.NoError(t, s.Engine().Stop(t.Context()))
	for i := range lost {
		s.pay(fmt.Sprint("waiting ", i), s.stored())
	}
	copied := original.backup()
	db := copied.store()
	mine, clone := s.beside(s.db), s.beside(db)
	assert.True(t, healthOf(t, clone).MaybeCopy)
	assert.False(t, healthOf(t, mine).MaybeCopy)
	for i := range lost {
		isPaid(s, mine, fmt.Sprint("waiting ", i))
	}
	both := durable.NewWrite{ID: "posted to both", Order: "both"}
	payBy(s, mine, s.db, both)
	isPaid(s, mine, "both")
	payBy(s, clone, db, both)
	isPaid(s, clone, "both")
	for i := range lost {
		events, err := clone.Events(t.Context(), fmt.Sprint("waiting ", i))
		require.NoError(t, err)
		assert.False(t, slices.ContainsFunc(events, func(e durable.Event) bool { return e.Kind == durable.EventClaimed }), "only the original sends it")
	}
	require.NoError(t, clone.ConfirmHistory(t.Context(), "Kim", "the original is down"))
	for i := range lost {
		isPaid(s, clone, fmt.Sprint("waiting ", i))
	}
	assert.Len(t, s.Sandbox.Ledger(), 2+lost)
}

// synchronous starts a standby for which the commits of this server wait.
func (sv *server) synchronous() *server {
	sv.Helper()
	follower := sv.backup("-R")
	sv.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
	sv.ask("SELECT pg_reload_conf()")
	sv.Cleanup(func() { // the standby stops before the engine, whose last commits would wait for it
		if sv.up {
			sv.on("psql", "-c", "ALTER SYSTEM SET synchronous_standby_names = ''", "-c", "SELECT pg_reload_conf()", "shop")
		}
	})
	sv.waitsFor("current_setting('synchronous_standby_names') = '*' AND EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
	return follower
}

// TestSynchronousWaitCancelled: the wait for a standby that is gone is cancelled. PostgreSQL commits without it, and only
// warns. Nothing is sent under such a claim, which a promotion would undo; with the standby the payment is sent once.
func TestSynchronousWaitCancelled(t *testing.T) {
	t.Parallel()
	primary := newServer(t)
	db := primary.store()
	follower := primary.synchronous()
	var claims atomic.Int64
	reached, held := make(chan bool), make(chan bool)
	db.Database = &hooked[pgx.Tx]{Database: db.Database, before: func(_ context.Context, _ database.Tx, _ string, args []any) {
		if !slices.Contains(args, any(durable.StateSending)) {
			return
		}
		if claims.Add(1) == 1 {
			close(reached)
			<-held
		}
	}}
	s := open(t, db)
	s.pay("A", s.stored())
	<-reached
	follower.stop("immediate")
	close(held)
	eventually(t, func() bool {
		primary.ask("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
		return claims.Load() > 2 || s.charged("A") > 0
	}, "it is claimed again and again")
	assert.Zero(t, s.charged("A"), "it was sent under a claim that the standby does not have")
	follower.start()
	s.Settled("A")
	assert.Equal(t, 1, s.charged("A"))
}

// TestSynchronousCommit: a program is refused if its commits do not wait for existing synchronous standbys, or if it would
// not get the warning of a cancelled wait.
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
		_, err = durable.New(t.Context(), postgres.Pgx(pool), s.Client, durable.Options[pgx.Tx]{Installation: "shop", OnOutcome: s.reported, ServiceRetries: serviceRetries()})
		if !refused {
			require.NoError(t, err, setting)
			continue
		}
		name, _, _ := strings.Cut(setting, "=")
		require.ErrorContains(t, err, name+" is", setting)
	}
}
