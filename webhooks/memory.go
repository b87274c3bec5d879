package webhooks

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// DefaultMaxIDs is how many notifications a [MemoryStore] remembers at most,
	// unless it is told otherwise.
	DefaultMaxIDs = 50_000
	// DefaultRetention is for how long a [MemoryStore] remembers a notification,
	// unless it is told otherwise.
	DefaultRetention = 72 * time.Hour
)

// A MemoryStore is a [Store] in memory. Its zero value is ready for use, and its
// fields must not change after the first.
//
// It forgets what is older than the retention, the oldest ones first when there
// are too many, and everything when the process ends. What is forgotten and comes
// again is handled again; a delivery that was recorded by somebody and is sent
// again fails by its signature once it is older than the verifier's tolerance, so
// that the retention should be twice that at least.
type MemoryStore struct {
	// MaxIDs is how many notifications are remembered; DefaultMaxIDs when it is
	// not positive. One takes about 350 bytes. It should be several times what can
	// arrive between two deliveries of one notification: what is forgotten by then
	// is handled again.
	MaxIDs int
	// Retention is for how long; DefaultRetention when it is not positive.
	Retention time.Duration

	mu       sync.Mutex
	attempts map[string]*attempt // running and succeeded, by ID
	handled  []*attempt          // succeeded, oldest first
}

// attempt is a call of a function for a notification.
type attempt struct {
	id     string
	digest string
	ended  chan struct{}
	// These are written before ended is closed, and read after.
	succeeded bool
	at        time.Time
}

var _ Store = (*MemoryStore)(nil)

// Once implements [Store]. It waits for a running call for the same ID; if that
// fails, it calls handle itself.
func (s *MemoryStore) Once(ctx context.Context, n *Notification, handle Func) error {
	own := &attempt{id: n.ID, digest: n.Digest(), ended: make(chan struct{})}
	for {
		other := s.begin(own)
		if other == nil {
			return s.run(ctx, n, handle, own)
		}
		if other.digest != own.digest {
			return ErrConflict
		}
		select {
		case <-other.ended:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrInProgress, context.Cause(ctx))
		}
		if other.succeeded {
			return nil
		}
	}
}

func (s *MemoryStore) run(ctx context.Context, n *Notification, handle Func, own *attempt) error {
	defer s.end(own) // also when handle panics
	err := handle(ctx, n)
	own.succeeded = err == nil
	return err
}

// begin registers an attempt, or returns the one that is there for the same ID.
func (s *MemoryStore) begin(own *attempt) *attempt {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(time.Now())
	if other := s.attempts[own.id]; other != nil {
		return other
	}
	if s.attempts == nil {
		s.attempts = make(map[string]*attempt)
	}
	s.attempts[own.id] = own
	return nil
}

func (s *MemoryStore) end(own *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(own.ended)
	if !own.succeeded {
		delete(s.attempts, own.id)
		return
	}
	own.at = time.Now()
	s.handled = append(s.handled, own)
	s.forget(own.at)
}

// forget drops what is too old or too much.
func (s *MemoryStore) forget(now time.Time) {
	most, retention := s.MaxIDs, s.Retention
	if most <= 0 {
		most = DefaultMaxIDs
	}
	if retention <= 0 {
		retention = DefaultRetention
	}
	for len(s.handled) > 0 && (len(s.handled) > most || now.Sub(s.handled[0].at) > retention) {
		delete(s.attempts, s.handled[0].id)
		s.handled[0] = nil
		s.handled = s.handled[1:]
	}
}
