package webhooks_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// The answer waits for the function, and has nothing but its status: a forger does not learn what
// is wrong with a signature.
func TestAttack52And56Answers(t *testing.T) {
	t.Parallel()
	basic := []webhooks.HandlerOption{webhooks.WithBasicAuth("user", "password")}
	signedAfter := func(d time.Duration) func(*http.Request) {
		return func(r *http.Request) {
			s := sender
			s.Now = func() time.Time { return signedAt.Add(d) }
			r.Header = signedBy(t, s, confirmedBody).Header
		}
	}
	unknown := `{"id":"1","eventType":"payid.created","data":[1]}`
	for name, test := range map[string]struct {
		opts   []webhooks.HandlerOption
		body   string
		change func(*http.Request)
		result error
		want   int
		calls  int
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
		"too large":      {nil, strings.Repeat(" ", webhooks.MaxBody+1), nil, nil, 413, 0},
		"broken off":     {nil, confirmedBody, func(r *http.Request) { r.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)) }, nil, 400, 0},
		"not JSON":       {nil, "<html>", nil, nil, 400, 0},
		"null":           {nil, "null", nil, nil, 400, 0},
		"no id":          {nil, `{"eventType":"x"}`, nil, nil, 400, 0},
		"id twice":       {nil, strings.Replace(confirmedBody, `"id"`, `"id":"1","id"`, 1), nil, nil, 400, 0},
		"type twice":     {nil, strings.Replace(confirmedBody, `"eventType"`, `"EventType":"x","eventType"`, 1), nil, nil, 400, 0},
		// Event refuses it, and it can be stored all the same.
		"status twice": {nil, strings.Replace(confirmedBody, `"status"`, `"Status":"PENDING","status"`, 1), nil, nil, 200, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &calls{err: test.result}
			h := webhooks.NewHandler(newVerifier(t), f.handle, test.opts...)
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

// TestHandlerLogs: a log says how a notification ended, and repeats nothing of the notification.
func TestHandlerLogs(t *testing.T) {
	t.Parallel()
	canary := func(err error) webhooks.Func {
		return func(context.Context, *webhooks.Notification) error { return err }
	}
	for name, test := range map[string]struct {
		request *http.Request
		handle  webhooks.Func
		want    string
	}{
		"handled":       {signed(t, confirmedBody), canary(nil), `"level":"DEBUG","msg":"webhook notification handled","status":200`},
		"function errs": {signed(t, approvedBody), canary(errors.New("canary: insert into payers")), `"level":"ERROR"`},
		"unconfirmed":   {signed(t, approvedBody), canary(fmt.Errorf("%w: canary", webhooks.ErrUnconfirmed)), `"reason":"` + webhooks.ErrUnconfirmed.Error()},
		"forged":        {signedBy(t, forger, `{"id":"canary","eventType":"canary"}`), canary(nil), `"reason":"` + signature.ErrMismatch.Error()},
		"not JSON":      {signed(t, `canary`), canary(nil), `"level":"WARN"`},
	} {
		var out bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		test.request.Header.Set("User-Agent", "canary")
		test.request.URL.RawQuery = "secret=canary"
		post(webhooks.NewHandler(newVerifier(t), test.handle, webhooks.WithLogger(logger)), test.request)
		assert.Contains(t, out.String(), test.want, name)
		assert.NotContains(t, strings.ToLower(out.String()), "canary", name)
		assert.NotContains(t, out.String(), "AGR0001", name)
	}
}
