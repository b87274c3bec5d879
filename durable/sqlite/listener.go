package sqlite

import (
	"context"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// riverDriver is River's, whose listener asks the file for new jobs twenty times a second. This one does so for a while after
// this process has inserted jobs, and otherwise every lookEvery: an idle engine is to take less than a hundredth of a core.
type riverDriver struct {
	*riversqlite.Driver
	inserted chan struct{} // has one after jobs were inserted here
}

const (
	lookEvery = 300 * time.Millisecond
	// lookOnce is time enough to ask once, and lookOn how long it goes on.
	lookOnce, lookOn = 20 * time.Millisecond, 2 * time.Second
)

// GetListener returns what signals jobs.
func (d riverDriver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{Listener: d.Driver.GetListener(params), inserted: d.inserted}
}

type listener struct {
	riverdriver.Listener
	inserted <-chan struct{}
	until    time.Time // it asks often
}

// WaitForNotification waits until there is a job, or ctx ends.
func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		asking, cancel := context.WithTimeout(ctx, max(time.Until(l.until), lookOnce))
		found, err := l.Listener.WaitForNotification(asking)
		over := asking.Err() != nil
		cancel()
		if err == nil || !over {
			return found, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.inserted:
			l.until = time.Now().Add(lookOn)
		case <-time.After(lookEvery):
		}
	}
}
