package durable

import (
	"cmp"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/webhooks"
)

// Options are the merchant's choices. The zero value of everything but Installation, ServiceRetries
// and OnOutcome is usable.
type Options[TTx any] struct {
	// Installation names the installation: one database that belongs to one facility, 1 to 100
	// printable ASCII characters without blanks. References and keys follow from it, so it never
	// changes. A test system has another name than production. Required.
	Installation string
	// OnOutcome is notified of every change of a write's standing that means something to the
	// merchant, exactly once, in the transaction that stores it: see "What OnOutcome is notified of" in
	// the package documentation. Its own writes through tx commit with the change. If it fails nothing
	// is stored, and it is notified again, with pauses that grow to an hour.
	// It must not call the API, nor the engine without tx. Required.
	OnOutcome func(ctx context.Context, tx TTx, change OutcomeChange) error
	// OnEvent is notified of every notification that is not about a write of the engine's,
	// such as an agreement's, after the API has confirmed it, in the transaction that
	// ends the notification.
	OnEvent func(ctx context.Context, tx TTx, n *webhooks.Notification) error
	// OnDifference is notified of what a comparison finds, outside of any transaction. A
	// comparison that fails begins again, and so does one whose OnDifference fails: it may
	// be notified of a difference again.
	OnDifference func(ctx context.Context, d Difference) error

	// ServiceRetries says whether the facility lets the service retry declined payments
	// by itself. Required: see [resolve.ServiceRetries].
	ServiceRetries *resolve.ServiceRetries
	// Calendar is the merchant's calendar of business days; see [resolve.Policy].
	Calendar resolve.Calendar
	// Policy changes anything else of the procedure.
	Policy func(*resolve.Policy)

	// SendWithin is how long a write may wait to be sent by the database's clock; an hour
	// by default. After it the write ends not_sent. One by a single-use token
	// ends after ten minutes, as its token does.
	SendWithin time.Duration
	// RefundTotal lets refunds go up to the total with its surcharge, and not only up to
	// the principal: a setting of the facility.
	RefundTotal bool
	// LongestPay is the longest that the client takes for a call; 110 seconds by default,
	// for a client with its default limits.
	LongestPay time.Duration
	// Workers is how many new writes and notifications are worked on at once in this
	// process, and as many that were there before; 10 by default.
	Workers int
	// SweepEvery is how often what is due is looked for; a second by default.
	SweepEvery time.Duration
	// CompareAt is when the comparison of the day before runs, in Sydney. Those of a week that were missed, or
	// failed, are made up, the oldest first. There is none if this is nil.
	CompareAt *resolve.TimeOfDay
	// Report makes the nightly comparison read the transaction report, whose columns it
	// names, and not the list of transactions.
	Report *ReportColumns
	// Keep is how long what is over is kept.
	Keep Keep
	// Seal encrypts stored requests and raw notifications: see "Personal data" in the README. Without
	// it they are stored as they are. A row keeps the key under which it was stored.
	Seal cipher.AEAD
	// Carrier and Continue carry traces over from notifications and from
	// [Engine.Reverse] to their jobs, as those of [quickstream.Observer] do for payments.
	Carrier  func(ctx context.Context) string
	Continue func(ctx context.Context, carrier string) context.Context
	// Clock is for tests: the time of the installation, which is the database's, is ahead of that by as
	// much as Clock is ahead of time.Now. The age of what is queued goes by the database itself.
	Clock func() time.Time
	// Logger gets what went wrong. It gets no handles and no texts of the service or of hooks.
	Logger *slog.Logger
}

// Engine sends writes and finds out what became of them, from a database that it
// shares with the merchant. It is safe for concurrent use, and any number of engines may
// work on one PostgreSQL database.
type Engine[TTx any] struct {
	*engine
	typed Database[TTx]
}

