package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quickstream-go/quickstream/internal/contract"
)

// recorder validates all that passes between callers and the sandbox.
type recorder struct {
	doc   *contract.Document
	inner http.RoundTripper
	// closed demands that answers have documented members only.
	closed bool

	mu       sync.Mutex
	next     map[string]bool // addresses of next links
	statuses map[string]map[int]int
	members  map[string]bool // documented members of answers that had a value
	own      map[string]bool // undocumented members and values of answers
	count    int
	problems []string
}

func newRecorder(doc *contract.Document, inner http.RoundTripper, closed bool) *recorder {
	return &recorder{
		doc: doc, inner: inner, closed: closed,
		next: map[string]bool{}, statuses: map[string]map[int]int{}, members: map[string]bool{}, own: map[string]bool{},
	}
}

// ownValues are values that the sandbox answers and the document does not list, and why.
var ownValues = map[string]string{
	"rel=customer":             relation,
	"rel=customers":            relation,
	"rel=list-card-surcharges": relation,
	"rel=payment-batches":      relation,
	"rel=refunds":              relation,
	"rel=single-use-tokens":    relation,
	"rel=transactions":         relation,

	"source=FILE":      "the codes of sources are the facility's",
	"source=RECURRING": "the codes of sources are the facility's",
}

const relation = "the relations of other resources are not listed"

// broughtBack is what the sandbox adds to agreements when it is not closed, and
// what an amendment keeps in them.
const broughtBack = `"addedLater":{"values":[null,1.5,"text"]},`

// wrong marks requests that are wrong on purpose, and are not validated.
type wrong struct{}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	var sent []byte
	if request.Body != nil {
		var err error
		if sent, err = io.ReadAll(request.Body); err != nil {
			return nil, err
		}
		request.Body.Close()
	}
	forward := request.Clone(request.Context())
	forward.Body = io.NopCloser(bytes.NewReader(sent))
	if len(sent) == 0 {
		forward.Body = http.NoBody
	}
	response, err := r.inner.RoundTrip(forward)
	if err != nil {
		return nil, err
	}
	received, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(received))
	seen := request.Clone(request.Context())
	seen.Body = io.NopCloser(bytes.NewReader(bytes.ReplaceAll(sent, []byte(broughtBack), nil)))
	r.exchanged(seen, response, received)
	return response, nil
}

func (r *recorder) exchanged(request *http.Request, response *http.Response, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	op, err := r.doc.Match(request)
	if err != nil {
		r.problem(err.Error())
		return
	}
	if request.Context().Value(wrong{}) == nil && !r.next[request.URL.String()] {
		if err := op.ValidateRequest(request); err != nil {
			r.problem("request: " + err.Error())
		}
	}
	if err := op.ValidateResponse(response.StatusCode, response.Header, body); err != nil {
		r.problem("answer: " + err.Error())
	}
	if r.statuses[op.ID] == nil {
		r.statuses[op.ID] = map[int]int{}
	}
	r.statuses[op.ID][response.StatusCode]++
	if members := op.ResponseMembers(response.StatusCode); members != nil && len(body) > 0 {
		r.compare(fmt.Sprint(op.ID, " ", response.StatusCode), members, body)
	}
	r.remember(body)
}

// compare looks for undocumented members and values, and keeps the documented ones.
func (r *recorder) compare(where string, members []contract.Member, body []byte) {
	unknown, err := contract.Undocumented(members, body)
	unknown = slices.DeleteFunc(unknown, func(what string) bool {
		own := what[strings.LastIndex(what, ".")+1:]
		r.own[own] = true
		return ownValues[own] != ""
	})
	if r.closed && (err != nil || len(unknown) > 0) {
		r.problem(fmt.Sprintf("%s: undocumented %v, %v", where, unknown, err))
	}
	known, err := contract.Documented(members, body)
	if err != nil {
		r.problem(where + ": " + err.Error())
	}
	for _, path := range known {
		r.members[where+" "+path] = true
	}
}

// remember keeps the address of a next link: it is opaque, and the request that
// follows it is the service's own.
func (r *recorder) remember(body []byte) {
	var page struct {
		Links []struct{ Rel, Href string } `json:"links"`
	}
	if json.Unmarshal(body, &page) != nil {
		return
	}
	for _, l := range page.Links {
		if l.Rel == "next" {
			r.next[l.Href] = true
		}
	}
}

func (r *recorder) problem(text string) {
	if !slices.Contains(r.problems, text) {
		r.problems = append(r.problems, text)
	}
}

// ServeHTTP receives the notifications of the sandbox.
func (r *recorder) ServeHTTP(_ http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
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
	op, ok := r.doc.Operation("WEBHOOK " + notification.EventType)
	if !ok {
		if r.closed {
			r.problem("undocumented notification " + notification.EventType)
		}
		return
	}
	r.statuses[op.ID] = map[int]int{http.StatusOK: 1}
	r.compare(op.ID, op.RequestVariants()[0].Members, body)
}

// complain fails the test with what was found.
func (r *recorder) complain(t testing.TB) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.problems {
		t.Error(p)
	}
}
