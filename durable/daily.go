package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
)

const (
	// returnDays is for how many days the returned transactions are read again: a payment
	// can come back within three banking days, also over a long weekend.
	returnDays = 7
	// daysMadeUp is how many days that were missed, or failed, are made up, the oldest first.
	daysMadeUp = 30
)

// daily does the work that is due once a day, in Sydney: it reads returned payments, empties old writes, and compares.
func (e *engine) daily(ctx context.Context) error {
	e.daytime.Lock() // two comparisons at once would each take what the other one stores for known
	defer e.daytime.Unlock()
	g, err := e.gates(ctx, e.db)
	if err != nil {
		return err
	}
	since := func(hours, minutes int) quickstream.Date {
		return quickstream.DateOf(g.now.In(e.sydney).Add(-time.Duration(hours)*time.Hour - time.Duration(minutes)*time.Minute))
	}
	errs := []error{
		e.readReturns(ctx, since(9, 0)),
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

// onceADay does work for a day unless it was done, after the days of the last month that were missed. The database keeps
// which day was done last.
func (e *engine) onceADay(ctx context.Context, name string, day quickstream.Date, work func(ctx context.Context, day quickstream.Date) error) error {
	for {
		done, err := lastDone(ctx, e.db, name)
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
		if err := e.setDone(ctx, name, next); err != nil {
			return err
		}
	}
}

// lastDone returns for which day daily work was done last; zero for none.
func lastDone(ctx context.Context, from reader, name string) (day quickstream.Date, err error) {
	text, err := meta(ctx, from, "daily "+name)
	if err == nil && text != "" {
		err = day.UnmarshalText([]byte(text))
	}
	return day, err
}

func (e *engine) setDone(ctx context.Context, name string, day quickstream.Date) error {
	return within(ctx, e.db, func(tx tx) error { return setMeta(ctx, tx, "daily "+name, day.String()) })
}

// returnsName is the name of the work that reads returned payments.
const returnsName = "returns"

// readReturns reads the bank payments that came back in the last days, and since it was done last, but for a month at most.
// It reads on after one that cannot be read or stored.
func (e *engine) readReturns(ctx context.Context, today quickstream.Date) error {
	done, failed := lastDone(ctx, e.db, returnsName)
	if done == today || failed != nil {
		return failed
	}
	if earliest := today.AddDays(-daysMadeUp); done.Compare(earliest) < 0 || done.Compare(today) > 0 { // never, long ago, or by a wrong clock
		done = today
	}
	for date := done.AddDays(1 - returnDays); date.Compare(today) <= 0; date = date.AddDays(1) {
		for page, err := range pages(ctx, e.client.Transactions.Returned(quickstream.ReturnedParams{Date: date})) {
			if err != nil {
				failed = errors.Join(failed, err)
				break
			}
			if len(page.Unreadable) > 0 {
				failed = errors.Join(failed, fmt.Errorf("%w: %d of %s", errUnreadableItem, len(page.Unreadable), date))
			}
			for _, t := range page.Data {
				failed = errors.Join(failed, e.returned(ctx, t))
			}
		}
	}
	if failed != nil {
		return failed
	}
	return e.setDone(ctx, returnsName, today)
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
