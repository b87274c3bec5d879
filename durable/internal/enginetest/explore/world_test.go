package explore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/webhooks"
)

// settlement is when everything settles.
var settlement = quickstream.DateOf(time.Now().AddDate(0, 0, 2)).String()

// ids is the source of ids: each actor has its own, so that they do not depend on the schedule.
type ids struct {
	drawn map[int]uint64
	actor func() int
}

// Read returns the next bytes of the actor that acts.
func (r *ids) Read(p []byte) (int, error) {
	actor := r.actor()
	for i := 0; i < len(p); i += 8 {
		r.drawn[actor]++
		var part [8]byte
		binary.LittleEndian.PutUint64(part[:], mix(mix(uint64(actor)+100)+r.drawn[actor]))
		copy(p[i:], part[:])
	}
	return len(p), nil
}

// mutant is a fault that is put back into the engine's statements.
type mutant struct {
	name   string
	in     []string                            // the scenarios that have to find it
	change func(query string) string           // of a statement
	forget func(query string, args []any) bool // its transaction reports a commit that it does not make
	seen   func(query string)
}

// scene is the world of a scenario: a shop on a database, and a service.
type scene[TTx comparable] struct {
	testing.TB
	scenario[TTx]
	db      durable.Database[TTx]
	mutant  mutant
	client  *quickstream.Client
	service *service
	saved   *service
	clock   time.Time
	past    database.Change // of the database's history
	begun   time.Time
	happens int
	run     *run
	random  *ids
	refuse  int // so many calls of OnOutcome fail
	fresh   func() durable.Database[TTx]
	put     func()
	process func(tx TTx) uint32 // of the server, that works for a transaction
	servers map[int]uint32      // by actor
	mu      sync.Mutex
	wrong   []error // what actors have seen
}

// engine is one process.
type engine[TTx comparable] struct {
	*durable.Engine[TTx]
	tasks database.Tasks
	db    *watched[TTx]
}

// now is the time of the scene, in a statement.
func (s *scene[TTx]) now(expression string) string {
	if strings.HasPrefix(expression, "clock_timestamp") {
		return fmt.Sprintf("to_timestamp(%d.%06d)", s.clock.Unix(), s.clock.Nanosecond()/1000)
	}
	return fmt.Sprintf("CAST(%d AS bigint)", s.clock.UnixMicro())
}

// boot starts a process.
func (s *scene[TTx]) boot() (*engine[TTx], error) {
	db := watch(s.fresh())
	db.SetNow(s.now)
	db.opened, db.past = s.opened, &s.past
	db.fine, db.change, db.forget, db.seen = s.fine, s.mutant.change, s.mutant.forget, s.mutant.seen
	off := resolve.ServiceRetriesOff()
	e, err := durable.New(context.Background(), db, s.client, durable.Options[TTx]{
		Installation: "shop", ServiceRetries: &off, Logger: slog.New(slog.DiscardHandler),
		OnOutcome: func(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
			return s.reported(ctx, db, tx, change)
		},
	})
	if err == nil {
		db.tasks.Inline()
	}
	return &engine[TTx]{e, db.tasks, db}, err
}

var errBusy = errors.New("the shop's tables are locked")

// reported is the shop's OnOutcome: it writes down what it got, and the state of the order.
func (s *scene[TTx]) reported(ctx context.Context, db *watched[TTx], tx TTx, change durable.OutcomeChange) error {
	if t := turnOf(ctx); s.refuses > 0 && t != nil { // who is refused depends on who came first
		t.Writes("hook")
	}
	if s.refuse > 0 {
		s.refuse--
		return errBusy
	}
	w, joined := change.Write, db.Join(tx)
	if _, err := joined.Exec(ctx, "INSERT INTO reported (payment, before, after) VALUES ($1, $2, $3)", w.ID, change.Before.Name(), w.Name()); err != nil {
		return err
	}
	if !w.IsPayment() {
		return nil
	}
	_, err := joined.Exec(ctx, "UPDATE orders SET state = $1 WHERE id = $2", w.Name(), w.Order)
	return err
}

