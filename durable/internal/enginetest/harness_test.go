// Package enginetest tests the engine of durable payments on SQLite and PostgreSQL, by what
// it exports.
package enginetest

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"log/slog"
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
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// postgresVariable names a database of a PostgreSQL server, on which each test makes one of
// its own.
const postgresVariable = "DURABLE_TEST_POSTGRES"

// store is a database under test, with what the engine does not say of it.
type store[TTx any] struct {
	durable.Database[TTx]
	// anew has connections made anew, as those that are there have prepared statements of
	// the tables as they were.
	anew func()
	// close closes a file before another one is put in its place.
	close func() error
	// step is called at each durable step, and machine is the clock of the machine; both may
	// be nil.
	step    func(name string)
	machine func() time.Time
}

// Step and Machine are what the engine asks a database of the tests for.
func (s store[TTx]) Step(name string) {
	if s.step != nil {
		s.step(name)
	}
}

func (s store[TTx]) Machine() time.Time {
	if s.machine != nil {
		return s.machine()
	}
	return time.Now()
}

// everywhere runs a test on SQLite, and on PostgreSQL where there is one.
func everywhere(t *testing.T, onSQLite func(*testing.T, store[*sql.Tx]), onPostgres func(*testing.T, store[pgx.Tx])) {
	t.Parallel()
	oneByOne(t, onSQLite, onPostgres)
}

// oneByOne runs a test beside which nothing else runs.
func oneByOne(t *testing.T, onSQLite func(*testing.T, store[*sql.Tx]), onPostgres func(*testing.T, store[pgx.Tx])) {
	t.Run("SQLite", func(t *testing.T) { onSQLite(t, onFile(t, filepath.Join(t.TempDir(), "shop.db"))) })
	t.Run("PostgreSQL", func(t *testing.T) { onPostgres(t, onServer(t, emptyDatabase(t))) })
}

// newFile opens a file without tables.
func newFile(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sqlite.Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func onFile(t *testing.T, file string) store[*sql.Tx] {
	t.Helper()
	db, err := sqlite.Open(file)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	s := store[*sql.Tx]{Database: sqlite.DB(db), anew: func() {}, close: db.Close}
	require.NoError(t, durable.MigrateUp(t.Context(), s.Database))
	return s
}

// needs skips a test, and says what it needs. Where QUICKSTREAM_SKIP is set, as in .ci/run, it fails, unless
// that is how what it needs begins.
func needs(t *testing.T, what string) {
	t.Helper()
	if skip, set := os.LookupEnv("QUICKSTREAM_SKIP"); set {
		require.True(t, strings.HasPrefix(what, skip), "needs "+what)
	}
	t.Skip("needs " + what)
}

// postgresServer is the address of a server. Without one the tests run on SQLite alone.
func postgresServer(t *testing.T) string {
	t.Helper()
	server := os.Getenv(postgresVariable)
	if server == "" {
		needs(t, "PostgreSQL: "+postgresVariable+" is not set")
	}
	return server
}

// emptyDatabase makes an empty database on the server, and returns its address.
func emptyDatabase(t *testing.T) string {
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
	ask("CREATE DATABASE " + name)
	t.Cleanup(func() { ask("DROP DATABASE " + name + " WITH (FORCE)") })
	address.Path = name
	return address.String()
}

func onServer(t *testing.T, address string) store[pgx.Tx] {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s := store[pgx.Tx]{Database: postgres.Pgx(pool), anew: pool.Reset}
	require.NoError(t, durable.MigrateUp(t.Context(), s.Database))
	return s
}

// shop is a merchant with an engine.
type shop[TTx any] struct {
	*testing.T
	box    *sandbox.Sandbox
	clock  *sandbox.Clock
	client *quickstream.Client
	db     store[TTx]
	engine *durable.Engine[TTx]

	mu      sync.Mutex
	changes []durable.OutcomeChange
	refuse  error                                                                 // of OnOutcome
	hook    func(ctx context.Context, tx TTx, change durable.OutcomeChange) error // of a program, besides
}

// open returns a shop whose engine works. edits change its options.
func open[TTx any](t *testing.T, db store[TTx], edits ...func(*durable.Options[TTx])) *shop[TTx] {
	t.Helper()
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 0 }))
	s.engine = s.start(edits...)
	return s
}

// runningClock returns a clock a little ahead of this machine's.
func runningClock(*testing.T) *sandbox.Clock {
	return sandbox.NewRunningClock(time.Now().Add(time.Second))
}

