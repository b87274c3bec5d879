package transport

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
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
	type ending func(*http.Request) error
	lost := func(after time.Duration) ending {
		return func(r *http.Request) error {
			_, err := io.Copy(io.Discard, r.Body)
			assert.NoError(t, err)
			<-time.After(after)
			return syscall.ECONNRESET
		}
	}
	unsent := func(after time.Duration) ending {
		return func(r *http.Request) error {
			httptrace.ContextClientTrace(r.Context()).GetConn("h.invalid:443")
			<-time.After(after)
			return &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
		}
	}
	for name, tt := range map[string]struct {
		attempts []ending
		pause    time.Duration
		want     []time.Duration // when each attempt begins
		result   CallResult
	}{
		"soon":                  {[]ending{lost(10 * time.Second), lost(10 * time.Second)}, time.Second, []time.Duration{0, 11 * time.Second, 22 * time.Second}, Success},
		"at the last moment":    {[]ending{lost(58 * time.Second)}, 2*time.Second - 1, []time.Duration{0, ResendWindow - 1}, Success},
		"lost for too long":     {[]ending{lost(ResendWindow)}, 1, []time.Duration{0}, Unknown},
		"after the pause":       {[]ending{lost(58 * time.Second)}, 2 * time.Second, []time.Duration{0}, Unknown},
		"after a long pause":    {[]ending{lost(25 * time.Second)}, 10 * time.Minute, []time.Duration{0}, Unknown},
		"lost, then never sent": {[]ending{lost(30 * time.Second), unsent(20 * time.Second), unsent(10 * time.Second)}, time.Second, []time.Duration{0, 31 * time.Second, 52 * time.Second}, Unknown},
		"never sent, then lost": {[]ending{unsent(40 * time.Second), lost(18 * time.Second)}, time.Second, []time.Duration{0, 41 * time.Second}, Unknown},
		"never sent at all":     {[]ending{unsent(50 * time.Second), unsent(50 * time.Second)}, time.Second, []time.Duration{0, 51 * time.Second, 102 * time.Second}, Success},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				var begun []time.Duration
				result := do(t, func(r *http.Request) (*http.Response, error) {
					n := len(begun)
					begun = append(begun, time.Since(start))
					if n < len(tt.attempts) {
						return nil, tt.attempts[n](r)
					}
					return answer(201, "{}"), nil
				}, func(c *Call) {
					c.Class, c.Key, c.Body = Keyed, "mine", []byte("{}")
					c.Limits = &Limits{MaxAttempts: 10, AttemptTimeout: 2 * time.Minute, WaitMin: tt.pause, WaitMax: tt.pause, ResendWindow: ResendWindow}
				})
				assert.Equal(t, tt.want, begun)
				assert.Equal(t, tt.result, result.End)
				assert.Less(t, time.Since(start), 3*ResendWindow, "it waits in vain")
			})
		})
	}
}

// TestResendWindowAfterASlowDial: sending begins when the body is first read, however
// long it took to get there.
func TestResendWindowAfterASlowDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := 0
		result := do(t, func(r *http.Request) (*http.Response, error) {
			<-time.After(ResendWindow/2 - time.Duration(sent)) // the second read begins as the window ends
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return nil, err
			}
			sent++
			return nil, syscall.ECONNRESET
		}, func(c *Call) {
			c.Class, c.Key, c.Body, c.Limits.MaxAttempts = Keyed, "mine", []byte("{}"), 3
			c.Limits.WaitMin, c.Limits.WaitMax = 1, 1
		})
		assert.Equal(t, 1, sent)
		assert.Equal(t, Unknown, result.End)
		assert.Equal(t, 2, result.Attempts, "the second was begun")
		assert.ErrorIs(t, result.Err, syscall.ECONNRESET)
	})
}

// TestResendWindowAfterASlowWrite: a body that was read within the window goes out within it or not
// at all. What the earlier attempt came to counts.
func TestResendWindowAfterASlowWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		result := over(func(r *http.Request) (*http.Response, error) {
			conn := newHeldConn(brokenConn{takes: 1})
			conn.reading = true
			httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{Conn: conn})
			_, err := io.Copy(io.Discard, r.Body)
			assert.NoError(t, err)
			if attempts++; attempts == 2 {
				<-time.After(ResendWindow)
			}
			if _, err := conn.Write([]byte("POST")); attempts == 2 {
				return nil, err
			}
			return nil, syscall.ECONNRESET
		}, true).Do(t.Context(), newCall(func(c *Call) {
			c.Class, c.Key, c.Body, c.Limits.MaxAttempts, c.Limits.AttemptTimeout = Keyed, "mine", []byte("{}"), 3, 2*ResendWindow
		}))
		assert.Equal(t, 2, attempts)
		assert.Equal(t, Unknown, result.End)
		assert.Equal(t, Lost, result.Reason)
		assert.ErrorIs(t, result.Err, syscall.ECONNRESET)
	})
}

