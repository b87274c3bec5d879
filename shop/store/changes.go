package store

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	// glanceEvery is how often the database is asked whether something of a visitor's has changed.
	glanceEvery = 300 * time.Millisecond
	// stillHere is how often a stream says something when nothing has changed.
	stillHere = 15 * time.Second
	// A browser has one stream for all its pages. A few more are for those of its tabs that are just closing.
	streamsOfVisitor = 5
	streamsOfAll     = 200
)

// streams counts those that are open. The zero value is ready.
type streams struct {
	mu  sync.Mutex
	of  map[string]int
	all int
}

// enter counts one more, unless there are too many.
func (s *streams) enter(visitor string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= streamsOfAll || s.of[visitor] >= streamsOfVisitor {
		return false
	}
	if s.of == nil {
		s.of = map[string]int{}
	}
	s.of[visitor]++
	s.all++
	return true
}

func (s *streams) leave(visitor string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[visitor]--; s.of[visitor] == 0 {
		delete(s.of, visitor)
	}
}

// changes says by server-sent events that something of the visitor's has changed: the pages then read themselves
// again. Changes are read from the database, so that a killed process loses none.
func (s *server) changes(w http.ResponseWriter, r *http.Request) {
	v := visitorOf(r)
	if !s.streams.enter(v.number) {
		http.Error(w, "There are too many streams.", http.StatusTooManyRequests)
		return
	}
	defer s.streams.leave(v.number)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // of a proxy
	control, tick := http.NewResponseController(w), time.NewTicker(glanceEvery)
	defer tick.Stop()
	last, sent := "", time.Time{}
	for {
		mark, err := s.mark(r.Context(), v.number)
		if err != nil {
			return // the page says that it has lost the connection
		}
		event := ""
		if _, err := s.session(r); err != nil {
			event = "event: ended\ndata:\n\n"
		} else if mark != last || time.Since(sent) >= stillHere {
			event, last, sent = "data: changed\n\n", mark, time.Now()
		}
		if event != "" {
			_ = control.SetWriteDeadline(time.Now().Add(patience)) // not every writer has one
			if _, err := w.Write([]byte(event)); err != nil || control.Flush() != nil || event[0] == 'e' {
				return
			}
		}
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.ending.Done():
			return
		}
	}
}

// mark changes with everything that a page shows to a visitor. Triggers count the changes of the shop's own tables. A
// payment without an outcome changes only in durable's.
func (s *server) mark(ctx context.Context, visitor string) (string, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT changes, '' FROM shop_session WHERE visitor = ?1
		UNION ALL SELECT 0, id FROM shop_order WHERE visitor = ?1 AND state <> 'approved' AND NOT `+payable, visitor)
	if err != nil {
		return "", err
	}
	var mark strings.Builder
	open, err := all(rows, func(scan func(...any) error) (id string, err error) {
		n := 0
		if err = scan(&n, &id); id == "" {
			_, _ = fmt.Fprint(&mark, n) // a strings.Builder cannot fail
		}
		return id, err
	})
	for _, id := range open {
		if id == "" || err != nil {
			continue
		}
		p, there, failed := s.paymentOf(ctx, id)
		if err = failed; there {
			_, _ = fmt.Fprint(&mark, " ", p.ID, ":", p.Version)
		}
	}
	return mark.String(), err
}
