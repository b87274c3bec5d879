package webhooks_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/webhooks"
)

// limited is the response writer of a server that has no limit of its own.
type limited struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (l *limited) SetReadDeadline(deadline time.Time) error {
	l.deadline = deadline
	return nil
}

// A body that comes a byte a second is cut by the handler's own limit.
func TestAttack51SlowBody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, start, w := new(calls), time.Now(), &limited{ResponseRecorder: httptest.NewRecorder()}
		r := signed(t, confirmedBody)
		r.Body = io.NopCloser(reading(func(p []byte) (int, error) {
			if !time.Now().Before(w.deadline) {
				return 0, os.ErrDeadlineExceeded
			}
			<-time.After(time.Second)
			return copy(p, " "), nil
		}))
		webhooks.NewHandler(newVerifier(t), f.handle).ServeHTTP(w, r)
		assert.Equal(t, http.StatusRequestTimeout, w.Code)
		assert.Equal(t, 10*time.Second, time.Since(start), "cut after")
		assert.Equal(t, 0, f.count(), "the function was called")
	})
}

// The limit of the body does not end the function's context: the server waits for it if a middleware has read the body.
func TestReadLimitIsLifted(t *testing.T) {
	t.Parallel()
	w := &limited{ResponseRecorder: httptest.NewRecorder()}
	webhooks.NewHandler(newVerifier(t), func(context.Context, *webhooks.Notification) error {
		assert.Zero(t, w.deadline)
		return nil
	}).ServeHTTP(w, signed(t, confirmedBody))
	assert.Equal(t, http.StatusOK, w.Code)
}

type reading func(p []byte) (int, error)

func (r reading) Read(p []byte) (int, error) { return r(p) }

// A panic of the function is left to net/http, which ends the connection: the sender comes again,
// and the notification is not remembered.
func TestAttack53Panic(t *testing.T) {
	t.Parallel()
	panics := true
	f := new(calls)
	h := webhooks.NewHandler(newVerifier(t), func(ctx context.Context, n *webhooks.Notification) error {
		if panics {
			panic("canary")
		}
		return f.handle(ctx, n)
	}, webhooks.WithStore(new(webhooks.MemoryStore)))
	assert.PanicsWithValue(t, "canary", func() { post(h, signed(t, confirmedBody)) })
	panics = false
	assert.Equal(t, http.StatusOK, post(h, signed(t, confirmedBody)).Code)
	assert.Equal(t, 1, f.count())
}
