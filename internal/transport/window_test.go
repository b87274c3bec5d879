package transport

import (
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestResendWindow: once an attempt may have arrived, nothing is sent with its key
// when the service may have forgotten it, whatever happened since.
func TestResendWindow(t *testing.T) {
	lost := func(after time.Duration) func() error {
		return func() error { <-time.After(after); return syscall.ECONNRESET }
	}
	unsent := func(after time.Duration) func() error {
		return func() error {
			<-time.After(after)
			return &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
		}
	}
	for name, tt := range map[string]struct {
		attempts []func() error
		pause    time.Duration
		want     []time.Duration // when each attempt begins
		verdict  Verdict
	}{
		"soon":                  {[]func() error{lost(10 * time.Second), lost(10 * time.Second)}, time.Second, []time.Duration{0, 11 * time.Second, 22 * time.Second}, Success},
		"at the last moment":    {[]func() error{lost(58 * time.Second)}, 2*time.Second - 1, []time.Duration{0, ResendWindow - 1}, Success},
		"lost for too long":     {[]func() error{lost(ResendWindow)}, 1, []time.Duration{0}, Unknown},
		"after the pause":       {[]func() error{lost(58 * time.Second)}, 2 * time.Second, []time.Duration{0}, Unknown},
		"after a long pause":    {[]func() error{lost(25 * time.Second)}, 10 * time.Minute, []time.Duration{0}, Unknown},
		"lost, then never sent": {[]func() error{lost(30 * time.Second), unsent(20 * time.Second), unsent(10 * time.Second)}, time.Second, []time.Duration{0, 31 * time.Second, 52 * time.Second}, Unknown},
		"never sent, then lost": {[]func() error{unsent(40 * time.Second), lost(18 * time.Second)}, time.Second, []time.Duration{0, 41 * time.Second}, Unknown},
		"never sent at all":     {[]func() error{unsent(50 * time.Second), unsent(50 * time.Second)}, time.Second, []time.Duration{0, 51 * time.Second, 102 * time.Second}, Success},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var begun []time.Duration
				result := do(t, func(*http.Request) (*http.Response, error) {
					n := len(begun)
					begun = append(begun, time.Since(start))
					if n < len(tt.attempts) {
						return nil, tt.attempts[n]()
					}
					return answer(201, "{}"), nil
				}, func(c *Call) {
					c.Class, c.Key = Keyed, "mine"
					c.Limits = &Limits{MaxAttempts: 10, AttemptTimeout: 2 * time.Minute, WaitMin: tt.pause, WaitMax: tt.pause}
				})
				assert.Equal(t, tt.want, begun)
				assert.Equal(t, tt.verdict, result.Verdict)
				assert.Less(t, time.Since(start), 3*ResendWindow, "it waits in vain")
			})
		})
	}
}

// slowJar takes its time after the first attempt, as a machine does that sleeps.
type slowJar struct {
	http.CookieJar
	asked int
}

func (j *slowJar) Cookies(u *url.URL) []*http.Cookie {
	if j.asked++; j.asked > 1 {
		<-time.After(ResendWindow)
	}
	return j.CookieJar.Cookies(u)
}

func TestResendWindowAfterALongSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jar, err := cookiejar.New(nil)
		assert.NoError(t, err)
		sent := 0
		call := &Call{
			Method: "POST", URL: &url.URL{Scheme: "https", Host: "h.invalid", Path: "/"}, Class: Keyed, Key: "mine",
			Limits:    &Limits{MaxAttempts: 3, AttemptTimeout: time.Minute, WaitMin: 1, WaitMax: 1},
			Authorise: authorised, Decode: func(int, []byte) error { return nil },
		}
		lost := inner(func(*http.Request) (*http.Response, error) { sent++; return nil, syscall.ECONNRESET })
		result := New(&http.Client{Transport: lost, Jar: &slowJar{CookieJar: jar}}, Observer{}).Do(t.Context(), call)
		assert.Equal(t, 1, sent)
		assert.Equal(t, Unknown, result.Verdict)
		assert.Equal(t, 1, result.Attempts)
		assert.ErrorIs(t, result.Err, syscall.ECONNRESET)
	})
}
