// Package enginetest tests the engine of durable payments on SQLite and PostgreSQL, by what
// it exports.
package enginetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/durabletest"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/internal/needs"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
)

// postgresVariable names a database of a PostgreSQL server, on which each test makes one of
// its own.
const postgresVariable = "DURABLE_TEST_POSTGRES"

// store is a database under test, with access that the engine does not give.
type store[TTx any] struct {
	durable.Database[TTx]
	// reconnect closes the connections, so that others are made; close closes a file before another one is put in its place.
	reconnect func()
	close     func() error
	file      string
	// exec runs a statement of the dialect of the database, outside of any transaction.
	exec func(ctx context.Context, statement string, args ...any) error
}

// everywhere runs a test on SQLite, and on PostgreSQL if there is one.
func everywhere(t *testing.T, onSQLite func(*testing.T, store[*sql.Tx]), onPostgres func(*testing.T, store[pgx.Tx])) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		onSQLite(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		onPostgres(t, onServer(t, emptyDatabase(t)))
	})
}

func onFile(t testing.TB, file string) store[*sql.Tx] {
	t.Helper()
	db, err := sqlite.Open(file)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	s := store[*sql.Tx]{Database: sqlite.DB(db), reconnect: func() {}, close: db.Close, file: file, exec: func(ctx context.Context, statement string, args ...any) error {
		_, err := db.ExecContext(ctx, strings.ReplaceAll(statement, "quickstream.", "quickstream_"), args...)
		return err
	}}
	require.NoError(t, durable.MigrateUp(t.Context(), s.Database))
	return s
}

// postgresServer is the address of a server. Without one the tests run on SQLite alone.
func postgresServer(t testing.TB) string {
	t.Helper()
	server := os.Getenv(postgresVariable)
	if server == "" {
		needs.Skip(t, "PostgreSQL: "+postgresVariable+" is not set")
	}
	return server
}

// emptyDatabase makes an empty database on the server, and returns its address.
func emptyDatabase(t testing.TB) string {
	t.Helper()
	server := postgresServer(t)
	address, err := url.Parse(server)
	require.NoError(t, err)
	ask := func(statement string) {
		ctx := context.WithoutCancel(t.Context())
		connection, err := pgx.Connect(ctx, server)
		require.NoError(t, err)
		defer connection.Close(ctx)
		_, err = connection.Exec(ctx, statement)
		require.NoError(t, err)
	}
	name := "durable_" + strings.ToLower(rand.Text())
	ask("CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'") // which sorts as people do
	t.Cleanup(func() { ask("DROP DATABASE " + name + " WITH (FORCE)") })
	address.Path = name
	return address.String()
}

func onServer(t testing.TB, address string, opts ...postgres.Option) store[pgx.Tx] {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s := store[pgx.Tx]{Database: postgres.Pgx(pool, opts...), reconnect: pool.Reset, exec: func(ctx context.Context, statement string, args ...any) error {
		_, err := pool.Exec(ctx, statement, args...)
		return err
	}}
	require.NoError(t, durable.MigrateUp(t.Context(), s.Database))
	return s
}

// shop is a merchant with an engine.
type shop[TTx any] struct {
	*testing.T
	*durabletest.Kit[TTx]
	db store[TTx]

	mu      sync.Mutex
	changes []durable.OutcomeChange
	refuse  error // of OnOutcome
}

// open returns a shop whose engine works. edits change its options.
func open[TTx any](t *testing.T, db store[TTx], edits ...func(*durable.Options[TTx])) *shop[TTx] {
	t.Helper()
	s := &shop[TTx]{T: t, db: db}
	opts := durable.Options[TTx]{Installation: "shop", OnOutcome: s.reported}
	for _, edit := range edits {
		edit(&opts)
	}
	s.Kit = durabletest.New(t, db.Database, opts)
	return s
}

func (s *shop[TTx]) reported(_ context.Context, _ TTx, change durable.OutcomeChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return s.refuse
	}
	s.changes = append(s.changes, change)
	return nil
}

func (s *shop[TTx]) refuses(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = err
}

// names returns the standings of a write that OnOutcome was notified of, in order.
func (s *shop[TTx]) names(id string) (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, change := range s.changes {
		if change.Write.ID == id {
			names = append(names, change.Write.Name())
		}
	}
	return names
}

// card returns the parameters of a payment by a card.
func (s *shop[TTx]) card(number string) quickstream.PayParams {
	s.T.Helper()
	return params(quickstream.FromSingleUseToken(s.Token(number)))
}

func params(source quickstream.CardSource) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: source, PrincipalAmount: decimal.New(1234, -2),
		Currency: quickstream.CurrencyAUD, ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
}

