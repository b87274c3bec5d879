package transport

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestAttack22RetryAfter: a pause that a service asks for is none where it is negative, past
// or unreadable, and never overflows. One beyond the call's longest pause ends the call.
func TestAttack22RetryAfter(t *testing.T) {
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
	for value, want := range map[string]int{"1": 3, "7": 3, "8": 1, "3600": 1, "1000000000": 1, "9223372036854775807": 1, "-1": 3, "99999999999999999999": 3} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			result := do(t, func(*http.Request) (*http.Response, error) {
				resp := answer(429, "")
				resp.Header.Set("Retry-After", value)
				return resp, nil
			}, func(c *Call) { c.Class, c.Limits.MaxAttempts, c.Limits.WaitMax = Read, 3, 7*time.Second })
			assert.Equal(t, RateLimited, result.Reason, value)
			assert.Equal(t, want, result.Attempts, value)
			assert.LessOrEqual(t, time.Since(begun), 14*time.Second, value)
		})
	}
}

// TestAttack23CancelledInAPause: a call whose context ends in a pause returns at once,
// although no attempt is under way that it could end.
func TestAttack23CancelledInAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, sent := time.Now(), 0
		result := do(t, func(*http.Request) (*http.Response, error) { sent++; return nil, io.EOF }, func(c *Call) {
			c.Class, c.Limits.MaxAttempts, c.Limits.CallTimeout = Keyed, 3, 200*time.Millisecond
		})
		assert.Equal(t, 200*time.Millisecond, time.Since(start))
		assert.Equal(t, 1, sent)
		assert.Equal(t, Unknown, result.End)
		assert.ErrorIs(t, result.Err, context.DeadlineExceeded)
	})
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		time.AfterFunc(time.Second, cancel)
		busy := inner(func(*http.Request) (*http.Response, error) {
			resp := answer(429, "")
			resp.Header.Set("Retry-After", "8")
			return resp, nil
		})
		result := doBy(ctx, &http.Client{Transport: busy}, nil, func(c *Call) { c.Class, c.Limits.MaxAttempts, c.Limits.WaitMax = Read, 3, 8*time.Second })
		assert.Equal(t, time.Second, time.Since(start))
		assert.ErrorIs(t, result.Err, context.Canceled)
	})
}
