package durable

import (
	"context"
	"fmt"
	"time"
)

// Status is how the engine's work stands, for health checks and dashboards.
type Status struct {
	// Payments counts payments by state.
	Payments map[State]int
	// Overdue is for how long what is due has waited at the longest.
	Overdue time.Duration
	// Refused are payments whose outcome OnOutcome has refused so far: nothing is lost,
	// and the merchant's records lack it.
	Refused int
	// Stuck are payments of another version of the program.
	Received int // notifications that wait to be confirmed
	Held     int // those of them that have failed before
	// Restoring is since when nothing is sent, because a backup was restored and what it
	// does not know is being looked for; zero when it is not.
	Restoring time.Time
	// Skew is how far the database's clock is ahead of this process's.
	Skew time.Duration
}

// Status reads how the work stands.
func (e *Engine[TTx]) Status(ctx context.Context) (Status, error) {
	s := Status{Payments: map[State]int{}}
	now := e.opts.Clock()
	err := within(ctx, e.db, func(tx TTx) error {
		err := query(ctx, e.db, tx, func(scan func(...any) error) error {
			var state State
			var n int
			err := scan(&state, &n)
			s.Payments[state] = n
			return err
		}, "SELECT state, count(*) FROM quickstream.payment GROUP BY state")
		if err != nil {
			return err
		}
		var oldest *int64
		err = query(ctx, e.db, tx, func(scan func(...any) error) error { return scan(&s.Refused, &s.Received, &s.Held, &oldest) }, `SELECT
			(SELECT count(*) FROM quickstream.payment WHERE pending <> ''),
			(SELECT count(*) FROM quickstream.notification WHERE state = 'received'),
			(SELECT count(*) FROM quickstream.notification WHERE state = 'received' AND failures > 0),
			(SELECT min(next_at) FROM quickstream.payment WHERE due_at IS NOT NULL)`)
		if err != nil {
			return err
		}
		if oldest != nil {
			s.Overdue = max(0, now.Sub(moment(*oldest)))
		}
		restored, err := meta(ctx, e.db, tx, restoring)
		if err != nil {
			return err
		}
		if restored != "" {
			var since, adopted int64
			if _, err := fmt.Sscan(restored, &since, &adopted); err != nil {
				return err
			}
			s.Restoring = moment(adopted)
		}
		var database int64
		err = query(ctx, e.db, tx, func(scan func(...any) error) error { return scan(&database) }, "SELECT "+e.db.Words().Now)
		s.Skew = moment(database).Sub(time.Now()).Round(time.Millisecond)
		return err
	})
	return s, err
}