// start starts an engine on the shop's database, and stops it when the test ends.
func (s *shop[TTx]) start(edits ...func(*durable.Options[TTx])) *durable.Engine[TTx] {
	s.Helper()
	engine := s.engineOf(edits...)
	require.NoError(s, engine.Start(s.Context()))
	s.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(s, engine.Stop(ctx))
	})
	return engine
}

// engineOf returns an engine on the shop's database that does not work yet.
func (s *shop[TTx]) engineOf(edits ...func(*durable.Options[TTx])) *durable.Engine[TTx] {
	s.Helper()
	off := resolve.ServiceRetriesOff()
	opts := durable.Options[TTx]{
		Installation: "shop", OnOutcome: s.told, ServiceRetries: &off, Clock: s.clock.Now, SweepEvery: 20 * time.Millisecond,
		Logger: slog.New(slog.NewTextHandler(s.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	for _, edit := range edits {
		edit(&opts)
	}
	engine, err := durable.New(s.Context(), s.db, s.client, opts)
	require.NoError(s, err)
	return engine
}

func (s *shop[TTx]) told(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		return s.refuse
	}
	s.changes = append(s.changes, change)
	if s.hook != nil {
		return s.hook(ctx, tx, change)
	}
	return nil
}

// states are the states that OnOutcome was told of an order, in their order.
func (s *shop[TTx]) states(orderID string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var states []string
	for _, change := range s.changes {
		if w := change.Write.Common(); w.Order == orderID {
			states = append(states, w.Text())
		}
	}
	return states
}

// commit runs f in a transaction of the merchant's.
func (s *shop[TTx]) commit(f func(tx TTx) error) error { return inTx(s.Context(), s.db, f) }

// inTx runs f in a transaction, and commits it unless f fails.
func inTx[TTx any](ctx context.Context, db durable.Database[TTx], f func(tx TTx) error) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	if err := f(db.Leave(tx)); err != nil {
		return errors.Join(err, tx.Rollback(ctx))
	}
	return tx.Commit(ctx)
}

// card returns the parameters of a payment by a card.
func (s *shop[TTx]) card(number string) quickstream.PayParams {
	s.Helper()
	token, err := sandboxtest.CardToken(s.Context(), s.client, number)
	require.NoError(s, err)
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token), PrincipalAmount: decimal.New(1234, -2),
		Currency: quickstream.CurrencyAUD, ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
}

// pay commits a payment of an order, or a follow-up of one by its receipt, under a new id, and
// returns that of the write that there is.
func (s *shop[TTx]) pay(order string, params quickstream.TransactionParams) string {
	s.Helper()
	return s.write(func(tx TTx) (string, error) { return s.ask(tx, order, params) })
}

// ask asks for a payment of an order, or a follow-up of one by its receipt, under a new id. An order
// that has a payment has that one's id, with the error.
func (s *shop[TTx]) ask(tx TTx, order string, params quickstream.TransactionParams) (string, error) {
	w := s.newWrite(order)
	var of string
	var written durable.FollowUp
	var err error
	switch p := params.(type) {
	case quickstream.RefundParams:
		if of, err = s.byReceipt(tx, p.OriginalReceiptNumber); err == nil {
			written, _, err = s.engine.Refund(s.Context(), tx, w, of, p)
		}
	case quickstream.CaptureParams:
		if of, err = s.byReceipt(tx, p.OriginalReceiptNumber); err == nil {
			written, _, err = s.engine.Capture(s.Context(), tx, w, of, p)
		}
	case quickstream.TopUpParams:
		if of, err = s.byReceipt(tx, p.OriginalReceiptNumber); err == nil {
			written, _, err = s.engine.TopUp(s.Context(), tx, w, of, p)
		}
	case quickstream.CancelPreauthorisationParams:
		if of, err = s.byReceipt(tx, p.OriginalReceiptNumber); err == nil {
			written, _, err = s.engine.CancelPreauthorisation(s.Context(), tx, w, of, p)
		}
	case quickstream.VerifyAccountParams:
		var other durable.OtherWrite
		other, _, err = s.engine.Verify(s.Context(), tx, w, p)
		return other.ID, err
	default:
		payment, _, err := s.engine.Pay(s.Context(), tx, w, params)
		if open := (*durable.OrderOpenError)(nil); errors.As(err, &open) {
			return open.Payment.ID, err
		}
		return payment.ID, err
	}
	return written.ID, err
}

