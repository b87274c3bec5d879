package quickstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// Sentinels for errors.Is. Each error type says which of them it matches. The error of a
// write matches the sentinel of a status only if the answer is in the service's own words,
// as the package documentation has them.
var (
	// ErrUnauthorized is a 401: the wrong kind of key, or an expired one. On a write only
	// the service's own words are a refusal. A 401 by something in between is an
	// [UnknownOutcomeError], whose text shows the status: check key and address with
	// [Client.Check].
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden is a 403: the key lacks a permission.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound is a 404. Of Get and ByReference after an unknown outcome it means
	// "not found yet". The error of a Resume never matches it.
	ErrNotFound = errors.New("not found")
	// ErrEmptyList is [List.First] on a list with nothing in it.
	ErrEmptyList = errors.New("the list is empty")
	// ErrUnreadableItem is one item of a list that cannot be read. The list goes on
	// after it.
	ErrUnreadableItem = errors.New("an item of the list cannot be read")
	// ErrInvalid is a request that was refused: by the service with 422, or by
	// this package before it was sent.
	ErrInvalid = errors.New("invalid request")
	// ErrRateLimited is a 429: too many requests, or the token quota is used up. On a
	// write only the service's own words are a refusal. A 429 by something in between is
	// an [UnknownOutcomeError].
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable is a 503 in the service's own error body: the request was
	// not processed. It never matches an unknown outcome.
	ErrUnavailable = errors.New("service unavailable, request not processed")
	// ErrThreeDSNotEnabled is a 503 on 3D Secure authentication; unless it is in the
	// service's own words it matches [ErrUnavailable] too. It is never a reason to pay
	// without authentication.
	ErrThreeDSNotEnabled = errors.New("3D Secure is not enabled for the facility")
	// ErrKeyRequired means that the client was not given the kind of key that
	// the operation needs. Nothing was sent.
	ErrKeyRequired = errors.New("API key required")
	// ErrReportNotReady means that the service is still making the report. Ask
	// again in a minute, or use a method that does.
	ErrReportNotReady = errors.New("report not ready")
	// ErrOutcomeUnknown means that a write may or may not have happened. See
	// [UnknownOutcomeError], and [NotSettledError] for a transaction that was answered.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrNotSent means that nothing was sent, which is proven: the same call may be
	// made again. An [UnknownOutcomeError] never matches it. A Submit that ends before
	// its claim has succeeded is one, because another call may have sent the intent.
	ErrNotSent = errors.New("nothing was sent")
)

// CallInfo names a call without any of its values.
type CallInfo struct {
	Operation Operation
	Method    string // HTTP verb
	Route     string // path with parameter names, such as "/transactions/{receiptNumber}"
}

// text names the call in an error. One made by hand may have no names.
func (c CallInfo) text() string {
	if c == (CallInfo{}) {
		return "a call"
	}
	return string(c.Operation) + " (" + c.Method + " " + c.Route + ")"
}

// Finding is one broken rule of a request.
type Finding struct {
	// Rule is the rule's id, which [WithoutRule] takes.
	Rule string
	// Path is the member of the request, in the service's names.
	Path string
	// Message says what the rule demands. It never contains the value.
	Message string
}

// ValidationError reports every rule that a request breaks. Nothing was sent.
// It matches [ErrInvalid] and [ErrNotSent].
type ValidationError struct {
	Operation Operation
	Findings  []Finding
}

// Error lists the findings.
func (e *ValidationError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "quickstream: %s: nothing was sent:", e.Operation)
	for i, f := range e.Findings {
		if i > 0 {
			b.WriteByte(';')
		}
		fmt.Fprintf(&b, " %s %s [%s]", f.Path, f.Message, f.Rule)
	}
	return b.String()
}

// Is matches [ErrInvalid] and [ErrNotSent].
func (e *ValidationError) Is(target error) bool { return target == ErrInvalid || target == ErrNotSent }

// NetworkKind names a network condition.
type NetworkKind string

