package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/webhooks"
)

func write(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Error(err)
	}
}

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

// A header that comes a byte a second is the server's to cut, and by default no server
// does: the limits of the example do.
func TestAttack51SlowHeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := newServer(webhooks.NewHandler(newVerifier(t), new(calls).handle))
		conn := serve(t, server)()
		defer conn.Close()
		start := time.Now()
		if _, err := io.WriteString(conn, "POST /webhooks HTTP/1.1\r\nHost: "); err != nil {
			t.Fatal(err)
		}
		drip(t, conn)
		answer(conn)
		assert.Equal(t, server.ReadHeaderTimeout, time.Since(start), "cut after")
	})
}

// A body in chunks stalls behind what was signed: all of the notification is there, and
// its end is not. It is no notification before that, and the wait for it is limited.
func TestAttackChunksThatStall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := new(calls)
		chunked := strings.Replace(head(t, "0"), "Content-Length: 0", "Transfer-Encoding: chunked", 1) +
			fmt.Sprintf("%x\r\n%s\r\n", len(confirmedBody), confirmedBody)
		conn := serve(t, &http.Server{Handler: webhooks.NewHandler(newVerifier(t), f.handle)})()
		defer conn.Close()
		start := time.Now()
		write(t, conn, chunked)
		if status := answer(conn); status != http.StatusRequestTimeout || time.Since(start) != webhooks.DefaultReadTimeout || f.count() != 0 {
			t.Errorf("answered %d after %v and %d calls", status, time.Since(start), f.count())
		}
	})
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

// panickingLogs is the handler of a logger that panics.
type panickingLogs struct{ slog.Handler }

func (panickingLogs) Enabled(context.Context, slog.Level) bool  { return true }
func (panickingLogs) Handle(context.Context, slog.Record) error { panic("canary") }

// A panic of the logger or of the failure report changes no answer, and each is told to the other
// without its value.
func TestAttack53PanicOfLogs(t *testing.T) {
	t.Parallel()
	failing := func(context.Context, *webhooks.Notification) error { return errors.New("own") }
	for name, test := range map[string]struct {
		handle webhooks.Func
		status int
	}{"acknowledged": {new(calls).handle, http.StatusOK}, "refused": {failing, http.StatusInternalServerError}} {
		var failure webhooks.Failure
		h := webhooks.NewHandler(newVerifier(t), test.handle, webhooks.WithLogger(slog.New(panickingLogs{})),
			webhooks.WithFailureReport(func(_ context.Context, f webhooks.Failure) { failure = f }))
		w := post(h, signed(t, confirmedBody)) // a recorder supports no read deadline, which is logged too
		text := fmt.Sprintf("%v %+v %#v", failure.Err, failure.Err, failure.Err)
		if w.Code != test.status || failure.Status != test.status || strings.Contains(text, "canary") ||
			!strings.Contains(text, "webhooks: the logger panicked with a string at attack_slow_test.go:") || strings.Contains(text, "own") == (test.status == http.StatusOK) {
			t.Errorf("%s: answered %d, reported %v", name, w.Code, failure)
		}
	}
	var out bytes.Buffer
	h := webhooks.NewHandler(newVerifier(t), failing, webhooks.WithLogger(slog.New(slog.NewTextHandler(&out, nil))),
		webhooks.WithFailureReport(func(context.Context, webhooks.Failure) { panic("canary") }))
	assert.Equal(t, http.StatusInternalServerError, post(h, signed(t, confirmedBody)).Code, "answered")
	if text := out.String(); strings.Contains(text, "canary") || !strings.Contains(text, "the failure report panicked with a string at attack_slow_test.go:") {
		t.Errorf("logged %s", text)
	}
}
