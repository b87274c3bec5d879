package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

// returnDays is how many days the returned transactions are read again for: a payment
// comes back for up to three banking days, over a long weekend.
const returnDays = 7

// The daily work is done once a day, or again until it has succeeded. What it is and when
// it is due stands in the database, so that of several engines one does it.

func (e *Engine[TTx]) dailyReturns(ctx context.Context) error {
	return e.daily(ctx, "returns", resolve.TimeOfDay{Hour: 9}, e.readReturns)
}

func (e *Engine[TTx]) dailyForgetting(ctx context.Context) error {
	return e.daily(ctx, "retention", resolve.TimeOfDay{Hour: 3}, func(ctx context.Context, _ time.Time) error { return e.forget(ctx) })
}

func (e *Engine[TTx]) dailyComparison(ctx context.Context) error {
	if e.opts.CompareAt == nil {
		return nil
	}
	return e.daily(ctx, "compare", *e.opts.CompareAt, func(ctx context.Context, due time.Time) error {
		yesterday := quickstream.DateOf(due).AddDays(-1)
		if e.opts.Report != nil {
			return e.downloadAndCompare(ctx, yesterday)
		}
		return e.Compare(ctx, yesterday)
	})
}

// clocksApart is how far the clocks of this machine and the database may differ: beyond it
// one of them is wrong, and nothing is done that is done once a day.
const clocksApart = time.Hour

// daily runs work once for each day, after a time of day in Sydney.
func (e *Engine[TTx]) daily(ctx context.Context, name string, at resolve.TimeOfDay, work func(ctx context.Context, due time.Time) error) error {
	return e.once(ctx, name, func(now time.Time, ahead time.Duration) time.Time {
		if ahead.Abs() > clocksApart {
			return time.Time{}
		}
		return e.lastTime(at, now)
	}, work)
}

// turn is how daily work stands: for which time it was done last, and until when
// somebody is at it, or it rests after a failure.
type turn struct{ done, until int64 }

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

