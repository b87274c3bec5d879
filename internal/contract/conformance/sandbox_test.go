package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quickstream-go/quickstream/sandbox"
)

type object = map[string]any

const (
	visa       = "4242424242424242"
	mastercard = "5163200000000008"
)

// recorder holds what a sandbox answers and posts against the document: it has to be valid, and to
// have no member that is not documented.
type recorder struct {
	doc   *Document
	inner http.RoundTripper

	mu       sync.Mutex
	answered map[string]bool // operations that have succeeded
	problems []string
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.inner.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	op, err := r.doc.Match(request)
	if err != nil {
		return response, nil // an identifier that was left out
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := op.ValidateResponse(response.StatusCode, response.Header, body); err != nil {
		r.problem("answer: " + err.Error())
	}
	r.answered[op.ID] = r.answered[op.ID] || response.StatusCode < http.StatusBadRequest
	if members := op.ResponseMembers(response.StatusCode); members != nil && len(body) > 0 {
		r.closed(fmt.Sprint(op.ID, " ", response.StatusCode), members, body)
	}
	return response, nil
}

// ServeHTTP receives the notifications of the sandbox.
func (r *recorder) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	var notification struct {
		EventType string `json:"eventType"`
	}
	if err != nil || json.Unmarshal(body, &notification) != nil {
		r.problem("a notification cannot be read")
		return
	}
	if err := r.doc.ValidateNotification(request.Header, body); err != nil {
		r.problem("notification: " + err.Error())
	}
	if op, ok := r.doc.Operation("WEBHOOK " + notification.EventType); ok {
		r.answered[op.ID] = true
		r.closed(op.ID, op.RequestVariants()[0].Members, body)
	} else {
		r.problem("undocumented notification " + notification.EventType)
	}
}

// closed looks for undocumented members. Values are what the requests have asked for.
func (r *recorder) closed(where string, members []Member, body []byte) {
	unknown, err := Undocumented(members, body)
	unknown = slices.DeleteFunc(unknown, func(what string) bool { return strings.Contains(what, "=") })
	if err != nil || len(unknown) > 0 {
		r.problem(fmt.Sprintf("%s: undocumented %v, %v", where, unknown, err))
	}
}

func (r *recorder) problem(text string) {
	if !slices.Contains(r.problems, text) {
		r.problems = append(r.problems, text)
	}
}

// rawRequest is a request to the sandbox with the key that its operation takes. A body
// is JSON unless a header says otherwise.
func rawRequest(ctx context.Context, t testing.TB, box *sandbox.Sandbox, method, path string, body []byte, header ...string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, box.URL()+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	key := box.Keys().Secret
	if op, err := document(t).Match(r); err == nil && op.Keys[0] == "publishableKey" {
		key = box.Keys().Publishable
	}
	r.SetBasicAuth(key, "")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

// roundTrip sends a request and reads its answer.
func roundTrip(t testing.TB, transport http.RoundTripper, r *http.Request) (status int, answered []byte) {
	t.Helper()
	response, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answered, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answered
}
