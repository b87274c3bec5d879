package sqlite

import (
	"context"
	"encoding/json"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// riverDriver is River's, whose listener asks the file for new jobs twenty times a second. Ours knows of the jobs that this
// process inserts, and asks the file for all else less often: an idle engine is to take less than a hundredth of a core.
type riverDriver struct {
	*riversqlite.Driver
	inserted chan string // queues
}

// signal tells the listener of a job. The transaction that inserts it holds the file's write lock: fetching it waits for its
// commit.
func (d riverDriver) signal(queue string) {
	select {
	case d.inserted <- queue:
	default: // the listener is behind: what it signals late finds this job too, or a poll does
	}
}

// GetListener returns what signals jobs.
func (d riverDriver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{Listener: d.Driver.GetListener(params), inserted: d.inserted}
}

// askEvery is how often the file is asked, and askFor is time enough to ask once.
const askEvery, askFor = 500 * time.Millisecond, 20 * time.Millisecond

type listener struct {
	riverdriver.Listener
	inserted <-chan string
	ask      time.Time // when the file is asked
}

// WaitForNotification waits until there is a job, or ctx ends. What it signals reads as if River had stored it.
func (l *listener) WaitForNotification(ctx context.Context) (*riverdriver.Notification, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case name := <-l.inserted:
			payload, err := json.Marshal(map[string]string{"queue": name})
			return &riverdriver.Notification{Topic: "river_insert", Payload: string(payload)}, err
		case <-time.After(time.Until(l.ask)):
		}
		asking, cancel := context.WithTimeout(ctx, askFor)
		found, err := l.Listener.WaitForNotification(asking)
		over := asking.Err() != nil
		cancel()
		if err == nil || !over {
			return found, err // there may be more
		}
		l.ask = time.Now().Add(askEvery)
	}
}
