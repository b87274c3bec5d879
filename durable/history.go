package durable

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// restoringName is the name under which the restoring is stored.
const restoringName = "restoring"

// The values of suspect for a write that was queued before the history of the database changed.
const (
	suspectBefore int64 = 1 // it may have been sent without a trace here
	suspectFailed int64 = 2 // and a list or a look-up has failed since
)

// restoring is the mode after a change of the database's history, with times by its clock. Nothing is claimed until the
// service's lists were read once to their end. Then a new write is sent after a look-up, and a write that was there before
// waits until look-ups must show it. It never ends by a timer.
type restoring struct {
	// Since is when the last known claim was made, and Began when the change was recognised; zero if nothing
	// is restored.
	Since time.Time `json:"since,omitzero"`
	Began time.Time `json:"began,omitzero"`
	// Read is when all lists were read to their end for the first time.
	Read time.Time `json:"read,omitzero"`
	// MaybeCopy means that the database may be a copy whose original is at work, until a person confirms that it is not.
	MaybeCopy bool `json:"maybeCopy,omitempty"`
	// Unreadable says which list could not be read, and why.
	Unreadable string `json:"unreadable,omitempty"`
	// Next is when the lists are read again, or when another process may take over.
	Next time.Time `json:"next,omitzero"`
	// Ended is when the last restoring ended.
	Ended time.Time `json:"ended,omitzero"`
}

func (s restoring) on() bool { return !s.Began.IsZero() }

// lags reports whether look-ups may still miss a write that was sent in a lost history.
func (s restoring) lags(now time.Time, lag time.Duration) bool {
	return s.on() && (s.Read.IsZero() || now.Before(s.Read.Add(lag)))
}

// waits returns how long a write that was queued before the change still waits.
func (s restoring) waits(r *row, lag time.Duration) time.Duration {
	switch {
	case r.suspect == 0 || !s.on():
		return 0
	case s.MaybeCopy:
		return linePause
	case s.lags(r.now, lag):
		return snooze(s.Read.Add(lag), r.now)
	default:
		return 0
	}
}

// changeRestoring changes the restoring under a lock. Nothing is stored if change returns false.
func (e *engine) changeRestoring(ctx context.Context, change func(tx tx, s *restoring, now time.Time) (bool, error)) error {
	return e.changeGates(ctx, restoringName, func(tx tx, g *gates) (any, error) {
		changed, err := change(tx, &g.restoring, g.now)
		if err != nil || !changed {
			return nil, err
		}
		return g.restoring, nil
	})
}

// recognise checks whether the history of the database has changed. One process adopts the change, and the next one
// finds it adopted.
func (e *engine) recognise(ctx context.Context) error {
	change := database.Same
	err := within(ctx, e.db, func(tx tx) (err error) {
		change, err = e.db.History(ctx, tx)
		return err
	})
	if err != nil || change == database.Same {
		return err
	}
	return e.changeRestoring(ctx, func(tx tx, s *restoring, now time.Time) (bool, error) {
		change, err := e.db.History(ctx, tx) // after the lock
		switch {
		case err != nil || change == database.Same:
			return false, err
		case change == database.Restarted:
			return false, e.db.Adopt(ctx, tx)
		}
		if err := e.recordInstallation(ctx, tx, Event{Kind: EventRestored, By: "the engine", Note: "the history of the database has changed"}); err != nil {
			return false, err
		}
		return true, e.adopt(ctx, tx, s, now, time.Time{}, change == database.MaybeCopy)
	})
}

// adopt accepts the database as it is, and begins to restore. A queued write may have been sent in the lost history.
func (e *engine) adopt(ctx context.Context, tx tx, s *restoring, now, since time.Time, maybeCopy bool) error {
	if since.IsZero() || since.After(now) {
		last, err := e.lastClaim(ctx, tx)
		if err != nil {
			return err
		}
		if since = last; since.IsZero() || since.After(now) {
			since = now
		}
	}
	next := restoring{Since: since, Began: now, MaybeCopy: maybeCopy}
	if s.on() { // it may not have found everything
		next.MaybeCopy = maybeCopy || s.MaybeCopy
		if s.Since.Before(since) {
			next.Since = s.Since
		}
	}
	*s = next
	if err := execute(ctx, tx, "UPDATE quickstream.write SET suspect = $1 WHERE state = 'queued' AND suspect = 0", suspectBefore); err != nil {
		return err
	}
	if err := setSequences(ctx, e.db, tx); err != nil {
		return err
	}
	e.logger.WarnContext(ctx, "quickstream: the history of the database has changed: nothing is sent until the service's lists were read", "since", since, "maybe_a_copy", maybeCopy)
	return e.db.Adopt(ctx, tx)
}

// lastClaim returns when the last known claim was made; without any, when the tables were made.
func (e *engine) lastClaim(ctx context.Context, tx tx) (last time.Time, err error) {
	err = query(ctx, tx, func(scan func(...any) error) error { return scan(&last) }, "SELECT max(last_sent_at) FROM quickstream.write")
	if err != nil || !last.IsZero() {
		return last, err
	}
	created, err := meta(ctx, tx, createdName)
	if micros, failed := strconv.ParseInt(created, 10, 64); failed == nil {
		last = time.UnixMicro(micros).UTC()
	}
	return last, err
}

// BeginRestoring says that the database was restored from a backup that was made at since: nothing is
// sent until the service's lists were read. It is needed only if the engine cannot see the restore: see
// REPLICATION.md. Call it once, before any engine is started. by and note are as in [Decision].
func (e *Engine[TTx]) BeginRestoring(ctx context.Context, since time.Time, by, note string) error {
	return e.decides(ctx, restoringName, Event{Kind: EventRestored, By: by, Note: note}, func(tx tx, g *gates) (any, error) {
		err := e.adopt(ctx, tx, &g.restoring, g.now, since, false)
		return g.restoring, err
	})
}

// ConfirmHistory says that the database is not a copy of one that is in use: writes that were there before
// no longer wait because the original may send them. by and note are as in [Decision].
func (e *Engine[TTx]) ConfirmHistory(ctx context.Context, by, note string) error {
	return e.decides(ctx, restoringName, Event{Kind: EventHistoryConfirmed, By: by, Note: note}, func(_ tx, g *gates) (any, error) {
		if !g.restoring.MaybeCopy {
			return nil, nil //nolint:nilnil // nothing is stored
		}
		g.restoring.MaybeCopy = false
		return g.restoring, nil
	})
}

// EndRestoring ends the restoring, for example if the service cannot list a day. Orders whose payments were not found
// can be paid again. What was queued before is still looked up before it is sent. by and note are as in [Decision]. The error
// matches [ErrNotAllowed] if the database may be a copy: see [Engine.ConfirmHistory].
func (e *Engine[TTx]) EndRestoring(ctx context.Context, by, note string) error {
	return e.decides(ctx, restoringName, Event{Kind: EventRestoringEnded, By: by, Note: note}, func(_ tx, g *gates) (any, error) {
		switch {
		case !g.restoring.on():
			return nil, nil //nolint:nilnil // nothing is stored
		case g.restoring.MaybeCopy: // its original would send what was queued too
			return nil, fmt.Errorf("%w: the database may be a copy: confirm first that it is none", ErrNotAllowed)
		}
		return restoring{Ended: g.now}, nil
	})
}
