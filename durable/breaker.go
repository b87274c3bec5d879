package durable

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
)

// breakerName is the name under which the breaker of the installation stands.
const breakerName = "breaker"

const (
	breakerPause = 30 * time.Second
	breakerMost  = 15 * time.Minute
)

// breaker stops the claims of an installation after a refusal that the next write may get too: one
// that is not in the service's own words, a 401, a 429 or a 503. What is sent meanwhile would have to
// be looked up for days. After a pause a GET asks the service. After a GET that succeeded one write
// goes alone: if it is refused so too, the pause doubles.
type breaker struct {
	// Since is when it opened; zero if it is closed.
	Since time.Time `json:"since,omitzero"`
	// Until is when the service is asked, and while it is being asked or one write is under way the
	// time at which another process takes over.
	Until time.Time     `json:"until,omitzero"`
	Pause time.Duration `json:"pause,omitempty"`
	// Trial means that the service has answered a GET, and Claim is the one write that goes alone.
	Trial bool   `json:"trial,omitempty"`
	Claim string `json:"claim,omitempty"`
}

// rests reports whether the service is not to be asked yet. A time that a wrong clock has written counts
// for nothing.
func (b breaker) rests(now time.Time) bool {
	left := b.Until.Sub(now)
	return left > 0 && left < longestPause
}

// stops reports whether no claim passes.
func (b breaker) stops() bool { return !b.Since.IsZero() && (!b.Trial || b.Claim != "") }

var errPaused = errors.New("a write was refused by the service or by what stands in front of it: nothing is sent until Client.Check and one write succeed")

// stops reports whether the error of a write opens the breaker.
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

// unanswered reports whether a write was not sent, or no answer to it came.
func unanswered(err error) bool {
	if unknown, lost := errors.AsType[*quickstream.UnknownOutcomeError](err); lost {
		err = unknown.Cause
	}
	_, lost := errors.AsType[*quickstream.NetworkError](err)
	return lost || errors.Is(err, quickstream.ErrNotSent)
}

// readBreaker returns the breaker, and its text.
func readBreaker(ctx context.Context, tx tx) (b breaker, text string, err error) {
	text, err = meta(ctx, tx, breakerName)
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &b)
	}
	return b, text, err
}

// changeBreaker stores the breaker if it is as it was read, and reports whether it did.
func changeBreaker(ctx context.Context, tx tx, b breaker, was string) (bool, error) {
	text := ""
	if !b.Since.IsZero() {
		data, err := json.Marshal(b)
		if err != nil {
			return false, err
		}
		text = string(data)
	}
	return changeMeta(ctx, tx, breakerName, text, was)
}

// changeMeta stores a text under a name if it is as it was read, and reports whether it did.
func changeMeta(ctx context.Context, tx tx, name, text, was string) (bool, error) {
	n, err := tx.Exec(ctx, `INSERT INTO quickstream.meta (name, value) VALUES ($1, $2)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE quickstream.meta.value = $3`, name, text, was)
	return n == 1, err
}

// passBreaker lets a claim pass, in its transaction, or returns errPaused. alone means that it is the
// one write that goes alone.
func (e *engine) passBreaker(ctx context.Context, tx tx, claim string) (alone bool, err error) {
	b, text, err := readBreaker(ctx, tx)
	switch {
	case err != nil || b.Since.IsZero():
		return false, err
	case b.stops():
		return false, errPaused
	}
	b.Claim, b.Until = claim, e.clock().Add(e.jobTimeout()+jobMargin)
	alone, err = changeBreaker(ctx, tx, b, text)
	if err == nil && !alone {
		err = errPaused
	}
	return alone, err
}

