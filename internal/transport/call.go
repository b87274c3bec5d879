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
	// ThreeDS: a 503 means "not enabled". Named: the write has a unique name of the caller's, so a
	// 409 refuses it.
	ThreeDS, Named bool

	// Reference is the caller's name of the write. Optional.
	Reference string

	URL    *url.URL
	Body   []byte
	Upload *Upload     // takes the place of Body
	Header http.Header // extra members; may be nil
	Accept string
	Key    string
	Limits *Limits
	// Authorise returns the value of the Authorization header.
	Authorise func(ctx context.Context) (string, error)
	// Before is called once, right before the first attempt. If it fails or panics, nothing is
	// sent. Optional.
	Before func(ctx context.Context, key string) error
	// Begun counts the attempts for a caller without a result, after a panic. Optional.
	Begun *int
	// Sink returns where the body of an answer goes as it arrives, or nil if it is to be read and
	// decoded. Nothing is repeated after that. Optional.
	Sink func(status int, header http.Header) io.Writer
	// Decode decodes a 2xx body. Its error makes the answer inconclusive, unless it is an
	// Unsettled.
	Decode func(status int, body []byte) error
}

// Unsettled is returned by Decode for a decoded answer that does not settle earlier attempts
// without an answer. Without such attempts it is a success.
type Unsettled struct{ Why error }

func (u Unsettled) Error() string { return u.Why.Error() }

// repeats reports whether a trace code repeats what the call sends. Errors, logs and spans show
// trace codes, and their form is not published.
func (c *Call) repeats(code string) bool {
	within := func(value string) bool { // a shorter one may be chance
		return len(value) > 3 && strings.Contains(code, value)
	}
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
		if slices.ContainsFunc(values, func(value string) bool { return within(value) || strings.Contains(value, code) }) {
			return true
		}
	}
	return strings.Contains(c.URL.Path+"?"+c.URL.RawQuery, code) || bytes.Contains(c.Body, []byte(code))
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
	FirstSent  time.Time // of a write
}
