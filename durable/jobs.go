package durable

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// What is new has a queue of its own, so that a payment does not wait behind thousands that
// are looked up after an outage.
const (
	newQueue   = "quickstream"
	sweptQueue = "quickstream_swept"
)

// A job says no more than what to look at: whether there is something to do stands in the
// row. One that comes twice, or before its time, does nothing.
type writeJob struct {
	ID string `json:"id"`
}

func (writeJob) Kind() string { return "quickstream.write" }

type notificationJob struct {
	ID     string `json:"id"`
	Digest string `json:"digest"`
}

func (notificationJob) Kind() string { return "quickstream.notification" }

// warnings handles River's records: the queue reports every few seconds that all is well.
type warnings struct{ slog.Handler }

func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// worker makes a function a worker of River's.
type worker[Args river.JobArgs] struct {
	river.WorkerDefaults[Args]
	work func(context.Context, Args) error
}

func (w *worker[Args]) Work(ctx context.Context, job *river.Job[Args]) error {
	// River logs and stores errors and panics.
	ctx = context.WithValue(ctx, queueKey{}, job.Queue)
	err := guard("the job", func() error { return w.work(ctx, job.Args) })
	if err == nil || ctx.Err() != nil {
		return err
	}
	return errors.New(problemOf(err))
}

// runImmediately has jobs begin when they are there. River gives them the time of the machine that
// adds them and asks the database's: if that is behind, they would wait.
type runImmediately struct {
	river.JobInsertMiddlewareDefaults
}

func (*runImmediately) InsertMany(ctx context.Context, jobs []*rivertype.JobInsertParams, insert func(context.Context) ([]*rivertype.JobInsertResult, error)) ([]*rivertype.JobInsertResult, error) {
	begun := time.Unix(0, 0).UTC()
	for _, job := range jobs {
		job.ScheduledAt = &begun
	}
	return insert(ctx)
}

func (e *engine) enqueue(ctx context.Context, tx tx, queue string, jobs ...river.JobArgs) error {
	params := make([]river.InsertManyParams, len(jobs))
	for i, job := range jobs {
		params[i] = river.InsertManyParams{Args: job, InsertOpts: &river.InsertOpts{Queue: queue, MaxAttempts: 1}}
	}
	return e.queue.Insert(ctx, tx, params)
}

// every does work again and again until the context ends.
func (e *engine) every(ctx context.Context, name string, work func(context.Context) error) {
	tick := time.NewTicker(e.sweepEvery)
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

// sweep hands out payments and notifications that are due, as many as the workers do in
// a while, and no more while so many wait: where the service is slow, each would be handed
// out anew at every lease. After a lease a row is handed out again, should its job be lost.
// Every engine does so: what is due waits for no leader, and a row that two of them want
// is handed out once.
func (e *engine) sweep(ctx context.Context) error {
	if e.stopping.Load() {
		return nil
	}
	now, found := e.clock(), 0
	err := within(ctx, e.db, func(tx tx) error {
		var jobs []river.JobArgs
		room := 20 * e.workers
		err := query(ctx, tx, func(scan func(...any) error) error {
			var waiting int
			err := scan(&waiting)
			room -= waiting
			return err
		}, "SELECT count(*) FROM (SELECT 1 FROM "+e.dialect.Jobs+" WHERE state = 'available' AND queue = $1 LIMIT $2) AS waiting", sweptQueue, room)
		if err != nil || room == 0 {
			return err
		}
		due := func(table, key string) string {
			return "UPDATE quickstream." + table + " SET due_at = $1 WHERE (" + key + ") IN (SELECT " + key +
				" FROM quickstream." + table + " WHERE due_at <= $2 ORDER BY due_at LIMIT $3" + e.dialect.SkipLocked + ") RETURNING " + key
		}
		args := []any{now.Add(lease), now, room}
		err = query(ctx, tx, func(scan func(...any) error) error {
			var job writeJob
			err := scan(&job.ID)
			jobs = append(jobs, job)
			return err
		}, due("write", "id"), args...)
		if err != nil {
			return err
		}
		err = query(ctx, tx, func(scan func(...any) error) error {
			var job notificationJob
			err := scan(&job.ID, &job.Digest)
			jobs = append(jobs, job)
			return err
		}, due("notification", "id, digest"), args...)
		if found = len(jobs); err != nil || found == 0 {
			return err
		}
		err = e.enqueue(ctx, tx, sweptQueue, jobs...)
		e.step("before the sweep's commit")
		return err
	})
	if found > 0 {
		e.step("after the sweep's commit")
	}
	return err
}
