package webhooks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// The answer waits for the function, and says nothing but its status: a forger learns
// nothing of what is wrong with a signature.
func TestAttack52And56Answers(t *testing.T) {
	t.Parallel()
	basic := []webhooks.VerifierOption{webhooks.WithBasicAuth("user", webhooks.NewSecret("password"))}
	signedAfter := func(d time.Duration) func(*http.Request) {
		return func(r *http.Request) {
			s := sender
			s.Now = func() time.Time { return signedAt.Add(d) }
			r.Header = signedBy(t, s, confirmedBody).Header
		}
	}
	unknown := `{"id":"1","eventType":"payid.created","data":[1]}`
	for name, test := range map[string]struct {
		verifier []webhooks.VerifierOption
		body     string
		change   func(*http.Request)
		result   error
		want     int
		calls    int
	}{
		"genuine":            {nil, confirmedBody, nil, nil, 200, 1},
		"unknown event type": {nil, unknown, nil, nil, 200, 1},
		"function errs":      {nil, confirmedBody, nil, errors.New("database down"), 500, 1},
		"old, says function": {nil, confirmedBody, nil, signature.ErrTooOld, 500, 1},
		"forged": {nil, confirmedBody, func(r *http.Request) {
			r.Header.Set(signature.Header, "t=1707312770123,v1="+strings.Repeat("0", 64))
		}, nil, 401, 0},
		"stale":          {nil, confirmedBody, signedAfter(-time.Hour), nil, 401, 0},
		"future":         {nil, confirmedBody, signedAfter(time.Hour), nil, 401, 0},
		"malformed":      {nil, confirmedBody, func(r *http.Request) { r.Header.Set(signature.Header, "t=1") }, nil, 401, 0},
		"forged nothing": {nil, "", func(r *http.Request) { r.Header = signedBy(t, forger, "").Header }, nil, 401, 0},
		"no body":        {nil, confirmedBody, func(r *http.Request) { r.Body, r.ContentLength = nil, 0 }, nil, 401, 0},
		"unsigned":       {nil, confirmedBody, func(r *http.Request) { r.Header.Del(signature.Header) }, nil, 401, 0},
		"signed twice":   {nil, confirmedBody, func(r *http.Request) { r.Header.Add(signature.Header, "x") }, nil, 401, 0},
		"no credentials": {basic, confirmedBody, nil, nil, 401, 0},
		"credentials":    {basic, confirmedBody, func(r *http.Request) { r.SetBasicAuth("user", "password") }, nil, 200, 1},
		"GET":            {nil, confirmedBody, func(r *http.Request) { r.Method = http.MethodGet }, nil, 405, 0},
		"PUT":            {nil, confirmedBody, func(r *http.Request) { r.Method = http.MethodPut }, nil, 405, 0},
		"HEAD":           {nil, confirmedBody, func(r *http.Request) { r.Method = http.MethodHead }, nil, 405, 0},
		"post":           {nil, confirmedBody, func(r *http.Request) { r.Method = "post" }, nil, 405, 0},
		"no type":        {nil, confirmedBody, func(r *http.Request) { r.Header.Del("Content-Type") }, nil, 200, 1},
		"identity":       {nil, confirmedBody, func(r *http.Request) { r.Header.Set("Content-Encoding", "identity") }, nil, 200, 1},
		"unasked Basic":  {nil, confirmedBody, func(r *http.Request) { r.SetBasicAuth("user", "password") }, nil, 200, 1},
		"unknown length": {nil, confirmedBody, func(r *http.Request) { r.ContentLength = -1 }, nil, 200, 1},
		"gzip second":    {nil, confirmedBody, func(r *http.Request) { r.Header["Content-Encoding"] = []string{"", "gzip"} }, nil, 415, 0},
		"gzip":           {nil, confirmedBody, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, nil, 415, 0},
		"too large":      {nil, strings.Repeat(" ", webhooks.DefaultMaxBody+1), nil, nil, 413, 0},
		"broken off":     {nil, confirmedBody, func(r *http.Request) { r.Body = io.NopCloser(failing{io.ErrUnexpectedEOF}) }, nil, 400, 0},
		"not JSON":       {nil, "<html>", nil, nil, 400, 0},
		"null":           {nil, "null", nil, nil, 400, 0},
		"no id":          {nil, `{"eventType":"x"}`, nil, nil, 400, 0},
		"id twice":       {nil, strings.Replace(confirmedBody, `"id"`, `"id":"1","id"`, 1), nil, nil, 400, 0},
		"type twice":     {nil, strings.Replace(confirmedBody, `"eventType"`, `"EventType":"x","eventType"`, 1), nil, nil, 400, 0},
		// Event refuses it, and it can be stored all the same.
		"status twice": {nil, strings.Replace(confirmedBody, `"status"`, `"Status":"PENDING","status"`, 1), nil, nil, 200, 1},
		// What an error of the function matches does not change the answer.
		"function refuses": {nil, confirmedBody, nil, fmt.Errorf("inner: %w", webhooks.ErrMethod), 500, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &calls{err: test.result}
			h := webhooks.NewHandler(newVerifier(t, test.verifier...), f.handle)
			r := signed(t, test.body)
			if test.change != nil {
				test.change(r)
			}
			w := post(h, r)
			if w.Code != test.want || f.count() != test.calls {
				t.Errorf("answered %d after %d calls, want %d after %d", w.Code, f.count(), test.want, test.calls)
			}
			assert.Empty(t, w.Body.String())
			header := http.Header{}
			if test.want == http.StatusMethodNotAllowed {
				header.Set("Allow", http.MethodPost)
			}
			if name == "no credentials" {
				header.Set("WWW-Authenticate", `Basic realm="webhooks"`)
			}
			assert.Equal(t, header, w.Header())
		})
	}
}

