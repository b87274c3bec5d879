package clienttest_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
)

// TestLongestCall: no call takes longer than the formula of WithTimeout says, whatever
// the service does, and a read can take exactly as long.
func TestLongestCall(t *testing.T) {
	type limits struct {
		attempts                int
		attempt, shortest, wait time.Duration
	}
	hang := func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	for name, l := range map[string]limits{
		"by default": {3, 30 * time.Second, time.Second / 2, 8 * time.Second},
		"one":        {1, 30 * time.Second, time.Second / 2, 8 * time.Second},
		"many":       {10, 2 * time.Second, time.Second, time.Second},
		"patient":    {4, time.Minute, time.Minute, time.Hour},
	} {
		longest := time.Duration(l.attempts)*l.attempt + time.Duration(l.attempts-1)*l.wait
		busy := func(r *http.Request) (*http.Response, error) {
			select {
			case <-time.After(l.attempt - 1):
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
			resp := answer(429, errorBody)
			resp.Header.Set("Retry-After", strconv.Itoa(int(l.wait/time.Second)))
			return resp, nil
		}
		for kind, c := range map[string]struct {
			service  service
			shortest time.Duration // of a payment
		}{
			"lost": {hang, l.attempt},
			"never sent": {func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GetConn(r.URL.Host)
				return hang(r)
			}, time.Duration(l.attempts) * l.attempt},
			"busy": {busy, l.attempt - 1},
		} {
			synctest.Test(t, func(t *testing.T) {
				opts := []quickstream.ClientOption{}
				if name != "by default" {
					opts = append(opts, quickstream.WithMaxAttempts(l.attempts), quickstream.WithAttemptTimeout(l.attempt), quickstream.WithRetryWait(l.shortest, l.wait))
				}
				client := clientOf(t, c.service, opts...)
				begun := time.Now()
				_, err := client.Transactions.Pay(t.Context(), payment())
				assert.Error(t, err)
				took := time.Since(begun)
				assert.LessOrEqual(t, took, longest, "%s, %s: payment", name, kind)
				assert.GreaterOrEqual(t, took, c.shortest, "%s, %s: payment", name, kind)

				begun = time.Now()
				assert.Error(t, client.Check(t.Context()))
				took = time.Since(begun)
				assert.LessOrEqual(t, took, longest, "%s, %s: read", name, kind)
				if name == "by default" {
					assert.Equal(t, 106*time.Second, longest, "as the comment of WithTimeout says")
				}
				if kind == "busy" {
					assert.Equal(t, longest-time.Duration(l.attempts), took, "%s: the limit is reached", name)
				}

				begun = time.Now()
				_, err = client.Transactions.Pay(t.Context(), payment(), quickstream.WithTimeout(time.Second))
				assert.Error(t, err)
				assert.LessOrEqual(t, time.Since(begun), time.Second, "%s, %s: WithTimeout", name, kind)
			})
		}
	}
}

// TestBrowserGoesAway: what the context of a request does to a payment that is on its
// way, and what context.WithoutCancel does about it.
func TestBrowserGoesAway(t *testing.T) {
	for name, c := range map[string]struct {
		context func(context.Context) (context.Context, context.CancelFunc)
		ends    string
	}{
		"the request's": {context.WithCancel, unknown},
		"its own": {func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		}, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			browser, goAway := context.WithCancel(t.Context())
			client := clientOf(t, func(r *http.Request) (*http.Response, error) {
				httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
				goAway()
				select {
				case <-time.After(time.Second):
					return answer(201, approvedBody), nil
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
			})
			ctx, cancel := c.context(browser)
			defer cancel()
			_, err := client.Transactions.Pay(ctx, payment())
			assert.Error(t, browser.Err())
			if c.ends == "" {
				assert.NoError(t, err, name)
				return
			}
			assert.Equal(t, c.ends, ending(err), name)
		})
	}
}