// commit runs f in a transaction of the shop's.
func (e *engine[TTx]) commit(ctx context.Context, f func(tx TTx) error) error {
	tx, err := e.db.Begin(ctx)
	if err != nil {
		return err
	}
	ended := false
	defer func() {
		if !ended {
			_ = tx.Rollback(context.WithoutCancel(ctx))
		}
	}()
	if err := f(e.db.Leave(tx)); err != nil {
		return err
	}
	ended = true
	return tx.Commit(ctx)
}

// pay asks for a payment of an order in a transaction of the shop's, under the id of one attempt.
func (e *engine[TTx]) pay(ctx context.Context, attempt, order string) error {
	return e.commit(ctx, func(tx TTx) error {
		if _, err := e.db.Join(tx).Exec(ctx, "INSERT INTO orders (id, state) VALUES ($1, '') ON CONFLICT DO NOTHING", order); err != nil {
			return err
		}
		_, _, err := e.Pay(ctx, tx, durable.NewWrite{ID: attempt, Order: order}, token(attempt))
		return err
	})
}

// token returns the parameters of a payment of 12.34 by a token of an attempt.
func token(attempt string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: "SHOP", Source: quickstream.FromSingleUseToken("token " + attempt), PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
}

// Begin puts rows, ledger and clock back, and starts the actors.
func (s *scene[TTx]) Begin() []Actor {
	s.run = nil
	s.put()
	s.clock, s.happens, s.refuse = s.begun, 0, s.refuses
	s.past = s.scenario.past
	s.service = s.saved.copied()
	s.service.script = s.script
	s.wrong = nil
	s.random.drawn = map[int]uint64{}
	var actors []Actor
	for _, a := range s.actors {
		actors = append(actors, Actor{Name: a.name, Mortal: a.mortal, Run: func(t *Turn) {
			s.run = t.run
			e, err := s.boot()
			if err != nil {
				s.wrong = append(s.wrong, err)
				return
			}
			ctx := context.WithValue(context.Background(), turnKey{}, t)
			a.acts(ctx, s, e)
		}})
	}
	return actors
}

// opened notes whose transaction a server's process works for.
func (s *scene[TTx]) opened(t *Turn, tx TTx) {
	if s.process != nil && t != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.servers[t.Number()] = s.process(tx)
	}
}

// pid is the server's process that works for an actor.
func (s *scene[TTx]) pid(actor int) (uint32, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pid, open := s.servers[actor]
	return pid, open
}

// happened numbers what happens.
func (s *scene[TTx]) happened() int {
	s.happens++
	return s.happens
}

