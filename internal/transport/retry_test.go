package transport

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestWait: pauses grow, lie between the two bounds, and differ from each other,
// so that many clients do not come back at once.
func TestWait(t *testing.T) {
	const lowest, highest = 500 * time.Millisecond, 8 * time.Second
	pause := func(shortest, longest time.Duration, n int) time.Duration {
		x := exchange{call: Call{Limits: &Limits{WaitMin: shortest, WaitMax: longest}}, attempts: n + 1}
		return x.wait()
	}
	for n := range 60 {
		seen := map[time.Duration]bool{}
		var most time.Duration
		for range 200 {
			d := pause(lowest, highest, n)
			assert.GreaterOrEqual(t, d, lowest, "pause %d", n)
			assert.LessOrEqual(t, d, highest, "pause %d", n)
			seen[d], most = true, max(most, d)
		}
		assert.Greater(t, len(seen), 150, "pause %d has no jitter", n)
		if n < 4 {
			assert.LessOrEqual(t, most, lowest<<(n+1), "pause %d", n)
		} else {
			assert.Greater(t, most, highest/2, "pause %d", n)
		}
	}
	for n := range 100 { // shift after shift, and not past the end
		assert.Equal(t, time.Nanosecond, pause(1, 1, n))
		assert.Positive(t, pause(time.Hour, 1<<62, n))
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		for value, want := range map[string]time.Duration{
			"": 0, "0": 0, "7": 7 * time.Second, "-7": 0, "007": 7 * time.Second, "3600": time.Hour,
			"1.5": 0, "7s": 0, "soon": 0, " 7": 0, "0x10": 0, "99999999999999999999": 0,
			now.Add(90 * time.Second).UTC().Format(http.TimeFormat):                          90 * time.Second,
			now.Add(-time.Hour).UTC().Format(http.TimeFormat):                                0,
			strings.Replace(now.Add(time.Minute).UTC().Format(time.RFC850), "UTC", "GMT", 1): time.Minute,
			now.Add(time.Minute).UTC().Format(time.ANSIC):                                    time.Minute,
			now.Add(time.Minute).Format(time.RFC3339):                                        0,
		} {
			assert.Equal(t, want, retryAfter(http.Header{"Retry-After": {value}}).Round(time.Second), "%q", value)
		}
		for _, huge := range []string{"1000000000", "9223372036", "9223372036854775807"} {
			assert.Greater(t, retryAfter(http.Header{"Retry-After": {huge}}), 24*365*time.Hour, "%s does not overflow", huge)
		}
		assert.Zero(t, retryAfter(nil))
	})
}

// TestKeyHeader: under the canonical name net/http would repeat the POST by
// itself.
func TestKeyHeader(t *testing.T) {
	assert.NotEqual(t, http.CanonicalHeaderKey(keyHeader), keyHeader)
	assert.True(t, strings.EqualFold("Idempotency-Key", keyHeader))
}
