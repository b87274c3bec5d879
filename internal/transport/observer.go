package transport

import (
	"context"
	"time"
)

// Observer sees each attempt of a call, by its number from 1, with what it came to. It may be nil. If it panics,
// the call ends as a lost answer, or as not sent if nothing was sent.
type Observer func(ctx context.Context, call *Call, number int, begun time.Time, result *Result)

func (o Observer) attempt(x *exchange, begun time.Time) (err error) {
	if o != nil {
		defer Report("the observer", &err)
		// Not the exchange itself: printing that context would show what is sent.
		o(x.Context, &x.call, x.attempts, begun, &x.result)
	}
	return nil
}
