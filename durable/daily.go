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
	return e.once(ctx, "returns", e.morning(resolve.TimeOfDay{Hour: 9}), e.readReturns)
}

func (e *Engine[TTx]) dailyForgetting(ctx context.Context) error {
	return e.once(ctx, "retention", e.morning(resolve.TimeOfDay{Hour: 3}), e.forget)
}

func (e *Engine[TTx]) dailyComparison(ctx context.Context) error {
	if e.opts.CompareAt == nil {
		return nil
	}
	due := e.morning(*e.opts.CompareAt)
	yesterday := quickstream.DateOf(due).AddDays(-1)
	return e.once(ctx, "compare", due, func(ctx context.Context) error {
		if e.opts.Report != nil {
			return e.downloadAndCompare(ctx, yesterday)
		}
		return e.Compare(ctx, yesterday)
	})
}

// turn is how daily work stands: for which time it was done last, and until when
// somebody is at it, or it rests after a failure.
type turn struct{ done, until int64 }

func (t turn) text() string { return fmt.Sprint(t.done, " ", t.until) }

// once runs work for a time that has come, unless somebody has, or is at it. What fails
// is tried again after a pause.
func (e *Engine[TTx]) once(ctx context.Context, name string, due time.Time, work func(context.Context) error) error {
	now := e.opts.Clock()
	mine := ""
	var last turn
	err := within(ctx, e.db, func(tx TTx) error {
		text, err := meta(ctx, e.db, tx, name)
		if err != nil {
			return err
		}
		_, _ = fmt.Sscan(text, &last.done, &last.until) // "" when it was never done
		if due.UnixMicro() <= last.done || now.UnixMicro() < last.until {
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
	err = work(ctx)
	ended()
	mine = <-held
	if err != nil {
		return err
	}
	return within(ctx, e.db, func(tx TTx) error {
		return execute(ctx, e.db, tx, "UPDATE quickstream.meta SET value = $1 WHERE name = $2 AND value = $3", turn{done: due.UnixMicro()}.text(), name, mine)
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
		next := turn{done, e.opts.Clock().Add(dailyPause).UnixMicro()}.text()
		n := int64(0)
		err := within(context.WithoutCancel(ctx), e.db, func(tx TTx) (err error) {
			n, err = e.db.Exec(ctx, tx, "UPDATE quickstream.meta SET value = $1 WHERE name = $2 AND value = $3", next, name, mine)
			return err
		})
		if err == nil && n == 1 {
			mine = next
		}
	}
}

// morning is the last time of day that has come, in Sydney.
func (e *Engine[TTx]) morning(at resolve.TimeOfDay) time.Time {
	now := e.opts.Clock().In(e.sydney)
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
func (e *Engine[TTx]) readReturns(ctx context.Context) error {
	today := quickstream.DateOf(e.opts.Clock().In(e.sydney))
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
	var r *row
	err := within(ctx, e.db, func(tx TTx) (err error) {
		r, err = e.byReceipt(ctx, tx, t.ReceiptNumber)
		return err
	})
	if err != nil || r == nil || r.State == StateReturned {
		return err
	}
	return e.note(ctx, r.ID, observed{Kind: sawReturn, At: e.opts.Clock()})
}

// forget removes what is over and was kept for long enough. What is open stays, and a
// payment that something is being done to, and what may be delivered again.
func (e *Engine[TTx]) forget(ctx context.Context) error {
	now := e.opts.Clock()
	return within(ctx, e.db, func(tx TTx) error {
		if err := execute(ctx, e.db, tx, "DELETE FROM quickstream.notification WHERE state = 'done' AND changed_at < $1",
			micros(now.Add(-e.opts.KeepNotifications))); err != nil || e.opts.KeepPayments <= 0 {
			return err
		}
		return execute(ctx, e.db, tx, `DELETE FROM quickstream.payment WHERE next_at IS NULL AND pending = '' AND changed_at < $1
			AND state NOT IN ('prepared', 'sending', 'unknown', 'absent', 'escalated')
			AND NOT EXISTS (SELECT 1 FROM quickstream.payment f WHERE f.receipt_of = quickstream.payment.receipt AND f.receipt_of <> ''
				AND f.id <> quickstream.payment.id AND f.state IN ('prepared', 'sending', 'unknown', 'absent', 'escalated'))`, micros(now.Add(-e.opts.KeepPayments)))
	})
}
