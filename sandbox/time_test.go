package sandbox

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClockFiresInOrderAtTheRightTimes(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	clock := NewClock(start)
	var log []string
	note := func(name string) func() {
		return func() { log = append(log, name+" "+clock.Now().Sub(start).String()) }
	}
	clock.afterFunc(3*time.Second, note("c"))
	clock.afterFunc(time.Second, func() {
		note("a")()
		clock.afterFunc(time.Second, note("nested"))
		clock.afterFunc(time.Hour, note("far"))
	})
	clock.afterFunc(3*time.Second, note("d"))
	stop := clock.afterFunc(2*time.Second, note("never"))
	clock.afterFunc(-time.Second, note("past"))
	assert.True(t, stop())
	assert.False(t, stop())
	clock.Advance(0)
	assert.Equal(t, []string{"past 0s"}, log)
	clock.Advance(5 * time.Second)
	assert.Equal(t, []string{"past 0s", "a 1s", "nested 2s", "c 3s", "d 3s"}, log)
	clock.Advance(-time.Hour)
	assert.Equal(t, start.Add(5*time.Second), clock.Now())
}

func TestSandboxOnAClock(t *testing.T) {
	clock := NewClock(time.Date(2026, 4, 4, 7, 0, 0, 0, time.UTC)) // 18:00 in Sydney
	c := newCaller(t, WithClock(clock))
	defer c.box.Close()
	assert.Equal(t, clock.Now(), c.box.Now())
	c.box.NextTransaction(Erred().ThenAfter(24*time.Hour, Approved()))
	body := c.must(201, c.post("/transactions", cardPayment("O")))
	assert.Equal(t, []any{"2026-04-05", "2026-04-04T18:00:00+1100"}, []any{body["settlementDate"], body["transactionTime"]})
	path := "/transactions/" + body["receiptNumber"].(string)
	c.must(404, c.get(path))
	clock.Advance(2 * time.Second)
	assert.Equal(t, "2", c.must(200, c.get(path))["summaryCode"])
	clock.Advance(24 * time.Hour)
	assert.Equal(t, "0", c.must(200, c.get(path))["summaryCode"])
	assert.Equal(t, "2026-04-05T17:00:02+1000", c.must(201, c.post("/transactions", cardPayment("O")))["transactionTime"])

	ignored := New(WithClock(nil))
	defer ignored.Close()
	assert.WithinDuration(t, time.Now(), ignored.Now(), time.Minute)
}

// The delays of faults pass at once on a clock that stands still, and the clock shows that they have.
func TestDelaysPassOnAClockThatStandsStill(t *testing.T) {
	for name, test := range map[string]struct {
		kind FaultKind
		want time.Duration
	}{
		"before the commit": {DelayBeforeCommit(time.Hour), time.Hour},
		"after the commit":  {DelayAfterCommit(time.Hour), time.Hour},
		"no delay":          {DelayAfterCommit(-time.Hour), 0},
	} {
		t.Run(name, func(t *testing.T) {
			begun := time.Date(2026, 4, 4, 7, 0, 0, 0, time.UTC)
			clock := NewClock(begun)
			c := newCaller(t, WithClock(clock))
			defer c.box.Close()
			require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Kind: test.kind}))
			c.must(201, c.post("/transactions", cardPayment("O")))
			assert.Equal(t, begun.Add(test.want), clock.Now())
		})
	}
	t.Run("a slow body", func(t *testing.T) {
		clock := NewClock(time.Now())
		c := newCaller(t, WithClock(clock))
		defer c.box.Close()
		require.NoError(t, c.box.Inject(Fault{Kind: SlowBody(100)}))
		begun := clock.Now()
		c.must(200, c.get("/"))
		assert.Greater(t, clock.Now().Sub(begun), time.Second)
	})
	t.Run("several at once", func(t *testing.T) {
		clock := NewClock(time.Now())
		c := newCaller(t, WithClock(clock))
		defer c.box.Close()
		require.NoError(t, c.box.Inject(Fault{Kind: DelayAfterCommit(time.Hour)}))
		begun := clock.Now()
		var calls sync.WaitGroup
		for range 5 {
			r := c.request("GET", "/", c.keys.Secret, nil)
			calls.Go(func() {
				out, err := c.try(r)
				assert.NoError(t, err)
				assert.Equal(t, 200, out.status)
			})
		}
		calls.Wait()
		passed := clock.Now().Sub(begun)
		assert.GreaterOrEqual(t, passed, time.Hour)
		assert.LessOrEqual(t, passed, 5*time.Hour)
	})
}

// A clock is moved only when the requests have ended that were under way.
func TestAdvanceWaitsForRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := NewClock(time.Now())
		begun := clock.Now()
		c := newCaller(t, WithClock(clock))
		defer c.box.Close()
		require.NoError(t, c.box.Inject(Fault{Operation: "GET /", Kind: HangBeforeCommit()}))
		ctx, giveUp := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		calls.Go(func() { _, _ = c.try(c.request("GET", "/", c.keys.Secret, nil).WithContext(ctx)) })
		synctest.Wait()
		release := c.box.Hold()
		calls.Go(func() { clock.Advance(time.Hour) })
		synctest.Wait()
		assert.Equal(t, begun, clock.Now(), "a request is under way")
		giveUp()
		synctest.Wait()
		assert.Equal(t, begun, clock.Now(), "a call is under way")
		release()
		release()
		calls.Wait()
		assert.Equal(t, begun.Add(time.Hour), clock.Now())
	})
}

// A running clock goes on with package time, also while a request is under way, and can be moved on.
func TestRunningClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		clock := NewRunningClock(start)
		var log []string
		note := func(name string) func() {
			return func() { log = append(log, name+" "+clock.Now().Sub(start).String()) }
		}
		clock.afterFunc(2*time.Second, note("b"))
		clock.afterFunc(time.Second, note("a"))
		clock.afterFunc(time.Hour, note("c"))
		stop := clock.afterFunc(3*time.Second, note("never"))
		<-time.After(2500 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, []string{"a 1s", "b 2s"}, log)
		assert.True(t, stop())
		clock.Advance(2 * time.Hour)
		assert.Equal(t, []string{"a 1s", "b 2s", "c 1h0m0s"}, log)
		assert.Equal(t, 2*time.Hour+2500*time.Millisecond, clock.Now().Sub(start))

		c := newCaller(t, WithClock(clock))
		defer c.box.Close()
		require.NoError(t, c.box.Inject(Fault{Operation: "GET /", Kind: DelayAfterCommit(time.Minute)}))
		begun := time.Now()
		c.must(200, c.get("/"))
		assert.Equal(t, time.Minute, time.Since(begun))

		done := make(chan response)
		r := c.request("GET", "/", c.keys.Secret, nil)
		go func() {
			out, _ := c.try(r)
			done <- out
		}()
		synctest.Wait()
		begun = time.Now()
		clock.Advance(time.Hour) // first to the end of the delay
		assert.Equal(t, 200, (<-done).status)
		assert.Zero(t, time.Since(begun))
	})
}
