package webhooks_test

import (
	"context"
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

// A panic of the function is net/http's, which ends the connection: the sender comes again, and the
// notification is not remembered.
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
