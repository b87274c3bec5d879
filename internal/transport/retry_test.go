package transport

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func runOf(c Class, last Result, limits Limits) *run {
	if limits.WaitMax == 0 {
		limits.WaitMax = 8 * time.Second
	}
	return &run{call: &Call{Class: c, Limits: &limits, Key: "first"}, rounds: 1, last: last}
}

// TestWait: pauses grow, lie between the two bounds, and differ from each other,
// so that many clients do not come back at once.
func TestWait(t *testing.T) {
	const lowest, highest = 500 * time.Millisecond, 8 * time.Second
	pause := func(shortest, longest time.Duration, n int) time.Duration {
		r := runOf(Read, Result{Situation: Failed}, Limits{})
		r.call.Limits.WaitMin, r.call.Limits.WaitMax, r.rounds = shortest, longest, int32(n+1)
		return r.wait()
	}
	for n := range 64 {
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

func TestWaitObeysTheService(t *testing.T) {
	throttled := runOf(Read, Result{Situation: Throttled, RetryAfter: 7 * time.Second}, Limits{})
	assert.GreaterOrEqual(t, throttled.wait(), 7*time.Second)

	unavailable := runOf(Keyed, Result{Situation: Unavailable}, Limits{NewKeyAfter503: true})
	assert.Equal(t, 20*time.Second, unavailable.wait(), "the documented pause")
	unavailable.last.RetryAfter = 25 * time.Second
	assert.Equal(t, 25*time.Second, unavailable.wait())
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

// TestAgain goes through the conditions for a further attempt.
func TestAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		again := func(c Class, last Result, limits Limits, change func(*run)) bool {
			r := runOf(c, last, limits)
			r.ctx, r.firstSent = t.Context(), time.Now()
			if change != nil {
				change(r)
			}
			more, err := r.again(nil)
			assert.NoError(t, err)
			return more
		}
		for _, c := range Classes() {
			assert.False(t, again(c, Result{Situation: NeverSent}, Limits{}, nil), "cannot pass by itself")
			assert.True(t, again(c, Result{Situation: NeverSent}, Limits{}, func(r *run) { r.temporary = true }))
			for _, s := range []Situation{Succeeded, ContextEnded, NotEnabled, Refused, Redirected} {
				assert.False(t, again(c, Result{Situation: s}, Limits{}, nil))
			}
			for _, s := range []Situation{Failed, Throttled} {
				assert.Equal(t, c == Read, again(c, Result{Situation: s}, Limits{}, nil))
			}
		}

		lost := Result{Situation: Lost}
		assert.True(t, again(Keyed, lost, Limits{}, nil))
		assert.False(t, again(Keyed, lost, Limits{NoResend: true}, nil))
		assert.True(t, again(Read, lost, Limits{NoResend: true}, nil))
		assert.False(t, again(Post, lost, Limits{}, nil))
		assert.False(t, again(Change, lost, Limits{}, nil))

		busy := Result{Situation: Unavailable}
		assert.False(t, again(Keyed, busy, Limits{}, nil), "only if the caller asked for it")
		assert.True(t, again(Keyed, busy, Limits{NewKeyAfter503: true}, nil))
		assert.False(t, again(Keyed, busy, Limits{NewKeyAfter503: true}, func(r *run) { r.unanswered = true }), "an earlier attempt may have arrived")
		assert.False(t, again(Post, busy, Limits{NewKeyAfter503: true}, nil))
		assert.True(t, again(Read, busy, Limits{}, nil))

		for wish, want := range map[time.Duration]bool{8 * time.Second: true, 8*time.Second + 1: false, time.Hour: false} {
			assert.Equal(t, want, again(Read, Result{Situation: Throttled, RetryAfter: wish}, Limits{}, nil), wish)
		}
		for wish, want := range map[time.Duration]bool{20 * time.Second: true, 20*time.Second + 1: false} {
			assert.Equal(t, want, again(Keyed, Result{Situation: Unavailable, RetryAfter: wish}, Limits{NewKeyAfter503: true}, nil), wish)
		}
	})
}

// TestRenew gives a new key to a new request only.
func TestRenew(t *testing.T) {
	r := runOf(Keyed, Result{Situation: Lost}, Limits{NewKeyAfter503: true})
	assert.NoError(t, r.renew(nil))
	assert.Equal(t, "first", r.call.Key)
	assert.True(t, r.firstSent.IsZero())

	first, second := http.Header{}, http.Header{}
	r.call.complete(first)
	r.last.Situation = Unavailable
	assert.NoError(t, r.renew(nil))
	assert.NotEqual(t, "first", r.call.Key)
	r.call.complete(second)
	assert.Equal(t, http.Header{keyHeader: {"first"}, "Authorization": nil, "Accept": nil}, first, "the header of the first attempt is not changed")
	assert.Equal(t, http.Header{keyHeader: {r.call.Key}, "Authorization": nil, "Accept": nil}, second)
	assert.False(t, r.firstSent.IsZero())
}

// TestKeyHeader: under the canonical name net/http would repeat the POST by
// itself.
func TestKeyHeader(t *testing.T) {
	assert.NotEqual(t, http.CanonicalHeaderKey(keyHeader), keyHeader)
	assert.True(t, strings.EqualFold("Idempotency-Key", keyHeader))
}