// pay commits a payment of an order, whose id is the order's.
func (s *shop[TTx]) pay(order string, p quickstream.TransactionParams) durable.Write {
	s.T.Helper()
	w, err := s.tryPay(durable.NewWrite{ID: order, Order: order}, p)
	require.NoError(s.T, err)
	return w
}

func (s *shop[TTx]) tryPay(n durable.NewWrite, p quickstream.TransactionParams) (w durable.Write, err error) {
	err = s.Tx(func(tx TTx) (err error) {
		w, _, err = s.Engine().Pay(s.T.Context(), tx, n, p)
		return err
	})
	return w, err
}

// commit commits a payment by an engine, in its database.
func commit[TTx any](t *testing.T, engine *durable.Engine[TTx], db store[TTx], n durable.NewWrite, p quickstream.TransactionParams) {
	t.Helper()
	tx, err := db.Begin(t.Context())
	require.NoError(t, err)
	_, _, err = engine.Pay(t.Context(), db.Leave(tx), n, p)
	require.NoError(t, err)
	require.NoError(t, tx.Commit(t.Context()))
}

// preauthorisation returns the parameters of a first pre-authorisation by a card.
func (s *shop[TTx]) preauthorisation() quickstream.PreauthoriseParams {
	p := params(nil)
	return quickstream.PreauthoriseParams{
		SupplierBusinessCode: p.SupplierBusinessCode, Source: quickstream.FromSingleUseToken(s.Token(sandbox.CardAttempted)), PrincipalAmount: p.PrincipalAmount,
		Currency: p.Currency, ECI: p.ECI, IPAddress: p.IPAddress, StoredCredential: p.StoredCredential,
	}
}

// refund commits a refund of cents of a payment.
func (s *shop[TTx]) refund(id, of string, cents int64) (w durable.Write, err error) {
	err = s.Tx(func(tx TTx) (err error) {
		w, _, err = s.Engine().Refund(s.T.Context(), tx, durable.NewWrite{ID: id}, of, quickstream.RefundParams{PrincipalAmount: decimal.New(cents, -2), Currency: quickstream.CurrencyAUD})
		return err
	})
	return w, err
}

func (s *shop[TTx]) get(id string) durable.Write {
	s.T.Helper()
	w, err := s.Engine().Get(s.T.Context(), id)
	require.NoError(s.T, err)
	return w
}

// reaches waits until a write has the standing of that name.
func (s *shop[TTx]) reaches(id, name string) durable.Write {
	s.T.Helper()
	return s.Until(id, func(w durable.Write) bool { return w.Name() == name })
}

// charged returns how often an order was charged, by the sandbox's ledger.
func (s *shop[TTx]) charged(order string) (n int) {
	for _, e := range s.Sandbox.Ledger() {
		if e.Outcome == "approved" && e.Type == "PAYMENT" && e.Metadata["quickstreamOrder"] == order {
			n++
		}
	}
	return n
}

// refunded returns how many cents were refunded.
func (s *shop[TTx]) refunded() (cents int64) {
	for _, e := range s.Sandbox.Ledger() {
		if e.Outcome == "approved" && e.Type == "REFUND" {
			cents += e.Amount
		}
	}
	return cents
}

func (s *shop[TTx]) inject(faults ...sandbox.Fault) {
	s.T.Helper()
	require.NoError(s.T, s.Sandbox.Inject(faults...))
}

func (s *shop[TTx]) health() durable.Health {
	s.T.Helper()
	return healthOf(s.T, s.Engine())
}

func healthOf[TTx any](t *testing.T, engine *durable.Engine[TTx]) durable.Health {
	t.Helper()
	h, err := engine.Health(t.Context())
	require.NoError(t, err)
	return h
}

// eventually waits until something holds, a minute at most.
func eventually(t testing.TB, holds func() bool, what string) {
	t.Helper()
	within(t, time.Minute, holds, what)
}

func within(t testing.TB, d time.Duration, holds func() bool, what string) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(d); !holds(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", d, what)
		}
	}
}

// serviceRetries says that the service retries nothing by itself.
func serviceRetries() *resolve.ServiceRetries {
	off := resolve.ServiceRetriesOff()
	return &off
}

// history returns the events of a write, for a test that fails.
func (s *shop[TTx]) history(id string) string {
	events, err := s.Engine().Events(context.WithoutCancel(s.T.Context()), id)
	if err != nil {
		return err.Error()
	}
	text := ""
	for _, e := range events {
		text += "\n" + e.At.Format(time.StampMilli) + " " + string(e.Kind) + " " + e.Standing.Name() + " " + string(e.Seen.Result) + " " + string(e.Seen.Outcome)
	}
	return text
}
