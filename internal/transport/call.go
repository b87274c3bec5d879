package transport

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// Limits bound one logical call.
type Limits struct {
	MaxAttempts    int
	AttemptTimeout time.Duration // one attempt, its body included; of a stream, one wait
	CallTimeout    time.Duration // all attempts and waits; 0 means no limit
	WaitMin        time.Duration
	WaitMax        time.Duration
	NoResend       bool // look-up only: a lost answer ends the call
	ResendWindow   time.Duration
}

// Call is one operation with everything that is needed to send it.
type Call struct {
	Operation string // method of the client, such as "Transactions.Pay"
	Method    string
	Route     string // path with the contract's parameter names
	Class     Class
	ThreeDS   bool // a 503 means "not enabled"

	// Reference is the caller's name of the write. Optional.
	Reference string

	URL    *url.URL
	Body   []byte
	Upload *Upload     // takes the place of Body
	Header http.Header // extra members; may be nil
	Accept string      // empty for no header
	Key    string
	Limits *Limits
	// Authorise returns the value of the Authorization header.
	Authorise func(ctx context.Context) (string, error)
	// Before is called once, right before the first attempt. If it fails or panics, nothing is
	// sent. Optional.
	Before func(ctx context.Context, key string) error
	// Life is how long after Before was called an attempt may begin; 0 for no limit.
	Life time.Duration
	// Refusal reports whether an answer that is not in the service's error body refuses a write. A
	// panic is a no. Optional.
	Refusal func(status int, header http.Header, body []byte) bool
	// Begun counts the attempts for a caller without a result, after a panic. Optional.
	Begun *int
	// Sink returns where the body of an answer goes as it arrives, or nil if it is to be read and
	// decoded. Nothing is repeated after that. Optional.
	Sink func(status int, header http.Header) io.Writer
	// Also is a success status that the operation documents besides 200, 201 and 204. Optional.
	Also int
	// Decode decodes the body of a documented success. Its error makes the answer inconclusive,
	// unless it is an Unsettled.
	Decode func(status int, body []byte) error
}

// documents reports whether a 2xx status is a success of the operation.
func (c *Call) documents(status int) bool {
	return status == http.StatusOK || status == http.StatusCreated || status == http.StatusNoContent || status == c.Also
}

// place returns the path below the environment's address.
func (c *Call) place() string {
	path := strings.Split(c.URL.Path, "/")
	return "/" + strings.Join(path[max(len(path)-strings.Count(c.Route, "/"), 0):], "/")
}

// Unsettled is returned by Decode for a decoded answer that does not settle earlier attempts
// without an answer. Without such attempts it is a success.
type Unsettled struct{ Why error }

func (u Unsettled) Error() string { return u.Why.Error() }

// repeats reports whether a trace code repeats what the call sends. Errors, logs and spans show
// trace codes, and their form is not published.
func (c *Call) repeats(code string) bool {
	if c.holds(code, 4) || strings.Contains(c.URL.Path+"?"+c.URL.RawQuery, code) || bytes.Contains(c.Body, []byte(code)) {
		return true
	}
	for _, values := range c.Header {
		if slices.ContainsFunc(values, func(value string) bool { return strings.Contains(value, code) }) {
			return true
		}
	}
	return false
}

// echoes reports whether the name of a field repeats a value that the call sends, whose body holds
// names as well. Errors show the names of fields.
func (c *Call) echoes(name string) bool {
	if c.holds(name, shortestEcho) {
		return true
	}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune(".[]/ ", r) }) {
		_, after, found := bytes.Cut(c.Body, []byte(`"`+part+`"`))
		if found && len(part) >= shortestEcho && !bytes.HasPrefix(after, []byte(":")) {
			return true
		}
	}
	return false
}

// shortestEcho is the shortest value that makes the name of a field suspect: a shorter one may be
// part of a name of the service.
const shortestEcho = 8

// holds reports whether a text contains the call's key, reference, an identifier of its path or the
// value of a header, of at least the given length: a shorter one may be chance.
func (c *Call) holds(text string, shortest int) bool {
	within := func(value string) bool { return len(value) >= shortest && strings.Contains(text, value) }
	if within(c.Key) || within(c.Reference) {
		return true
	}
	path, route := strings.Split(c.URL.Path, "/"), strings.Split(c.Route, "/")
	path = path[max(len(path)-len(route), 0):] // without the environment's path
	for i, value := range path {
		if strings.HasPrefix(route[i], "{") && within(value) {
			return true
		}
	}
	for _, values := range c.Header {
		if slices.ContainsFunc(values, within) {
			return true
		}
	}
	return false
}

// Result says how a call ended.
type Result struct {
	End        CallResult
	Reason     Reason // of the last attempt; empty when there was none
	Unanswered bool   // an attempt of a write may have reached the service unanswered
	Status     int    // of the last answer; 0 when the last attempt had none
	Header     http.Header
	Body       []byte         // of the last answer, capped
	Problem    wire.ErrorBody // its texts, unless it is a success
	Err        error          // why there is no usable answer, without addresses
	Kind       Kind
	RetryAfter time.Duration
	Key        string
	Attempts   int
	FirstSent  time.Time
}
