package transport

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
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

	// Reference is the caller's reference of the write. Optional.
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
	// Refusal reports whether an answer without the service's error body refuses a write. A panic
	// counts as no. Optional.
	Refusal func(status int, header http.Header, body []byte) bool
	// Begun counts the attempts for a caller that gets no result because of a panic. Optional.
	Begun *int
	// Sink returns the writer for the body of an answer as it arrives, or nil to read and decode
	// the body. Nothing is repeated after that. Optional.
	Sink func(status int, header http.Header) io.Writer
	// Also is a success status that the operation documents besides 200, 201 and 204. Optional.
	Also int
	// Decode decodes the body of a documented success. Its error makes the answer inconclusive,
	// unless it is an Unsettled.
	Decode func(status int, body []byte) error
}

// NewKey returns a random idempotency key. It is a UUID (version 4), because a service may take no
// other form.
func NewKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
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

// repeats reports whether a text of an error body repeats a value that the call sends. Errors, logs and spans show
// trace codes and the names of fields, whose form is not published. A match of a shorter value may be chance.
func (c *Call) repeats(text string) bool {
	const shortest = 4
	within := func(value string) bool { return len(value) >= shortest && strings.Contains(text, value) }
	sent := []string{c.Key, c.Reference}
	path, route := strings.Split(c.URL.Path, "/"), strings.Split(c.Route, "/")
	path = path[max(len(path)-len(route), 0):] // without the environment's path
	for i, value := range path {
		if strings.HasPrefix(route[i], "{") {
			sent = append(sent, value)
		}
	}
	for _, values := range c.Header {
		sent = append(sent, values...)
	}
	for _, values := range c.URL.Query() {
		sent = append(sent, values...)
	}
	var body any
	_ = json.Unmarshal(c.Body, &body) // an upload has none
	return slices.ContainsFunc(append(sent, texts(body)...), within)
}

// texts returns the texts of a JSON value, without the names of its members.
func texts(value any) (all []string) {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []any:
		for _, v := range value {
			all = append(all, texts(v)...)
		}
	case map[string]any:
		for _, v := range value {
			all = append(all, texts(v)...)
		}
	}
	return all
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
