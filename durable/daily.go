package durable

import (
	"context"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream"
)

const (
	// returnDays is for how many days the returned transactions are read again: a payment
	// can come back within three banking days, also over a long weekend.
	returnDays = 7
	// daysMadeUp is how many days that were missed, or failed, are made up, the oldest first.
	daysMadeUp = 7
)

// daily does the work that is due once a day, in Sydney: it reads returned payments, empties old writes, and compares.
func (e *engine) daily(ctx context.Context) error {
	g, err := e.gates(ctx, e.db)
	if err != nil {
		return err
	}
	since := func(hours, minutes int) quickstream.Date {
		return quickstream.DateOf(g.now.In(e.sydney).Add(-time.Duration(hours)*time.Hour - time.Duration(minutes)*time.Minute))
	}
	errs := []error{
		e.onceADay(ctx, "returns", since(9, 0), e.readReturns),
		e.onceADay(ctx, "retention", since(3, 0), func(ctx context.Context, _ quickstream.Date) error { return e.forget(ctx) }),
	}
	if at := e.compareAt; at != nil {
		errs = append(errs, e.onceADay(ctx, "compare", since(at.Hour, at.Minute).AddDays(-1), e.counted))
	}
	for _, err := range errs {
		if err != nil && ctx.Err() == nil {
			e.logger.ErrorContext(ctx, "quickstream: daily work failed, and is tried again", "error", problemOf(err))
		}
	}
	return nil
}

// onceADay does work for a day unless it was done, after the days of the last week that were missed. The database keeps
// which day was done last.
func (e *engine) onceADay(ctx context.Context, name string, day quickstream.Date, work func(ctx context.Context, day quickstream.Date) error) error {
	for {
		var done quickstream.Date
		text, err := meta(ctx, e.db, "daily "+name)
		if err == nil && text != "" {
			err = done.UnmarshalText([]byte(text))
		}
		if err != nil || done == day {
			return err
		}
		next := done.AddDays(1)
		if done.Compare(day.AddDays(-daysMadeUp)) < 0 || next.Compare(day) > 0 { // never, long ago, or by a wrong clock
			next = day
		}
		if err := work(ctx, next); err != nil {
			return err
		}
		if err := within(ctx, e.db, func(tx tx) error { return setMeta(ctx, tx, "daily "+name, next.String()) }); err != nil {
			return err
		}
	}
}

// readReturns reads the bank payments that came back in the last days. It reads on after
// one that cannot be read or stored.
func (e *engine) readReturns(ctx context.Context, today quickstream.Date) error {
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
	r, err := e.one(ctx, e.db, ofReceipt+" LIMIT 1", t.ReceiptNumber)
	if err != nil || r == nil || r.State == StateReturned {
		return err
	}
	return e.observe(ctx, r, observed{kind: EventReturned})
}
