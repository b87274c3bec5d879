package enginetest

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// workerVariable holds what a process of the merchant's program is told: the tests start
// this binary again, to end it as a machine would.
const workerVariable = "DURABLE_TEST_WORKER"

func TestMain(m *testing.M) {
	text := os.Getenv(workerVariable)
	if text == "" {
		flag.Parse()
		if atOnce := flag.Lookup("test.parallel").Value; atOnce.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
			_ = atOnce.Set("8") // these tests wait more than they work
		}
		os.Exit(m.Run())
	}
	if err := runWorker(text); err != nil {
		fmt.Fprintln(os.Stderr, "worker:", err)
		os.Exit(1)
	}
}

// workerConfig is what a process is told.
type workerConfig struct {
	Database   string // a file, or the address of a server
	Service    string // where the sandbox listens, and the test
	Key        string
	World      string
	Begun      time.Time
	Ahead      string // the file that says how far the sandbox's clock is ahead
	Account    string // of a card
	Agreement  string
	Pace       time.Duration // between orders that are taken
	Leaps      bool          // the client's clock leaps with the sandbox's, and with nothing under way
	Step       string        // at which the process kills itself, at the Hit-th time
	Hit        int
	Pages      int64   // that the file may have; 0 is no limit
	RefuseOnce float64 // the share of outcomes that the merchant's tables refuse
	Migrate    bool    // it migrates the databases that it is told of, and nothing else
}

func runWorker(text string) error {
	var c workerConfig
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	if c.Migrate {
		return migrateAll(os.Stdin, os.Stdout)
	}
	go func() { // whoever started this process has ended
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(2)
	}()
	if strings.HasPrefix(c.Database, "postgres") {
		pool, err := pgxpool.New(context.Background(), c.Database)
		if err != nil {
			return err
		}
		defer pool.Close()
		return runMerchant[pgx.Tx](c, postgres.Pgx(pool))
	}
	open := sqlite.Open
	if c.Pages > 0 { // of each connection: one that is replaced has the limit too
		open = func(file string) (*sql.DB, error) {
			db, err := sql.Open("sqlite", fmt.Sprintf("file:%s?_pragma=journal_mode(WAL)&_pragma=busy_timeout(10000)&_pragma=synchronous(FULL)"+
				"&_pragma=foreign_keys(1)&_pragma=max_page_count(%d)&_txlock=immediate", file, c.Pages))
			if err == nil {
				db.SetMaxOpenConns(1)
			}
			return db, err
		}
	}
	db, err := open(c.Database)
	if err != nil {
		return err
	}
	defer db.Close()
	return runMerchant[*sql.Tx](c, sqlite.DB(db))
}

// merchant is the merchant's program.
type merchant[TTx any] struct {
	workerConfig
	world  worlds.World
	db     durable.Database[TTx]
	engine *durable.Engine[TTx]
	client *quickstream.Client

	mu   sync.Mutex
	hits int
}

func runMerchant[TTx any](c workerConfig, db durable.Database[TTx]) error {
	world, err := worlds.Parse(c.World)
	if err != nil {
		return err
	}
	m := &merchant[TTx]{workerConfig: c, world: world, db: db}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if m.client, err = m.connect(); err != nil {
		return err
	}
	retries := retriesOf(world)
	opts := durable.Options[TTx]{
		Installation: "shop", OnOutcome: m.outcome, ServiceRetries: &retries, Clock: m.now, SweepEvery: 20 * time.Millisecond, LongestPay: 2 * time.Second, SendWithin: 3 * time.Hour,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	}
	if m.engine, err = durable.New(ctx, store[TTx]{Database: db, step: m.step}, m.client, opts); err != nil {
		return err
	}
	if err := m.engine.Start(ctx); err != nil {
		return err
	}
	if err := m.listen(); err != nil {
		return err
	}
	if err := m.takeOrders(ctx); err != nil {
		return err
	}
	ending, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return m.engine.Stop(ending)
}

func retriesOf(world worlds.World) resolve.ServiceRetries {
	if world.Value("SoftDeclineCodes") == "none" {
		return resolve.ServiceRetriesOff()
	}
	last := time.Hour
	for text := range strings.SplitSeq(world.Value("RetrySchedule"), ",") {
		if wait, err := time.ParseDuration(text); err == nil {
			last += wait
		}
	}
	return resolve.ServiceRetriesFor(last)
}

func (m *merchant[TTx]) connect() (*quickstream.Client, error) {
	options := []quickstream.ClientOption{
		quickstream.WithAttemptTimeout(500 * time.Millisecond),
		quickstream.WithRetryWait(time.Millisecond, 10*time.Millisecond), quickstream.WithTimeout(2 * time.Second), quickstream.WithoutResend(),
	}
	if m.Leaps {
		options = append(options, quickstream.WithClock(m.leaping))
	} else {
		options = append(options, quickstream.WithHTTPClient(&http.Client{Transport: dated{}}))
	}
	if m.world.Value("Metadata") == "refused" {
		options = append(options, quickstream.WithIntentMetadata(""))
	}
	switch m.world.Value("StatusForm") { // technical support has said what it means
	case "unlisted":
		options = append(options, quickstream.WithStatus("Settled", quickstream.OutcomeApproved), quickstream.WithStatus("Reversed", quickstream.OutcomeVoided))
	case "absent":
		options = append(options, quickstream.WithStatus("", quickstream.OutcomeApproved))
	}
	return quickstream.NewClient(quickstream.CustomURL(m.Service+"/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey(m.Key)}, options...)
}

// aheadHeader says how far the sandbox's clock was ahead when it answered.
const aheadHeader = "Test-Ahead"

// dated brings the Date of answers into this machine's time, with which the client
// compares it: what is left is the difference of the world.
type dated struct{}

func (dated) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	ahead, _ := time.ParseDuration(answer.Header.Get(aheadHeader))
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		answer.Header.Set("Date", date.Add(-ahead).UTC().Format(http.TimeFormat))
	}
	return answer, nil
}

