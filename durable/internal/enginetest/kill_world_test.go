package enginetest

import (
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of what the tests read
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// village is a world with a merchant whose program runs in processes of its own.
type village struct {
	*testing.T
	world  worlds.World
	box    *sandbox.Sandbox
	clock  *sandbox.Clock
	db     *sql.DB // to look at it from outside
	config workerConfig
	// program is what processes run; "" for this one.
	program string
	orders  []placed
	dice    *rand.Rand
	begun   time.Time

	stepping sync.Mutex

	mu    sync.Mutex
	doors map[int]string // of the webhook endpoints, by process
	died  map[string]int // by step
	kills int
	steps int
}

// newVillage opens a world, with the merchant's tables. An empty address is a SQLite file.
func newVillage(t *testing.T, world worlds.World, address string, seed uint64, orders int, more ...sandbox.Option) *village {
	t.Helper()
	v := &village{T: t, world: world, clock: runningClock(t), dice: dice(seed), doors: map[int]string{}, died: map[string]int{}}
	v.begun = v.clock.Now()
	// Nothing but the claim keeps a request from being carried out twice.
	forgetful := sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.KeyLifetime = 0 })
	sameDay := sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.RefundBeforeCutOff = seed%2 == 1 })
	v.box = sandbox.New(append(more, world.Option(), forgetful, sameDay, sandbox.WithClock(v.clock), sandbox.WithSeed(seed))...)
	server := httptest.NewServer(v)
	t.Cleanup(func() {
		v.box.Close()
		server.Close()
	})
	v.config = workerConfig{
		Database: address, Service: server.URL, Key: v.box.Keys().Secret, World: world.String(), Begun: v.begun,
		Ahead: filepath.Join(t.TempDir(), "ahead"), Pace: 150 * time.Millisecond, RefuseOnce: 0.03,
	}
	v.step(0)
	v.open()
	v.furnish()
	v.place(orders)
	return v
}

// open makes the database, with a record of every change of a payment's state that is
// kept by the database itself.
func (v *village) open() {
	v.Helper()
	var err error
	if v.config.Database == "" {
		v.config.Database = filepath.Join(v.TempDir(), "shop.db")
		v.db, err = sqlite.Open(v.config.Database)
		require.NoError(v, err)
		require.NoError(v, durable.MigrateUp(v.Context(), sqlite.DB(v.db)))
	} else {
		pool, err := pgxpool.New(v.Context(), v.config.Database)
		require.NoError(v, err)
		defer pool.Close()
		require.NoError(v, durable.MigrateUp(v.Context(), postgres.Pgx(pool)))
		v.db, err = sql.Open("pgx", v.config.Database)
		require.NoError(v, err)
	}
	v.Cleanup(func() { _ = v.db.Close() })
	number := "integer PRIMARY KEY AUTOINCREMENT"
	if v.onServer() {
		number = "bigserial PRIMARY KEY"
	}
	v.exec(`CREATE TABLE orders (id text PRIMARY KEY, kind text, reference text, amount bigint, state text, again bigint, attempt bigint, write_id text, turn bigint)`)
	v.exec(`CREATE TABLE refunds (id text PRIMARY KEY, order_id text, amount bigint, state text, due bigint)`)
	v.exec(`CREATE TABLE told (number ` + number + `, write_id text, before text, after text)`)
	v.exec(`CREATE TABLE history (number ` + number + `, write_id text, before text, after text, intent text)`)
	const stood = "%[1]s.state || ' ' || %[1]s.outcome || ' ' || %[1]s.reversal"
	before, after := fmt.Sprintf(stood, "OLD"), fmt.Sprintf(stood, "NEW")
	if v.onServer() {
		v.exec(`CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO history (write_id, before, after, intent) VALUES (NEW.id, CASE WHEN TG_OP = 'UPDATE' THEN ` + before + ` ELSE '' END, ` + after + `, NEW.intent);
			RETURN NEW; END $$`)
		v.exec(`CREATE TRIGGER remember AFTER INSERT OR UPDATE ON quickstream.write FOR EACH ROW EXECUTE FUNCTION remember()`)
		return
	}
	v.exec(`CREATE TRIGGER remember_new AFTER INSERT ON quickstream_write BEGIN
		INSERT INTO history (write_id, before, after, intent) VALUES (NEW.id, '', ` + after + `, NEW.intent); END`)
	v.exec(`CREATE TRIGGER remember AFTER UPDATE ON quickstream_write BEGIN
		INSERT INTO history (write_id, before, after, intent) VALUES (NEW.id, ` + before + `, ` + after + `, NEW.intent); END`)
}

