package durable

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// breakerName and pauseName are the names under which the pauses of the installation are stored: the breaker's and a
// person's. A claim reads both in its own transaction. River's pause of the queue only saves fetching.
const (
	breakerName = "breaker"
	pauseName   = "pause"
)

const (
	// hangAfter is the age from which a call hangs.
	hangAfter = 5 * time.Second
	// checkEvery is the pause between two checks whether the service answers, and trialMost the longest between two trials.
	checkEvery, trialMost = 2 * time.Second, time.Minute
)

// breaker stops the claims of an installation after a refusal that the next write may get too, or when all calls
// hang: writes sent meanwhile would have to be looked up for days. After a Client.Check that succeeds one write is sent
// alone, as a trial. The pause ends if it is approved, declined, pending or refused for its content; anything else keeps
// it. If the write is too late to be sent, or a look-up finds it, the next one is tried.
type breaker struct {
	// Since is when it opened, by the database's clock; zero if it is closed.
	Since  time.Time `json:"since,omitzero"`
	Reason string    `json:"reason,omitempty"`
	// Claim is the turn of the process that tries, and Until when another one may.
	Claim string    `json:"claim,omitempty"`
	Until time.Time `json:"until,omitzero"`
	// Ended is when the last pause ended.
	Ended time.Time `json:"ended,omitzero"`
}

// pause returns how long it waits after a failed trial. The pause grows with the time that it is open, because each trial may
// leave an unknown outcome.
func (b breaker) pause(now time.Time) time.Duration {
	return min(max(now.Sub(b.Since)/8, checkEvery), trialMost)
}

// personsPause is a pause that a person has made; zero if there is none.
type personsPause struct {
	Since time.Time `json:"since"`
	By    string    `json:"by"`
	Note  string    `json:"note"`
	Ended time.Time `json:"ended,omitzero"` // the last one
}

// stops reports whether the error of a write opens the breaker: a refusal that the next write may get too, by the service, a
// proxy or a gateway.
func stops(err error) bool {
	unknown, is := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !is {
		return permitOf(err) == permitRefused
	}
	api, answered := errors.AsType[*quickstream.APIError](unknown.Cause)
	return answered && (api.StatusCode/100 == 4 || api.StatusCode == http.StatusServiceUnavailable)
}

// ends reports whether the answer of a trial ends the pause: the write was approved or declined, is pending,
// or was refused for its content.
func ends(err error) bool {
	_, unknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	_, refused := errors.AsType[*quickstream.APIError](err)
	return err == nil || errors.Is(err, quickstream.ErrDeclined) || errors.Is(err, quickstream.ErrPending) || refused && !unknown && !stops(err)
}

// changeBreaker changes the breaker under a lock. Nothing is stored if change returns false. If it fails, the next answer
// or the next trial makes the change.
func (e *engine) changeBreaker(ctx context.Context, change func(b *breaker, now time.Time) bool) (changed bool) {
	err := e.changeGates(ctx, breakerName, func(tx tx, g *gates) (any, error) {
		was := !g.breaker.Since.IsZero()
		if changed = change(&g.breaker, g.now); !changed {
			return nil, nil //nolint:nilnil // nothing is stored
		}
		switch is := !g.breaker.Since.IsZero(); {
		case is && !was:
			return g.breaker, e.queue.Pause(ctx, tx, sendQueue)
		case was && !is && g.person.By == "":
			return g.breaker, e.queue.Resume(ctx, tx, sendQueue)
		}
		return g.breaker, nil
	})
	if err != nil {
		e.logger.WarnContext(ctx, "quickstream: a pause, or its end, could not be stored", "error", problemOf(err))
	}
	return changed && err == nil
}

// open opens the breaker.
func (e *engine) open(ctx context.Context, reason string) {
	opened := e.changeBreaker(ctx, func(b *breaker, now time.Time) bool {
		if !b.Since.IsZero() {
			return false
		}
		*b = breaker{Since: now, Reason: reason, Until: now.Add(checkEvery)}
		return true
	})
	if opened {
		e.logger.WarnContext(ctx, "quickstream: nothing is sent until Client.Check and one write succeed", "reason", reason)
	}
}

// afterSend opens the breaker after a refusal that the next write may get too. After a trial it closes it, or ends the turn.
func (e *engine) afterSend(ctx context.Context, c *claim, err error) {
	switch {
	case c.alone == "" && stops(err):
		e.open(ctx, problemOf(err))
	case c.alone == "":
	case !ends(err):
		e.endTurn(ctx, c.alone, true)
	default:
		closed := e.changeBreaker(ctx, func(b *breaker, now time.Time) bool {
			open := !b.Since.IsZero()
			*b = breaker{Ended: now}
			return open
		})
		if closed {
			e.logger.WarnContext(ctx, "quickstream: the service answers again: writes are sent")
		}
	}
}

