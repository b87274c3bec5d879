package sqlite

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// polling is a listener that asks a file every fifty milliseconds, as River's does.
type polling struct {
	riverdriver.Listener
	asked int
	there time.Time // when the file has a job
	err   error
}

func (p *polling) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		p.asked++
		if p.err != nil || !time.Now().Before(p.there) {
			p.there = time.Now().Add(time.Hour)
			return &riverdriver.Notification{}, p.err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// TestListener: an idle engine asks the file three times a second, and yet a job that this process has inserted is found as soon
// as River finds one, and that of another process soon after it.
func TestListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inserted := make(chan struct{}, 1)
		river := &polling{there: time.Now().Add(10 * time.Second)}
		l := &listener{Listener: river, inserted: inserted}
		begun := time.Now()
		_, err := l.WaitForNotification(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, 10*time.Second, time.Since(begun), float64(400*time.Millisecond))
		assert.LessOrEqual(t, river.asked, 35)

		inserted <- struct{}{}
		river.there = time.Now().Add(time.Second) // its transaction commits
		begun = time.Now()
		_, err = l.WaitForNotification(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, time.Second, time.Since(begun), float64(80*time.Millisecond))

		river.err = errors.New("the file is away")
		_, err = l.WaitForNotification(t.Context())
		require.ErrorIs(t, err, river.err)
		river.err = nil
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = l.WaitForNotification(ctx)
		require.ErrorIs(t, err, context.Canceled)
	})
}
