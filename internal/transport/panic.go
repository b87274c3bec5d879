package transport

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

// Panic is the error of a caller's function that panicked. Its text has the value's type and the
// place, and never the value, which can hold anything.
type Panic struct {
	text  string
	value func() any // printers do not call it
	stack []byte
}

// Report turns a panic of a caller's function into a [Panic]. Defer it.
func Report(what string, err *error) {
	if value := recover(); value != nil {
		*err = &Panic{fmt.Sprintf("%s panicked with a %T%s", what, value, place()), func() any { return value }, debug.Stack()}
	}
}

// Error returns the text.
func (p *Panic) Error() string { return p.text }

// Value returns the value of the panic.
func (p *Panic) Value() any { return p.value() }

// Stack returns the stack at the panic.
func (p *Panic) Stack() []byte { return p.stack }

// Format writes what Error returns, for every verb.
func (p *Panic) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.text) }

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
