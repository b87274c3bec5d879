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
	read := context.WithoutCancel(ctx)
	if err := e.waitFor(ctx, read, id); err != nil {
		return Write{}, err
	}
	w, err := e.Get(read, id)
	if err == nil && w.State.InProgress() {
		err = ErrInProgress
	}
	return w, err
}

// waitFor waits until the outcome of a write is known, or ctx ends. The process that sends it wakes
// those who wait in it, and others look again and again.
func (e *engine) waitFor(ctx, read context.Context, id string) error {
	const most = time.Second
	first := 50 * time.Millisecond
	if e.dialect.Alone { // nobody else sends it
		first = most
	}
	defer e.waiting.wake(id) // nothing is kept for a write that another process sends
	for look := 0; ; look++ {
		woken := e.waiting.join(id)
		over, err := e.isOver(read, id)
		if over || err != nil || ctx.Err() != nil {
			return err
		}
		pause, cancel := context.WithTimeout(ctx, min(first<<min(look/2, 5), most))
		select {
		case <-woken:
		case <-pause.Done():
		}
		cancel()
	}
}

// isOver reads the state of a write alone, because many may wait. A write that is not there will not come.
func (e *engine) isOver(ctx context.Context, id string) (over bool, err error) {
	over = true
	err = within(ctx, e.db, func(tx tx) error {
		return query(ctx, tx, func(scan func(...any) error) error {
			var state State
			var changes, notified, failures int64
			err := scan(&state, &changes, &notified, &failures)
			over = !state.InProgress() && (notified >= changes || failures > 0)
			return err
		}, "SELECT state, changes, notified, failures FROM quickstream.write WHERE id = $1", id)
	})
	return over, err
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
