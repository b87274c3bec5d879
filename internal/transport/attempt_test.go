package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// inner is the RoundTripper of a test, in place of a connection.
type inner func(*http.Request) (*http.Response, error)

func (f inner) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewBufferString(body)), ContentLength: int64(len(body))}
}

func authorised(context.Context) (string, error) { return "Basic a2V5Og==", nil }

// do carries out one call with one attempt, over a RoundTripper.
func do(t *testing.T, f inner, change func(*Call)) *Result {
	t.Helper()
	return doBy(t.Context(), &http.Client{Transport: f}, nil, change)
}

// doBy is do with a client and an observer of its own.
func doBy(ctx context.Context, client *http.Client, observer Observer, change func(*Call)) *Result {
	return New(HTTPConfig{Client: client}, observer).Do(ctx, newCall(change))
}

// over returns a transport over a RoundTripper, which it may take for its own connections.
func over(f inner, own bool) *Transport {
	transport := New(HTTPConfig{Client: &http.Client{Transport: f}}, nil)
	transport.loop.HTTPClient.Transport.(*roundTripper).own = own
	return transport
}

func newCall(change func(*Call)) Call {
	call := Call{
		Method: http.MethodPost, URL: &url.URL{Scheme: "https", Host: "h.invalid", Path: "/"}, Class: Post, Accept: "application/json",
		Limits:    &Limits{MaxAttempts: 1, AttemptTimeout: time.Minute, WaitMin: time.Second, WaitMax: time.Second, ResendWindow: ResendWindow},
		Authorise: authorised,
		Decode:    func(int, []byte) error { return nil },
	}
	if change != nil {
		change(&call)
	}
	return call
}

func TestBodiesAreCapped(t *testing.T) {
	for status, limit := range map[int]int{200: maxBody, 500: maxErrorBody} {
		for _, known := range []bool{true, false} {
			for _, over := range []int{-1, 0, 1, maxDrain * 2} {
				body := bytes.NewReader(make([]byte, limit+over))
				resp := &http.Response{StatusCode: status, Body: io.NopCloser(body), ContentLength: -1}
				if known {
					resp.ContentLength = body.Size()
				}
				got, err := readBody(resp, status == 200)
				if over <= 0 {
					assert.NoError(t, err)
					assert.Len(t, got, limit+over)
					continue
				}
				assert.ErrorIs(t, err, errTooLarge)
				assert.Len(t, got, limit)
				assert.Equal(t, max(0, over-1-maxDrain), body.Len(), "no more is read than keeps the connection")
			}
		}
	}
	for length, want := range map[int64]error{1 << 50: io.ErrUnexpectedEOF, -7: nil} { // no memory is taken for what a header says
		odd := &http.Response{StatusCode: 200, Body: io.NopCloser(bytes.NewBufferString("{}")), ContentLength: length}
		got, err := readBody(odd, true)
		assert.Equal(t, want, err)
		assert.Equal(t, "{}", string(got))
	}
	huge := &http.Response{StatusCode: 200, Body: io.NopCloser(iotest.OneByteReader(io.LimitReader(blanks{}, 32<<20))), ContentLength: -1}
	got, err := readBody(huge, false)
	assert.ErrorIs(t, err, errTooLarge)
	assert.Len(t, got, maxErrorBody)
}

// TestTooLargeAnswers: a success of which too much came is an answer that cannot be decoded, and no
// failure on the way.
func TestTooLargeAnswers(t *testing.T) {
	result := do(t, func(*http.Request) (*http.Response, error) { return answer(200, strings.Repeat(" ", maxBody+1)), nil }, func(c *Call) { c.Class = Read })
	assert.Equal(t, Inconclusive, result.Reason)
	assert.Equal(t, Answered, result.End)
	assert.ErrorIs(t, result.Err, errTooLarge)
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) { return len(p), nil }

