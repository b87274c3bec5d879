package sqlite

import (
	"context"
	"encoding/json"
	"time"

	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riversqlite"
)

// riverDriver is River's driver with another listener. River's reads the file for new jobs twenty times a second. This one is
// told of the jobs that this process inserts, and reads the file less often: an idle engine takes less than 1% of a core.
type riverDriver struct {
	*riversqlite.Driver
	inserted chan string // queues
}

// signal tells the listener of a job. The transaction that inserts the job holds the file's write lock, so fetching it waits
// for the commit.
func (d riverDriver) signal(queue string) {
	select {
	case d.inserted <- queue:
	default: // the listener is behind: a later signal finds this job too, or a poll does
	}
}

func (d riverDriver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return &listener{Listener: d.Driver.GetListener(params), inserted: d.inserted}
}

// askEvery is how often the listener reads the file, and askFor is time enough to read it once.
const askEvery, askFor = 500 * time.Millisecond, 20 * time.Millisecond

type listener struct {
	riverdriver.Listener
	inserted <-chan string
	ask      time.Time // when the file is read next
}

// WaitForNotification waits until there is a job, or ctx ends. Its notification has the form of River's own.
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
