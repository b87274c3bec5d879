package durable

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// The queues. The number of their workers limits the concurrency.
const (
	sendQueue   = "quickstream_send"
	lookUpQueue = "quickstream_lookup"
	notifyQueue = "quickstream_notify"
	inboxQueue  = "quickstream_inbox"
	dailyQueue  = "quickstream_daily"
)

// job names the row to work on, and its queue says what is done. The row says whether there is something to do: a job
// that runs early, twice or beside another one does no harm.
type job struct {
	ID string `json:"id"`
	// Mark is the number of the change that OnOutcome is notified of, so that a running job does not keep out the job of a
	// later change. For a notification it is the digest.
	Mark string `json:"mark,omitempty"`
}

// Kind implements [river.JobArgs].
func (job) Kind() string { return "quickstream" }

// The jobs of the queue for daily work.
const (
	orphansID = "orphans"
	dailyID   = "daily"
)

// live returns the states of jobs that are still to be done. A completed job must not keep out a new one.
func live() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning, rivertype.JobStateRetryable, rivertype.JobStateScheduled,
	}
}

// mostAttempts is the most that River can count: a hook that fails is called again for ever.
const mostAttempts = math.MaxInt16

// insertOpts returns the options of a job that runs in a queue after a while.
func (e *engine) insertOpts(queue string, in time.Duration) *river.InsertOpts {
	opts := &river.InsertOpts{Queue: queue, MaxAttempts: mostAttempts, UniqueOpts: river.UniqueOpts{ByArgs: true, ByQueue: true, ByState: live()}}
	if in > 0 {
		opts.ScheduledAt = time.Now().Add(in)
	}
	return opts
}

// begins schedules jobs that run now by the earlier of two clocks: River sets the time by this machine's, and compares it
// with the database's.
type begins struct {
	river.JobInsertMiddlewareDefaults
	e *engine
}

// InsertMany implements [rivertype.JobInsertMiddleware].
func (b *begins) InsertMany(ctx context.Context, jobs []*rivertype.JobInsertParams, insert func(context.Context) ([]*rivertype.JobInsertResult, error)) ([]*rivertype.JobInsertResult, error) {
	if at := b.e.guess().UTC(); at.Before(time.Now()) {
		for _, job := range jobs {
			if job.State == rivertype.JobStateAvailable {
				job.ScheduledAt = &at
			}
		}
	}
	return insert(ctx)
}

func (e *engine) enqueue(ctx context.Context, tx tx, queue string, in time.Duration, jobs ...job) error {
	params := make([]river.InsertManyParams, len(jobs))
	for i, j := range jobs {
		params[i] = river.InsertManyParams{Args: j, InsertOpts: e.insertOpts(queue, in)}
	}
	if len(params) == 0 {
		return nil
	}
	return e.queue.Insert(ctx, tx, params)
}

// worker does the jobs of all queues.
type worker struct {
	river.WorkerDefaults[job]
	e *engine
}

// Timeout is how long a job may run, and about how long it waits if its process was killed.
func (w *worker) Timeout(j *river.Job[job]) time.Duration {
	if j.Queue == dailyQueue && j.Args.ID == dailyID {
		return dailyLongest
	}
	return w.e.longestPay + jobMargin
}

// work does a job, and returns after how long it runs again; zero for never.
func (w *worker) work(ctx context.Context, j *river.Job[job]) (time.Duration, error) {
	switch id := j.Args.ID; j.Queue {
	case sendQueue:
		return w.e.workSend(ctx, id, "")
	case lookUpQueue:
		return w.e.workLookUp(ctx, id)
	case notifyQueue:
		return 0, w.e.workNotify(ctx, id)
	case inboxQueue:
		return 0, w.e.workInbox(ctx, id, j.Args.Mark)
	default:
		if id == orphansID {
			return 0, w.e.orphans(ctx)
		}
		return 0, w.e.daily(ctx)
	}
}

