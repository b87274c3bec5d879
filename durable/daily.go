package durable

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

// returnDays is how many days the returned transactions are read again for: a payment
// comes back for up to three banking days, over a long weekend.
const returnDays = 7

// daily does what is due once a day, or until it has succeeded. What it is and when it
// is due stands in the database, so that of several engines one does it.
func (e *Engine[TTx]) daily(ctx context.Context) error {
	return errors.Join(
		e.readLost(ctx),
		e.once(ctx, "returns", e.morning(resolve.TimeOfDay{Hour: 9}), e.readReturns),
		e.once(ctx, "compare", e.compareAt(), e.compareYesterday),
		e.once(ctx, "retention", e.morning(resolve.TimeOfDay{Hour: 3}), e.forget),
	)
}

// once runs work for a time that has come, unless somebody has, or is at it. What fails
// is tried again after a pause.
func (e *Engine[TTx]) once(ctx context.Context, name string, due time.Time, work func(context.Context) error) error {
	if due.IsZero() {
		return nil
	}
	now := e.opts.Clock()
	mine := false
	err := within(ctx, e.db, func(tx TTx) error {
		// Not before: the time for which it was done, or until which somebody is at it.
		text, err := meta(ctx, e.db, tx, name)
		if err != nil {
			return err
		}
		until, _ := strconv.ParseInt(text, 10, 64) // 0 when it was never done
		if now.UnixMicro() < until || due.UnixMicro() <= until {
			return nil
		}
		n, err := e.db.Exec(ctx, tx, `INSERT INTO quickstream.meta (name, value) VALUES ($1, $2)
			ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE quickstream.meta.value = $3`,
			name, strconv.FormatInt(now.Add(dailyPause).UnixMicro(), 10), text)
		mine = n == 1
		return err
	})
	if err != nil || !mine {
		return err
	}
	if err := work(ctx); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return within(ctx, e.db, func(tx TTx) error { return e.setMeta(ctx, tx, name, strconv.FormatInt(due.UnixMicro(), 10)) })
}

// dailyPause is how long daily work has, and the pause after it has failed.
const dailyPause = 10 * time.Minute

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

// readReturns reads the bank payments that came back in the last days.
func (e *Engine[TTx]) readReturns(ctx context.Context) error {
	today := quickstream.DateOf(e.opts.Clock().In(e.sydney))
	for day := range returnDays {
		params := quickstream.ReturnedParams{Date: today.AddDays(-day)}
		for t, err := range e.client.Transactions.Returned(params).All(ctx) {
			if isNone(err) {
				break
			}
			if err != nil {
				return err
			}
			if err := e.returned(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// isNone reports whether a list has ended, as one that is empty may do with a 404.
func isNone(err error) bool { return errors.Is(err, quickstream.ErrNotFound) }

func (e *Engine[TTx]) returned(ctx context.Context, t *quickstream.Transaction) error {
	if t.ReceiptNumber == "" {
		return nil
	}
	var r *row
	err := within(ctx, e.db, func(tx TTx) (err error) {
		r, err = e.one(ctx, tx, "receipt = $1 AND receipt_of <> receipt LIMIT 1", t.ReceiptNumber)
		return err
	})
	if err != nil || r == nil || r.State == StateReturned {
		return err
	}
	return e.observe(ctx, r.ID, observed{Kind: sawReturn, At: e.opts.Clock()})
}

// forget removes what is over and was kept for long enough. What is open stays, and
// what may be delivered again.
func (e *Engine[TTx]) forget(ctx context.Context) error {
	now := e.opts.Clock()
	return within(ctx, e.db, func(tx TTx) error {
		if err := execute(ctx, e.db, tx, "DELETE FROM quickstream.notification WHERE state = 'done' AND changed_at < $1",
			micros(now.Add(-e.opts.KeepNotifications))); err != nil || e.opts.KeepPayments <= 0 {
			return err
		}
		return execute(ctx, e.db, tx, `DELETE FROM quickstream.payment WHERE next_at IS NULL AND pending = '' AND changed_at < $1
			AND state NOT IN ('prepared', 'sending', 'unknown', 'absent', 'escalated')`, micros(now.Add(-e.opts.KeepPayments)))
	})
}