// engine is what does not depend on the merchant's type of transaction.
type engine struct {
	db         database.Database
	dialect    database.Dialect
	statements statements
	client     *quickstream.Client
	policy     resolve.Policy
	queue      database.Queue
	sydney     *time.Location
	logger     *slog.Logger
	aead       cipher.AEAD

	installation                       string
	onOutcome                          func(context.Context, tx, OutcomeChange) error
	onEvent                            func(context.Context, tx, *webhooks.Notification) error
	onDifference                       func(context.Context, Difference) error
	carrier                            func(context.Context) string
	resume                             func(context.Context, string) context.Context
	time                               *clock
	clock                              func() time.Time // the time of the installation
	sendWithin, longestPay, sweepEvery time.Duration
	kept                               Keep
	refundTotal                        bool
	workers                            int
	compareAt                          *resolve.TimeOfDay
	report                             *ReportColumns

	step func(name string) // at each durable step, for tests that end the process

	waiting     waiters
	gate        *gate
	service     atomic.Pointer[clockSkew]
	confirming  sync.Mutex
	confirmed   atomic.Pointer[facility]
	confirmNext time.Time // under confirming
	started     atomic.Bool
	stopping    atomic.Bool
	stop        context.CancelFunc
	running     sync.WaitGroup
}

const jobMargin = 30 * time.Second

// jobTimeout is how long a job may run: longer than the longest call, and what is
// looked up before it.
func (e *engine) jobTimeout() time.Duration { return 2*e.longestPay + jobMargin }

// lease is how long a job has before what it was for is enqueued again. It is short,
// as a write whose job is lost should not wait for long, and two jobs for one write
// do no harm.
const lease = time.Minute

// New returns an engine. It refuses a database that could lose what it has committed,
// one of a later version of the schema, and one of another installation. Tables are made by
// [MigrateUp]. An engine stores writes at once, and works on them from Start to Stop: a web server
// and a worker may be two programs.
func New[TTx any](ctx context.Context, db Database[TTx], client *quickstream.Client, opts Options[TTx]) (*Engine[TTx], error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	sydney, err := time.LoadLocation("Australia/Sydney") // package resolve brings the zones
	if err != nil {
		return nil, err
	}
	step, shared := func(string) {}, newClock(opts.Clock, db)
	if probe, tested := db.(database.Probe); tested {
		step = probe.Step
	}
	core := &engine{
		db: db, dialect: db.Dialect(), statements: newStatements(), client: client, policy: resolve.DefaultPolicy(*opts.ServiceRetries), sydney: sydney,
		logger: opts.Logger, aead: opts.Seal, installation: opts.Installation, onDifference: opts.OnDifference, carrier: opts.Carrier, resume: opts.Continue,
		time: shared, clock: shared.now, sendWithin: cmp.Or(opts.SendWithin, time.Hour), longestPay: cmp.Or(opts.LongestPay, 110*time.Second),
		sweepEvery: cmp.Or(opts.SweepEvery, time.Second), kept: opts.Keep.atLeast(),
		refundTotal: opts.RefundTotal, workers: cmp.Or(opts.Workers, 10), compareAt: opts.CompareAt, report: opts.Report, step: step,
	}
	core.gate = &gate{id: rand.Text(), workers: 2 * core.workers}
	if core.logger == nil {
		core.logger = slog.New(slog.DiscardHandler)
	}
	core.policy.Calendar = opts.Calendar
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
		return nil, fmt.Errorf("durable: %w", err)
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
	default:
		return nil
	}
}

// prepare makes the queue and checks the database.
func (e *engine) prepare(ctx context.Context) error {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker[writeJob]{work: e.workWrite})
	river.AddWorker(workers, &worker[notificationJob]{work: e.workNotification})
	queue, err := e.db.Queue(&river.Config{
		Queues: map[string]river.QueueConfig{
			newQueue: {MaxWorkers: e.workers}, sweptQueue: {MaxWorkers: e.workers, FetchCooldown: 20 * time.Millisecond, FetchPollInterval: 200 * time.Millisecond},
		},
		Workers:              workers,
		JobTimeout:           e.jobTimeout(),
		RescueStuckJobsAfter: e.jobTimeout() + jobMargin,
		MaxAttempts:          1, // what is to be done again stands in the rows
		Middleware:           []rivertype.Middleware{&runImmediately{}},
		FetchCooldown:        5 * time.Millisecond, // River tells of no job that comes sooner after another one
		FetchPollInterval:    100 * time.Millisecond,
		Logger:               slog.New(warnings{e.logger.Handler()}),
	})
	if err != nil {
		return err
	}
	e.queue = queue
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
	if err := within(ctx, e.db, func(tx tx) error { return e.isInstallation(ctx, tx) }); err != nil {
		return err
	}
	return within(ctx, e.db, func(tx tx) error { return e.beginTime(ctx, tx) })
}

