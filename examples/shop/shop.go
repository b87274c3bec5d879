package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/console"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// product is the one thing that the shop sells.
const product = "Tidal mug"

func price() decimal.Decimal { return decimal.RequireFromString("49.95") }

// shop is the shop, and the sandbox in place of the service.
type shop struct {
	box     *sandbox.Sandbox
	clock   *sandbox.Clock // of everything: the sandbox, the client, the database and the console
	client  *quickstream.Client
	db      *sql.DB
	store   durable.Database[*sql.Tx]
	log     *slog.Logger
	sydney  *time.Location
	service string // the origin of what the browser loads from the service

	password string
	staff    sync.Map // names of the staff who have logged in, by the value of their cookie

	engine  atomic.Pointer[durable.Engine[*sql.Tx]]
	console atomic.Pointer[console.Handler]
	killing sync.Mutex
	ahead   atomic.Int64 // how far the clock is ahead of this machine's, in microseconds

	mu   sync.Mutex
	made troubles
}

const schema = `
CREATE TABLE shop_order (id TEXT PRIMARY KEY, number INTEGER NOT NULL, form TEXT NOT NULL UNIQUE, placed INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'open', paid_by TEXT NOT NULL DEFAULT '');
CREATE TABLE shop_agreement (reference TEXT PRIMARY KEY, order_id TEXT NOT NULL, attempt TEXT NOT NULL, status TEXT NOT NULL);`

// openShop opens a new shop. page is the origin of its pages, and service that of the sandbox for browsers.
func openShop(ctx context.Context, file, page, service string, log *slog.Logger) (s *shop, err error) {
	s = &shop{clock: sandbox.NewRunningClock(time.Now()), service: service, log: log, password: rand.Text()[:8], made: troubles{Faults: faults()}}
	if s.sydney, err = time.LoadLocation("Australia/Sydney"); err != nil {
		return nil, err
	}
	s.box = sandbox.New(sandbox.WithClock(s.clock), sandbox.WithShop(page), sandbox.WithOrigin(service), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.PayToApprovedAfter, a.LookupLag, a.TokenQuota = 5*time.Second, 4*time.Second, 0
	}))
	if s.client, err = quickstream.NewClient(quickstream.CustomURL(s.box.URL()), sandboxtest.Keys(s.box), quickstream.WithHTTPClient(s.box.HTTPClient()),
		quickstream.WithClock(s.clock.Now), quickstream.WithSupplierBusinessCode(sandbox.DefaultBusiness), quickstream.WithCurrency(quickstream.CurrencyAUD),
		quickstream.WithAttemptTimeout(3*time.Second), quickstream.WithTimeout(longestCall)); err != nil {
		return nil, err
	}
	if s.db, err = sqlite.Open(file); err != nil {
		return nil, err
	}
	s.store = sqlite.DB(s.db)
	s.store.SetNow(s.now)
	if err := durable.MigrateUp(ctx, s.store); err != nil {
		return nil, err
	}
	if _, err := s.db.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, s.subscribe()
}

// longestCall is the longest that the client takes for a call.
const longestCall = 12 * time.Second

// now returns the database's clock in SQL: its own expression, ahead by as much as the sandbox's clock. It never goes back.
func (s *shop) now(expression string) string {
	ahead := time.Until(s.clock.Now()).Microseconds()
	for old := s.ahead.Load(); ahead > old; old = s.ahead.Load() {
		s.ahead.CompareAndSwap(old, ahead)
	}
	return fmt.Sprintf("(%s + %d)", expression, s.ahead.Load())
}

// start starts an engine on the database, and the console that shows it.
func (s *shop) start(ctx context.Context) error {
	retries := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, s.store, s.client, durable.Options[*sql.Tx]{
		Installation: "shop-demonstration", ServiceRetries: &retries, LongestPay: longestCall, LookupLag: 5 * time.Second, Workers: 4,
		OnOutcome: markOrder, OnEvent: s.collect, Logger: s.log,
	})
	if err != nil {
		return err
	}
	office, err := console.New(engine, s.store, console.Options{Authorize: s.person, Login: "/logout", Logger: s.log, Now: s.clock.Now})
	if err != nil {
		return err
	}
	s.engine.Store(engine)
	s.console.Store(office)
	return engine.Start(ctx)
}

// subscribe makes the service deliver its events to the engine that works at that time.
func (s *shop) subscribe() error {
	secret := rand.Text()
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret}, signature.WithClock(s.clock.Now))
	if err != nil {
		return err
	}
	inbox := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.engine.Load().Inbox(verifier).ServeHTTP(w, r) })
	return s.box.Subscribe(sandbox.Subscription{Handler: inbox, Secret: secret, Scheme: signature.AssumedHMAC{}})
}

// close ends everything.
func (s *shop) close() {
	s.killing.Lock()
	defer s.killing.Unlock()
	s.stop()
	s.box.Close()
	_ = s.db.Close()
}

// stop ends the engine and the console at once, in the middle of what they do.
func (s *shop) stop() {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.engine.Load().Stop(gone)
	s.console.Load().Close()
}

// markOrder stores in the order whether its goods can be sent. It is the engine's OnOutcome: the engine calls it once for
// each change, and marks the change as taken in the same transaction.
func markOrder(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	w, state := change.Write, "check"
	switch {
	case !w.IsPayment():
		return nil // a refund or a void
	case w.Paid() && w.State == durable.StateApproved && w.Amount.Equal(price()):
		state = "paid"
	case w.MayPayAgain():
		state = "open"
	}
	_, err := tx.ExecContext(ctx, `UPDATE shop_order SET state = $1, paid_by = $2
		WHERE id = $3 AND (state = 'open' OR paid_by = $2 OR $1 = 'paid')`, state, w.ID, w.Order)
	return err
}

// order is a row of the shop's own.
type order struct {
	ID     string
	Placed time.Time
	State  string // what OnOutcome has stored: open, paid or check
}

// place stores an order. The form has had its id since it was rendered, so a second click places no second order.
func (s *shop) place(ctx context.Context, form string) (id string, err error) {
	_, err = s.db.ExecContext(ctx, `INSERT INTO shop_order (id, number, form, placed)
		SELECT 'ORDER-' || n, n, $1, $2 FROM (SELECT coalesce(max(number), 1000) + 1 AS n FROM shop_order) WHERE true ON CONFLICT (form) DO NOTHING`, form, s.clock.Now().UnixMicro())
	if err == nil {
		err = s.db.QueryRowContext(ctx, "SELECT id FROM shop_order WHERE form = $1", form).Scan(&id)
	}
	return id, err
}

// orders returns all orders, the newest first.
func (s *shop) orders(ctx context.Context) ([]order, error) {
	return query(ctx, s.db, "SELECT id, placed, state FROM shop_order ORDER BY number DESC", func(scan func(...any) error) (o order, err error) {
		var placed int64
		err = scan(&o.ID, &placed, &o.State)
		o.Placed = time.UnixMicro(placed)
		return o, err
	})
}

// query reads rows.
func query[T any](ctx context.Context, db *sql.DB, statement string, read func(scan func(...any) error) (T, error)) (list []T, err error) {
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		row, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, rows.Err()
}
