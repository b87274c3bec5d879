package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// returnDays is how many days the returned transactions are read again for: a payment
// comes back for up to three banking days, over a long weekend.
const returnDays = 7

// nightsMadeUp is how many comparisons that were missed, or failed, are made up, the oldest first.
const nightsMadeUp = 7

// The daily work is done once a day, or again until it has succeeded. What it is and when
// it is due stands in the database, so that of several engines one does it.

func (e *engine) dailyReturns(ctx context.Context) error {
	return e.daily(ctx, "returns", resolve.TimeOfDay{Hour: 9}, 0, e.readReturns)
}

func (e *engine) dailyForgetting(ctx context.Context) error {
	return e.daily(ctx, "retention", resolve.TimeOfDay{Hour: 3}, 0, func(ctx context.Context, _ time.Time) error { return e.forget(ctx) })
}

func (e *engine) dailyComparison(ctx context.Context) error {
	if e.compareAt == nil {
		return nil
	}
	return e.daily(ctx, "compare", *e.compareAt, nightsMadeUp, func(ctx context.Context, due time.Time) error {
		yesterday := quickstream.DateOf(due).AddDays(-1)
		if e.report != nil {
			return e.counted(ctx, yesterday, e.downloadAndCompare)
		}
		return e.counted(ctx, yesterday, e.compare)
	})
}

// daily runs work once for each day, after a time of day in Sydney. If days were missed, so many of them are made up.
func (e *engine) daily(ctx context.Context, name string, at resolve.TimeOfDay, madeUp int, work func(ctx context.Context, due time.Time) error) error {
	if e.time.doubted() {
		return nil
	}
	due := func(now, done time.Time) time.Time {
		last := e.lastTime(at, now)
		for range madeUp {
			if before := last.AddDate(0, 0, -1); !done.IsZero() && before.After(done) {
				last = before
			}
		}
		return last
	}
	return e.once(ctx, name, dailyPause, due, work)
}

// turn is how daily work stands: for which time it was done last, and until when
// an engine is at it, or it rests after a failure.
type turn struct{ done, until int64 }

// doneAt is for which time it was done last, or zero.
func (t turn) doneAt() time.Time {
	if t.done == 0 {
		return time.Time{}
	}
	return time.UnixMicro(t.done)
}

func (t turn) text() string { return fmt.Sprint(t.done, " ", t.until) }

// turnOf reads how daily work stands. Times that are ahead of the database's were written by
// a clock that was wrong, and count for nothing.
func turnOf(text string, now time.Time) turn {
	var t turn
	_, _ = fmt.Sscan(text, &t.done, &t.until) // "" when it was never done
	latest := now.Add(dailyPause)
	if t.done > latest.UnixMicro() {
		t.done = 0
	}
	if t.until > latest.Add(dailyPause).UnixMicro() { // a turn of this moment ends in dailyPause
		t.until = 0
	}
	return t
}

// once runs work for a time that has come, unless it was run for it, or is being run. due returns that time, and gets
// the one for which it was done last, or zero. What fails is tried again after a pause, and so is what a process has
// left that ended.
func (e *engine) once(ctx context.Context, name string, pause time.Duration, due func(now, done time.Time) time.Time, work func(ctx context.Context, due time.Time) error) error {
	var last turn
	var at time.Time
	mine := ""
	err := within(ctx, e.db, func(tx tx) error {
		now, err := e.readTime(ctx, tx)
		if err != nil {
			return err
		}
		text, err := meta(ctx, tx, name)
		if err != nil {
			return err
		}
		last = turnOf(text, now)
		if at = due(now, last.doneAt()); at.UnixMicro() <= last.done || now.UnixMicro() < last.until {
			return nil
		}
		if last.done == 0 {
			last.done = at.UnixMicro() - 1 // the first time of all is made up too
		}
		begun := turn{last.done, now.Add(pause).UnixMicro()}.text()
		n, err := tx.Exec(ctx, `INSERT INTO quickstream.meta (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE quickstream.meta.value = $3`, name, begun, text)
		if n == 1 {
			mine = begun
		}
		return err
	})
	if err != nil || mine == "" {
		return err
	}
	working, ended := context.WithCancel(ctx)
	held := make(chan string)
	go func() { held <- e.hold(working, name, pause, last.done, mine) }()
	err = work(ctx, at)
	ended()
	mine = <-held
	if err != nil {
		return err
	}
	return within(ctx, e.db, func(tx tx) error {
		return execute(ctx, tx, "UPDATE quickstream.meta SET value = $1 WHERE name = $2 AND value = $3", turn{done: at.UnixMicro()}.text(), name, mine)
	})
}

// dailyPause is how long daily work belongs to a process that has stopped reporting, and the pause after a
// failure.
const dailyPause = 10 * time.Minute

// hold keeps others from the work until the context ends, and returns what stands in the
// database then.
func (e *engine) hold(ctx context.Context, name string, pause time.Duration, done int64, mine string) string {
	tick := time.NewTicker(pause / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return mine
		case <-tick.C:
		}
		next, n := "", int64(0)
		err := within(context.WithoutCancel(ctx), e.db, func(tx tx) error {
			now, err := e.readTime(ctx, tx)
			if err != nil {
				return err
			}
			next = turn{done, now.Add(pause).UnixMicro()}.text()
			n, err = tx.Exec(ctx, "UPDATE quickstream.meta SET value = $1 WHERE name = $2 AND value = $3", next, name, mine)
			return err
		})
		if err == nil && n == 1 {
			mine = next
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
	today := quickstream.DateOf(due)
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
				if err := e.returned(ctx, t); err != nil {
					failed = errors.Join(failed, err)
				}
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
	if err != nil || r == nil || r.Reversal == ReversalReturned {
		return err
	}
	return e.observeOne(ctx, r.ID, observed{Kind: sawReturn, At: e.clock()})
}
