package durable

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	// returnDays is how many days the returned transactions are read again for: a payment
	// comes back for up to three banking days, over a long weekend.
	returnDays = 7
	// nightsMadeUp is how many comparisons that were missed, or failed, are made up, the oldest first.
	nightsMadeUp = 7
)

// daily does what is due once a day: it reads what the bank has returned, empties old writes, and compares. What was
// done stands in the database.
func (e *engine) daily(ctx context.Context) error {
	errs := []error{
		e.onceADay(ctx, "returns", resolve.TimeOfDay{Hour: 9}, 0, e.readReturns),
		e.onceADay(ctx, "retention", resolve.TimeOfDay{Hour: 3}, 0, func(ctx context.Context, _ time.Time) error { return e.forget(ctx) }),
	}
	if e.compareAt != nil {
		errs = append(errs, e.onceADay(ctx, "compare", *e.compareAt, nightsMadeUp, func(ctx context.Context, due time.Time) error {
			return e.counted(ctx, quickstream.DateOf(due.In(e.sydney)).AddDays(-1))
		}))
	}
	for _, err := range errs {
		if err != nil && ctx.Err() == nil {
			e.logger.ErrorContext(ctx, "quickstream: daily work failed, and is tried again", "error", problemOf(err))
		}
	}
	return nil
}

// onceADay does work for each day, after a time of day in Sydney. If days were missed, so many of them are made up.
func (e *engine) onceADay(ctx context.Context, name string, at resolve.TimeOfDay, madeUp int, work func(ctx context.Context, due time.Time) error) error {
	for {
		var due, done time.Time
		err := within(ctx, e.db, func(tx tx) error {
			now, err := databaseNow(ctx, tx)
			if err != nil {
				return err
			}
			text, err := meta(ctx, tx, "daily "+name)
			if micros, failed := strconv.ParseInt(text, 10, 64); failed == nil {
				done = time.UnixMicro(micros)
			}
			if done.After(now) { // a wrong clock has written it
				done = time.Time{}
			}
			due = e.lastTime(at, now)
			for range madeUp {
				if before := due.AddDate(0, 0, -1); !done.IsZero() && before.After(done) {
					due = before
				}
			}
			return err
		})
		if err != nil || !due.After(done) {
			return err
		}
		if err := work(ctx, due); err != nil {
			return err
		}
		err = within(ctx, e.db, func(tx tx) error { return setMeta(ctx, tx, "daily "+name, strconv.FormatInt(due.UnixMicro(), 10)) })
		if err != nil {
			return err
		}
	}
}

// lastTime is when a time of day came last, in Sydney.
func (e *engine) lastTime(at resolve.TimeOfDay, now time.Time) time.Time {
	now = now.In(e.sydney)
	today := time.Date(now.Year(), now.Month(), now.Day(), at.Hour, at.Minute, 0, 0, e.sydney)
	if today.After(now) {
		today = today.AddDate(0, 0, -1)
	}
	return today
}

// readReturns reads the bank payments that came back in the last days. What cannot be
// read or stored does not keep the others from being read.
func (e *engine) readReturns(ctx context.Context, due time.Time) error {
	today := quickstream.DateOf(due.In(e.sydney))
	var failed error
	for day := range returnDays {
		params := quickstream.ReturnedParams{Date: today.AddDays(-day)}
		for page, err := range pages(ctx, e.client.Transactions.Returned(params)) {
			if err != nil {
				failed = errors.Join(failed, err)
				break
			}
			for _, unreadable := range page.Unreadable {
				e.logger.WarnContext(ctx, "quickstream: a returned transaction could not be read", "error", unreadable)
			}
			for _, t := range page.Data {
				failed = errors.Join(failed, e.returned(ctx, t))
			}
		}
	}
	return failed
}

func (e *engine) returned(ctx context.Context, t *quickstream.Transaction) error {
	if t.ReceiptNumber == "" {
		return nil
	}
	r, err := e.peek(ctx, ofReceipt+" LIMIT 1", t.ReceiptNumber)
	if err != nil || r == nil || r.State == StateReturned {
		return err
	}
	return e.observe(ctx, r, observed{kind: EventReturned})
}