// checkBreaker opens the breaker if all calls hang, and tries whether an open one can be closed, in one process at a
// time.
func (e *engine) checkBreaker(ctx context.Context) error {
	g, err := e.gates(ctx, e.db)
	switch {
	case err != nil:
		return err
	case g.breaker.Since.IsZero():
		if e.gate.hanging() >= e.workers {
			e.open(ctx, "every call has taken longer than five seconds")
		}
		return nil
	}
	e.gate.forget()
	if g.person.By != "" || g.breaker.Until.After(g.now) {
		return nil
	}
	turn := rand.Text()
	mine := e.changeBreaker(ctx, func(b *breaker, now time.Time) bool {
		if b.Since.IsZero() || b.Until.After(now) {
			return false
		}
		b.Claim, b.Until = turn, now.Add(hangAfter+b.pause(now))
		return true
	})
	if !mine {
		return nil
	}
	asked, cancel := context.WithTimeout(ctx, hangAfter)
	defer cancel()
	var ids []string
	if answers(e.client.Check(asked)) {
		ids, err = texts(ctx, e.db, "SELECT id FROM quickstream.write WHERE state = 'queued' AND next_at <= "+database.Now+" ORDER BY CASE WHEN follows = '' THEN 0 ELSE 1 END, written_at DESC LIMIT 100")
	}
	if len(ids) == 0 {
		e.endTurn(ctx, turn, false)
		return err
	}
	e.spawn(func() { // a call may hang for longer than the next trial waits
		called, cancel := context.WithTimeout(ctx, e.longestPay+jobMargin)
		defer cancel()
		if err := e.try(called, ids, turn); err != nil {
			e.logger.WarnContext(ctx, "quickstream: a trial failed", "error", problemOf(err))
		}
		e.endTurn(context.WithoutCancel(ctx), turn, false)
	})
	return nil
}

// try does the work of queued writes until one of them was sent, which ends the turn, or five seconds have passed.
func (e *engine) try(ctx context.Context, ids []string, turn string) error {
	begun := time.Now()
	for _, id := range ids {
		if _, err := e.workSend(ctx, id, turn); err != nil {
			return err
		}
		g, err := e.gates(ctx, e.db)
		if err != nil || g.breaker.Claim != turn || time.Since(begun) > hangAfter {
			return err
		}
	}
	return nil
}

// endTurn gives back a turn that has not ended the pause. failed means that a write was sent in it.
func (e *engine) endTurn(ctx context.Context, turn string, failed bool) {
	e.changeBreaker(ctx, func(b *breaker, now time.Time) bool {
		if b.Claim != turn {
			return false
		}
		b.Claim, b.Until = "", now.Add(checkEvery)
		if failed {
			b.Until = now.Add(b.pause(now))
		}
		return true
	})
}

// answers reports whether the service answered a check. A 403 in its error body counts too: an API key that may pay
// need not be allowed to list transactions.
func answers(err error) bool {
	return err == nil || errors.Is(err, quickstream.ErrForbidden) && isOwn(err)
}

// gate admits a fixed number of calls at once. A call that hangs gives its place back, so the next write does not wait for it.
type gate struct {
	places chan struct{}
	hung   atomic.Pointer[atomic.Int32] // counts the calls that hang
}

func newGate(places int) *gate {
	g := &gate{places: make(chan struct{}, places)}
	g.forget()
	return g
}

// enter waits for a place for up to five seconds. release may be called twice.
func (g *gate) enter(ctx context.Context) (release func(), admitted bool) {
	ctx, cancel := context.WithTimeout(ctx, hangAfter)
	defer cancel()
	select {
	case <-ctx.Done():
		return nil, false
	case g.places <- struct{}{}:
	}
	hung := g.hung.Load()
	hangs := time.AfterFunc(hangAfter, func() {
		hung.Add(1)
		<-g.places
	})
	return sync.OnceFunc(func() {
		if hangs.Stop() {
			<-g.places
		} else {
			hung.Add(-1)
		}
	}), true
}

// hanging returns how many calls hang.
func (g *gate) hanging() int { return int(g.hung.Load().Load()) }

// forget stops counting the calls of now as hanging, because they have led to a pause.
func (g *gate) forget() { g.hung.Store(new(atomic.Int32)) }