// heed opens the breaker if the error of a write says so, and closes it if the write that went alone
// was answered otherwise. If that was not sent, or its answer was lost, the pause begins again.
func (e *engine) heed(ctx context.Context, c *claim, err error) {
	opens, lost, opened, closed := stops(err), unanswered(err), false, false
	if !opens && !c.alone {
		return
	}
	failed := within(ctx, e.db, func(tx tx) error {
		b, text, err := readBreaker(ctx, tx)
		alone := b.Claim != "" && b.Claim == c.text
		if err != nil || !opens && !alone || opens && !b.Since.IsZero() && !alone {
			return err
		}
		now, pause := e.clock(), breakerPause
		switch {
		case alone && opens:
			pause = min(2*b.Pause, breakerMost)
		case alone && lost:
			pause = b.Pause
		}
		next := breaker{Since: now, Until: now.Add(pause), Pause: pause}
		if !b.Since.IsZero() {
			next.Since = b.Since
		}
		if !opens && !lost {
			next = breaker{}
		}
		changed, err := changeBreaker(ctx, tx, next, text)
		opened, closed = changed && opens, changed && next.Since.IsZero()
		if err == nil && closed {
			err = e.wake(ctx, tx, now.Sub(b.Since))
		}
		return err
	})
	switch {
	case failed != nil: // the pause, or its end, comes with the next answer
		e.logger.WarnContext(ctx, "quickstream: the pause after a refusal could not be stored", "error", problemOf(failed))
	case opened:
		e.logger.WarnContext(ctx, "quickstream: "+errPaused.Error(), "error", problemOf(err))
	case closed:
		e.logger.WarnContext(ctx, "quickstream: the service answers again: writes are sent")
	}
}

// checkBreaker asks the service whether it answers again, when it is time and in one process.
func (e *engine) checkBreaker(ctx context.Context) error {
	now := e.clock()
	var mine breaker
	text := ""
	err := within(ctx, e.db, func(tx tx) error {
		b, was, err := readBreaker(ctx, tx)
		if err != nil || b.Since.IsZero() || b.rests(now) || b.Trial && b.Claim == "" {
			return err
		}
		b.Trial, b.Claim, b.Until = false, "", now.Add(breakerPause)
		taken, err := changeBreaker(ctx, tx, b, was)
		if err != nil || !taken {
			return err
		}
		mine = b
		_, text, err = readBreaker(ctx, tx)
		return err
	})
	if err != nil || text == "" {
		return err
	}
	if err := e.client.Check(ctx); !answers(err) {
		return err
	}
	mine.Trial = true
	return within(ctx, e.db, func(tx tx) error {
		taken, err := changeBreaker(ctx, tx, mine, text)
		if err != nil || !taken {
			return err
		}
		return execute(ctx, tx, `UPDATE quickstream.write SET due_at = next_at WHERE id IN (SELECT id FROM quickstream.write
			WHERE due_at > next_at AND state = 'queued' LIMIT $1`+e.dialect.SkipLocked+")", wakeAtOnce) // one of them goes alone
	})
}

const (
	// longestRamp is the longest that what waits for the breaker is enqueued over, and wakeAtOnce the least of it that
	// is enqueued at once.
	longestRamp = 5 * time.Minute
	wakeAtOnce  = 2
)

// wake has what waits for the breaker enqueued: each second as much as has come in a second of the pause, so
// that the service gets no burst.
func (e *engine) wake(ctx context.Context, tx tx, pause time.Duration) error {
	now := e.clock()
	marked := now.Add(longestPause)
	waiting, err := tx.Exec(ctx, `UPDATE quickstream.write SET due_at = $1 WHERE id IN (SELECT id FROM quickstream.write
		WHERE due_at > next_at AND state = 'queued'`+e.dialect.SkipLocked+")", marked)
	if err != nil {
		return err
	}
	seconds := max(1, int64(min(pause, longestRamp)/time.Second))
	each := max(wakeAtOnce, (waiting+seconds-1)/seconds)
	for i := int64(0); i*each < waiting; i++ {
		err = execute(ctx, tx, `UPDATE quickstream.write SET due_at = $1 WHERE id IN (SELECT id FROM quickstream.write
			WHERE due_at = $2 AND state = 'queued' ORDER BY next_at LIMIT $3`+e.dialect.SkipLocked+")", now.Add(time.Duration(i)*time.Second), marked, each)
		if err != nil {
			return err
		}
	}
	return nil
}

// answers reports whether a check was answered by the service: with a 403 too, in its own
// words, as a key that may pay need not be allowed to list transactions.
func answers(err error) bool {
	return err == nil || errors.Is(err, quickstream.ErrForbidden) && ownWords(err)
}
