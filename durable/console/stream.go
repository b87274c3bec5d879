package console

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// streamsOfPerson and streamsOfAll are the most streams at once. A browser has one for all its pages.
	streamsOfPerson = 5
	streamsOfAll    = 200
	// stillHere is how often a stream says something when nothing has changed.
	stillHere = 15 * time.Second
)

// streams counts those that are open. The zero value is ready.
type streams struct {
	mu  sync.Mutex
	of  map[string]int
	all int
}

// enter counts one more, unless there are too many.
func (s *streams) enter(person string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= streamsOfAll || s.of[person] >= streamsOfPerson {
		return false
	}
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.of[person]++
	s.all++
	return true
}

func (s *streams) leave(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[person]--; s.of[person] == 0 {
		delete(s.of, person)
	}
}

// stream says when something has changed, and every few seconds that it is still here. What has changed the pages
// read themselves.
func (c *console[TTx]) stream(q request, _ string) {
	if !c.streams.enter(q.person.Name) {
		http.Error(q.w, "There are too many streams.", http.StatusTooManyRequests)
		return
	}
	defer c.streams.leave(q.person.Name)
	q.w.Header().Set("Content-Type", "text/event-stream")
	q.w.Header().Set("X-Accel-Buffering", "no") // of a proxy
	control, tick := http.NewResponseController(q.w), time.NewTicker(glanceFor)
	defer tick.Stop()
	last, sent, asked := "", time.Time{}, time.Now()
	for {
		event := ""
		if time.Since(asked) >= time.Minute {
			asked = time.Now()
			if p, err := c.opts.Authorize(q.Request); err != nil || !p.Read {
				event = "event: ended\ndata:\n\n"
			}
		}
		g, err := c.glance(q.Context())
		if err != nil {
			return // the page says that it has lost the connection
		}
		if event == "" && (g.mark != last || time.Since(sent) >= stillHere) {
			at, err := json.Marshal(c.stamp(g.now()))
			if err != nil {
				return
			}
			event, last, sent = fmt.Sprintf("data: %s\n\n", at), g.mark, time.Now()
		}
		if event != "" {
			_ = control.SetWriteDeadline(time.Now().Add(mayTake)) // not every writer has one
			if _, err := q.w.Write([]byte(event)); err != nil || control.Flush() != nil || event[0] == 'e' {
				return
			}
		}
		select {
		case <-tick.C:
		case <-q.Context().Done():
			return
		case <-c.ending.Done():
			return
		}
	}
}
