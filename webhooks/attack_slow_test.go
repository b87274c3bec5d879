package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/webhooks"
)

// A body that comes a byte a second is cut by the handler's own limit.
func TestAttack51SlowBody(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts []webhooks.HandlerOption
		want time.Duration
	}{
		"by default":    {nil, webhooks.DefaultReadTimeout},
		"at one's own":  {[]webhooks.HandlerOption{webhooks.WithReadTimeout(3 * time.Second)}, 3 * time.Second},
		"zero":          {[]webhooks.HandlerOption{webhooks.WithReadTimeout(0)}, webhooks.DefaultReadTimeout},
		"not positive ": {[]webhooks.HandlerOption{webhooks.WithReadTimeout(-1)}, webhooks.DefaultReadTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := new(calls)
				// The server itself has no limit of any kind.
				dial := serve(t, &http.Server{Handler: webhooks.NewHandler(newVerifier(t), f.handle, test.opts...)})
				conn := dial()
				defer conn.Close()
				start := time.Now()
				if _, err := io.WriteString(conn, head(t, "100000")); err != nil {
					t.Fatal(err)
				}
				drip(t, conn)
				assert.Equal(t, http.StatusRequestTimeout, answer(conn), "answered")
				assert.Equal(t, test.want, time.Since(start), "cut after")
				assert.Equal(t, 0, f.count(), "the function was called")
			})
		})
	}
}

// What is received makes the function panic: the sender is told that it failed, so that
// it comes again, and the cause is reported.
func TestAttack53Panic(t *testing.T) {
	t.Parallel()
	var pointer *webhooks.Verifier
	for name, test := range map[string]struct {
		verifier *webhooks.Verifier
		handle   webhooks.Func
		verified bool
	}{
		"function":    {newVerifier(t), func(context.Context, *webhooks.Notification) error { panic("canary") }, true},
		"abort":       {newVerifier(t), func(context.Context, *webhooks.Notification) error { panic(http.ErrAbortHandler) }, true},
		"no function": {newVerifier(t), nil, true},
		"no verifier": {pointer, new(calls).handle, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failure webhooks.Failure
			h := webhooks.NewHandler(test.verifier, test.handle, nil, webhooks.WithReadTimeout(0),
				webhooks.WithFailureReport(func(_ context.Context, f webhooks.Failure) { failure = f }))
			assert.Equal(t, http.StatusInternalServerError, post(h, signed(t, confirmedBody)).Code, "answered")
			e, ok := errors.AsType[*webhooks.PanicError](failure.Err)
			if !ok || e.Value() == nil || !bytes.Contains(e.Stack(), []byte("handler.go")) || (failure.Notification != nil) != test.verified {
				t.Fatalf("reported %v", failure)
			}
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", e, e, e), "canary")
		})
	}
}