// tasks are the engine's work, for tests that do it without a queue.
func (e *engine) tasks() database.Tasks {
	return database.Tasks{
		Begin: e.begin, Sweep: e.sweep, CheckBreaker: e.checkBreaker, ReadLost: e.readLost, Forget: e.forget, Nightly: e.dailyComparison, Keep: e.keep,
		Write: func(ctx context.Context, id string) error { return e.workWrite(ctx, writeJob{ID: id}) },
		Notification: func(ctx context.Context, id, digest string) error {
			return e.workNotification(ctx, notificationJob{ID: id, Digest: digest})
		},
	}
}

// Start begins to work: it finds out whether the database was restored from a backup, and
// then runs jobs until Stop. Its error matches [FacilityError] if the service is not that of the
// installation.
func (e *Engine[TTx]) Start(ctx context.Context) error {
	if err := e.start(ctx); err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
}

func (e *engine) start(ctx context.Context) error {
	if !e.started.CompareAndSwap(false, true) {
		return errors.New("an engine is started once: make another one")
	}
	if err := e.confirm(ctx); err != nil { // it is tried again before each send
		e.logger.WarnContext(ctx, "quickstream: "+errNotConfirmed.Error(), "error", problemOf(err))
	} else if err := within(ctx, e.db, func(tx tx) error { return e.isFacility(ctx, tx) }); err != nil {
		return err
	}
	if err := errors.Join(e.begin(ctx), e.keepLimit(ctx)); err != nil {
		return err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	if err := e.queue.Start(running); err != nil {
		stop()
		return err
	}
	e.stop = stop
	for name, work := range map[string]func(context.Context) error{
		"enqueuing what is due": e.sweep, "keeping the time": e.keepTime, "keeping the limit": e.keepLimit, "asking whether the service answers": e.checkBreaker, "the search for lost payments": e.readLost,
		"reading returns": e.dailyReturns, "the comparison": e.dailyComparison, "emptying old writes": e.dailyForgetting,
	} { // each by itself: a comparison takes long, and what is due does not wait for it
		e.running.Go(func() { e.every(running, name, work) })
	}
	return nil
}

// begin finds out whether the database was restored. What was being sent when a process ended is
// looked up at once. If another machine is still sending it, a look-up does no harm. A
// row that another transaction holds is left to it.
func (e *engine) begin(ctx context.Context) error {
	if err := e.recognise(ctx); err != nil {
		return err
	}
	return within(ctx, e.db, func(tx tx) error {
		return execute(ctx, tx, `UPDATE quickstream.write SET next_at = $1, due_at = $1
			WHERE id IN (SELECT id FROM quickstream.write WHERE due_at IS NOT NULL AND state = 'sending'`+e.dialect.SkipLocked+`)`, e.clock())
	})
}

// Stop ends the work: no job begins any more, and those that run go on to their end,
// which takes as long as a call. When ctx ends before them they are cancelled: what was
// sent is then looked up by the next engine that starts. A hook that ignores its context holds Stop
// for 30 seconds more.
func (e *Engine[TTx]) Stop(ctx context.Context) error {
	if e.stop == nil {
		return nil
	}
	e.stopping.Store(true)
	err := e.queue.Stop(ctx)
	if err != nil {
		cancelled, cancel := context.WithTimeout(context.WithoutCancel(ctx), jobMargin) // a hook may ignore its context
		defer cancel()
		err = errors.Join(err, e.queue.StopAndCancel(cancelled))
	}
	e.stop()
	e.running.Wait()
	return err
}
