package durable

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// report turns a panic of the merchant's code into an error with the type of the value and the
// place. The value can hold anything, and errors are logged and stored. Defer it.
func report(what string, err *error) {
	if value := recover(); value != nil {
		*err = fmt.Errorf("%s panicked with a %T%s", what, value, place())
	}
}

// place returns file and line of the function that panicked, below those of the runtime.
func place() string {
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	for panicking := false; ; {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "runtime.") {
			panicking = true
		} else if panicking {
			return fmt.Sprintf(" at %s:%d", filepath.Base(frame.File), frame.Line)
		}
		if !more {
			return ""
		}
	}
}
