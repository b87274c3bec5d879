package durable

import (
	"cmp"
	"context"
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

// Options are the merchant's choices. The zero value of everything but ServiceRetries
// and OnOutcome is usable.
type Options[TTx any] struct {
	// OnOutcome is told of every change of a payment's state that means something to
	// the merchant, exactly once, in the transaction that stores it: approved, declined,
	// refused, not sent, voided, returned, absent, escalated, charged twice, and what is
	// found after it was absent. Its own writes through tx commit with the change. When it
	// fails nothing is stored, and it is told again, with pauses that grow to an hour.
	// It must not call the API, nor the engine without tx.
	OnOutcome func(ctx context.Context, tx TTx, change OutcomeChange) error
	// OnEvent is told of every notification that is not about a payment of the engine's,
	// such as an agreement's, after the API has confirmed it, in the transaction that
	// ends the notification.
	OnEvent func(ctx context.Context, tx TTx, n *webhooks.Notification) error
	// OnDifference is told what a comparison finds, outside of any transaction. A
	// comparison that fails begins anew, and so does one whose OnDifference fails: it may
	// be told of a difference again.
	OnDifference func(ctx context.Context, d Difference) error

	// ServiceRetries says whether the facility lets the service retry declined payments
	// by itself. Required: see [resolve.ServiceRetries].
	ServiceRetries *resolve.ServiceRetries
	// Calendar is the merchant's calendar of business days; see [resolve.Policy].
	Calendar resolve.Calendar
	// Policy changes anything else of the procedure.
	Policy func(*resolve.Policy)

	// SendWithin is how long a payment may wait to be sent by the database's clock, an hour
	// unless it is given: after it the payment ends "not sent". One by a single-use token
	// ends after ten minutes, as its token does. One that was claimed before does not.
	SendWithin time.Duration
	// RefundTotal lets refunds go up to the total with its surcharge, and not only up to
	// the principal: a setting of the facility.
	RefundTotal bool
	// LongestPay is the longest that the client takes for a call: 110 seconds unless it
	// is given, for a client with its default limits.
	LongestPay time.Duration
	// Workers is how many new payments and notifications are worked on at once in this
	// process, 10 unless it is given, and as many that were there before.
	Workers int
	// SweepEvery is how often what is due is looked for, a second unless it is given.
	SweepEvery time.Duration
	// CompareAt is when the comparison of the day before runs, in Sydney; it does not
	// where it is nil.
	CompareAt *resolve.TimeOfDay
	// Report has the nightly comparison read the transaction report, whose columns it
	// names, and not the list of transactions.
	Report *ReportColumns
	// KeepPayments and KeepNotifications are how long what is over is kept: payments for
	// ever, and notifications for 30 days, unless they are given. Neither is forgotten in
	// less than 8 days, as a notification may be delivered again. Of an approved payment, or
	// one that was charged twice, its id, order, operation, state, amount and currency stay,
	// so that its order cannot be paid again.
	KeepPayments, KeepNotifications time.Duration
	// Carrier and Continue carry traces over from notifications and from
	// [Engine.GiveBack] to their jobs, as those of [quickstream.Observer] do for payments.
	Carrier  func(ctx context.Context) string
	Continue func(ctx context.Context, carrier string) context.Context
	// Clock is the time that all due times are compared with; time.Now unless it is
	// given. The database's time is taken to be ahead by as much as Clock is ahead of
	// time.Now.
	Clock func() time.Time
	// Logger gets what went wrong. It gets no handles and no messages of the service.
	Logger *slog.Logger
}

// Engine sends payments and finds out what became of them, from a database that it
// shares with the merchant. It is safe for concurrent use, and any number of engines may
// work on one PostgreSQL database.
type Engine[TTx any] struct {
	db     Database[TTx]
	client *quickstream.Client
	opts   Options[TTx]
	policy resolve.Policy
	queue  *river.Client[TTx]
	sydney *time.Location

	step    func(name string) // at each durable step, for tests that end the process
	machine func() time.Time  // this machine's clock

	service  atomic.Pointer[heard]
	paused   atomic.Pointer[time.Time] // when the service was asked last; nil while claims are made
	started  atomic.Bool
	stopping atomic.Bool
	stop     context.CancelFunc
	running  sync.WaitGroup
}

const jobMargin = 30 * time.Second

// jobTimeout is how long a job may run: longer than the longest call, and what is
// looked up before it.
func (o Options[TTx]) jobTimeout() time.Duration { return 2*o.LongestPay + jobMargin }

// lease is how long a job has before what it was for is handed out again. It is short,
// as a payment whose job is lost should not wait for long, and two jobs for one payment
// do no harm.
const lease = time.Minute

// New returns an engine. It refuses a database that could lose what it has committed,
// and one of a later version of the schema. Tables are made by [MigrateUp]. An engine
// takes payments, and works on them from Start to Stop: a web server and a worker may be
// two programs.
func New[TTx any](ctx context.Context, db Database[TTx], client *quickstream.Client, opts Options[TTx]) (*Engine[TTx], error) {
	if opts.ServiceRetries == nil {
		return nil, errors.New("durable: Options.ServiceRetries is required: whether the service may retry a declined payment by itself is known to the merchant only")
	}
	if opts.OnOutcome == nil {
		return nil, errors.New("durable: Options.OnOutcome is required: nobody would be told what became of a payment")
	}
	step, machine := func(string) {}, time.Now
	if probe, tested := db.(database.Probe); tested {
		step, machine = probe.Step, probe.Machine
	}
	if opts.Clock == nil {
		opts.Clock = machine
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	opts.SendWithin = cmp.Or(opts.SendWithin, time.Hour)
	opts.LongestPay = cmp.Or(opts.LongestPay, 110*time.Second)
	opts.Workers = cmp.Or(opts.Workers, 10)
	opts.SweepEvery = cmp.Or(opts.SweepEvery, time.Second)
	const redelivered = webhooks.StoreTolerance + 24*time.Hour
	opts.KeepNotifications = max(cmp.Or(opts.KeepNotifications, 30*24*time.Hour), redelivered)
	if opts.KeepPayments != 0 {
		opts.KeepPayments = max(opts.KeepPayments, redelivered)
	}
	sydney, err := time.LoadLocation("Australia/Sydney") // package resolve brings the zones
	if err != nil {
		return nil, err
	}
	e := &Engine[TTx]{db: db, client: client, opts: opts, policy: resolve.DefaultPolicy(*opts.ServiceRetries), sydney: sydney, step: step, machine: machine}
	e.policy.Calendar, e.policy.Agreements = opts.Calendar, client.PayTo
	if opts.Policy != nil {
		opts.Policy(&e.policy)
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker[paymentJob]{work: e.workPayment})
	river.AddWorker(workers, &worker[notificationJob]{work: e.workNotification})
	queue, err := db.Queue(&river.Config{
		Queues:               map[string]river.QueueConfig{newQueue: {MaxWorkers: opts.Workers}, sweptQueue: {MaxWorkers: opts.Workers}},
		Workers:              workers,
		JobTimeout:           opts.jobTimeout(),
		RescueStuckJobsAfter: opts.jobTimeout() + jobMargin,
		MaxAttempts:          1, // what is to be done again stands in the rows
		Middleware:           []rivertype.Middleware{&atOnce{}},
		FetchCooldown:        20 * time.Millisecond,
		FetchPollInterval:    200 * time.Millisecond,
		Logger:               opts.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("durable: %w", err)
	}
	e.queue = queue
	if driver, tested := db.(database.Driver); tested {
		driver.Drive(e.tasks())
	}
	return e, e.check(ctx)
}

// tasks are the engine's work, for tests that do it without a queue.
func (e *Engine[TTx]) tasks() database.Tasks {
	return database.Tasks{
		Begin: e.begin, Sweep: e.sweep, CheckPause: e.checkPause, ReadLost: e.readLost, Forget: e.forget, Nightly: e.dailyComparison, Keep: e.keep,
		Payment: func(ctx context.Context, id string) error { return e.workPayment(ctx, paymentJob{ID: id}) },
		Notification: func(ctx context.Context, id, digest string) error {
			return e.workNotification(ctx, notificationJob{ID: id, Digest: digest})
		},
	}
}

// check refuses a database that this program cannot rely on.
func (e *Engine[TTx]) check(ctx context.Context) error {
	err := within(ctx, e.db, func(tx TTx) error {
		version, err := schemaVersion(ctx, e.db, tx)
		if err != nil {
			return fmt.Errorf("the tables are missing, see MigrateUp: %w", err)
		}
		if known := len(migrations()); version != known {
			return fmt.Errorf("the tables have version %d, and this program knows version %d", version, known)
		}
		return e.db.Check(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
}

// Start begins to work: it looks whether the database was restored from a backup, and
// then runs jobs until Stop.
func (e *Engine[TTx]) Start(ctx context.Context) error {
	if !e.started.CompareAndSwap(false, true) {
		return errors.New("durable: an engine is started once: make another one")
	}
	if err := e.begin(ctx); err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	if err := e.queue.Start(running); err != nil {
		stop()
		return fmt.Errorf("durable: %w", err)
	}
	e.stop = stop
	for name, work := range map[string]func(context.Context) error{
		"handing out what is due": e.sweep, "asking whether the service answers": e.checkPause, "the search for lost payments": e.readLost,
		"reading returns": e.dailyReturns, "the comparison": e.dailyComparison, "forgetting": e.dailyForgetting,
	} { // each by itself: a comparison takes long, and what is due does not wait for it
		e.running.Go(func() { e.every(running, name, work) })
	}
	return nil
}

// begin looks whether the database was restored. What was being sent when a process ended is
// looked up at once. Where it is still being sent, by another machine, a look does no harm. A
// row that somebody holds is his to change: who waited for it could stand in the way of a third.
func (e *Engine[TTx]) begin(ctx context.Context) error {
	if err := e.recognise(ctx); err != nil {
		return err
	}
	return within(ctx, e.db, func(tx TTx) error {
		return execute(ctx, e.db, tx, `UPDATE quickstream.payment SET next_at = $1, due_at = $1
			WHERE id IN (SELECT id FROM quickstream.payment WHERE due_at IS NOT NULL AND state = 'sending'`+e.db.Words().SkipLocked+`)`, micros(e.opts.Clock()))
	})
}

// Stop ends the work: no job begins any more, and those that run go on to their end,
// which takes as long as a call. When ctx ends before them they are cancelled: what was
// sent is then looked up by the next engine that starts.
func (e *Engine[TTx]) Stop(ctx context.Context) error {
	if e.stop == nil {
		return nil
	}
	e.stopping.Store(true)
	err := e.queue.Stop(ctx)
	if err != nil {
		err = errors.Join(err, e.queue.StopAndCancel(context.WithoutCancel(ctx)))
	}
	e.stop()
	e.running.Wait()
	return err
}
