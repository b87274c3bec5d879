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
	Duration time.Duration
}

// Observer sees calls by their route templates. Each function may be nil. One that
// panics ends the call, because what it was to count or to trace is lost: before
// the first byte as never sent, after it as a lost answer.
type Observer struct {
	Start   func(ctx context.Context, call *Call) context.Context
	Attempt func(ctx context.Context, call *Call, attempt Attempt)
	End     func(ctx context.Context, call *Call, result *Result, duration time.Duration)
}

func (o Observer) start(ctx context.Context, call *Call) (started context.Context, err error) {
	if o.Start == nil {
		return ctx, nil
	}
	defer report("the observer", &err)
	if started = o.Start(ctx, call); started == nil {
		started = ctx
	}
	return started, nil
}

func (o Observer) attempt(ctx context.Context, x *exchange, took time.Duration) (err error) {
	if o.Attempt != nil {
		defer report("the observer", &err)
		o.Attempt(ctx, &x.call, Attempt{Number: x.attempts, Status: x.result.Status, Kind: x.result.Kind, Duration: took})
	}
	return nil
}

func (o Observer) end(ctx context.Context, call *Call, result *Result, took time.Duration) (err error) {
	if o.End != nil {
		defer report("the observer", &err)
		o.End(ctx, call, result, took)
	}
	return nil
}

// report turns a panic of a caller's function into an error.
func report(what string, err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("%s panicked: %v", what, value)
	}
}
