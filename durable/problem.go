package durable

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// longestProblem is how much of an error's text is stored and logged, in bytes.
const longestProblem = 300

// problemOf describes an error for rows and logs. The errors of the client and of this package show no
// values. Of a hook's error it gives the types, because its text can hold anything.
func problemOf(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	if hook := (*hookError)(nil); errors.As(err, &hook) {
		text = hook.Error()
	}
	text, _, _ = strings.Cut(text, "\n")
	return strings.ToValidUTF8(text[:min(len(text), longestProblem)], "")
}

// typesOf returns the types of an error and of those that it wraps, and the SQLSTATE of a database's error.
func typesOf(err error) string {
	var types []string
	for err != nil {
		if text := fmt.Sprintf("%T", err); text != "*fmt.wrapError" && text != "*errors.errorString" && text != "*errors.joinError" {
			types = append(types, text)
		}
		if database, ok := err.(interface{ SQLState() string }); ok {
			types = append(types, "SQLSTATE "+database.SQLState())
		}
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
			err = joined.Unwrap()[0]
		} else {
			err = errors.Unwrap(err)
		}
	}
	if types == nil {
		return "an error"
	}
	return strings.Join(types, ", ")
}

// hookError is an error or a panic of one of the merchant's hooks. It shows types, and the place of a
// panic. Unwrap returns the hook's error.
type hookError struct {
	hook  string
	what  string
	value error
}

func (e *hookError) Error() string { return e.hook + " " + e.what }
func (e *hookError) Unwrap() error { return e.value }

// guard calls a hook, or a job, and turns its error or panic into a hookError. That of a hook in a job stays as it is.
func guard(hook string, call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &hookError{hook: hook, what: fmt.Sprintf("panicked with a %T%s", value, place())}
		}
	}()
	err = call()
	if inner := (*hookError)(nil); errors.As(err, &inner) {
		return inner
	}
	if err != nil {
		err = &hookError{hook, "failed with " + typesOf(err), err}
	}
	return err
}

// place returns the file and line of the function that panicked, below the runtime's frames.
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
