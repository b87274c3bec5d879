package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// tick is how often the workers ask the table for something to do.
const tick = 5 * time.Minute

// story is how long a story can last: each try of an order may be looked for for 17 days.
const story = patience * 20 * 24 * time.Hour

// requests is how many an order can need, with all its writes and look-ups.
const requests = 2000

// rounds has the workers do all that is due, and then moves the clock to the tick
// after what is due next, until nothing is left or the story has lasted long enough.
// Time moves between rounds only, and when the requests that were given up have arrived:
// they take next to none, and the service must not forget the idempotency key of a call
// that is still being made.
func rounds(ctx context.Context, s *service, table *table, workers int, work func(ctx context.Context, id string, now time.Time) error) error {
	for end := s.clock.Now().Add(story); s.clock.Now().Before(end); {
		next, left := table.nextDue()
		if !left {
			return nil
		}
		if most := requests * int64(len(s.orders)); s.attempts.Load() > most {
			return fmt.Errorf("nothing comes to an end: %d requests", most)
		}
		if err := s.box.Drain(ctx); err != nil {
			return err
		}
		s.clock.Advance(next.Truncate(tick).Add(tick).Sub(s.now()))
		now := s.now()
		if err := inParallel(ctx, workers, table.due(now), func(ctx context.Context, id string) error { return work(ctx, id, now) }); err != nil {
			return err
		}
	}
	return nil
}

// inParallel does the jobs, until one fails in a way that was not foreseen.
func inParallel(ctx context.Context, workers int, jobs []string, do func(ctx context.Context, id string) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan string)
	var running sync.WaitGroup
	for range min(workers, len(jobs)) {
		running.Go(func() {
			for id := range queue {
				if err := do(ctx, id); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	for _, id := range jobs {
		select {
		case queue <- id:
		case <-ctx.Done():
		}
	}
	close(queue)
	running.Wait()
	return context.Cause(ctx)
}