// Work does a job. River stores errors, so it gets only errors that show no values.
func (w *worker) Work(ctx context.Context, j *river.Job[job]) error {
	var again time.Duration
	err := guard("the job", func() (err error) {
		again, err = w.work(ctx, j)
		return err
	})
	switch {
	case err == nil && again > 0:
		return river.JobSnooze(again)
	case err == nil:
		return nil
	case ctx.Err() != nil: // the process ends, or it has taken too long
		return river.JobSnooze(time.Second)
	}
	w.e.logger.ErrorContext(ctx, "quickstream: a job failed, and is done again", "queue", j.Queue, "id", j.Args.ID, "error", problemOf(err))
	if j.Queue == notifyQueue || j.Queue == inboxQueue { // the pauses grow with the attempts
		return errors.New(problemOf(err))
	}
	return river.JobSnooze(failedPause)
}

// failedPause is the pause after a job that failed, as when the database is away.
const failedPause = 5 * time.Second

// retry is River's policy for jobs that fail: pauses that grow to an hour.
type retry struct{}

// NextRetry implements [river.ClientRetryPolicy].
func (retry) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().UTC().Add(pause(time.Second, len(job.Errors)+1))
}

// pause returns how long to wait after a number of failures in a row.
func pause(first time.Duration, failures int) time.Duration {
	return min(first<<min(max(failures, 1)-1, 12), max(first, time.Hour))
}

// warnings leaves out River's records below a warning: every few seconds the queue reports that all is well.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

const (
	// jobMargin is the time that a job has beyond the longest call.
	jobMargin = 10 * time.Second
	// orphansEvery is how often rows without a job get one, and orphanAfter how long they have been due.
	orphansEvery = 30 * time.Second
	orphanAfter  = 10 * time.Second
	// longestWait is longer than any write waits for the service.
	longestWait = 15 * 24 * time.Hour
	// dailyEvery is how often a job checks whether daily work is due.
	dailyEvery = 10 * time.Minute
	// dailyLongest is how long daily work may take.
	dailyLongest = 6 * time.Hour
	// waitingWorkers is how many workers the send queue has for each of Options.Workers, because a call that
	// hangs holds its worker.
	waitingWorkers = 3
)

// config returns River's configuration. It replaces the defaults that would harm payments: a job may run for
// longer than the longest call, and runs again soon after its process was killed.
func (e *engine) config() *river.Config {
	workers := river.NewWorkers()
	timeout := e.longestPay + jobMargin
	river.AddWorker(workers, &worker{e: e})
	periodic := func(every time.Duration, id string) *river.PeriodicJob {
		return river.NewPeriodicJob(river.PeriodicInterval(every), func() (river.JobArgs, *river.InsertOpts) {
			return job{ID: id}, e.insertOpts(dailyQueue, 0)
		}, &river.PeriodicJobOpts{RunOnStart: true})
	}
	send := river.QueueConfig{MaxWorkers: e.workers * waitingWorkers, FetchCooldown: 5 * time.Millisecond, FetchPollInterval: 500 * time.Millisecond}
	notify := river.QueueConfig{MaxWorkers: e.workers, FetchCooldown: 5 * time.Millisecond}
	slow := river.QueueConfig{MaxWorkers: e.workers, FetchCooldown: 100 * time.Millisecond}
	return &river.Config{
		Queues: map[string]river.QueueConfig{
			sendQueue: send, notifyQueue: notify, lookUpQueue: slow, inboxQueue: slow, dailyQueue: {MaxWorkers: 2, FetchCooldown: 100 * time.Millisecond},
		},
		Workers:              workers,
		JobTimeout:           timeout,
		RescueStuckJobsAfter: timeout + jobMargin,
		MaxAttempts:          mostAttempts,
		RetryPolicy:          retry{},
		FetchCooldown:        3 * time.Millisecond, // River signals no job that is inserted sooner after another one
		FetchPollInterval:    2 * time.Second,      // new jobs are signalled: this finds those that sleep for less than five seconds
		Middleware:           []rivertype.Middleware{&begins{e: e}},
		PeriodicJobs:         []*river.PeriodicJob{periodic(orphansEvery, orphansID), periodic(dailyEvery, dailyID)},
		Logger:               slog.New(warnings{e.logger.Handler()}),
	}
}