// The network conditions that a caller can act on.
const (
	NetworkKindDNS               NetworkKind = NetworkKind(transport.KindDNS)               // the host name could not be resolved
	NetworkKindCertificate       NetworkKind = NetworkKind(transport.KindCertificate)       // the certificate is not trusted
	NetworkKindProxy             NetworkKind = NetworkKind(transport.KindProxy)             // the proxy wants credentials
	NetworkKindConnectionRefused NetworkKind = NetworkKind(transport.KindConnectionRefused) // nothing accepts connections
	NetworkKindTLS               NetworkKind = NetworkKind(transport.KindTLS)               // the handshake failed
	NetworkKindTimeout           NetworkKind = NetworkKind(transport.KindTimeout)           // no answer in time
	NetworkKindReset             NetworkKind = NetworkKind(transport.KindReset)             // the connection broke
	NetworkKindCancelled         NetworkKind = NetworkKind(transport.KindCancelled)         // the caller's context was cancelled: matches context.Canceled
	NetworkKindDeadline          NetworkKind = NetworkKind(transport.KindDeadline)          // its deadline or WithTimeout passed: matches context.DeadlineExceeded
	NetworkKindOther             NetworkKind = NetworkKind(transport.KindOther)             // anything else
)

// Hint says what usually helps, and is "" when nothing general can be said.
func (k NetworkKind) Hint() string {
	switch k {
	case NetworkKindDNS:
		return "the host name could not be resolved; check the environment and this machine's DNS"
	case NetworkKindCertificate:
		return "the server's certificate is not trusted; update this machine's root certificates or use WithRootCAs"
	case NetworkKindProxy:
		return "the proxy wants credentials; pass a proxy URL that has them with WithProxy"
	case NetworkKindConnectionRefused:
		return "nothing accepts connections there; check the environment and firewalls"
	case NetworkKindTLS:
		return "the TLS handshake failed; something between here and the service may be interfering"
	case NetworkKindTimeout:
		return "no answer in time; see WithAttemptTimeout"
	case NetworkKindCancelled:
		return "the context was cancelled, as that of an HTTP request is when its client goes away; go on with another, such as context.WithoutCancel with a limit"
	case NetworkKindDeadline:
		return "the deadline of the context, or the limit of WithTimeout, has passed; go on with a context that has more time"
	default:
		return ""
	}
}

// NetworkError is a request that was not answered and changed nothing: a write
// that never left this machine, which matches [ErrNotSent], or a read that failed in
// any way. It is safe to make the call again. The cause can be reached with
// errors.Is and errors.As, and never contains an address's path or query. One that a
// test makes by hand is a call of which nothing was sent.
type NetworkError struct {
	CallInfo
	Kind     NetworkKind
	Attempts int
	err      error
	sent     bool // as the cause of an unknown outcome
}

// Error returns the operation, the condition and what helps.
func (e *NetworkError) Error() string { return "quickstream: " + e.text() + ": " + e.says() }

func (e *NetworkError) says() string {
	text := "network failure (" + string(e.Kind) + ")"
	if e.Kind == NetworkKindCancelled || e.Kind == NetworkKindDeadline {
		text = "ended early (" + string(e.Kind) + ")"
	}
	if e.Method != http.MethodGet && !e.sent {
		text += ", nothing was sent"
	}
	if hint := e.Kind.Hint(); hint != "" {
		text += ": " + hint
	}
	return text
}

// Unwrap returns the cause.
func (e *NetworkError) Unwrap() error { return e.err }

// Is matches [ErrNotSent] when no request left this machine, and the context's error
// where that has ended.
func (e *NetworkError) Is(target error) bool {
	return target == ErrNotSent && !e.sent ||
		target == context.Canceled && e.Kind == NetworkKindCancelled ||
		target == context.DeadlineExceeded && e.Kind == NetworkKindDeadline
}

// Timeout reports whether the failure was a timeout.
func (e *NetworkError) Timeout() bool {
	return e.Kind == NetworkKindTimeout || e.Kind == NetworkKindDeadline || errors.Is(e.err, context.DeadlineExceeded)
}

