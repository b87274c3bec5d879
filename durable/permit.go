package durable

import (
	"errors"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream"
)

// permit is the kind of answer after which a write may be sent again.
type permit string

const (
	permitNone        permit = ""
	permitNotExecuted permit = "never_sent" // no byte of the request reached a connection
	permitRefused     permit = "refused"    // 401, 429 or 503 in the service's error body
)

const (
	// keyKept is how long after its first send a key is assumed to be kept: the service does not say.
	keyKept = time.Minute
	// lookFirst is the age from which a write is looked up before its first send.
	lookFirst = 15 * time.Minute
)

// permitOf returns what an error of a write permits.
func permitOf(err error) permit {
	api, answered := errors.AsType[*quickstream.APIError](err)
	switch {
	case errors.Is(err, quickstream.ErrOutcomeUnknown):
		return permitNone
	case errors.Is(err, quickstream.ErrNotSent):
		return permitNotExecuted
	case !answered || !isOwn(err):
		return permitNone
	}
	switch api.StatusCode {
	case http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return permitRefused
	default:
		return permitNone
	}
}

// nextSend is how a queued write is to be sent.
type nextSend struct {
	wait   time.Duration // 0 for at once
	lookUp bool
	newKey bool
}

// keyMayBeForgotten reports whether the service may have forgotten the key under which a write is about to be sent again:
// the look-up since that was decided has taken too long.
func (r *row) keyMayBeForgotten() bool {
	return r.permit == permitRefused && !r.keySent.IsZero() && r.now.Sub(r.keySent) >= keyKept
}

// nextSend returns what comes before the next send, by the database's clock. After a refusal that is a look-up that finds
// nothing. It counts only while the key is kept, or when the last send is older than lag, which is how long a transaction
// may be missing from look-ups; then the next key is used. given means that the write is about to be given up: if it was
// ever claimed, that needs such a look-up too.
func (r *row) nextSend(lag time.Duration, given bool) nextSend {
	since := func(t time.Time) time.Duration { return max(0, r.now.Sub(t)) }
	switch {
	case r.claim == "" || r.permit != permitRefused && !given:
		return nextSend{lookUp: r.age() > lookFirst || r.suspect != 0}
	case !given && !r.keySent.IsZero() && since(r.keySent) < keyKept:
		return nextSend{lookUp: true}
	case since(r.lastSent) < lag:
		return nextSend{wait: lag - since(r.lastSent)}
	default:
		return nextSend{lookUp: true, newKey: r.Sends > 0}
	}
}
