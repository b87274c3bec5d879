package transport

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ownWords = `{"customerMessage":"Please try again later."}`

// inner is the RoundTripper of a test, in place of a connection.
type inner func(*http.Request) (*http.Response, error)

func (f inner) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewBufferString(body)), ContentLength: int64(len(body))}
}

// do carries out one call with one attempt.
func do(t *testing.T, f inner, change func(*Call)) *Result {
	t.Helper()
	call := &Call{
		Method: http.MethodPost, URL: &url.URL{Scheme: "https", Host: "h.invalid", Path: "/"}, Class: Post, Accept: []string{"application/json"},
		Limits:    &Limits{MaxAttempts: 1, AttemptTimeout: time.Minute, WaitMin: time.Second, WaitMax: time.Second},
		Authorise: func(context.Context) ([]string, error) { return []string{"Basic a2V5Og=="}, nil },
		Decode:    func(int, []byte) error { return nil },
	}
	if change != nil {
		change(call)
	}
	return New(&http.Client{Transport: f}, Observer{}).Do(t.Context(), call)
}

// TestEveryStatus gives each status, with three bodies, its row of the table.
func TestEveryStatus(t *testing.T) {
	want := func(status int, own, threeDS bool) Situation {
		switch {
		case status >= 200 && status < 300:
			return Succeeded
		case status >= 300 && status < 400:
			return Redirected
		case status == 407:
			return NeverSent
		case status == 429:
			return Throttled
		case status == 503 && own && threeDS:
			return NotEnabled
		case status == 503 && own:
			return Unavailable
		case status != 408 && status >= 400 && status < 500:
			return Refused
		default:
			return Failed
		}
	}
	for status := 100; status < 1000; status++ {
		for body, own := range map[string]bool{ownWords: true, "<html>": false, "": false} {
			for _, threeDS := range []bool{false, true} {
				r := runOf(Keyed, Result{}, Limits{})
				r.call.ThreeDS = threeDS
				r.call.Decode = func(int, []byte) error { return nil }
				r.answered(answer(status, body), new(trace)) //nolint:bodyclose // answered closes it
				assert.Equal(t, want(status, own, threeDS), r.last.Situation, "%d %s", status, body)
				if status != 407 {
					assert.Equal(t, status, r.last.Status)
				}
			}
		}
	}
}

func TestUndecodableSuccess(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range Classes() {
		r := runOf(c, Result{}, Limits{})
		r.call.Decode = func(int, []byte) error { return broken }
		r.answered(answer(200, `{"receiptNumber":"1"}`), new(trace)) //nolint:bodyclose // answered closes it
		assert.Equal(t, Failed, r.last.Situation)
		assert.ErrorIs(t, r.last.Err, broken)
		assert.JSONEq(t, `{"receiptNumber":"1"}`, string(r.last.Body), "what it says is kept")
	}
}

// TestBrokenBody: an answer whose body breaks off has arrived all the same, and
// what could be read is kept.
func TestBrokenBody(t *testing.T) {
	for _, c := range Classes() {
		for _, status := range []int{200, 422, 503} {
			r := runOf(c, Result{}, Limits{})
			r.ctx = t.Context()
			r.call.Decode = func(int, []byte) error { t.Error("half a body was decoded"); return nil }
			resp := answer(status, `{"receiptNumber":"1"`) //nolint:bodyclose // answered closes it
			resp.ContentLength = 100
			r.answered(resp, new(trace))
			assert.Equal(t, status, r.last.Status)
			switch {
			case status == 200 && c == Read:
				assert.Equal(t, Lost, r.last.Situation, "a read is simply made again")
			case status == 200:
				assert.Equal(t, Failed, r.last.Situation)
				assert.Equal(t, `{"receiptNumber":"1"`, string(r.last.Body))
			case status == 422:
				assert.Equal(t, Refused, r.last.Situation)
			default:
				assert.Equal(t, Failed, r.last.Situation, "half an error body is not the service's own")
			}
		}
	}
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
	huge := &http.Response{StatusCode: 200, Body: io.NopCloser(iotest.OneByteReader(io.LimitReader(blanks{}, 32<<20))), ContentLength: -1}
	got, err := readBody(huge, false)
	assert.ErrorIs(t, err, errTooLarge)
	assert.Len(t, got, maxErrorBody)
}

type blanks struct{}

func (blanks) Read(p []byte) (int, error) { return len(p), nil }

