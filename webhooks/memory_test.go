package webhooks_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/webhooks"
)

// A duplicate that arrives while the first is being handled is acknowledged after the first has
// succeeded, is handled if the first fails, and gives up with its sender.
func TestDuplicateInProgress(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first   error
		patient bool
		other   bool // content
		want    error
		took    time.Duration
		runs    int
	}{
		"first succeeds": {nil, true, false, nil, time.Minute, 1},
		"first fails":    {errors.New("down"), true, false, nil, 2 * time.Minute, 2},
		"sender leaves":  {nil, false, false, webhooks.ErrInProgress, 10 * time.Second, 1},
		"other content":  {nil, true, true, webhooks.ErrConflict, time.Minute, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var runs atomic.Int32
				handle := once(new(webhooks.MemoryStore), func(context.Context, *webhooks.Notification) error {
					run := runs.Add(1)
					<-time.After(time.Minute)
					if run == 1 {
						return test.first
					}
					return nil
				})
				ctx, body := t.Context(), confirmedBody
				if !test.patient {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, 10*time.Second)
					defer cancel()
				}
				if test.other {
					body = strings.Replace(body, "AGR0001", "AGR0002", 1)
				}
				first := make(chan error, 1)
				go func() { first <- handle(t.Context(), parse(t, confirmedBody)) }()
				synctest.Wait() // until the first is at work
				start := time.Now()
				err := handle(ctx, parse(t, body))
				if took := time.Since(start); !errors.Is(err, test.want) || took != test.took {
					t.Errorf("second: %v after %v, want %v after %v", err, took, test.want, test.took)
				}
				assert.ErrorIs(t, <-first, test.first, "first")
				assert.Equal(t, test.runs, int(runs.Load()))
			})
		})
	}
}

func TestMemoryStoreForgetsWithTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := new(calls)
		handle := once(new(webhooks.MemoryStore), f.handle)
		deliver := func(want int) {
			t.Helper()
			if err := handle(t.Context(), parse(t, confirmedBody)); err != nil || f.count() != want {
				t.Errorf("%d calls, want %d, error %v", f.count(), want, err)
			}
		}
		deliver(1)
		<-time.After(webhooks.StoreTolerance + 24*time.Hour)
		deliver(1)
		<-time.After(time.Nanosecond)
		deliver(2)
	})
}