// newScene makes the world of a scenario on an empty database with tables.
func newScene[TTx comparable](t testing.TB, sc scenario[TTx], m mutant, db durable.Database[TTx], fresh func() durable.Database[TTx], mark func() func(), tables string) *scene[TTx] {
	s := &scene[TTx]{TB: t, scenario: sc, db: db, mutant: m, fresh: fresh, servers: map[int]uint32{}, clock: time.Now().Truncate(time.Second)}
	s.random = &ids{drawn: map[int]uint64{}, actor: func() int {
		switch {
		case s.saved == nil: // the setting
			return -2
		case s.run == nil || s.run.current == nil:
			return -1
		}
		return s.run.current.Number()
	}}
	rand.Reader = s.random
	db.SetNow(s.now)
	s.service = newService(s.happened)
	client, err := quickstream.NewClient(quickstream.CustomURL("https://service.invalid/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("secret")},
		quickstream.WithHTTPClient(&http.Client{Transport: wire{func() *service { return s.service }}}), quickstream.WithoutResend(), quickstream.WithRetryWait(time.Millisecond, time.Millisecond))
	require.NoError(t, err)
	s.client = client
	s.do(tables)
	s.mutant = mutant{}
	if sc.setting != nil {
		e, err := s.boot()
		require.NoError(t, err)
		sc.setting(context.Background(), s, e)
	}
	s.mutant = m
	s.saved, s.begun = s.service, s.clock
	for _, table := range kept {
		s.do("CREATE TABLE saved_" + table + " AS SELECT * FROM " + s.table(table))
	}
	back := mark()
	s.put = func() {
		back()
		s.within(func(tx database.Tx) {
			for _, table := range kept {
				s.exec(tx, "DELETE FROM "+s.table(table))
				s.exec(tx, "INSERT INTO "+s.table(table)+" SELECT * FROM saved_"+table)
			}
			s.exec(tx, "DELETE FROM "+db.Dialect().Jobs)
		})
	}
	return s
}

// kept are the tables that are put back.
var kept = []string{"write", "event", "notification", "meta", "orders", "reported", "history"}

func (s *scene[TTx]) table(name string) string {
	switch name {
	case "orders", "reported", "history":
		return name
	default:
		return "quickstream." + name
	}
}

// within runs f in a transaction of no actor.
func (s *scene[TTx]) within(f func(tx database.Tx)) {
	tx, err := s.db.Begin(context.Background())
	require.NoError(s, err)
	f(tx)
	require.NoError(s, tx.Commit(context.Background()))
}

func (s *scene[TTx]) exec(tx database.Tx, query string, args ...any) {
	_, err := tx.Exec(context.Background(), query, args...)
	require.NoError(s, err, query)
}

func (s *scene[TTx]) do(query string, args ...any) {
	s.within(func(tx database.Tx) { s.exec(tx, query, args...) })
}

// each reads rows.
func (s *scene[TTx]) each(f func(scan func(...any) error) error, query string, args ...any) {
	s.within(func(tx database.Tx) {
		rows, err := tx.Query(context.Background(), query, args...)
		require.NoError(s, err, query)
		defer rows.Close()
		for rows.Next() {
			require.NoError(s, f(rows.Scan))
		}
		require.NoError(s, rows.Err())
	})
}

// texts reads one column of texts in a transaction of its own, which is a step of an actor.
func (e *engine[TTx]) texts(ctx context.Context, query string, args ...any) (found []string) {
	_ = e.commit(ctx, func(tx TTx) error {
		rows, err := e.db.Join(tx).Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var text string
			if err := rows.Scan(&text); err != nil {
				return err
			}
			found = append(found, text)
		}
		return rows.Err()
	})
	return found
}

// work works on what is due: it sends, looks up and notifies.
func (s *scene[TTx]) work(ctx context.Context, e *engine[TTx]) (failed error) {
	for _, id := range e.texts(ctx, "SELECT id FROM quickstream.write WHERE next_at <= $1 AND state = 'queued' ORDER BY id", s.clock) {
		failed = errors.Join(failed, e.tasks.Send(ctx, id))
	}
	for _, id := range e.texts(ctx, "SELECT id FROM quickstream.write WHERE next_at <= $1 AND state <> 'queued' ORDER BY id", s.clock) {
		failed = errors.Join(failed, e.tasks.LookUp(ctx, id))
	}
	for _, id := range e.texts(ctx, "SELECT id FROM quickstream.write WHERE changes > notified ORDER BY id") {
		failed = errors.Join(failed, e.tasks.Notify(ctx, id))
	}
	return failed
}

// notification is an event about a transaction.
func notification(id, receipt string) *webhooks.Notification {
	n, err := webhooks.Parse(fmt.Appendf(nil, `{"id":%q,"timestamp":"2026-01-01T00:00:00+1100","eventType":"payto.payment.approved","data":{"receiptNumber":%q}}`, id, receipt))
	if err != nil {
		panic(err)
	}
	return n
}