// orphans inserts a job for every row that has work and no job, as after River's tables were emptied. It also
// runs jobs now that were put off by another clock than the database's, or that sleep although their row is due.
func (e *engine) orphans(ctx context.Context) error {
	return within(ctx, e.db, func(tx tx) error {
		now, err := databaseNow(ctx, tx)
		if err != nil {
			return err
		}
		err = execute(ctx, tx, "UPDATE "+e.dialect.Jobs+" SET scheduled_at = "+e.dialect.JobTime+" WHERE state = 'available' AND scheduled_at > "+e.dialect.JobTime+" AND "+
			sqlIn("queue", sendQueue, notifyQueue, inboxQueue))
		if err != nil {
			return err
		}
		if err := execute(ctx, tx, "UPDATE quickstream.write SET next_at = $1 WHERE next_at > $2", now, now.Add(longestWait)); err != nil {
			return err // a wrong clock has put it off
		}
		const due = "FROM quickstream.write WHERE next_at < $1 AND suspect = 0"
		n, err := count(ctx, tx, "SELECT count(*) FROM (SELECT 1 "+due+" LIMIT 1) AS due", now.Add(-orphanAfter))
		if err == nil && n > 0 { // a row may have become due earlier, as by a look-up of a person, while its job sleeps
			err = execute(ctx, tx, "UPDATE "+e.dialect.Jobs+" SET scheduled_at = "+e.dialect.JobTime+" WHERE state = 'scheduled' AND scheduled_at > "+e.dialect.JobTime+" AND "+
				sqlIn("queue", sendQueue, lookUpQueue)+" AND args ->> 'id' IN (SELECT id "+due+")", now.Add(-orphanAfter))
		}
		if err != nil {
			return err
		}
		for queue, rows := range map[string]string{
			sendQueue:   "SELECT id, '' FROM quickstream.write t WHERE next_at < $1 AND state = 'queued'",
			lookUpQueue: "SELECT id, '' FROM quickstream.write t WHERE next_at < $1 AND state <> 'queued'",
			notifyQueue: "SELECT id, CAST(changes AS text) FROM quickstream.write t WHERE changes > notified AND changed_at < $1",
			inboxQueue:  "SELECT id, digest FROM quickstream.notification t WHERE state = 'received' AND received_at < $1",
		} {
			var jobs []job
			err := query(ctx, tx, func(scan func(...any) error) error {
				var j job
				err := scan(&j.ID, &j.Mark)
				jobs = append(jobs, j)
				return err
			}, rows+" AND NOT EXISTS (SELECT 1 FROM "+e.dialect.Jobs+" j WHERE j.queue = '"+queue+"' AND j.args ->> 'id' = t.id AND j."+sqlIn("state", live()...)+") LIMIT 1000", now.Add(-orphanAfter))
			if err == nil {
				err = e.enqueue(ctx, tx, queue, 0, jobs...)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// tasks returns the engine's work, for tests that do it without a queue.
func (e *engine) tasks() database.Tasks {
	return database.Tasks{
		Recognise: e.recognise, Breaker: e.checkBreaker, Restore: e.restore, Orphans: e.orphans, Daily: e.daily,
		Send: func(ctx context.Context, id string) error {
			_, err := e.workSend(ctx, id, "")
			return err
		},
		LookUp: func(ctx context.Context, id string) error {
			_, err := e.workLookUp(ctx, id)
			return err
		},
		Notify: e.workNotify, Keep: e.keep, Inbox: e.workInbox, Inline: func() { e.spawn = func(f func()) { f() } },
	}
}