// UnknownOutcomeError is a write that may or may not have happened: the
// connection broke after sending, the context ended, or the answer cannot be
// relied on. It is neither a success nor a failure. Do not make the call again
// before having found out; FindOut says how. Ask the error and not the context: that a
// context has ended says nothing about the payment.
//
// It matches [ErrOutcomeUnknown] and nothing else: not the context's error either,
// which middleware takes for "not done". It does not unwrap to its cause, so that
// no check for another error can mistake it for "not processed".
type UnknownOutcomeError struct {
	CallInfo
	// Intent is what the service's Resume takes. It is nil for writes that have
	// none.
	Intent *Intent
	// IdempotencyKey is the key that every attempt of the call carried; "" for
	// operations that have none.
	IdempotencyKey string
	// Reference is what to look for: the payment reference of a transaction, the
	// receipt of a void, the customer number of a customer, the payee reference
	// of an agreement, the name of a payment file.
	Reference string
	// ReceiptNumber is set when the answer could not be decoded but its receipt
	// number could be read. It is the best thing to look up.
	ReceiptNumber string
	// FirstSent is when the first attempt began, by this machine's clock.
	FirstSent time.Time
	Attempts  int
	// Candidates are what a Resume found that settles nothing, with the reasons. None
	// means "not found yet", and is no permission to pay again.
	Candidates []Candidate
	// NextLook is when another Resume can show more, at the earliest; zero when no
	// look was made.
	NextLook time.Time
	// FindOut says in one or two sentences how to find out what happened.
	FindOut string
	// Cause is the last thing that was seen: a network error, or the answer to a
	// later attempt, which proves nothing about an earlier one: an [APIError], or
	// another error that says that the later attempt was not approved. Of a Resume
	// it is why the look-up failed, and nil when it did not.
	Cause error
}

// Candidate is something that a look for a lost write has found, and that does not
// settle it. One of the pointers is set.
type Candidate struct {
	Transaction *Transaction
	Agreement   *Agreement
	PaymentFile *PaymentFile
	// Matches is true if it is the write's by everything that could be compared.
	Matches bool
	// Reasons say why it settles nothing.
	Reasons []string
}

// Error returns the operation and how to find out.
func (e *UnknownOutcomeError) Error() string {
	attempts := strconv.Itoa(e.Attempts) + " attempt(s)"
	if e.Attempts == 0 {
		attempts = "an unknown number of attempts"
	}
	text := "quickstream: " + e.text() + ": outcome unknown after " + attempts + "; do not repeat it with new data"
	if e.FindOut != "" {
		text += "; " + e.FindOut
	}
	if api, ok := errors.AsType[*APIError](e.Cause); ok {
		answer := *api
		answer.Reason = "" // "not processed" would be said of the last attempt alone
		text += " (last seen: " + answer.says() + ")"
	} else if seen, ok := errors.AsType[saying](e.Cause); ok {
		text += " (last seen: " + seen.says() + ")"
	} else if errors.Is(e.Cause, ErrNotSent) {
		text += " (" + strings.TrimPrefix(e.Cause.Error(), "quickstream: ") + ")"
	}
	return text
}

// Is matches [ErrOutcomeUnknown].
func (e *UnknownOutcomeError) Is(target error) bool { return target == ErrOutcomeUnknown }

// DecodeError is a success of a read that could not be understood, or one item of a
// list, which matches [ErrUnreadableItem]. Nothing was changed by it.
type DecodeError struct {
	CallInfo
	StatusCode int
	Attempts   int
	err        error
	body       func() []byte
	stranger   string // why it may not be the service that answered
	place      int    // of an item on its page, from 1
}

// Error returns the operation and what was wrong, without the body.
func (e *DecodeError) Error() string { return "quickstream: " + e.text() + ": " + e.says() }

func (e *DecodeError) says() string {
	text := "the answer (" + statusText(e.StatusCode) + ") could not be decoded"
	if e.stranger != "" {
		text += ": " + e.stranger
	}
	return text
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.err }

// Is matches [ErrUnreadableItem] for an item of a list.
func (e *DecodeError) Is(target error) bool { return target == ErrUnreadableItem && e.place > 0 }

// RawBody returns the JSON that could not be decoded, or the item alone, and of any other
// body what RawBody of an [APIError] does. Of the route that issues keys it is nil.
func (e *DecodeError) RawBody() []byte {
	if e.body == nil {
		return nil
	}
	return e.body()
}

func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// The error structs hold messages and references that may repeat what was sent.
// Every verb, log handler and encoder therefore gets the same text as Error, from
// a pointer and from a value: log/slog asks for MarshalText too.

func formatError(f fmt.State, verb rune, err error) {
	text := err.Error()
	if verb == 'q' {
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(f, text)
}

// Format writes what Error returns, for every verb.
func (e ValidationError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e ValidationError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e APIError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e APIError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e NetworkError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e NetworkError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e UnknownOutcomeError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e UnknownOutcomeError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e DecodeError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e DecodeError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e DeclinedError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e DeclinedError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e NotSettledError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e NotSettledError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }
