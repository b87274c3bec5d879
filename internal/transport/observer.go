package transport

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Observer sees each attempt of a call, by its number from 1, with its result. It may be nil. If it
// panics, the call ends as a lost answer, or as not sent if nothing was sent.
type Observer func(ctx context.Context, call *Call, number int, begun time.Time, result *Result)

func (o Observer) attempt(x *exchange, begun time.Time) (err error) {
	if o != nil {
		defer Report("the observer", &err)
		// Not the exchange itself: printing that context would show the request.
		o(x.Context, &x.call, x.attempts, begun, &x.result)
	}
	return nil
}

// Report turns a panic of a caller's function into an error. Defer it. The text has the value's type and
// the place, and never the value, which can hold anything.
func Report(what string, err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("%s panicked with a %T%s", what, value, place())
	}
}

// place returns file and line of the function that panicked, below those of the runtime.
func place() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		frame, more := frames.Next()
		if !more || !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf(" at %s:%d", filepath.Base(frame.File), frame.Line)
		}
	}
}