// once runs work for a time that has come, unless it was run for it, or is being run. due
// returns that time for the database's, and for how far its clock is ahead of this
// machine's; zero for none. What fails is tried again after a pause.
func (e *Engine[TTx]) once(ctx context.Context, name string, due func(now time.Time, ahead time.Duration) time.Time, work func(ctx context.Context, due time.Time) error) error {
	var last turn
	var at time.Time
	mine := ""
	err := within(ctx, e.db, func(tx TTx) error {
		now, ahead, err := e.databaseTime(ctx, tx)
		if err != nil {
			return err
		}
		if at = due(now, ahead); at.IsZero() {
			return nil
		}
		text, err := meta(ctx, e.db, tx, name)
		if err != nil {
			return err
		}
		last = turnOf(text, now)
		if at.UnixMicro() <= last.done || now.UnixMicro() < last.until {
			return nil
		}
		begun := turn{last.done, now.Add(dailyPause).UnixMicro()}.text()
		n, err := e.db.Exec(ctx, tx, `INSERT INTO quickstream.meta (name, value) VALUES ($1, $2)
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
	go func() { held <- e.hold(working, name, last.done, mine) }()
	err = work(ctx, at)
	ended()
	mine = <-held
	if err != nil {
		return err
	}
	return within(ctx, e.db, func(tx TTx) error {
		return execute(ctx, e.db, tx, "UPDATE quickstream.meta SET value = $1 WHERE name = $2 AND value = $3", turn{done: at.UnixMicro()}.text(), name, mine)
	})
}

// dailyPause is how long daily work is somebody's who does not say that he is still at it,
// and the pause after it has failed.
const dailyPause = 10 * time.Minute

// hold keeps others from the work until the context ends, and returns what stands in the
// database then.
func (e *Engine[TTx]) hold(ctx context.Context, name string, done int64, mine string) string {
	tick := time.NewTicker(dailyPause / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return mine
		case <-tick.C:
		}
		next, n := "", int64(0)
		err := within(context.WithoutCancel(ctx), e.db, func(tx TTx) error {
			now, _, err := e.databaseTime(ctx, tx)
			if err != nil {
				return err
			}
			next = turn{done, now.Add(dailyPause).UnixMicro()}.text()
			n, err = e.db.Exec(ctx, tx, "UPDATE quickstream.meta SET value = $1 WHERE name = $2 AND value = $3", next, name, mine)
			return err
		})
		if err == nil && n == 1 {
			mine = next
		}
	}
}

// lastTime is when a time of day came last, in Sydney.
func (e *Engine[TTx]) lastTime(at resolve.TimeOfDay, now time.Time) time.Time {
	now = now.In(e.sydney)
	today := time.Date(now.Year(), now.Month(), now.Day(), at.Hour, at.Minute, 0, 0, e.sydney)
	if today.After(now) {
		today = today.AddDate(0, 0, -1)
	}
	return today
}

func (e *Engine[TTx]) setMeta(ctx context.Context, tx TTx, name, value string) error {
	return execute(ctx, e.db, tx, database.PutMeta, name, value)
}

// readReturns reads the bank payments that came back in the last days. What cannot be
// read or stored does not keep the others from being read.
func (e *Engine[TTx]) readReturns(ctx context.Context, due time.Time) error {
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
				e.opts.Logger.WarnContext(ctx, "quickstream: a returned transaction could not be read", "error", unreadable)
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

func (e *Engine[TTx]) returned(ctx context.Context, t *quickstream.Transaction) error {
	if t.ReceiptNumber == "" {
		return nil
	}
	r, err := e.peek(ctx, ofReceipt+" LIMIT 1", t.ReceiptNumber)
	if err != nil || r == nil || r.State == StateReturned {
		return err
	}
	return e.note(ctx, r.ID, observed{Kind: sawReturn, At: e.opts.Clock()})
}

// forget removes what is over and was kept for long enough, by the database's clock at both
// ends. What is open stays, and a payment that something is being done to, and what may be
// delivered again. Of an approved payment so much stays that its order cannot be paid again.
func (e *Engine[TTx]) forget(ctx context.Context) error {
	return within(ctx, e.db, func(tx TTx) error {
		now, _, err := e.databaseTime(ctx, tx)
		if err != nil {
			return err
		}
		if err := execute(ctx, e.db, tx, "DELETE FROM quickstream.notification WHERE state = 'done' AND changed_at < $1",
			micros(now.Add(-e.opts.KeepNotifications))); err != nil || e.opts.KeepPayments <= 0 {
			return err
		}
		// The last condition leaves alone what changes while the statement waits for it: a refund
		// that is being written then is not seen, and counts the version of its payment up.
		const over = `next_at IS NULL AND pending = '' AND changed_at < $1 AND database_at < $1
			AND state NOT IN ('prepared', 'sending', 'unknown', 'absent', 'escalated')
			AND NOT EXISTS (SELECT 1 FROM quickstream.payment f WHERE f.receipt_of = quickstream.payment.receipt AND f.receipt_of <> ''
				AND f.id <> quickstream.payment.id AND f.state IN ('prepared', 'sending', 'unknown', 'absent', 'escalated'))
			AND version = (SELECT v.version FROM quickstream.payment v WHERE v.id = quickstream.payment.id)`
		const paid = "receipt_of = '' AND state IN ('approved', 'charged twice')"
		kept := micros(now.Add(-e.opts.KeepPayments))
		if err := execute(ctx, e.db, tx, `UPDATE quickstream.payment SET version = version + 1, claim = '', receipt = '', reference = '', intent_id = '',
			end_to_end_id = '', total = '', settles_on = '', intent = '', resolution = '', problem = '', decided = ''
			WHERE intent <> '' AND `+paid+" AND "+over, kept); err != nil {
			return err
		}
		// Refunds limit those to come, as long as their payment is known.
		const limits = `EXISTS (SELECT 1 FROM quickstream.payment p WHERE p.receipt <> '' AND p.receipt = quickstream.payment.receipt_of
			AND p.id <> quickstream.payment.id AND p.receipt_of <> p.receipt)`
		return execute(ctx, e.db, tx, "DELETE FROM quickstream.payment WHERE NOT ("+paid+") AND NOT "+limits+" AND "+over, kept)
	})
}