// token returns the parameters of a payment by a token that was never asked for.
func token() quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: "SHOP", Source: quickstream.FromSingleUseToken("token"), PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
}

// newWrite has an id that no other has.
func (*shop[TTx]) newWrite(order string) durable.NewWrite {
	return durable.NewWrite{ID: order + " " + rand.Text(), Order: order}
}

// byReceipt returns the id of the write that a receipt is of.
func (s *shop[TTx]) byReceipt(tx TTx, receipt string) (id string, err error) {
	rows, err := s.db.Join(tx).Query(s.Context(), "SELECT id FROM quickstream.write WHERE receipt <> '' AND receipt = $1", receipt)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return "", err
		}
	}
	return id, rows.Err()
}

// write commits what the engine is asked to write, and returns its id.
func (s *shop[TTx]) write(ask func(tx TTx) (string, error)) (id string) {
	s.Helper()
	require.NoError(s, s.commit(func(tx TTx) (err error) {
		id, err = ask(tx)
		return err
	}))
	return id
}

// sendCard pays an order by the details of a card, which are not stored.
func (s *shop[TTx]) sendCard(orderID string) error {
	s.Helper()
	params := token()
	params.SupplierBusinessCode, params.Source = sandbox.DefaultBusiness, quickstream.FromCard(sandboxtest.Card(sandbox.CardAttempted))
	_, err := durable.Send(s.Context(), s.engine, s.newWrite(orderID), func(stored quickstream.CallOption) (*quickstream.Transaction, error) {
		return s.client.Transactions.Pay(s.Context(), params, stored)
	})
	return err
}

// The standings, as their Text says them.
const (
	queued        = "queued"
	sending       = "sending"
	resolving     = "resolving"
	approved      = "approved"
	declined      = "declined"
	refused       = "refused"
	notSent       = "not sent"
	notFound      = "not found"
	escalated     = "escalated"
	voided        = "voided"
	returned      = "returned"
	doubleCharged = "double charged"
)

// read returns a write as it stands, and paymentOf the payment of an order.
func (s *shop[TTx]) read(id string) durable.Record {
	s.Helper()
	w, err := s.engine.Write(s.Context(), id)
	require.NoError(s, err)
	return w.Common()
}

func (s *shop[TTx]) paymentOf(orderID string) durable.Payment {
	s.Helper()
	p, err := s.engine.PaymentOf(s.Context(), orderID)
	require.NoError(s, err)
	return p
}

func (s *shop[TTx]) status() durable.Health {
	s.Helper()
	status, err := s.engine.Health(s.Context())
	require.NoError(s, err)
	return status
}

// until waits until the work stands so, while time passes.
func (s *shop[TTx]) until(step time.Duration, stands func(durable.Health) bool) {
	s.Helper()
	require.Eventually(s, func() bool {
		status, err := s.engine.Health(s.Context())
		s.clock.Advance(step)
		return err == nil && stands(status)
	}, 3*time.Minute, 20*time.Millisecond) // also on a loaded machine
}

// settled waits for the outcome of a payment.
func (s *shop[TTx]) settled(id string) durable.Record {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute) // also on a loaded machine
	defer cancel()
	w, err := s.engine.Wait(ctx, id)
	require.NoError(s, err)
	return w.Common()
}

// reaches waits until a payment is in a state, while time passes.
func (s *shop[TTx]) reaches(id string, state string, step time.Duration) durable.Record {
	s.Helper()
	var p durable.Record
	for deadline := time.Now().Add(2 * time.Minute); ; { // also on a loaded machine
		if p = s.read(id); p.Text() == state {
			return p
		}
		require.Less(s, time.Now(), deadline, "it did not become %s: %+v", state, p)
		if p.State != durable.StateSending && (p.State != durable.StateQueued || p.Failures > 0) {
			s.clock.Advance(step) // nothing is on its way
		}
		<-time.After(40 * time.Millisecond)
	}
}

// charged is how often an order was charged, by the ledger.
func (s *shop[TTx]) charged() int {
	charged := 0
	for _, entry := range s.box.Ledger() {
		if entry.Outcome == "approved" && entry.Type == "PAYMENT" {
			charged++
		}
	}
	return charged
}

// serviceRetries says that the service retries nothing by itself.
func serviceRetries() *resolve.ServiceRetries {
	off := resolve.ServiceRetriesOff()
	return &off
}