// now is the merchant's clock: the sandbox's, and wrong as the world says.
func (m *merchant[TTx]) now() time.Time {
	if m.Leaps {
		return clockAtLast(m.world, m.leaping(), m.Begun)
	}
	return m.world.MerchantTime(m.leaping(), m.Begun)
}

// clockAtLast is what the clock of the last processes shows at the true time now. One that is more than an hour from the
// service's has been set right: the engine doubts it, and would give nothing up.
func clockAtLast(w worlds.World, now, begun time.Time) time.Time {
	service := now
	if skew, err := time.ParseDuration(w.Value("ClockSkew")); err == nil && w.Value("DateHeaderRight") != "true" {
		service = now.Add(skew)
	}
	if merchant := w.MerchantTime(now, begun); merchant.Sub(service).Abs() <= time.Hour+time.Minute {
		return merchant
	}
	return now
}

// leaping is this machine's clock as far ahead as the sandbox's.
func (m *merchant[TTx]) leaping() time.Time {
	now := time.Now()
	if text, err := os.ReadFile(m.Ahead); err == nil {
		if ahead, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			now = now.Add(time.Duration(ahead))
		}
	}
	return now
}

// step ends the process where it was told to.
func (m *merchant[TTx]) step(name string) {
	if name != m.Step {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hits++; m.hits == m.Hit {
		_ = m.tell("/test/died", name)
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill()
		}
		select {}
	}
}

func (m *merchant[TTx]) tell(path, text string) error {
	answer, err := http.Post(m.Service+path, "text/plain", bytes.NewReader([]byte(text)))
	if err == nil {
		err = answer.Body.Close()
	}
	return err
}

// listen opens the webhook endpoint.
func (m *merchant[TTx]) listen() error {
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{webhookSecret})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: m.engine.Inbox(verifier), ReadHeaderTimeout: time.Second}
	go func() { _ = server.Serve(listener) }()
	return m.tell("/test/hello?pid="+strconv.Itoa(os.Getpid()), "http://"+listener.Addr().String())
}

// takeOrders has orders paid and refunded until the program is to end. Now and then a customer repeats
// a step: an attempt, an older one, or a refund. Without a pace only refunds that are due are made.
func (m *merchant[TTx]) takeOrders(ctx context.Context) error {
	pace := m.Pace
	if pace <= 0 {
		pace = 200 * time.Millisecond
	}
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		which := "r.state = 'wanted' AND r.due <= $1"
		if m.Pace > 0 && rand.IntN(6) == 0 {
			which = "r.state NOT IN ('wanted', 'later') AND r.due <= $1"
		}
		err := m.within(ctx, func(tx database.Tx) error { return m.refundWhich(ctx, tx, which, m.now().UnixMicro()) })
		if m.Pace > 0 {
			which = "state = 'new'"
			if rand.IntN(6) == 0 {
				which = "state <> 'new'"
			}
			err = errors.Join(err, m.takeSome(ctx, which))
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "order:", err)
		}
	}
}

// order is one of the merchant's.
type order struct {
	id, kind, reference string
	amount, attempt     int64
}

func (m *merchant[TTx]) takeSome(ctx context.Context, which string) error {
	var found []order
	err := m.within(ctx, func(tx database.Tx) error {
		rows, err := tx.Query(ctx, "SELECT id, kind, reference, amount, attempt FROM orders WHERE "+which+" ORDER BY turn LIMIT 6"+m.db.Dialect().SkipLocked)
		if err != nil {
			return err
		}
		for rows.Next() {
			var o order
			if err := rows.Scan(&o.id, &o.kind, &o.reference, &o.amount, &o.attempt); err != nil {
				rows.Close()
				return err
			}
			if which != "state = 'new'" { // an old message may come again
				o.attempt = 1 + rand.Int64N(o.attempt)
			}
			found = append(found, o)
		}
		rows.Close()
		for _, o := range found {
			if _, err := tx.Exec(ctx, "UPDATE orders SET state = CASE state WHEN 'new' THEN 'taken' ELSE state END, turn = turn + 1 WHERE id = $1", o.id); err != nil {
				return err
			}
			if o.kind == "details" {
				continue
			}
			if err := m.pay(ctx, tx, o); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	for _, o := range found {
		if err == nil && o.kind == "details" {
			err = m.send(context.WithoutCancel(ctx), o) // as a server finishes its requests
		}
	}
	return err
}

func (m *merchant[TTx]) within(ctx context.Context, f func(tx database.Tx) error) error {
	tx, err := m.db.Begin(ctx)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback(context.WithoutCancel(ctx)))
	}
	return tx.Commit(ctx)
}
