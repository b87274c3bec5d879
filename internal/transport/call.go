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
	// ThreeDS marks the operation on which a 503 means "not enabled", and Named those
	// that create what has a unique name of the caller's, so that a 409 refuses them.
	ThreeDS, Named bool

	// Reference is the caller's name for what is written; it may be empty.
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
	// Before is called once, right before the first attempt. Its error or panic ends
	// the call before anything was sent. It may be nil.
	Before func(ctx context.Context, key string) error
	// Begun is how many attempts have begun, for who has no result because a function of
	// the caller's panicked. It may be nil.
	Begun *int
	// Sink, unless it is nil, says where the body of an answer goes while it
	// arrives; nil for an answer that is read and decoded like any other. Nothing
	// is repeated once something went there.
	Sink func(status int, header http.Header) io.Writer
	// Decode takes a 2xx body. Its error makes the answer inconclusive, unless it is an
	// Unsettled.
	Decode func(status int, body []byte) error
}

// Unsettled is the error of Decode for a decoded answer that does not settle earlier
// attempts without an answer, such as a decline. Without such attempts it is a success.
type Unsettled struct{ Why error }

func (u Unsettled) Error() string { return u.Why.Error() }

// repeats reports whether a trace code shows what the call sends. Nothing is known of the
// form of one, and errors, logs and spans name it.
func (c *Call) repeats(code string) bool {
	within := func(value string) bool { // a shorter one stands there by chance
		return len(value) > 3 && strings.Contains(code, value)
	}
	if within(c.Key) || within(c.Reference) {
		return true
	}
	path, route := strings.Split(c.URL.Path, "/"), strings.Split(c.Route, "/")
	path = path[max(len(path)-len(route), 0):] // below that of the environment
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

// Result is how a call ended.
type Result struct {
	End        CallResult
	Reason     Reason // of the last attempt; empty when there was none
	Unanswered bool   // an attempt of a write may have reached the service unanswered
	Status     int    // of the last answer; 0 when the last attempt had none
	Header     http.Header
	Body       []byte         // of the last answer, capped
	Problem    wire.ErrorBody // what it says, when it is no success
	Err        error          // the cause when there was no usable answer, without addresses
	Kind       Kind
	RetryAfter time.Duration
	Key        string
	Attempts   int
	FirstSent  time.Time // of a write
}