// TestReadsHaveNoWindow: a read is repeated however long ago it was first sent, and at once if its
// connection was closed while idle.
func TestReadsHaveNoWindow(t *testing.T) {
	for reused, unsent := range map[bool]error{true: tls.AlertError(80), false: &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}} {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			result := over(func(r *http.Request) (*http.Response, error) {
				conn := newHeldConn(brokenConn{takes: 1})
				conn.reading = true
				httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{Conn: conn, Reused: reused})
				if attempts++; attempts == 2 {
					return nil, unsent
				}
				<-time.After(ResendWindow)
				_, err := io.Copy(io.Discard, r.Body)
				assert.NoError(t, err)
				_, err = conn.Write([]byte("POST"))
				assert.ErrorIs(t, err, net.ErrClosed)
				if attempts == 1 {
					return nil, syscall.ECONNRESET
				}
				return answer(200, "{}"), nil
			}, true).Do(t.Context(), newCall(func(c *Call) {
				c.Class, c.Body, c.Limits.MaxAttempts, c.Limits.AttemptTimeout = Read, []byte("{}"), 3, 2*ResendWindow
			}))
			assert.Equal(t, Success, result.End, "reused: %v", reused)
			assert.Equal(t, 3, result.Attempts)
		})
	}
}

// TestAnswersAfterTheWindow: an answer counts, even if the body was read too late to be sent.
func TestAnswersAfterTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		result := do(t, func(r *http.Request) (*http.Response, error) {
			if attempts++; attempts == 1 {
				return nil, syscall.ECONNRESET
			}
			<-time.After(ResendWindow)
			_, err := io.Copy(io.Discard, r.Body)
			assert.ErrorIs(t, err, errTooLate)
			return answer(201, "{}"), nil
		}, func(c *Call) {
			c.Class, c.Key, c.Body, c.Limits.MaxAttempts, c.Limits.AttemptTimeout = Keyed, "mine", []byte("{}"), 3, 2*ResendWindow
		})
		assert.Equal(t, Success, result.End)
		assert.Equal(t, 201, result.Status)
	})
}

// TestLife: an attempt that would begin too long after the hook before sending sends nothing, and
// neither does any after it. One that has begun in time, and whose answer was lost, is sent again.
func TestLife(t *testing.T) {
	const life = 30 * time.Second
	for name, tt := range map[string]struct {
		wait   time.Duration // from the hook to the first byte
		begun  int
		result CallResult
	}{
		"in time":  {life - 1, 2, Success},
		"too late": {life, 1, NetworkFailed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := 0
				result := do(t, func(r *http.Request) (*http.Response, error) {
					begun++
					trace := httptrace.ContextClientTrace(r.Context())
					trace.GetConn("h.invalid:443")
					if begun > 1 {
						return answer(201, "{}"), nil
					}
					<-time.After(tt.wait)
					_, err := io.Copy(io.Discard, r.Body)
					if err != nil {
						return nil, err
					}
					trace.GotConn(httptrace.GotConnInfo{})
					return nil, syscall.ECONNRESET
				}, func(c *Call) {
					c.Class, c.Key, c.Body, c.Life = Keyed, "mine", []byte("{}"), life
					c.Limits = &Limits{MaxAttempts: 3, AttemptTimeout: time.Minute, WaitMin: time.Second, WaitMax: time.Second, ResendWindow: ResendWindow}
					c.Before = func(context.Context, string) error { return nil }
				})
				assert.Equal(t, tt.begun, begun)
				assert.Equal(t, tt.result, result.End)
			})
		})
	}
}

// TestLifeWithoutBody: a request without a body, such as a void, is not given to the caller's transport too long after its hook.
func TestLifeWithoutBody(t *testing.T) {
	for wait, begun := range map[time.Duration]int{time.Second: 1, time.Minute: 0} {
		synctest.Test(t, func(t *testing.T) {
			called := 0
			result := do(t, func(*http.Request) (*http.Response, error) { called++; return answer(200, "{}"), nil }, func(c *Call) {
				c.Class, c.Life = Post, 30*time.Second
				c.Limits = &Limits{MaxAttempts: 3, AttemptTimeout: time.Minute, WaitMin: time.Second, WaitMax: time.Second, ResendWindow: ResendWindow}
				c.Before = func(context.Context, string) error { <-time.After(wait); return nil }
			})
			assert.Equal(t, begun, called)
			assert.Equal(t, map[int]CallResult{1: Success, 0: NetworkFailed}[begun], result.End)
		})
	}
}
