package sandbox

import (
	"testing"
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

func TestADelayOnAClockEndsWhenItIsAdvanced(t *testing.T) {
	clock := NewClock(time.Date(2026, 4, 4, 7, 0, 0, 0, time.UTC))
	c := newCaller(t, WithClock(clock))
	defer c.box.Close()
	require.NoError(t, c.box.Inject(Fault{Operation: "GET /", Kind: DelayBeforeCommit(time.Hour)}))
	done := make(chan response)
	r := c.request("GET", "/", c.keys.Secret, nil)
	go func() {
		out, _ := c.try(r)
		done <- out
	}()
	for waiting := true; waiting; {
		select {
		case out := <-done:
			assert.Equal(t, 200, out.status)
			waiting = false
		default:
			clock.Advance(time.Minute)
		}
	}
}
