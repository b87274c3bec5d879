package transport

import (
	"context"
	"errors"
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
			r.URL.Host, r.URL.Path = "gateway.invalid", "/gateway"
			r.Method, r.Host, r.Body, r.ContentLength = "GET", "other.invalid", http.NoBody, 0
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
// attempt again.
func TestCookies(t *testing.T) {
	for name, own := range map[string]string{"with cookies of its own": "own=1; ", "without": ""} {
		synctest.Test(t, func(t *testing.T) {
			jar, err := cookiejar.New(nil)
			require.NoError(t, err)
			jar.SetCookies(&url.URL{Scheme: "https", Host: "h.invalid", Path: "/"}, []*http.Cookie{{Name: "jar", Value: "0"}})
			var seen []string
			answers := inner(func(r *http.Request) (*http.Response, error) {
				seen = append(seen, r.Header.Get("Cookie"))
				resp := answer(500, "")
				resp.Header.Set("Set-Cookie", "jar="+string(rune('0'+len(seen))))
				return resp, nil
			})
			doBy(t.Context(), &http.Client{Transport: answers, Jar: jar}, nil, func(c *Call) {
				c.Class, c.Limits.MaxAttempts = Read, 3
				if own != "" {
					c.Header = http.Header{"Cookie": {"own=1"}}
				}
			})
			assert.Equal(t, []string{own + "jar=0", own + "jar=1", own + "jar=2"}, seen, name)
		})
	}
	var seen http.Header
	do(t, func(r *http.Request) (*http.Response, error) { seen = r.Header; return answer(200, ""), nil }, func(c *Call) {
		c.Header = http.Header{"Cookie": {"own=1", "own=2"}}
	})
	assert.Equal(t, []string{"own=1", "own=2"}, seen["Cookie"], "without a jar")
}

// TestClientTimeout: the caller's http.Client may have a limit of its own. An attempt that
// it ends is a timeout, however net/http words it.
func TestClientTimeout(t *testing.T) {
	for _, err := range []error{context.Canceled, context.DeadlineExceeded, errors.New("request canceled")} {
		for class, want := range map[Class]CallResult{Read: NetworkFailed, Post: Unknown} {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				hang := inner(func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, err })
				result := doBy(t.Context(), &http.Client{Transport: hang, Timeout: 5 * time.Second}, nil, func(c *Call) { c.Class, c.Limits.MaxAttempts = class, 2 })
				assert.Equal(t, KindTimeout, result.Kind, "%v", err)
				assert.Equal(t, want, result.End)
				attempts := map[Class]int{Read: 2, Post: 1}[class]
				assert.Equal(t, attempts, result.Attempts)
				assert.Equal(t, time.Duration(attempts*6-1)*time.Second, time.Since(start))
			})
		}
	}
}

// TestNamesThatRepeatTheCall: the name of a field or a trace code may repeat an identifier of the path,
// and is concealed then. The words of the path are the service's own.
func TestNamesThatRepeatTheCall(t *testing.T) {
	call := Call{
		URL: &url.URL{Path: "/rest/v1/transactions/1000000001/refunds", RawQuery: "q=2000000002&n=7&year=2031"}, Route: "/transactions/{receiptNumber}/refunds",
		Key: "key-of-the-call", Reference: "ORDER-12", Header: http.Header{"X-Own": {"own-value"}}, Body: []byte(`{"customerName":"Margaret","city":"Sydney","first":"Anne","second":"Bob"}`),
	}
	for name, echoes := range map[string]bool{
		"transactions[0].amount": false, "customerName": false, "city": false, "order": false, "refunds": false, "Margaret.amount": true,
		"1000000001": true, "metadata.ORDER-12": true, "x.key-of-the-call": true, "own-value": true,
		"T-77": false, "2000000002": true, "Margaret": true, "Sydney": true, "ORDER-12": true,
		"T-2031": true, "T-Margaret": true, "Anne": true, "Bob": false, // three characters may be chance
	} {
		assert.Equal(t, echoes, call.repeats(name), name)
	}
}
