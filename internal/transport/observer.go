package transport

import (
	"context"
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

// Observer sees attempts and their calls; it may be nil. If it panics, the call ends as a lost
// answer, or as not sent if nothing was sent.
type Observer func(ctx context.Context, call *Call, attempt Attempt)

func (o Observer) attempt(x *exchange, begun time.Time) (err error) {
	if o != nil {
		defer Report("the observer", &err)
		// Not the exchange itself: printing that context would show what is sent.
		o(x.Context, &x.call, Attempt{Number: x.attempts, Status: x.result.Status, Kind: x.result.Kind, Start: begun, Duration: time.Since(begun)})
	}
	return nil
}