func (v *village) onServer() bool { return strings.HasPrefix(v.config.Database, "postgres") }

func (v *village) exec(statement string) {
	v.Helper()
	_, err := v.db.ExecContext(v.Context(), v.dialect(statement))
	require.NoError(v, err)
}

// micros is a time's column as microseconds.
func (v *village) micros(column string) string {
	if v.onServer() {
		return "CAST(extract(epoch FROM " + column + ") * 1000000 AS bigint)"
	}
	return column
}

func (v *village) dialect(statement string) string {
	if v.onServer() {
		return statement
	}
	return strings.ReplaceAll(statement, "quickstream.", "quickstream_")
}

// each calls f for every row.
func (v *village) each(f func(scan func(...any) error) error, statement string) {
	v.Helper()
	rows, err := v.db.QueryContext(v.Context(), v.dialect(statement))
	require.NoError(v, err)
	defer rows.Close()
	for rows.Next() {
		require.NoError(v, f(rows.Scan))
	}
	require.NoError(v, rows.Err())
}

// count reads a number.
func (v *village) count(statement string) (n int64) {
	v.Helper()
	v.each(func(scan func(...any) error) error {
		var found sql.NullInt64
		err := scan(&found)
		n = found.Int64
		return err
	}, statement)
	return n
}

// furnish makes what payments are taken from, while nothing fails yet.
func (v *village) furnish() {
	v.Helper()
	client := sandboxtest.Client(v, v.box, quickstream.WithHTTPClient(&http.Client{Transport: v.inMemory()}))
	customer, err := client.Customers.Create(v.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
	require.NoError(v, err)
	_, err = client.Accounts.Register(v.Context(), customer.CustomerID, quickstream.RegisterAccountParams{Card: new(sandboxtest.Card("4242424242424242"))})
	require.NoError(v, err)
	for account, err := range client.Accounts.List(customer.CustomerID).All(v.Context()) {
		require.NoError(v, err)
		v.config.Account = account.AccountToken
	}
	require.NotEmpty(v, v.config.Account)
	agreement, err := client.PayTo.Create(v.Context(), customer.CustomerID, agreementParams(v, v.clock.Now(), sandbox.ConfirmingPayID))
	require.NoError(v, err)
	v.step(10 * time.Minute)
	v.config.Agreement = agreement.AgreementToken
	require.NoError(v, v.box.Subscribe(sandbox.Subscription{
		Handler: http.HandlerFunc(v.relay), Secret: webhookSecret, Scheme: signature.AssumedHMAC{}, Clock: time.Now,
	}))
}

// inMemory is the way to the sandbox without faults, with dates in this machine's time.
func (v *village) inMemory() http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := v.box.HTTPClient().Transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
			answer.Header.Set("Date", date.Add(-v.ahead()).UTC().Format(http.TimeFormat))
		}
		return answer, nil
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// place writes the orders.
func (v *village) place(n int, edits ...func(i int, p *placed)) {
	v.Helper()
	wait := time.Hour
	if first, _, _ := strings.Cut(v.world.Value("RetrySchedule"), ","); first != "" {
		if parsed, err := time.ParseDuration(first); err == nil {
			wait = parsed
		}
	}
	tx, err := v.db.BeginTx(v.Context(), nil)
	require.NoError(v, err)
	for i := range n {
		p := place(v.dice, fmt.Sprintf("K-%05d", len(v.orders)+1), wait)
		for _, edit := range edits {
			edit(i, &p)
		}
		v.box.NextTransactionFor(p.id, p.outcomes...)
		v.orders = append(v.orders, p)
		for _, statement := range p.rows() {
			_, err := tx.ExecContext(v.Context(), statement)
			require.NoError(v, err)
		}
	}
	require.NoError(v, tx.Commit())
}

