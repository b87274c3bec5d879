package conform_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
	"github.com/quickstream-go/quickstream/sandbox"
)

// shared is the clock of a service that a run shares, so that no waiting takes time.
type shared struct{ *sandbox.Clock }

func (c shared) Sleep(ctx context.Context, d time.Duration) error {
	c.Advance(d)
	return ctx.Err()
}

func (shared) Timeout(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// A service on a port of this machine is asked over a real connection, on its own clock.
func TestSharedClock(t *testing.T) {
	t.Parallel()
	clock := shared{sandbox.NewClock(time.Date(2030, 1, 22, 3, 4, 5, 0, time.UTC))}
	box := sandbox.New(sandbox.WithClock(clock.Clock))
	t.Cleanup(box.Close)
	address, err := box.Listen("127.0.0.1:0")
	require.NoError(t, err)
	keys := box.Keys()
	report, err := conform.Run(t.Context(), conform.Config{
		Environment: quickstream.CustomURL(address), Keys: conform.Keys{Secret: keys.Secret, Publishable: keys.Publishable},
		Clock: clock, Wait: 8 * 24 * time.Hour,
	})
	require.NoError(t, err)
	undone(t, box, report.Left)
	values := 0
	for _, a := range box.Assumptions().List() {
		if f := findings(report)[a.Name]; f.Open == "" && f.Name != "" {
			assert.Equal(t, a.Value, f.Value, "%s: %s", a.Name, f.Other)
			values++
		}
	}
	assert.Greater(t, values, 55)
}
