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

// TestListener: an idle engine asks the file twice a second. A job that this process has inserted is signalled at once, and
// what another process does soon after it, also while jobs are inserted.
func TestListener(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inserted := make(chan string, 1)
		river := &polling{there: time.Now().Add(10 * time.Second)}
		l := &listener{Listener: river, inserted: inserted}
		begun := time.Now()
		_, err := l.WaitForNotification(t.Context())
		require.NoError(t, err)
		assert.InDelta(t, 10*time.Second, time.Since(begun), float64(600*time.Millisecond))
		assert.LessOrEqual(t, river.asked, 22)

		river.there = time.Now().Add(time.Second)
		for signalled := 0; ; signalled++ {
			inserted <- "sends"
			begun = time.Now()
			found, err := l.WaitForNotification(t.Context())
			require.NoError(t, err)
			if found.Topic == "" {
				assert.Greater(t, signalled, 10)
				break
			}
			assert.Equal(t, &riverdriver.Notification{Topic: "river_insert", Payload: `{"queue":"sends"}`}, found)
			assert.LessOrEqual(t, time.Since(begun), askFor)
			require.Less(t, signalled, 200)
			<-time.After(10 * time.Millisecond)
		}
		<-inserted

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