// TestWhatWasSent: a write that ended without an answer may have arrived, unless
// it is certain that no connection was there to send it on.
func TestWhatWasSent(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		events func(*httptrace.ClientTrace)
		want   Reason
	}{
		"read, then no connection": {func(h *httptrace.ClientTrace) { h.GetConn("h:443") }, Lost},
		"no events at all":         {func(*httptrace.ClientTrace) {}, Lost},
		"no connection":            {func(h *httptrace.ClientTrace) { h.GetConn("h:443") }, NeverSent},
		"connected":                {func(h *httptrace.ClientTrace) { h.GetConn("h:443"); h.GotConn(httptrace.GotConnInfo{}) }, Lost},
		"headers written": {func(h *httptrace.ClientTrace) {
			h.GetConn("h:443")
			h.GotConn(httptrace.GotConnInfo{})
			h.WroteHeaders()
		}, Lost},
		"connected, then redials": {func(h *httptrace.ClientTrace) { h.GotConn(httptrace.GotConnInfo{}); h.GetConn("h:443") }, Lost},
	} {
		result := do(t, func(r *http.Request) (*http.Response, error) {
			c.events(httptrace.ContextClientTrace(r.Context()))
			if strings.HasPrefix(name, "read") {
				_, err := io.Copy(io.Discard, r.Body)
				assert.NoError(t, err)
			}
			return nil, broken
		}, func(c *Call) { c.Body = []byte("{}") })
		assert.Equal(t, c.want, result.Reason, name)
		assert.Equal(t, c.want == Lost, result.Unanswered, name)
		assert.Equal(t, map[Reason]CallResult{Lost: Unknown, NeverSent: NetworkFailed}[c.want], result.End, name)
		assert.Equal(t, broken, result.Err, name)
		assert.Equal(t, 1, result.Attempts, name)
	}
}

// TestUploadIsReadOnce: an upload whose content was read is not sent again, although nothing of it
// left this machine. One whose content was not read was not sent, although its header was.
func TestUploadIsReadOnce(t *testing.T) {
	for _, own := range []bool{true, false} {
		for read, want := range map[bool]Result{
			true:  {Reason: Lost, End: Unknown, Attempts: 1},
			false: {Reason: NeverSent, End: NetworkFailed, Attempts: 3},
		} {
			synctest.Test(t, func(t *testing.T) {
				result := over(func(r *http.Request) (*http.Response, error) {
					if trace := httptrace.ContextClientTrace(r.Context()); !read {
						trace.GotConn(httptrace.GotConnInfo{Conn: brokenConn{}})
						trace.WroteHeaders()
						return nil, syscall.ECONNREFUSED
					}
					_, err := r.Body.Read(make([]byte, 1))
					assert.NoError(t, err)
					return nil, syscall.ECONNREFUSED
				}, own).Do(t.Context(), newCall(func(c *Call) {
					c.Upload, c.Limits.MaxAttempts = &Upload{Content: strings.NewReader("file"), Length: 4}, 3
				}))
				assert.Equal(t, want, Result{Reason: result.Reason, End: result.End, Attempts: result.Attempts}, "own: %v, read: %v", own, read)
			})
		}
	}
}

// TestSinksThatFail: an error of the caller's writer ends the call, although nothing was written.
func TestSinksThatFail(t *testing.T) {
	full := errors.New("disk full")
	result := do(t, func(*http.Request) (*http.Response, error) {
		resp := answer(200, "report")
		resp.Body = io.NopCloser(iotest.DataErrReader(strings.NewReader("report"))) // the end comes with it
		return resp, nil
	}, func(c *Call) {
		c.Class, c.Limits.MaxAttempts = Read, 3
		c.Sink = func(int, http.Header) io.Writer { return writeFunc(func([]byte) (int, error) { return 0, full }) }
	})
	assert.Equal(t, 1, result.Attempts)
	assert.Equal(t, full, result.Err)
}

