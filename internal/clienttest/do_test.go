package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestDoSends looks at the request itself.
func TestDoSends(t *testing.T) {
	for method, body := range map[string]any{"GET": nil, "POST": map[string]string{"a": "<b>"}, "PUT": json.RawMessage(`{"a":"<b>"}`), "PATCH": struct {
		A string `json:"a"`
	}{"<b>"}, "DELETE": nil} {
		var sent *http.Request
		var content []byte
		client := clientOf(t, func(r *http.Request) (*http.Response, error) {
			if sent = r; r.Body != nil {
				var err error
				content, err = io.ReadAll(r.Body)
				require.NoError(t, err)
			}
			return answer(200, `{"id":7}`), nil
		})
		into := struct{ ID, Other int }{Other: 1}
		require.NoError(t, client.Do(t.Context(), quickstream.Request{
			Method: method, Route: "/customers/{customerId}/notes/{noteId}", Path: []string{"C:1", `"2"`}, Query: url.Values{"q": {"a&b"}}, Body: body,
			Publishable: method == "DELETE",
		}, &into, quickstream.WithHeader("X-Own", "1")), method)
		assert.Equal(t, struct{ ID, Other int }{ID: 7}, into, "what was there is replaced")
		assert.Equal(t, method, sent.Method)
		assert.Equal(t, "/rest/v1/customers/C:1/notes/%222%22?q=a%26b", sent.URL.RequestURI())
		user, _, _ := sent.BasicAuth()
		assert.Equal(t, map[bool]string{true: "PUBLISHABLE_KEY_1", false: "SECRET_KEY_1"}[method == "DELETE"], user)
		assert.Equal(t, "1", sent.Header.Get("X-Own"))
		assert.Equal(t, "application/json", sent.Header.Get("Accept"))
		assert.Equal(t, method == "POST", sent.Header["idempotency-key"] != nil) //nolint:staticcheck // not canonical on purpose
		if assert.Equal(t, body != nil, content != nil, method); body != nil {
			assert.Equal(t, `{"a":"<b>"}`, string(content))
			assert.Equal(t, "application/json", sent.Header.Get("Content-Type"))
		}
	}
}

// TestDoFails: each method has the column of the retry table that it belongs to, and an error changes
// nothing.
func TestDoFails(t *testing.T) {
	lost := func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for name, way := range map[string]struct {
		service            service
		read, post, change string
		reads, writes      int
	}{
		"lost":   {lost, network, unknown, unknown, 3, 1},
		"409":    {says(409, errorBody), answered, unknown, answered, 1, 1},
		"broken": {says(200, `{"a":`), decoding, unknown, unknown, 3, 1},
	} {
		for method, want := range map[string]string{"GET": way.read, "POST": way.post, "PUT": way.change, "PATCH": way.change, "DELETE": way.change} {
			synctest.Test(t, func(t *testing.T) {
				var resp quickstream.Response
				into := map[string]map[string]int{"before": nil}
				err := clientOf(t, way.service).Do(t.Context(), quickstream.Request{Method: method, Route: "/notes"}, &into, quickstream.WithResponseInto(&resp))
				assert.Equal(t, want, ending(err), "%s, %s: %v", name, method, err)
				assert.Equal(t, map[bool]int{true: way.reads, false: way.writes}[method == "GET"], resp.Attempts, "%s, %s", name, method)
				assert.Contains(t, into, "before", "an error changes nothing")
			})
		}
	}
}

func TestDoReadsAnswers(t *testing.T) {
	do := func(s service, into any) error {
		return clientOf(t, s).Do(t.Context(), quickstream.Request{Method: "POST", Route: "/notes"}, into)
	}
	require.NoError(t, do(says(200, "<html>"), nil), "nobody looks")
	list, raw, anything := []int{9}, json.RawMessage(nil), any(nil)
	require.NoError(t, do(says(200, "[1,2]"), &list))
	assert.Equal(t, []int{1, 2}, list)
	require.NoError(t, do(says(204, ""), &list))
	assert.Nil(t, list)
	require.NoError(t, do(says(200, ` {"b":1.50}`), &raw))
	assert.JSONEq(t, `{"b":1.50}`, string(raw))
	require.NoError(t, do(says(201, `{"b":true}`), &anything))
	assert.Equal(t, map[string]any{"b": true}, anything)
}