// TestWhatWasSent: a write that ended without an answer may have arrived, unless
// it is certain that no connection was there to send it on.
func TestWhatWasSent(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		events func(*httptrace.ClientTrace)
		want   Situation
	}{
		"no events at all": {func(*httptrace.ClientTrace) {}, Lost},
		"no connection":    {func(h *httptrace.ClientTrace) { h.GetConn("h:443") }, NeverSent},
		"connected":        {func(h *httptrace.ClientTrace) { h.GetConn("h:443"); h.GotConn(httptrace.GotConnInfo{}) }, Lost},
		"headers written": {func(h *httptrace.ClientTrace) {
			h.GetConn("h:443")
			h.GotConn(httptrace.GotConnInfo{})
			h.WroteHeaders()
		}, Lost},
		"connected, then redials": {func(h *httptrace.ClientTrace) { h.GotConn(httptrace.GotConnInfo{}); h.GetConn("h:443") }, Lost},
	} {
		result := do(t, func(r *http.Request) (*http.Response, error) {
			c.events(httptrace.ContextClientTrace(r.Context()))
			return nil, broken
		}, nil)
		assert.Equal(t, c.want, result.Situation, name)
		assert.Equal(t, c.want == Lost, result.Unanswered, name)
		assert.Equal(t, map[Situation]Verdict{Lost: Unknown, NeverSent: Network}[c.want], result.Verdict, name)
		assert.Equal(t, broken, result.Err, name)
		assert.Equal(t, 1, result.Attempts, name)
	}
}

// TestRepeatsOfNetHTTPAreCounted: net/http may send a request again by itself,
// below every limit of this package.
func TestRepeatsOfNetHTTPAreCounted(t *testing.T) {
	result := do(t, func(r *http.Request) (*http.Response, error) {
		for range 3 {
			httptrace.ContextClientTrace(r.Context()).WroteHeaders()
		}
		return answer(200, `{}`), nil
	}, nil)
	assert.Equal(t, Success, result.Verdict)
	assert.Equal(t, 3, result.Attempts)
}

func TestRequestShape(t *testing.T) {
	for _, method := range []string{"GET", "POST", "PUT", "PATCH"} {
		for _, body := range [][]byte{nil, []byte(`{"a":1}`)} {
			var seen *http.Request
			config := http.Header{"X-Own": {"1", "2"}}
			result := do(t, func(r *http.Request) (*http.Response, error) { seen = r; return answer(204, ""), nil }, func(c *Call) {
				c.Method, c.Body, c.Header = method, body, config
			})
			require.Equal(t, Success, result.Verdict)
			want := http.Header{"Authorization": {"Basic a2V5Og=="}, "Accept": {"application/json"}, "X-Own": {"1", "2"}}
			if method == "POST" {
				require.Len(t, result.Key, 26)
				want[keyHeader] = []string{result.Key}
			} else {
				assert.Empty(t, result.Key)
			}
			if body != nil {
				want["Content-Type"] = []string{"application/json"}
				assert.EqualValues(t, len(body), seen.ContentLength)
			}
			assert.Equal(t, want, seen.Header)
			assert.Equal(t, http.Header{"X-Own": {"1", "2"}}, config)
		}
	}
	own := do(t, func(*http.Request) (*http.Response, error) { return answer(204, ""), nil }, func(c *Call) { c.Key = "mine" })
	assert.Equal(t, "mine", own.Key)
}

// TestLocalEnd: without credentials nothing is sent.
func TestLocalEnd(t *testing.T) {
	missing := errors.New("no key")
	result := do(t, func(*http.Request) (*http.Response, error) { t.Error("sent"); return nil, io.EOF }, func(c *Call) {
		c.Authorise = func(context.Context) ([]string, error) { return nil, missing }
	})
	assert.Equal(t, Local, result.Verdict)
	assert.Equal(t, missing, result.Err)
	assert.Zero(t, result.Attempts)
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
			assert.Equal(t, KindContext, result.Kind, name)
			assert.ErrorIs(t, result.Err, context.DeadlineExceeded)
			assert.Equal(t, 2, result.Attempts, name)
			assert.Equal(t, 15*time.Second, time.Since(start), name)
		})
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

func TestObserverSeesEverything(t *testing.T) {
	type key struct{}
	var attempts []Attempt
	ended := 0
	observer := Observer{
		Start: func(ctx context.Context, _ *Call) context.Context { return context.WithValue(ctx, key{}, "trace") },
		Attempt: func(ctx context.Context, _ *Call, a Attempt) {
			assert.Equal(t, "trace", ctx.Value(key{}))
			attempts = append(attempts, a)
		},
		End: func(ctx context.Context, _ *Call, r *Result, _ time.Duration) {
			assert.Equal(t, "trace", ctx.Value(key{}))
			assert.Equal(t, Answered, r.Verdict)
			ended++
		},
	}
	synctest.Test(t, func(t *testing.T) {
		f := inner(func(r *http.Request) (*http.Response, error) {
			assert.Equal(t, "trace", r.Context().Value(key{}))
			if len(attempts) == 0 {
				return nil, io.EOF
			}
			return answer(500, ""), nil
		})
		New(&http.Client{Transport: f}, observer).Do(t.Context(), &Call{
			Method: "GET", URL: &url.URL{Scheme: "https", Host: "h.invalid"},
			Limits:    &Limits{MaxAttempts: 2, AttemptTimeout: time.Minute, WaitMin: time.Second, WaitMax: time.Second},
			Authorise: func(context.Context) ([]string, error) { return []string{"x"}, nil },
		})
	})
	assert.Equal(t, []Attempt{{Number: 1, Kind: KindReset}, {Number: 2, Status: 500}}, attempts)
	assert.Equal(t, 1, ended)
}
