package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// server is a PostgreSQL server of a test's own, which it may stop and put back.
type server struct {
	*testing.T
	programs, data string
	port           int
	up             bool
	environment    []string
}

// newServer starts a server with the database "shop".
func newServer(t *testing.T) *server {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	require.NoError(t, err)
	if len(found) == 0 {
		needs(t, "the server of PostgreSQL")
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

// serverUser is whom the server runs as where the tests run as root, which it refuses.
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
	command.Dir, command.Stdout, command.Stderr, command.Env = "/", printed, printed, append(os.Environ(), sv.environment...)
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
		"-o", fmt.Sprintf("-p %d -c listen_addresses=127.0.0.1 -c unix_socket_directories=''", sv.port))
	if !sv.up {
		sv.Cleanup(func() {
			if sv.up {
				sv.stop("immediate")
			}
		})
	}
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
	pool, err := pgxpool.New(sv.Context(), sv.address())
	require.NoError(sv, err)
	sv.Cleanup(pool.Close)
	db := store[pgx.Tx]{Database: postgres.Pgx(pool), anew: pool.Reset}
	require.NoError(sv, durable.MigrateUp(sv.Context(), db.Database))
	return db
}

// A payment is sent at once by a machine whose clock is ahead of the server's.
func TestServerBehind(t *testing.T) {
	t.Parallel()
	address := emptyDatabase(t)
	server, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	_, err = server.Exec(t.Context(), `
		CREATE FUNCTION public.now() RETURNS timestamptz LANGUAGE sql STABLE AS $$ SELECT pg_catalog.now() - interval '1 hour' $$;
		CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() - interval '1 hour' $$;
		DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = public, pg_catalog', current_database()); END $$`)
	require.NoError(t, err)
	require.NoError(t, server.Close(t.Context()))
	s := open(t, onServer(t, address))
	assert.Equal(t, approved, s.settled(s.pay("A", s.card(sandbox.CardAttempted))).Text())
	status := s.status()
	assert.InDelta(t, -time.Hour.Seconds(), status.DatabaseAhead.Seconds(), 30, "a busy machine reads the time late")
}

// An engine starts while somebody holds a payment that is being sent: one that waited for
// it could be ended by PostgreSQL for a deadlock, and its program would not start.
func TestStartWaitsForNobody(t *testing.T) {
	t.Parallel()
	s := open(t, onServer(t, emptyDatabase(t)))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.settled(id)
	s.corrupt("state = 'sending', outcome = '', next_at = now() + interval '1 hour', due_at = now() + interval '1 hour'", id)
	require.NoError(t, s.commit(func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "SELECT FROM quickstream.write WHERE id = $1 FOR UPDATE", id); err != nil {
			return err
		}
		second := s.engineOf()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := second.Start(ctx); err != nil {
			return err
		}
		return second.Stop(ctx)
	}))
}

// A server that is stopped in the middle of everything, and started again, ends no
// process, loses nothing and doubles nothing.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	sv := newServer(t)
	v := newVillage(t, worlds.World{}, sv.address(), 1, 100)
	require.NoError(t, v.box.Inject(worlds.RandomFaults(0.05)...))
	a, b := v.start(), v.start()
	a.ready()
	b.ready()
	for i := range 6 {
		<-time.After(time.Duration(100+v.dice.IntN(500)) * time.Millisecond)
		v.step(time.Duration(v.dice.IntN(70)) * time.Second)
		sv.stop([]string{"immediate", "fast"}[i%2])
		sv.start()
	}
	a.stop()
	b.stop()
	v.judged(2)
}

// backupVariable says how many payments are made around a backup: 50 unless it does.
const backupVariable = "DURABLE_BACKUP"

