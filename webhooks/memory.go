package webhooks

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const defaultMaxIDs = 50_000

// retention is longer than [StoreTolerance].
const retention = 8 * 24 * time.Hour

// A MemoryStore is a [Store] in memory. Its zero value is ready for use. Do not change its field
// after the first use. It is safe for concurrent use.
//
// It forgets notifications older than eight days, the oldest if there are more than MaxIDs, and all
// when the process ends. It handles none with its first signature that it may have forgotten: it refuses an unknown
// notification with [signature.ErrTooOld] if that was signed no later than a forgotten one, or more
// than [signature.DefaultTolerance] before the store was first used. So a notification that first
// arrives after a restart can be refused for good if the service does not sign it again, and one that it signs again is
// handled again. An inbox has neither limit. A notification that no [signature.Verifier] has verified is always accepted.
type MemoryStore struct {
	// MaxIDs is the largest number of notifications; 50,000 if not positive. One takes about 450
	// bytes. It should exceed the number that arrives within the tolerance for signatures.
	MaxIDs int

	mu       sync.Mutex
	attempts map[string][]*attempt // running and succeeded, by ID
	handled  []*attempt            // succeeded, oldest first
	horizon  time.Time             // notifications signed by then may have been forgotten
}

// attempt is a call of a function for a notification.
type attempt struct {
	id, digest string
	signed     time.Time // the latest signature seen
	conflict   bool      // the ID was known with another digest
	ended      chan struct{}
	// Written before ended is closed, read after.
	succeeded bool
	at        time.Time
}

var _ Store = (*MemoryStore)(nil)

// Once implements [Store]. It waits for a running call for the same notification, and calls handle
// itself if that one fails.
func (s *MemoryStore) Once(ctx context.Context, n *Notification, handle Func) error {
	own := &attempt{id: n.ID, digest: n.Digest(), signed: n.signed, ended: make(chan struct{})}
	for {
		other, err := s.begin(own, n.arrived)
		if err != nil {
			return err
		}
		if other == nil {
			return s.run(ctx, n, handle, own)
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
	if err := handle(ctx, n); err != nil {
		return err
	}
	own.succeeded = true
	if own.conflict {
		return ErrConflict
	}
	return nil
}

// begin registers an attempt, or returns the existing one for the same notification.
func (s *MemoryStore) begin(own *attempt, arrived time.Time) (*attempt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.forget(now)
	if s.attempts == nil {
		s.attempts = make(map[string][]*attempt)
		if arrived.IsZero() {
			arrived = now
		}
		s.horizon = arrived.Add(-signature.DefaultTolerance)
	}
	known := s.attempts[own.id]
	for _, other := range known {
		if other.digest == own.digest {
			other.signed = later(other.signed, own.signed)
			return other, nil
		}
	}
	if !own.signed.IsZero() && !own.signed.After(s.horizon) {
		return nil, fmt.Errorf("%w: not known, and older than what the store remembers", signature.ErrTooOld)
	}
	own.conflict = len(known) > 0
	s.attempts[own.id] = append(known, own)
	return nil, nil
}

func (s *MemoryStore) end(own *attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(own.ended)
	if !own.succeeded {
		s.drop(own)
		return
	}
	own.at = time.Now()
	s.handled = append(s.handled, own)
	s.forget(own.at)
}

// forget drops notifications that are too old or too many.
func (s *MemoryStore) forget(now time.Time) {
	most := s.MaxIDs
	if most <= 0 {
		most = defaultMaxIDs
	}
	for len(s.handled) > 0 && (len(s.handled) > most || now.Sub(s.handled[0].at) > retention) {
		s.horizon = later(s.horizon, s.handled[0].signed)
		s.drop(s.handled[0])
		s.handled[0] = nil
		s.handled = s.handled[1:]
	}
}

func (s *MemoryStore) drop(a *attempt) {
	rest := slices.DeleteFunc(s.attempts[a.id], func(other *attempt) bool { return other == a })
	if len(rest) == 0 {
		delete(s.attempts, a.id)
		return
	}
	s.attempts[a.id] = rest
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
