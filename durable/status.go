package durable

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// Status is how the engine's work stands, for health checks and dashboards.
type Status struct {
	// Payments counts payments by state.
	Payments map[State]int
	// Unknown counts those of which nobody knows what became: sending, unknown, absent and
	// escalated. UnknownFor is for how long the oldest of them is written.
	Unknown    int
	UnknownFor time.Duration
	// Overdue is for how long what is due has waited at the longest.
	Overdue time.Duration
	// Refused counts payments whose outcome OnOutcome has refused so far: nothing is lost,
	// and the merchant's records lack it.
	Refused int
	// Stuck counts payments with something to do that another version of the program has
	// written, and this one leaves alone.
	Stuck int
	// Received counts notifications that wait to be confirmed, and Held those of them that
	// have failed before.
	Received, Held int
	// Restoring is since when nothing is sent, because a backup was restored and what it
	// does not know is being looked for; zero when it is not.
	Restoring time.Time
	// DatabaseAhead is how far the database's clock is ahead of this machine's. Payments are
	// given up and forgotten by the database's. Where they differ by more than an hour this
	// process does no daily work.
	DatabaseAhead time.Duration
	// ServiceAhead is how far the service's clock is ahead of Options.Clock, to the second,
	// by the last answer that this engine has got, at ServiceAt; that is zero before any.
	ServiceAhead time.Duration
	ServiceAt    time.Time
}

// Status reads how the work stands.
func (e *Engine[TTx]) Status(ctx context.Context) (Status, error) {
	s := Status{Payments: map[State]int{}}
	now := e.opts.Clock()
	err := within(ctx, e.db, func(tx TTx) error {
		err := query(ctx, e.db, tx, func(scan func(...any) error) error {
			var state State
			var n int
			var first int64
			err := scan(&state, &n, &first)
			s.Payments[state] = n
			switch state {
			case StateSending, StateUnknown, StateAbsent, StateEscalated:
				s.Unknown += n
				s.UnknownFor = max(s.UnknownFor, now.Sub(moment(first)))
			default:
			}
			return err
		}, "SELECT state, count(*), min(written_at) FROM quickstream.payment GROUP BY state")
		if err != nil {
			return err
		}
		var oldest *int64
		err = query(ctx, e.db, tx, func(scan func(...any) error) error { return scan(&s.Refused, &s.Received, &s.Held, &oldest, &s.Stuck) }, `SELECT
			(SELECT count(*) FROM quickstream.payment WHERE pending <> ''),
			(SELECT count(*) FROM quickstream.notification WHERE state = 'received'),
			(SELECT count(*) FROM quickstream.notification WHERE state = 'received' AND failures > 0),
			(SELECT min(next_at) FROM quickstream.payment WHERE due_at IS NOT NULL),
			(SELECT count(*) FROM quickstream.payment WHERE due_at IS NOT NULL AND (intent NOT LIKE $1 OR resolution <> '' AND resolution NOT LIKE $2))`,
			versioned(quickstream.IntentVersion), versioned(resolve.CaseVersion))
		if err != nil {
			return err
		}
		if oldest != nil {
			s.Overdue = max(0, now.Sub(moment(*oldest)))
		}
		open, err := e.search(ctx, tx)
		if err != nil {
			return err
		}
		if open != nil {
			s.Restoring = open.adopted
		}
		_, ahead, err := e.databaseTime(ctx, tx)
		s.DatabaseAhead = ahead.Round(time.Millisecond)
		return err
	})
	if heard := e.service.Load(); heard != nil {
		s.ServiceAhead, s.ServiceAt = heard.ahead, heard.at
	}
	return s, err
}

// versioned is the pattern of a JSON text of a version, which comes first in it.
func versioned(version int) string { return fmt.Sprintf(`{"version":%d,%%`, version) }

// heard is what an answer has told of the service's clock.
type heard struct {
	ahead time.Duration
	at    time.Time
}

// hear returns the option that keeps an answer, and what reads the service's clock from it
// when the call has ended.
func (e *Engine[TTx]) hear() (quickstream.CallOption, func()) {
	answer := new(quickstream.Response)
	return quickstream.WithResponseInto(answer), func() {
		date, err := http.ParseTime(answer.Header.Get("Date"))
		if answer.StatusCode == 0 || err != nil {
			return
		}
		now := e.opts.Clock()
		e.service.Store(&heard{date.Sub(now.Truncate(time.Second)), now})
	}
}
