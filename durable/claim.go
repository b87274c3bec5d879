package durable

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// claim is one process's permission to send a write.
type claim struct {
	text    string
	now     gates  // by which the send was decided
	alone   string // the turn of a trial, in which one write is sent to end a pause; else ""
	sends   int    // of the write, with this one
	claimed bool   // the claim was committed, or may be
	err     error
}

var (
	// errClaimed means that this process must not send the write.
	errClaimed  = errors.New("another process has claimed it, or it has changed")
	errStopping = errors.New("the process ends")
	errHistory  = errors.New("the history of the database has changed")
	// errGate means that nothing is claimed at present, or that the look-up before the send no longer counts.
	errGate = errors.New("nothing is claimed at present")
)

// gates are the states that can stop a claim. One statement reads them all.
type gates struct {
	now       time.Time // the database's
	facility  error
	person    personsPause
	breaker   breaker
	restoring restoring
}

func (e *engine) gates(ctx context.Context, from reader) (g gates, err error) {
	into := map[string]any{pauseName: &g.person, breakerName: &g.breaker, restoringName: &g.restoring}
	err = query(ctx, from, func(scan func(...any) error) error {
		var name, text string
		if err := scan(&name, &text, &g.now); err != nil || text == "" {
			return err
		}
		switch name {
		case facilityName:
			g.facility = e.differs(text, true)
		default:
			return json.Unmarshal([]byte(text), into[name])
		}
		return nil
	}, "SELECT '', '', "+database.Now+" UNION ALL SELECT name, value, "+database.Now+" FROM quickstream.meta WHERE "+sqlIn("name", facilityName, pauseName, breakerName, restoringName))
	return g, err
}

// changeGates changes one of the gates under a lock that all of them share. Nothing is stored if change returns nil.
func (e *engine) changeGates(ctx context.Context, name string, change func(tx tx, g *gates) (any, error)) error {
	return within(ctx, e.db, func(tx tx) error {
		if err := setMeta(ctx, tx, "lock of gates", ""); err != nil {
			return err
		}
		g, err := e.gates(ctx, tx)
		if err != nil {
			return err
		}
		value, err := change(tx, &g)
		if err != nil || value == nil {
			return err
		}
		return setMetaJSON(ctx, tx, name, value)
	})
}

// decides changes one of the gates by a person's decision, and records the decision.
func (e *engine) decides(ctx context.Context, name string, decision Event, change func(tx tx, g *gates) (any, error)) error {
	if err := checkPerson(decision.By, decision.Note); err != nil {
		return err
	}
	return named(e.changeGates(ctx, name, func(tx tx, g *gates) (any, error) {
		value, err := change(tx, g)
		if err == nil && value != nil {
			err = e.recordInstallation(ctx, tx, decision)
		}
		return value, err
	}))
}

// err returns why nothing is claimed now; nil if claims may be made.
func (g gates) err(e *engine, alone string) error {
	switch {
	case g.facility != nil:
		return g.facility
	case g.person.By != "", !g.breaker.Since.IsZero() && (alone == "" || g.breaker.Claim != alone), g.restoring.on() && g.restoring.Read.IsZero():
		return errGate
	case e.stopping.Load():
		return errStopping
	default:
		return nil
	}
}

// claim moves a write from queued to sending, in a transaction of its own. Only the process that
// commits it may send the write, until an answer permits another send. A commit that is not confirmed may be undone by a
// promotion: nothing is sent under it, and if the row has the claim the write is queued again.
func (e *engine) claim(ctx context.Context, r *row, c *claim) error {
	marked := func() error { return nil }
	err := within(ctx, e.db, func(tx tx) (err error) {
		if err := e.lock(ctx, tx, r); err != nil {
			return err
		}
		change, err := e.db.History(ctx, tx)
		if err != nil || change != database.Same {
			return cmp.Or(err, errHistory)
		}
		now, err := e.gates(ctx, tx)
		if err != nil {
			return err
		}
		if err := now.err(e, c.alone); err != nil {
			return err
		}
		if !now.restoring.Began.Equal(c.now.restoring.Began) {
			return errGate
		}
		if err := e.inLine(ctx, tx, r); err != nil {
			return err
		}
		if marked, err = e.db.Claim(ctx, tx); err != nil {
			return err
		}
		err = e.claimRow(ctx, tx, r, c, now)
		c.claimed = err == nil
		return err
	})
	if err != nil {
		return err
	}
	return marked()
}

// claimRow changes the row to sending, and records the claim.
func (e *engine) claimRow(ctx context.Context, tx tx, r *row, c *claim, gates gates) error {
	before, now := *r, gates.now
	before.now = now
	if before.keyMayBeForgotten() {
		return errGate
	}
	next := before
	next.Standing, next.claim, next.Sends = standing(StateSending), c.text, r.Sends+1
	if r.Sends == 0 && (r.suspect != 0 || gates.restoring.lags(now, e.lag)) {
		next.Sends++ // a send that a lost history may hold: a decline of this one says nothing of it
	}
	c.sends, next.lastSent, next.Due = next.Sends, now, now.Add(e.longestPay+jobMargin)
	if next.firstSent.IsZero() {
		next.firstSent = now
	}
	if next.keySent.IsZero() {
		next.keySent = now
	}
	if err := e.save(ctx, tx, &before, &next); errors.Is(err, ErrChanged) {
		return errClaimed
	} else if err != nil {
		return err
	}
	return e.record(ctx, tx, &next, Event{Kind: EventClaimed})
}

// wait reports whether the time passed before the context ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