type contextKey struct{}

func TestHandlerLogs(t *testing.T) {
	t.Parallel()
	failing := errors.New("canary: insert into payers")
	for name, test := range map[string]struct {
		request func(*testing.T) *http.Request
		handle  webhooks.Func
		level   string
		status  float64
		event   string
		reason  string
	}{
		"handled": {
			func(t *testing.T) *http.Request { return signed(t, confirmedBody) },
			new(calls).handle, "DEBUG", 200, "payto.agreement.confirmed", "",
		},
		"unknown type": {
			func(t *testing.T) *http.Request { return signed(t, `{"id":"1","eventType":"canary"}`) },
			new(calls).handle, "DEBUG", 200, "unknown", "",
		},
		"function errs": {
			func(t *testing.T) *http.Request { return signed(t, approvedBody) },
			(&calls{err: failing}).handle, "ERROR", 500, "payto.payment.approved", "the function returned an error",
		},
		"function cannot confirm": {
			func(t *testing.T) *http.Request { return signed(t, approvedBody) },
			(&calls{err: fmt.Errorf("%w: %w", webhooks.ErrUnconfirmed, failing)}).handle,
			"ERROR", 500, "payto.payment.approved", webhooks.ErrUnconfirmed.Error(),
		},
		"forged": {
			func(t *testing.T) *http.Request { return signedBy(t, forger, `{"id":"canary","eventType":"canary"}`) },
			new(calls).handle, "WARN", 401, "", signature.ErrMismatch.Error(),
		},
		"no signature": {
			func(t *testing.T) *http.Request {
				r := signed(t, confirmedBody)
				r.Header.Set(signature.Header, "t=1707312770123,v1=canary")
				return r
			},
			new(calls).handle, "WARN", 401, "", signature.ErrMismatch.Error(),
		},
		"not JSON": {
			func(t *testing.T) *http.Request { return signed(t, `canary`) },
			new(calls).handle, "WARN", 400, "", "webhooks: the body is not a notification in JSON",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			h := webhooks.NewHandler(newVerifier(t), test.handle, webhooks.WithLogger(logger))
			r := test.request(t)
			r.Header.Set("User-Agent", "canary")
			r.SetBasicAuth("canary", "canary")
			r.URL.RawQuery = "secret=canary"
			post(h, r)
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			var record map[string]any
			require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &record))
			event, _ := record["event_type"].(string)
			reason, _ := record["reason"].(string)
			if record["level"] != test.level || record["status"] != test.status || event != test.event || reason != test.reason {
				t.Errorf("got %v", record)
			}
			if strings.Contains(strings.ToLower(out.String()), "canary") || strings.Contains(out.String(), "AGR0001") {
				t.Errorf("the log repeats what was received:\n%s", out.String())
			}
		})
	}
}
