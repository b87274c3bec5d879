package transport

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAttemptsShareNothing: net/http may still be reading the request of an
// attempt that is over, and some RoundTrippers write to it.
func TestAttemptsShareNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []*http.Request
		result := do(t, func(r *http.Request) (*http.Response, error) {
			assert.NoError(t, r.Context().Err())
			for _, earlier := range seen {
				assert.NotSame(t, earlier, r)
				assert.ErrorIs(t, earlier.Context().Err(), context.Canceled, "a wait is no part of the attempt before it")
			}
			seen = append(seen, r)
			assert.Equal(t, "POST", r.Method)
			assert.Equal(t, "https://h.invalid/", r.URL.String())
			assert.Equal(t, "h.invalid", r.Host)
			assert.EqualValues(t, 7, r.ContentLength)
			body, err := io.ReadAll(r.Body)
			assert.NoError(t, err)
			assert.Equal(t, `{"a":1}`, string(body))
			assert.Equal(t, http.Header{
				"Authorization": {"Basic a2V5Og=="}, "Accept": {"application/json"}, "Content-Type": {"application/json"},
				keyHeader: {"mine"}, "X-Own": {"1"}, "User-Agent": {ownAgent()},
			}, r.Header)
			r.Header.Set("X-Own", "2")
			r.Header.Del("Authorization")
			r.Method, r.URL, r.Host, r.Body, r.ContentLength = "GET", &url.URL{}, "other.invalid", http.NoBody, 0
			return nil, io.ErrUnexpectedEOF
		}, func(c *Call) {
			c.Class, c.Key, c.Body, c.Header, c.Limits.MaxAttempts = Keyed, "mine", []byte(`{"a":1}`), http.Header{"X-Own": {"1"}}, 3
		})
		assert.Equal(t, Unknown, result.End)
		require.Len(t, seen, 3)
		assert.ErrorIs(t, seen[2].Context().Err(), context.Canceled, "nothing is left behind")
	})
}

// TestCookies: those of the caller's jar are added to those of the call, for each
// attempt anew.
func TestCookies(t *testing.T) {
	for name, own := range map[string]string{"with cookies of its own": "own=1; ", "without": ""} {
		synctest.Test(t, func(t *testing.T) {
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			at := &url.URL{Scheme: "https", Host: "h.invalid", Path: "/"}
			jar.SetCookies(at, []*http.Cookie{{Name: "jar", Value: "0"}})
			var seen []string
			answers := inner(func(r *http.Request) (*http.Response, error) {
				seen = append(seen, r.Header.Get("Cookie"))
				resp := answer(500, "")
				resp.Header.Set("Set-Cookie", "jar="+string(rune('0'+len(seen))))
				return resp, nil
			})
			call := Call{
				Method: "GET", URL: at, Limits: &Limits{MaxAttempts: 3, AttemptTimeout: time.Minute, WaitMin: time.Second, WaitMax: time.Second, ResendWindow: ResendWindow},
				Authorise: authorised,
			}
			if own != "" {
				call.Header = http.Header{"Cookie": {"own=1"}}
			}
			New(HTTPConfig{Client: &http.Client{Transport: answers, Jar: jar}}, nil).Do(t.Context(), call)
			assert.Equal(t, []string{own + "jar=0", own + "jar=1", own + "jar=2"}, seen, name)
		})
	}
	var seen http.Header
	do(t, func(r *http.Request) (*http.Response, error) { seen = r.Header; return answer(200, ""), nil }, func(c *Call) {
		c.Header = http.Header{"Cookie": {"own=1", "own=2"}}
	})
	assert.Equal(t, []string{"own=1", "own=2"}, seen["Cookie"], "without a jar")
}

// TestClientTimeout: the caller's http.Client may have a limit of its own.
func TestClientTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		hang := inner(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() })
		result := New(HTTPConfig{Client: &http.Client{Transport: hang, Timeout: 5 * time.Second}}, nil).Do(t.Context(), Call{
			Method: "GET", URL: &url.URL{Scheme: "https", Host: "h.invalid", Path: "/"},
			Limits:    &Limits{MaxAttempts: 2, AttemptTimeout: time.Minute, WaitMin: time.Second, WaitMax: time.Second, ResendWindow: ResendWindow},
			Authorise: authorised,
		})
		assert.Equal(t, 11*time.Second, time.Since(start))
		assert.Equal(t, KindTimeout, result.Kind)
		assert.Equal(t, 2, result.Attempts)
	})
}
