package durable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// Health is the state of the engine's work, for health checks and dashboards. Encoded as JSON its durations are numbers of
// nanoseconds.
type Health struct {
	// At is when it was read. All times here are by the database's clock.
	At time.Time
	// Writes counts writes that are not over, by state.
	Writes map[State]int
	// NeedPerson counts those that need a person, by reason. A payment that is not_found and was paid again is
	// over.
	NeedPerson map[Reason]int
	// Unknown counts those whose outcome is unknown: sending, unknown, and needs_person but for double_charged.
	// UnknownFor is the age of the oldest of them.
	Unknown    int
	UnknownFor time.Duration
	// Overdue is the longest that work which is due has waited.
	Overdue time.Duration
	// HookFailed counts writes whose last change OnOutcome has failed to take so far: nothing is lost, but the
	// merchant's records lack it. HookWaits is the longest that a write has waited for OnOutcome.
	HookFailed int
	HookWaits  time.Duration
	// Discarded counts jobs that were cancelled, or that River has given up. Other jobs still do their work.
	Discarded int
	// Received counts notifications that wait to be confirmed, and Held those of them that
	// have failed before.
	Received, Held int
	// Restoring is since when the history of the database is being restored; zero if it is not. Read reports whether
	// the service's lists were read to their end: nothing is sent before that. Unreadable says which list could not
	// be read.
	Restoring  time.Time
	Read       bool
	Unreadable string
	// MaybeCopy means that the database may be a copy of one that is in use: writes that were queued before
	// wait for [Engine.ConfirmHistory].
	MaybeCopy bool
	// Paused is since when the installation is paused, so that nothing is sent; zero if it is not. Either the service,
	// a proxy or a gateway has refused a write, or all calls hang, or a person has paused it, whom PausedBy names.
	// PausedFor says why.
	Paused    time.Time
	PausedBy  string
	PausedFor string
	// Comparison is the result of the comparisons with the service.
	Comparison Comparison
	// ReturnsRead is the day in Sydney up to which the payments that banks have returned were read; zero before the first.
	ReturnsRead quickstream.Date
	// Facility is why nothing is sent if the database belongs to another facility; nil if it does not.
	Facility error
	// DatabaseAhead is how far the database's clock is ahead of this machine's, which decides nothing.
	DatabaseAhead time.Duration
	// ServiceAhead is how far the service's clock is ahead of the database's, to the second,
	// by the last answer that this engine got. ServiceAt is when it came; zero before any.
	ServiceAhead time.Duration
	ServiceAt    time.Time
}

// Health reads the state of the work by indexes, in a time that does not grow with the writes that are over.
func (e *Engine[TTx]) Health(ctx context.Context) (Health, error) {
	var h Health
	h.Writes, h.NeedPerson = map[State]int{}, map[Reason]int{}
	g, err := e.gates(ctx, e.db)
	if err == nil {
		h.At, h.DatabaseAhead = g.now, time.Until(g.now).Round(time.Millisecond)
		err = e.countWrites(ctx, &h)
	}
	if err != nil {
		return h, named(err)
	}
	h.Facility = g.facility
	h.Restoring, h.Read, h.Unreadable = g.restoring.Began, !g.restoring.Read.IsZero(), g.restoring.Unreadable
	h.MaybeCopy = g.restoring.MaybeCopy
	if h.Paused, h.PausedFor = g.breaker.Since, g.breaker.Reason; g.person.By != "" {
		h.Paused, h.PausedBy, h.PausedFor = g.person.Since, g.person.By, g.person.Note
	}
	if seen := e.service.Load(); seen != nil {
		h.ServiceAhead, h.ServiceAt = seen.ahead, seen.at
	}
	if h.ReturnsRead, err = lastDone(ctx, e.db, returnsName); err == nil {
		h.Comparison, err = readComparison(ctx, e.db)
	}
	return h, named(err)
}

func (e *engine) countWrites(ctx context.Context, h *Health) error {
	err := query(ctx, e.db, func(scan func(...any) error) error {
		var state State
		var reason Reason
		var n int
		var oldest time.Time
		if err := scan(&state, &reason, &n, &oldest); err != nil {
			return err
		}
		h.Writes[state] += n
		if state == StateNeedsPerson {
			h.NeedPerson[reason] += n
		}
		if state.isUnknown() && state != StatePending && reason != ReasonDoubleCharged {
			h.Unknown += n
			h.UnknownFor = max(h.UnknownFor, h.At.Sub(oldest))
		}
		return nil
	}, "SELECT state, reason, count(*), min(written_at) FROM quickstream.write WHERE "+sqlStates(State.InProgress)+" OR state = '"+string(StateNeedsPerson)+"' AND (replaced_by = '' OR reason <> '"+
		string(ReasonNotFound)+"') GROUP BY state, reason")
	if err != nil {
		return err
	}
	if h.Overdue, err = e.waited(ctx, overdue); err == nil {
		h.HookWaits, err = e.waited(ctx, "SELECT min(changed_at), "+database.Now+" FROM quickstream.write WHERE changes > notified")
	}
	for into, statement := range map[*int]string{
		&h.HookFailed: "SELECT count(*) FROM quickstream.write WHERE changes > notified AND failures > 0",
		&h.Received:   "SELECT count(*) FROM quickstream.notification WHERE state = 'received'",
		&h.Held:       "SELECT count(*) FROM quickstream.notification WHERE state = 'received' AND failures > 0",
		&h.Discarded:  "SELECT count(*) FROM " + e.dialect.Jobs + " WHERE state IN ('cancelled', 'discarded')",
	} {
		if err == nil {
			*into, err = count(ctx, e.db, statement)
		}
	}
	return err
}

// overdue selects since when the oldest due row has been due, and the database's time.
const overdue = "SELECT min(next_at), " + database.Now + " FROM quickstream.write WHERE next_at IS NOT NULL AND next_at <= " + database.Now

// waited returns the time from the first to the second value that a statement selects; zero if the first is null.
func (e *engine) waited(ctx context.Context, statement string) (d time.Duration, err error) {
	err = query(ctx, e.db, func(scan func(...any) error) error {
		var at, now time.Time
		err := scan(&at, &now)
		if !at.IsZero() {
			d = max(0, now.Sub(at))
		}
		return err
	}, statement)
	return d, err
}

// ErrNotReady means that a process cannot take payments now: see [Engine.Ready].
var ErrNotReady = errors.New("durable: this process cannot take payments now")

// readyAfter is how late the engine's work may be in a process that takes payments.
const readyAfter = 5 * time.Minute

// Ready returns why this process cannot take payments, for the health check of a load balancer; nil if it can. The error
// matches [ErrNotReady]. A pause or restoring does not make a process unready: payments are accepted, and wait.
func (e *Engine[TTx]) Ready(ctx context.Context) error {
	var late time.Duration
	g, err := e.gates(ctx, e.db)
	if err == nil {
		late, err = e.waited(ctx, overdue)
	}
	for _, ended := range []time.Time{g.breaker.Ended, g.person.Ended, g.restoring.Ended} { // what has waited meanwhile is sent now
		late = min(late, g.now.Sub(ended))
	}
	paused := g.person.By != "" || !g.breaker.Since.IsZero() || g.restoring.on()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotReady, err)
	case g.facility != nil:
		return fmt.Errorf("%w: %w", ErrNotReady, g.facility)
	case e.stopping.Load():
		return fmt.Errorf("%w: %w", ErrNotReady, errStopping)
	case late > readyAfter && !paused:
		return fmt.Errorf("%w: what is due has waited for %s", ErrNotReady, late.Round(time.Second))
	default:
		return nil
	}
}
