package sandboxtest_test

import (
	"context"
	"fmt"
	"testing"
)

// exampleT is a t for examples, which have none.
type exampleT struct {
	testing.TB
	cleanups []func()
	failed   bool
}

func newT() *exampleT { return &exampleT{} }

func (*exampleT) Helper()                  {}
func (*exampleT) Logf(string, ...any)      {}
func (*exampleT) Context() context.Context { return context.Background() }
func (*exampleT) Fatal(args ...any)        { panic(fmt.Sprint(args...)) }
func (t *exampleT) Errorf(string, ...any)  { t.failed = true }
func (t *exampleT) Cleanup(f func())       { t.cleanups = append(t.cleanups, f) }

func (t *exampleT) end() {
	for _, f := range t.cleanups {
		f()
	}
}
