package durable

import (
	"context"
	"sync"
	"time"
)

// Wait returns a write when its outcome is known and OnOutcome has taken it, for handlers that can wait for a
// moment. If OnOutcome fails it returns the write with Notified false. When ctx ends first it returns the write as it
// stands, and an error that matches [ErrInProgress] unless the outcome is known: it comes to OnOutcome.
func (e *Engine[TTx]) Wait(ctx context.Context, id string) (Write, error) {
	const first, most = 50 * time.Millisecond, time.Second
	defer e.waiting.wake(id) // nothing is kept for a write that another process sends
	for look := 0; ; look++ {
		woken := e.waiting.join(id) // by the process that sends it; others look again and again
		w, err := e.Get(context.WithoutCancel(ctx), id)
		switch {
		case err != nil || !w.State.InProgress() && (w.Notified || w.Failures > 0):
			return w, err
		case ctx.Err() != nil && w.State.InProgress():
			return w, ErrInProgress
		case ctx.Err() != nil:
			return w, nil
		}
		pause, cancel := context.WithTimeout(ctx, min(first<<min(look/2, 5), most))
		select {
		case <-woken:
		case <-pause.Done():
		}
		cancel()
	}
}

// waiters are those who wait for writes in this process.
type waiters struct {
	mu sync.Mutex
	of map[string]chan struct{}
}

// join returns what is closed when a write has changed.
func (w *waiters) join(id string) (woken <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[string]chan struct{}{}
	}
	if w.of[id] == nil {
		w.of[id] = make(chan struct{})
	}
	return w.of[id]
}

// wake wakes those who wait for a write.
func (w *waiters) wake(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if waiting := w.of[id]; waiting != nil {
		close(waiting)
		delete(w.of, id)
	}
}
