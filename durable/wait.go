package durable

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// Wait returns a write when its outcome is known and OnOutcome was notified of it, for handlers that can wait for a
// moment. If OnOutcome fails it returns the write with Notified false. If ctx ends first it returns the write as it
// is then, and an error that matches [ErrInProgress] unless the outcome is known. It reads for at most five seconds more, if the
// database does not answer. OnOutcome is notified of later changes.
func (e *Engine[TTx]) Wait(ctx context.Context, id string) (Write, error) {
	r, err := e.waitFor(ctx, id)
	if err != nil || r == nil {
		return Write{}, named(cmp.Or(err, ErrNoWrite))
	}
	if r.State.InProgress() {
		err = ErrInProgress
	}
	return r.shown(), err
}

// waitFor waits until the outcome of a write is known, or ctx ends. The process that sends the write wakes
// its own waiters, and other processes poll. It returns nil at once for a write that is not there.
func (e *engine) waitFor(ctx context.Context, id string) (*row, error) {
	const most = time.Second
	first := 50 * time.Millisecond
	if e.dialect.Alone { // no other process sends it
		first = most
	}
	defer e.waiting.wake(id) // keeps no channel of a write that another process sends
	for look := 0; ; look++ {
		woken := e.waiting.join(id)
		read, done := context.WithTimeout(context.WithoutCancel(ctx), hangAfter)
		r, err := e.one(read, e.db, "id = $1", id)
		done()
		if err != nil || r == nil || ctx.Err() != nil || !r.State.InProgress() && (r.notified >= r.changes || r.Failures > 0) {
			return r, err
		}
		pause, cancel := context.WithTimeout(ctx, min(first<<min(look, 5), most))
		select {
		case <-woken:
		case <-pause.Done():
		}
		cancel()
	}
}

// waiters are the channels of this process's callers of Wait, by write.
type waiters struct {
	mu sync.Mutex
	of map[string]chan struct{}
}

// join returns a channel that is closed when a write has changed.
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

// wake wakes the waiters of a write.
func (w *waiters) wake(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if waiting := w.of[id]; waiting != nil {
		close(waiting)
		delete(w.of, id)
	}
}
