package durable

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/webhooks"
)

// Options configure an engine. Installation, ServiceRetries and OnOutcome are required. The zero value
// of every other field is usable.
type Options[TTx any] struct {
	// Installation names the installation, which is one database that belongs to one facility: 1 to 100
	// printable ASCII characters without blanks. References and keys are derived from it, so never
	// change it. Give a test system another name than production. Required.
	Installation string
	// OnOutcome is notified of the outcome of a write exactly once, in the transaction that stores it or in a
	// later one: see "What OnOutcome is notified of" in the package documentation. Its own writes through tx
	// commit with that. If it fails it is called again, with pauses that grow to an hour. It must not call the
	// API, nor the engine without tx. Required.
	OnOutcome func(ctx context.Context, tx TTx, change OutcomeChange) error
	// OnEvent is notified of every webhook notification that is not about a write of the engine,
	// such as one about an agreement. It is called after the API has confirmed the notification,
	// in the transaction that marks it as done.
	OnEvent func(ctx context.Context, tx TTx, n *webhooks.Notification) error
	// OnDifference is notified of each difference that a comparison finds, outside of any
	// transaction. A comparison that fails begins again, and may report a difference again.
	OnDifference func(ctx context.Context, d Difference) error

	// ServiceRetries says whether the facility lets the service retry declined payments
	// by itself. Required: see [resolve.ServiceRetries].
	ServiceRetries *resolve.ServiceRetries
	// Policy changes the procedure of look-ups, such as the merchant's calendar of business days: see [resolve.Policy].
	Policy func(*resolve.Policy)

	// SendWithin is how long a write may wait to be sent; an hour by default. Then it ends not_sent. A payment by a
	// single-use token waits for ten minutes at most, as its token does. Refunds and reversals wait for up to a week.
	SendWithin time.Duration
	// LookupLag is how long a transaction may be missing from look-ups and lists; 15 minutes by default,
	// which is an assumption: the service does not say. Measure it, and set it no shorter.
	LookupLag time.Duration
	// LongestPay is the longest that a call of the client takes. The default of 110 seconds
	// suits a client with its default limits.
	LongestPay time.Duration
	// Workers limits what this process does at once: that many sends, that many look-ups, that many hooks, and that many
	// confirmations of notifications; 10 by default.
	Workers int
	// CompareAt is the time in Sydney at which the day before is compared. Days of the last month that were missed,
	// or failed, are made up, the oldest first. If it is nil only [Engine.CompareNow] compares.
	CompareAt *resolve.TimeOfDay
	// Keep is how long the request and the history of a write are kept after its last change: for ever by default, and at
	// least 8 days. Then the write is emptied: its id, order, operation, receipt, standing and amounts stay, and digests of
	// its token and its account.
	Keep time.Duration
	// Logger gets errors and warnings, without handles and without texts of the service or of hooks.
	Logger *slog.Logger
}

// Engine sends writes and finds out their outcomes, from a database that it
// shares with the merchant. It is safe for concurrent use, and any number of engines may
// work on one PostgreSQL database.
type Engine[TTx any] struct {
	*engine
	typed Database[TTx]
}

// engine is the part of Engine that does not depend on the merchant's type of transaction.
type engine struct {
	db         database.Database
	dialect    database.Dialect
	statements statements
	client     *quickstream.Client
	policy     resolve.Policy
	queue      database.Queue
	sydney     *time.Location
	logger     *slog.Logger

	installation, address       string
	onOutcome                   func(context.Context, tx, OutcomeChange) error
	onEvent                     func(context.Context, tx, *webhooks.Notification) error
	onDifference                func(context.Context, Difference) error
	sendWithin, longestPay, lag time.Duration
	kept                        time.Duration
	workers                     int
	compareAt                   *resolve.TimeOfDay

	spawn func(func()) // runs a function in a goroutine; tests run it at once

	ahead    atomic.Int64 // how far the database's clock is ahead of this machine's, about
	service  atomic.Pointer[clockSkew]
	waiting  waiters
	gate     *gate
	daytime  sync.Mutex // of daily work
	started  atomic.Bool
	stopping atomic.Bool
	stop     context.CancelFunc
	running  sync.WaitGroup
}

// New returns an engine. It refuses a database that could lose a commit, one whose tables are missing
// or older than this program needs, and one of another installation. [MigrateUp] makes the tables. An
// engine stores writes as soon as it is made, and works on them from Start to Stop, so a web server
// and a worker may be two programs.
func New[TTx any](ctx context.Context, db Database[TTx], client *quickstream.Client, opts Options[TTx]) (*Engine[TTx], error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	sydney, err := time.LoadLocation("Australia/Sydney") // package resolve brings the zones
	if err != nil {
		return nil, err
	}
	core := &engine{
		db: db, dialect: db.Dialect(), statements: newStatements(), client: client, policy: resolve.DefaultPolicy(*opts.ServiceRetries), sydney: sydney,
		logger: opts.Logger, installation: opts.Installation, onDifference: opts.OnDifference,
		sendWithin: cmp.Or(opts.SendWithin, time.Hour), longestPay: cmp.Or(opts.LongestPay, 110*time.Second), lag: cmp.Or(opts.LookupLag, 15*time.Minute),
		kept: opts.Keep, workers: cmp.Or(opts.Workers, 10), compareAt: opts.CompareAt,
	}
	core.spawn = func(f func()) { core.running.Go(f) }
	core.gate = newGate(core.workers)
	if core.kept != 0 {
		core.kept = max(core.kept, leastKept)
	}
	if core.logger == nil {
		core.logger = slog.New(slog.DiscardHandler)
	}
	if opts.Policy != nil {
		opts.Policy(&core.policy)
	}
	core.onOutcome = func(ctx context.Context, tx tx, change OutcomeChange) error {
		return opts.OnOutcome(ctx, db.Leave(tx), change)
	}
	if opts.OnEvent != nil {
		core.onEvent = func(ctx context.Context, tx tx, n *webhooks.Notification) error {
			return opts.OnEvent(ctx, db.Leave(tx), n)
		}
	}
	if err := core.prepare(ctx); err != nil {
		return nil, named(err)
	}
	return &Engine[TTx]{core, db}, nil
}

