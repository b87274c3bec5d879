package durable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

// Health is how the engine's work stands, for health checks and dashboards. Encoded as JSON its durations are numbers of
// nanoseconds.
type Health struct {
	// At is when it was read, by the installation's time, which all times here are of.
	At time.Time
	// Writes counts writes by state, of those that are not over: an order is over in settled, refused and
	// not_sent, of which there are too many to count. A payment that is not_found and was paid again is over too.
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
	// Stuck counts writes that are due and that another version of the program has
	// written, and this one leaves alone: a thousand at most.
	Stuck int
	// Received counts notifications that wait to be confirmed, and Held those of them that
	// have failed before.
	Received, Held int
	// Restoring is since when payments that the database lacks are being read from the service, because the history of
	// the database has changed; zero if they are not. RestoringUnreadable counts transactions that could not be read:
	// one of them may be an order's payment.
	Restoring           time.Time
	RestoringUnreadable int
	// MaybeCopy means that the database may be a copy of one that is in use: what was queued before
	// waits for a quarter of an hour, or for [Engine.ConfirmHistory].
	MaybeCopy bool
	// Paused is since when nothing is sent, because a write was refused by the service or by what
	// stands in front of it, or because a person has paused the installation, whose name is PausedBy; zero if
	// it is not.
	Paused   time.Time
	PausedBy string
	// Comparison is how the comparisons with the service stand.
	Comparison Comparison
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
	now := e.clock()
	h.At, h.Writes = now, map[State]int{}
	err = within(ctx, e.db, func(tx tx) error {
		if err := e.countWrites(ctx, tx, &h, now); err != nil {
			return err
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
		h.Paused, h.PausedBy = b.Since, past.pause.By
		if h.Paused.IsZero() {
			h.Paused = past.pause.Since
		}
		if h.Comparison, err = readComparison(ctx, tx); err != nil {
			return err
		}
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

// countWrites counts by indexes, in a time that does not grow with the writes that are over.
func (e *engine) countWrites(ctx context.Context, tx tx, h *Health, now time.Time) error {
	var open []State
	for _, state := range states() {
		if state.Open() && state != StateNotFound {
			open = append(open, state)
		}
	}
	const counted = "SELECT state, count(*), min(written_at) FROM quickstream.write WHERE "
	err := query(ctx, tx, func(scan func(...any) error) error {
		var state State
		var n int
		var first time.Time
		err := scan(&state, &n, &first)
		h.Writes[state] = n
		if slices.Contains(unknown(), state) {
			h.Unknown += n
			h.UnknownFor = max(h.UnknownFor, now.Sub(first))
		}
		return err
	}, counted+sqlIn("state", open...)+" GROUP BY state UNION ALL "+counted+sqlIn("state", StateNotFound)+" AND replaced_by = '' GROUP BY state")
	if err != nil {
		return err
	}
	// What is due, or is being worked on, has a due_at of at most a lease from now, or from when it was enqueued
	// while this waited for the database. Sealed intents cannot be judged.
	var oldest time.Time
	err = query(ctx, tx, func(scan func(...any) error) error { return scan(&h.Refused, &h.Received, &h.Held, &oldest, &h.Stuck) }, `SELECT
		(SELECT count(*) FROM quickstream.write WHERE pending <> ''),
		(SELECT count(*) FROM quickstream.notification WHERE state = 'received'),
		(SELECT count(*) FROM quickstream.notification WHERE state = 'received' AND failures > 0),
		(SELECT min(next_at) FROM quickstream.write WHERE due_at <= $1),
		(SELECT count(*) FROM (SELECT 1 FROM quickstream.write WHERE due_at <= $1 AND next_at <= $2 AND
			(intent NOT LIKE $3 AND intent NOT LIKE $4 OR lookups <> '' AND lookups NOT LIKE $5) LIMIT 1000) AS stuck)`,
		now.Add(lease+readingsApart), now, versioned(quickstream.IntentVersion), sealedPrefix+"%", versioned(resolve.CaseVersion))
	if !oldest.IsZero() {
		h.Overdue = max(0, now.Sub(oldest))
	}
	return err
}

// Ready returns why the program cannot take payments: the database cannot be reached, or belongs to another
// facility, or the engine is being stopped. That the service is away, or nothing is sent for now, is no reason:
// see [Health]. A program that only accepts, and one that has outdated tables, is ready.
func (e *Engine[TTx]) Ready(ctx context.Context) error {
	if e.stopping.Load() {
		return errors.New("durable: the engine is being stopped")
	}
	var other error
	err := within(ctx, e.db, func(tx tx) error {
		if err := checkSchema(ctx, e.db, tx); err != nil {
			return err
		}
		other = e.otherFacility(ctx, tx)
		return nil
	})
	if err := errors.Join(err, other); err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
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
