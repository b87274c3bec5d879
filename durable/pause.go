package durable

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
)

// checkEvery is how often the service is asked whether it answers again.
const checkEvery = 30 * time.Second

var errPaused = errors.New("a write was refused by the service or by what stands in front of it: nothing is sent until Client.Check succeeds")

// stops reports whether the error of a write says that the next write may end like it: the
// service asks for a pause or does not know the key, or something in front of it answers in
// its place. What was sent meanwhile would have to be looked up for days.
func stops(err error) bool {
	unknown, foreign := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if foreign {
		err = unknown.Cause
	}
	api, answered := errors.AsType[*quickstream.APIError](err)
	if !answered {
		return false
	}
	switch status := api.StatusCode; status {
	case http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return true
	default:
		return foreign && status/100 == 4
	}
}

// heed pauses this process's claims where the error of a write stops them.
func (e *Engine[TTx]) heed(ctx context.Context, err error) {
	now := e.opts.Clock()
	if stops(err) && e.paused.CompareAndSwap(nil, &now) {
		e.opts.Logger.WarnContext(ctx, "quickstream: "+errPaused.Error(), "error", err)
	}
}

// checkPause asks the service whether it answers again while claims are paused, every 30
// seconds, and enqueues what waits when it does.
func (e *Engine[TTx]) checkPause(ctx context.Context) error {
	last, now := e.paused.Load(), e.opts.Clock()
	if last == nil || !now.Before(*last) && now.Sub(*last) < checkEvery {
		return nil
	}
	e.paused.Store(&now)
	if err := e.client.Check(ctx); !answers(err) {
		return err
	}
	e.paused.Store(nil)
	e.opts.Logger.WarnContext(ctx, "quickstream: the service answers again: payments are sent")
	return within(ctx, e.db, func(tx TTx) error {
		return execute(ctx, e.db, tx, `UPDATE quickstream.payment SET due_at = next_at WHERE id IN (SELECT id FROM quickstream.payment
			WHERE due_at > next_at AND state = 'prepared'`+e.db.Words().SkipLocked+")")
	})
}

// answers reports whether a check was answered by the service: with a 403 too, in its own
// words, as a key that may pay need not be allowed to list transactions.
func answers(err error) bool {
	return err == nil || errors.Is(err, quickstream.ErrForbidden) && ownWords(err)
}