func (o Options[TTx]) check() error {
	printable := o.Installation != "" && len(o.Installation) <= 100
	for _, r := range o.Installation {
		printable = printable && r > ' ' && r < 0x7f
	}
	switch {
	case !printable:
		return errors.New("durable: Options.Installation is required: 1 to 100 printable ASCII characters without blanks")
	case o.ServiceRetries == nil:
		return errors.New("durable: Options.ServiceRetries is required: only the merchant knows whether the service may retry a declined payment by itself")
	case o.OnOutcome == nil:
		return errors.New("durable: Options.OnOutcome is required: it is notified of what became of a payment")
	case o.Workers < 0 || o.Workers > 1000 || o.SendWithin < 0 || o.LookupLag < 0 || o.LongestPay < 0 || o.Keep < 0:
		return errors.New("durable: Options has 0 to 1000 Workers, and no negative times")
	default:
		return nil
	}
}

// prepare makes the queue and checks the database.
func (e *engine) prepare(ctx context.Context) (err error) {
	plan, err := e.client.Transactions.PlanVoid(ctx, "1") // which sends nothing
	if e.address = plan.Environment; err != nil {
		return err
	}
	if e.queue, err = e.db.Queue(e.config()); err != nil {
		return err
	}
	if driver, tested := e.db.(database.Driver); tested {
		driver.Drive(e.tasks())
	}
	err = within(ctx, e.db, func(tx tx) error {
		if err := checkSchema(ctx, e.db, tx); err != nil {
			return err
		}
		return e.db.Check(ctx, tx)
	})
	if err != nil {
		return err
	}
	return within(ctx, e.db, func(tx tx) error { return e.belongs(ctx, tx, false) })
}

// beatEvery is how often each engine checks the history of the database and a pause, and restores.
const beatEvery = 2 * time.Second

// Start checks whether the history of the database has changed, and then runs jobs until Stop. The
// error matches [ErrFacility] if the database belongs to another installation or address.
func (e *Engine[TTx]) Start(ctx context.Context) error {
	if !e.started.CompareAndSwap(false, true) {
		return errors.New("durable: an engine is started once: make another one")
	}
	err := within(ctx, e.db, func(tx tx) error { return e.belongs(ctx, tx, true) })
	if err == nil {
		err = errors.Join(e.recognise(ctx), e.takeOver(ctx))
	}
	if err != nil {
		return named(err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	if err := e.queue.Start(running); err != nil {
		stop()
		return named(err)
	}
	e.stop = stop
	for name, work := range map[string]func(context.Context) error{
		"looking at the history": e.recognise, "asking whether the service answers": e.checkBreaker, "restoring": e.restore,
	} { // a goroutine each, because restoring takes long
		e.running.Go(func() { e.every(running, name, work) })
	}
	return nil
}

// takeOver takes over from an ended process if one process at a time uses the database: its jobs run again, and what it was
// sending is looked up at once. Otherwise another process may be at work, and both happen when none can be any more.
func (e *engine) takeOver(ctx context.Context) error {
	if !e.dialect.Alone {
		return nil
	}
	var sending []*row
	err := within(ctx, e.db, func(tx tx) error {
		err := execute(ctx, tx, "UPDATE "+e.dialect.Jobs+" SET state = 'available', scheduled_at = "+e.dialect.JobTime+" WHERE state = 'running' AND "+
			sqlIn("queue", sendQueue, lookUpQueue, notifyQueue, inboxQueue, dailyQueue))
		if err != nil {
			return err
		}
		return e.each(ctx, tx, func(r *row) {
			if r.unreadable == nil {
				sending = append(sending, r)
			}
		}, "state = 'sending'")
	})
	for _, r := range sending {
		if err == nil {
			err = e.observe(ctx, r, observed{kind: EventLost, sends: r.Sends})
		}
	}
	return err
}

// every does work again and again until the context ends.
func (e *engine) every(ctx context.Context, name string, work func(context.Context) error) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := work(ctx); err != nil && ctx.Err() == nil {
			e.logger.ErrorContext(ctx, "quickstream: "+name+" failed, and is tried again", "error", problemOf(err))
		}
	}
}

// Stop ends the work. It begins no more jobs, and waits for those that run, which takes as
// long as a call. If ctx ends first they are cancelled, and the next engine that starts looks
// up the writes that may have been sent. A hook that ignores its context holds Stop
// for 30 seconds more.
func (e *Engine[TTx]) Stop(ctx context.Context) error {
	if e.stop == nil {
		return nil
	}
	e.stopping.Store(true)
	err := e.queue.Stop(ctx)
	if err != nil {
		cancelled, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second) // a hook may ignore its context
		defer cancel()
		err = errors.Join(err, e.queue.StopAndCancel(cancelled))
	}
	e.stop()
	e.running.Wait()
	return err
}