// ahead is how far the sandbox's clock is ahead of this machine's.
func (v *village) ahead() time.Duration { return time.Until(v.clock.Now()) }

// step moves the clock on, and then that of the merchant.
func (v *village) step(d time.Duration) {
	v.Helper()
	v.stepping.Lock()
	defer v.stepping.Unlock()
	v.steps++
	v.clock.Advance(d)
	next := v.config.Ahead + ".next"
	require.NoError(v, os.WriteFile(next, []byte(strconv.FormatInt(int64(v.ahead()), 10)), 0o600))
	require.NoError(v, os.Rename(next, v.config.Ahead))
}

// ServeHTTP is the sandbox, and what processes have to say to the test.
func (v *village) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text := ""
	if strings.HasPrefix(r.URL.Path, "/test/") {
		body, _ := io.ReadAll(r.Body)
		text = string(body)
		v.mu.Lock()
		defer v.mu.Unlock()
	}
	switch r.URL.Path {
	case "/test/hello":
		pid, _ := strconv.Atoi(r.URL.Query().Get("pid"))
		v.doors[pid] = text
	case "/test/died":
		v.died[text]++
	default:
		w.Header().Set(aheadHeader, v.ahead().String())
		v.box.ServeHTTP(w, r)
	}
}

// relay hands a notification to a process that is alive.
func (v *village) relay(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	v.mu.Lock()
	var doors []string
	for _, door := range v.doors {
		doors = append(doors, door)
	}
	v.mu.Unlock()
	for _, door := range doors {
		on, err := http.NewRequestWithContext(r.Context(), r.Method, door, bytes.NewReader(body))
		if err != nil {
			continue
		}
		on.Header = r.Header.Clone()
		answer, err := http.DefaultTransport.RoundTrip(on)
		if err != nil {
			continue
		}
		_ = answer.Body.Close()
		w.WriteHeader(answer.StatusCode)
		return
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// process is one of the merchant's.
type process struct {
	*exec.Cmd
	v      *village
	stderr said
	ended  chan struct{}
	err    error
}

// said is what a process has printed, which may be read while it runs.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// start starts a process.
func (v *village) start(edits ...func(*workerConfig)) *process {
	v.Helper()
	c := v.config
	for _, edit := range edits {
		edit(&c)
	}
	text, err := json.Marshal(c)
	require.NoError(v, err)
	p := &process{Cmd: exec.Command(cmp.Or(v.program, os.Args[0])), v: v, ended: make(chan struct{})}
	p.Env = append(os.Environ(), workerVariable+"="+string(text))
	p.Stderr = &p.stderr
	alive, err := p.StdinPipe()
	require.NoError(v, err)
	require.NoError(v, p.Start())
	go func() {
		p.err = p.Wait()
		_ = alive.Close()
		v.mu.Lock()
		delete(v.doors, p.Process.Pid)
		v.mu.Unlock()
		close(p.ended)
	}()
	v.Cleanup(p.kill)
	return p
}

// kill ends a process as a loss of power does, from its point of view.
func (p *process) kill() {
	_ = p.Process.Kill()
	<-p.ended
}

// stop ends a process as a deploy does.
func (p *process) stop() {
	p.v.Helper()
	require.NoError(p.v, p.Process.Signal(syscall.SIGTERM))
	<-p.ended
	require.NoError(p.v, p.err, p.stderr.String())
}

// ready waits until a process works.
func (p *process) ready() {
	p.v.Helper()
	require.Eventually(p.v, func() bool {
		p.v.mu.Lock()
		defer p.v.mu.Unlock()
		return p.v.doors[p.Process.Pid] != ""
	}, 30*time.Second, 5*time.Millisecond, "it did not start: %s", &p.stderr)
}