// TestDoRefuses what cannot be right before anything is sent, whatever rules are
// switched off, and without repeating it.
func TestDoRefuses(t *testing.T) {
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return answer(422, ""), nil
	})
	refuse := func(rule string, request quickstream.Request, into any) {
		err := client.Do(t.Context(), request, into, quickstream.WithoutRule(rule))
		invalid, ok := errors.AsType[*quickstream.ValidationError](err)
		require.True(t, ok, "%s, %+v: %v", rule, request, err)
		require.ErrorIs(t, err, quickstream.ErrInvalid)
		assert.Equal(t, rule, invalid.Findings[0].Rule)
		assert.Len(t, invalid.Findings, 1, "%v", err)
		assert.Empty(t, secretIn(err.Error()))
	}
	for _, method := range []string{"", "get", "HEAD", "OPTIONS", "CONNECT", "POST "} {
		refuse("request.method", quickstream.Request{Method: method, Route: "/notes"}, nil)
	}
	for _, route := range []string{
		"", "/", "notes", "//notes", "/notes/", "/notes//x", "/..", "/../v2/notes", "/notes/..", "/notes/.", "/./notes", `/notes\x`, "https://evil.invalid/notes",
		"//evil.invalid/notes", "/https://evil.invalid", "@evil.invalid/", "/notes?x=1", "/notes#x", "/notes;x=1", "/%2e%2e/notes", "/no tes", "/notes\n", "/nötes",
		"/{}", "/{a}b", "/a{b}", "/{a", "/a}", "/{{a}}", "/{a b}", "/{a.b}", "/customers/" + callCard + "/notes", "/customers/1", "/transactions.json",
	} {
		refuse("request.route", quickstream.Request{Method: "GET", Route: route, Path: slices.Repeat([]string{"x"}, strings.Count(route, "{"))}, nil)
	}
	refuse("request.path", quickstream.Request{Method: "GET", Route: "/a/{b}"}, nil)
	refuse("request.path", quickstream.Request{Method: "GET", Route: "/a/{b}", Path: []string{"1", callHandle}}, nil)
	refuse("request.path", quickstream.Request{Method: "GET", Route: "/a", Path: []string{callHandle}}, nil)
	refuse("path.b", quickstream.Request{Method: "GET", Route: "/a/{b}", Path: []string{"../" + callHandle}}, nil)
	refuse("request.body", quickstream.Request{Method: "GET", Route: "/a", Body: map[string]any{}}, nil)
	for _, into := range []any{1, "x", map[string]any{}, struct{}{}, (*int)(nil)} {
		refuse("request.into", quickstream.Request{Method: "GET", Route: "/a"}, into)
	}
	refuse("request.modelled", quickstream.Request{Method: "POST", Route: "/{resource}", Path: []string{"transactions"}, Body: payment()}, nil)

	err := client.Do(t.Context(), quickstream.Request{Method: "POST", Route: "/a", Body: map[string]any{"cardNumber": quickstream.NewSecret(callCard)}}, nil)
	require.ErrorContains(t, err, "nothing was sent")
	assert.Empty(t, secretIn(err.Error()))
	for _, number := range []string{callCard + "x", callHandle, "1.2.3" + callCard} {
		err = client.Do(t.Context(), quickstream.Request{Method: "POST", Route: "/a", Body: map[string]any{"amount": json.Number(number)}}, nil)
		require.ErrorContains(t, err, "nothing was sent")
		for ; err != nil; err = errors.Unwrap(err) {
			assert.Empty(t, secretIn(err.Error()))
		}
	}
	err = client.Do(t.Context(), quickstream.Request{Method: "PUT", Route: "/a"}, nil, quickstream.WithIdempotencyKey(callKey))
	require.ErrorContains(t, err, "not a POST")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, client.Do(ended, quickstream.Request{Method: "POST", Route: "/a"}, nil), context.Canceled)
}
