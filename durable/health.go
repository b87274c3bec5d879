package durable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

// Health is how the engine's work stands, for health checks and dashboards.
type Health struct {
	// Writes counts writes by state.
	Writes map[State]int
	// Unknown counts those whose outcome is unknown: sending, resolving, not_found and escalated.
	// UnknownFor is the age of the oldest of them.
	Unknown    int
	UnknownFor time.Duration
	// Overdue is for how long what is due has waited at the longest.
	Overdue time.Duration
	// Refused counts writes whose outcome OnOutcome has refused so far: nothing is lost,
	// and the merchant's records lack it.
	Refused int
	// Stuck counts writes with something to do that another version of the program has
	// written, and this one leaves alone.
	Stuck int
	// Received counts notifications that wait to be confirmed, and Held those of them that
	// have failed before.
	Received, Held int
	// Restoring is since when payments that the database lacks are being read from the service, because the history of the database has changed; zero if they are not. RestoringUnreadable counts
	// transactions that could not be read: one of them may be an order's payment.
	Restoring           time.Time
	RestoringUnreadable int
	// MaybeCopy means that the database may be a copy of one that is in use: what was queued before
	// waits for a quarter of an hour, or for [Engine.ConfirmHistory].
	MaybeCopy bool
	// Paused is since when nothing is sent, because a write was refused by the service or by what
	// stands in front of it; zero if it is not.
	Paused time.Time
	// Facility is why nothing is sent if the database belongs to another facility; nil if it does not.
	Facility error
	// Outdated means that the tables are those of a newer program, beside which this one may accept and read
	// and sends nothing.
	Outdated bool
	// ClockDoubted means that the database's clock is not where it was expected, and the service has not
	// confirmed it: until it has, nothing is given up, emptied or done for the day.
	ClockDoubted bool
	// DatabaseAhead is how far the database's clock is ahead of this machine's, which counts for nothing.
	DatabaseAhead time.Duration
	// ServiceAhead is how far the service's clock is ahead of the installation's time, to the second,
	// by the last answer that this engine has got, at ServiceAt; that is zero before any.
	ServiceAhead time.Duration
	ServiceAt    time.Time
}

// Health reads how the work stands.
func (e *Engine[TTx]) Health(ctx context.Context) (Health, error) {
	h, err := e.health(ctx)
	if err != nil {
		err = fmt.Errorf("durable: %w", err)
	}
	return h, err
}

func (e *engine) health(ctx context.Context) (h Health, err error) {
	h.Writes = map[State]int{}
	now := e.clock()
	err = within(ctx, e.db, func(tx tx) error {
		err := query(ctx, tx, func(scan func(...any) error) error {
			var state State
			var n int
			var first time.Time
			err := scan(&state, &n, &first)
			h.Writes[state] = n
			switch state {
			case StateSending, StateResolving, StateNotFound, StateEscalated:
				h.Unknown += n
				h.UnknownFor = max(h.UnknownFor, now.Sub(first))
			default:
			}
			return err
		}, "SELECT state, count(*), min(written_at) FROM quickstream.write GROUP BY state")
		if err != nil {
			return err
		}
		var oldest time.Time
		// Sealed intents cannot be judged here.
		err = query(ctx, tx, func(scan func(...any) error) error { return scan(&h.Refused, &h.Received, &h.Held, &oldest, &h.Stuck) }, `SELECT
			(SELECT count(*) FROM quickstream.write WHERE pending <> ''),
			(SELECT count(*) FROM quickstream.notification WHERE state = 'received'),
			(SELECT count(*) FROM quickstream.notification WHERE state = 'received' AND failures > 0),
			(SELECT min(next_at) FROM quickstream.write WHERE due_at IS NOT NULL),
			(SELECT count(*) FROM quickstream.write WHERE due_at IS NOT NULL AND (intent NOT LIKE $1 AND intent NOT LIKE $2 OR lookups <> '' AND lookups NOT LIKE $3))`,
			versioned(quickstream.IntentVersion), sealedPrefix+"%", versioned(resolve.CaseVersion))
		if err != nil {
			return err
		}
		if !oldest.IsZero() {
			h.Overdue = max(0, now.Sub(oldest))
		}
		past, err := readHistory(ctx, tx)
		if err != nil {
			return err
		}
		if past.Searching {
			h.Restoring, h.RestoringUnreadable = past.Adopted, past.Unreadable
		}
		h.Outdated = past.outdated
		h.MaybeCopy = past.Change == database.Replaced && !past.Confirmed && past.recent(e.time)
		b, _, err := readBreaker(ctx, tx)
		if err != nil {
			return err
		}
		h.Paused = b.Since
		h.Facility = e.otherFacility(ctx, tx)
		_, err = e.readTime(ctx, tx)
		h.DatabaseAhead, h.ClockDoubted = e.time.databaseAhead().Round(time.Millisecond), e.time.doubted()
		return err
	})
	if seen := e.service.Load(); seen != nil {
		h.ServiceAhead, h.ServiceAt = seen.ahead, seen.at
	}
	return h, err
}

// otherFacility is why nothing is sent if the database belongs to another facility.
func (e *engine) otherFacility(ctx context.Context, tx tx) error {
	var other *FacilityError
	if _, err := e.compareFacility(ctx, tx); errors.As(err, &other) {
		return other
	}
	return nil
}

// versioned is the pattern of a JSON text of a version, which comes first in it.
func versioned(version int) string { return fmt.Sprintf(`{"version":%d,%%`, version) }

// clockSkew is what an answer has told of the service's clock.
type clockSkew struct {
	ahead time.Duration
	at    time.Time
}

// serviceTime returns the option that keeps an answer, and what reads the service's clock from it
// when the call has ended.
func (e *engine) serviceTime() (quickstream.CallOption, func()) {
	answer := new(quickstream.Response)
	return quickstream.WithResponseInto(answer), func() {
		date, err := http.ParseTime(answer.Header.Get("Date"))
		if answer.StatusCode == 0 || err != nil {
			return
		}
		e.time.judge(date)
		now := e.clock()
		e.service.Store(&clockSkew{date.Sub(now.Truncate(time.Second)), now})
	}
}
