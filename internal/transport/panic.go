package transport

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

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
