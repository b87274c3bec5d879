package transport

import (
	"context"
	"fmt"
	"time"
)

// Attempt describes one attempt to an observer. It holds no values.
type Attempt struct {
	Number   int
	Status   int
	Kind     Kind // empty when an answer arrived
	Start    time.Time
	Duration time.Duration
}

// Observer sees attempts, with calls by their route templates. It may be nil. One
// that panics ends the call, because what it was to count or to trace is lost: as a
// lost answer, unless nothing was sent.
type Observer func(ctx context.Context, call *Call, attempt Attempt)

func (o Observer) attempt(x *exchange, begun time.Time) (err error) {
	if o != nil {
		defer Report("the observer", &err)
		// Not with the exchange itself, which is a context that prints what is sent.
		o(x.Context, &x.call, Attempt{Number: x.attempts, Status: x.result.Status, Kind: x.result.Kind, Start: begun, Duration: time.Since(begun)})
	}
	return nil
}

// Report turns a panic of a caller's function into an error. It is to be deferred.
func Report(what string, err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("%s panicked: %v", what, value)
	}
}