type writeFunc func([]byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

// TestRepeatsBelowAreAttempts: what went out beside the request that was made here
// is an attempt that got no answer, so that a later answer but success settles
// nothing.
func TestRepeatsBelowAreAttempts(t *testing.T) {
	for status, want := range map[int]CallResult{200: Success, 404: Unknown, 422: Unknown, 429: Unknown} {
		result := do(t, func(r *http.Request) (*http.Response, error) {
			for range 3 {
				httptrace.ContextClientTrace(r.Context()).WroteHeaders()
			}
			return answer(status, `{}`), nil
		}, nil)
		assert.Equal(t, want, result.End, status)
		assert.Equal(t, 3, result.Attempts)
	}
}

// TestRepeatsOfOurOwn: on our own connections net/http repeats a write only if no byte of it went
// out, so that it was sent once. A read it may repeat after sending.
func TestRepeatsOfOurOwn(t *testing.T) {
	for class, attempts := range map[Class]int{Read: 2, Keyed: 1, Post: 1, Change: 1} {
		result := over(func(r *http.Request) (*http.Response, error) {
			trace := httptrace.ContextClientTrace(r.Context())
			trace.WroteHeaders()
			trace.GotConn(httptrace.GotConnInfo{Conn: brokenConn{}})
			trace.WroteHeaders()
			return answer(401, `{"status":401,"errors":[],"developerMessage":"no such key"}`), nil
		}, true).Do(t.Context(), newCall(func(c *Call) { c.Class = class }))
		assert.Equal(t, attempts, result.Attempts)
		assert.Equal(t, Answered, result.End)
	}
}

// TestPanicsAfterAnUnansweredAttempt: of a write whose last attempt was never sent the earlier one
// counts.
func TestPanicsAfterAnUnansweredAttempt(t *testing.T) {
	for class, want := range map[Class]CallResult{Read: NetworkFailed, Keyed: Unknown, Post: Unknown, Change: Unknown} {
		for unanswered, want := range map[bool]CallResult{true: want, false: NetworkFailed} {
			result := Result{Reason: NeverSent, Unanswered: unanswered}
			result.Lose(class, errors.New("it panicked"))
			assert.Equal(t, want, result.End, "class %v, unanswered: %v", class, unanswered)
		}
	}
}

// TestDeadlines: each attempt has its limit, which covers the body, and all of
// them together have another.
func TestDeadlines(t *testing.T) {
	hang := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
	hangInBody := func(r *http.Request) (*http.Response, error) {
		resp := answer(200, "")
		resp.ContentLength, resp.Body = -1, io.NopCloser(readFunc(func([]byte) (int, error) { <-r.Context().Done(); return 0, r.Context().Err() }))
		return resp, nil
	}
	for name, f := range map[string]inner{"before the answer": hang, "in its body": hangInBody} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			result := do(t, f, func(c *Call) {
				c.Class, c.Method, c.Limits.MaxAttempts, c.Limits.AttemptTimeout = Read, "GET", 3, 10*time.Second
			})
			assert.Equal(t, KindTimeout, result.Kind, name)
			assert.Equal(t, 3, result.Attempts, name)
			assert.Equal(t, 32*time.Second, time.Since(start), name)
		})
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			result := do(t, f, func(c *Call) {
				c.Class, c.Method, c.Limits.MaxAttempts, c.Limits.AttemptTimeout, c.Limits.CallTimeout = Read, "GET", 3, 10*time.Second, 15*time.Second
			})
			assert.Equal(t, KindDeadline, result.Kind, name)
			assert.ErrorIs(t, result.Err, context.DeadlineExceeded)
			assert.Equal(t, 2, result.Attempts, name)
			assert.Equal(t, 15*time.Second, time.Since(start), name)
		})
	}
}

// TestEndedByTheCaller: a write whose context ends after it was sent may have arrived.
func TestEndedByTheCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	result := doBy(ctx, &http.Client{Transport: inner(func(r *http.Request) (*http.Response, error) {
		cancel()
		return nil, r.Context().Err()
	})}, nil, func(c *Call) { c.Class, c.Limits.MaxAttempts = Keyed, 3 })
	assert.Equal(t, ContextEnded, result.Reason)
	assert.Equal(t, Unknown, result.End)
	assert.True(t, result.Unanswered)
	assert.Equal(t, KindCancelled, result.Kind)
}

// TestAnswersThatCameInTime: what ends after the answer has come does not change it.
func TestAnswersThatCameInTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	result := doBy(ctx, &http.Client{Transport: inner(func(*http.Request) (*http.Response, error) { return answer(200, "{}"), nil })}, nil, func(c *Call) {
		c.Class, c.Method, c.Decode = Read, http.MethodGet, func(int, []byte) error { cancel(); return nil }
	})
	assert.Equal(t, Success, result.End)
}

// TestWhatErrorsShow: without a key nothing can repeat it, and names that repeat the body are concealed.
func TestWhatErrorsShow(t *testing.T) {
	result := do(t, func(*http.Request) (*http.Response, error) {
		return answer(400, `{"traceCode":"T-77","developerMessage":"No.","errors":[{"fieldName":"customer-991","messages":["a"]},{"fieldName":"amount","messages":["b"]}]}`), nil
	}, func(c *Call) {
		c.Authorise = func(context.Context) (string, error) { return "", nil }
		c.Body = []byte(`{"customerNumber":"customer-991"}`)
	})
	assert.Equal(t, "T-77", result.Problem.TraceCode)
	assert.Equal(t, []string{"", "amount"}, []string{result.Problem.Fields[0].FieldName, result.Problem.Fields[1].FieldName})
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
