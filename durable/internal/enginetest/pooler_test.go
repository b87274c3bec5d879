package enginetest

import (
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// pooler stands in front of a server and gives its clients other numbers of processes, as pgbouncer
// does. It returns the address of the database behind it.
func pooler(t *testing.T, address string) string {
	t.Helper()
	target, err := url.Parse(address)
	require.NoError(t, err)
	server := target.Host
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go relay(client, server)
		}
	}()
	target.Host = listener.Addr().String()
	return with(t, target.String(), "sslmode", "disable")
}

// relay passes on what a client and a server say. A message is its type, its length and its content.
func relay(client net.Conn, server string) {
	defer client.Close()
	behind, err := net.Dial("tcp", server)
	if err != nil {
		return
	}
	defer behind.Close()
	go func() {
		_, _ = io.Copy(behind, client)
		_ = behind.Close()
	}()
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(behind, head); err != nil {
			return
		}
		content := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(behind, content); err != nil {
			return
		}
		if head[0] == 'K' { // the number of the process, and its secret
			binary.BigEndian.PutUint32(content, binary.BigEndian.Uint32(content)^1)
		}
		if _, err := client.Write(append(head, content...)); err != nil {
			return
		}
	}
}

// A pooler is refused with what to set, by a migration and by an engine, and works with that.
func TestPooler(t *testing.T) {
	t.Parallel()
	direct := emptyDatabase(t)
	address := pooler(t, direct)
	pool := func(address string) *pgxpool.Pool {
		p, err := pgxpool.New(t.Context(), address)
		require.NoError(t, err)
		t.Cleanup(p.Close)
		return p
	}
	behind := pool(address)
	for _, err := range []error{
		durable.MigrateUp(t.Context(), postgres.Pgx(behind)), durable.MigrateUp(t.Context(), postgres.SQL(behind)),
	} {
		require.ErrorContains(t, err, "a pooler such as pgbouncer is between this program and the server")
	}
	err := durable.MigrateUp(t.Context(), postgres.Pgx(behind, postgres.Pooled()))
	require.ErrorContains(t, err, "set default_query_exec_mode=exec")

	require.NoError(t, durable.MigrateUp(t.Context(), postgres.Pgx(pool(direct))))
	require.ErrorContains(t, bringUp(t.Context(), postgres.Pgx(behind)), "use the option postgres.Pooled")
	require.ErrorContains(t, bringUp(t.Context(), postgres.SQL(behind)), "use the option postgres.Pooled")
	modest := pool(with(t, address, "default_query_exec_mode", "exec"))
	require.NoError(t, bringUp(t.Context(), postgres.Pgx(modest, postgres.Pooled())))
	require.NoError(t, bringUp(t.Context(), postgres.SQL(modest, postgres.Pooled())))
}

// An engine says at its start that its pool is small.
func TestSmallPool(t *testing.T) {
	t.Parallel()
	address := emptyDatabase(t)
	for most, warned := range map[string]int{"3": 1, "4": 0} {
		var logged strings.Builder
		s := &shop[pgx.Tx]{T: t, db: onServer(t, with(t, address, "pool_max_conns", most)), clock: runningClock(t)}
		s.box, s.client = sandboxtest.New(t)
		s.engineOf(func(o *durable.Options[pgx.Tx]) { o.Logger = slog.New(slog.NewTextHandler(&logged, nil)) })
		assert.Equal(t, warned, strings.Count(logged.String(), "the pool is small"), most)
	}
}