// backups are the ways to a copy of the database and back.
var backups = map[string]struct {
	// take makes a copy, and returns how to put it back.
	take func(sv *server) (restore func())
	// unseen is a copy that the engine has to be told of.
	unseen bool
}{
	"recovered base backup": {take: func(sv *server) func() {
		copied := sv.baseBackup()
		return func() {
			sv.stop("fast")
			require.NoError(sv, os.WriteFile(filepath.Join(copied, "recovery.signal"), nil, 0o644))
			settings, err := os.OpenFile(filepath.Join(copied, "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(sv, err)
			defer settings.Close()
			_, err = settings.WriteString("restore_command = 'false'\nrecovery_target = 'immediate'\nrecovery_target_action = 'promote'\n")
			require.NoError(sv, err)
			sv.data = copied
			sv.start()
			sv.on("psql", "-d", "shop", "-c", "DO $$ BEGIN WHILE pg_is_in_recovery() LOOP PERFORM pg_sleep(0.05); END LOOP; END $$")
		}
	}},
	"base backup that is started as it is": {unseen: true, take: func(sv *server) func() {
		copied := sv.baseBackup()
		return func() {
			sv.stop("fast")
			sv.data = copied
			sv.start()
		}
	}},
	"dump": {take: func(sv *server) func() {
		file := filepath.Join(sharedDir(sv.T), "dump")
		sv.on("pg_dump", "-Fc", "-f", file, "shop")
		return func() {
			sv.on("dropdb", "--force", "shop")
			sv.on("createdb", "shop")
			sv.on("pg_restore", "-d", "shop", file)
		}
	}},
}

func (sv *server) baseBackup(more ...string) string {
	sv.Helper()
	dir := sharedDir(sv.T)
	sv.on("pg_basebackup", append([]string{"-D", dir, "-X", "stream", "-c", "fast"}, more...)...)
	return dir
}

// repeat asks for the payments of orders again, with other tokens: half at once under the id that each
// had, as a form that is posted again, and half under another one, when the lists show what was lost.
// An order that the database knows as paid or open has no second payment.
func (s *shop[TTx]) repeat(orders []string, ids map[string]string) {
	s.Helper()
	s.everySecond(orders, ids, 0)
	require.Eventually(s, func() bool {
		s.clock.Advance(time.Minute)
		return !slices.ContainsFunc(orders, func(order string) bool {
			_, err := s.engine.PaymentOf(s.Context(), order)
			return err != nil
		})
	}, time.Minute, 100*time.Millisecond)
	s.everySecond(orders, ids, 1)
}

// everySecond asks for every second payment, from one on: for those with even numbers under their ids.
func (s *shop[TTx]) everySecond(orders []string, ids map[string]string, from int) {
	s.Helper()
	for i := from; i < len(orders); i += 2 {
		order := orders[i]
		w, params := s.newWrite(order), s.card(sandbox.CardAttempted)
		if i%2 == 0 {
			w.ID = ids[order]
		}
		err := s.commit(func(tx TTx) error {
			p, created, err := s.engine.Pay(s.Context(), tx, w, params)
			if err == nil && (p.ID != w.ID || p.Order != order || created && p.State != durable.StateQueued) {
				err = fmt.Errorf("%+v is %+v", w, p)
			}
			return err
		})
		if i%2 == 0 || !errors.Is(err, durable.ErrOrderOpen) {
			require.NoError(s, err, order)
		}
	}
}

// A backup is put back that holds some payments as queued and does not know others, and
// the merchant asks for all of them again: nobody is charged twice.
func TestServerRestored(t *testing.T) {
	t.Parallel()
	for name, backup := range backups {
		t.Run(name, func(t *testing.T) {
			sv := newServer(t)
			s := open(t, sv.store())
			n, orders, ids := times(t, backupVariable, 50), []string{}, map[string]string{}
			place := func(n int) {
				for range n {
					order := fmt.Sprint("order ", len(orders))
					orders = append(orders, order)
					ids[order] = s.pay(order, s.card(sandbox.CardAttempted))
				}
			}
			settled := func() {
				for _, order := range orders {
					p := s.paymentOf(order)
					s.settled(p.ID)
				}
			}
			place(n / 4)
			settled()
			require.NoError(t, s.engine.Stop(t.Context()))
			place(n / 4)
			restore, made := backup.take(sv), s.clock.Now()
			s.engine = s.start()
			place(n / 2)
			settled()
			require.NoError(t, s.engine.Stop(t.Context()))

			restore()
			s.db = sv.store()
			if backup.unseen {
				require.NoError(t, s.engineOf().Restored(t.Context(), made))
			}
			s.engine = s.start()
			s.repeat(orders, ids)
			s.restored()
			for _, order := range orders {
				p := s.paymentOf(order)
				s.reaches(p.ID, approved, time.Minute)
				assert.EqualValues(t, 1234, s.net(order), order)
			}
			assert.Equal(t, len(orders), s.charged())
		})
	}
}
