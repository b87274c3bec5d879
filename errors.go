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

// Sentinels for errors.Is. Each error type says which of them it matches. The error of a write
// matches the sentinel of a status only if the answer is in the service's own words: see the
// package documentation.
var (
	// ErrUnauthorized is a 401: the wrong kind of key, or an expired one. See [Client.Check] about
	// a write whose 401 is not in the service's own words.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden is a 403: the key lacks a permission.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound is a 404. After an unknown outcome it means "not found yet". The error of a
	// Resume never matches it.
	ErrNotFound = errors.New("not found")
	// ErrUnreadableItem is one item of a list that cannot be read. The list continues after it.
	ErrUnreadableItem = errors.New("an item of the list cannot be read")
	// ErrInvalid is a request that was refused, by the service with 400 or 422, or by this package
	// before sending. If something in between sends a write twice, it may pass on the refusal of one
	// request, such as "token used" or "wrong key", although the service executed the other.
	ErrInvalid = errors.New("invalid request")
	// ErrRateLimited is a 429: too many requests, or the token quota is used up.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable is a 503 in the service's own words: the request was not processed. It never
	// matches an unknown outcome.
	ErrUnavailable = errors.New("service unavailable, request not processed")
	// ErrThreeDSNotEnabled is a 503 on 3D Secure authentication. Unless it is in the service's own
	// words it matches [ErrUnavailable] too. Never pay without authentication because of it.
	ErrThreeDSNotEnabled = errors.New("3D Secure is not enabled for the facility")
	// ErrKeyRequired means that the client lacks the kind of key that the operation needs. Nothing
	// was sent.
	ErrKeyRequired = errors.New("API key required")
	// ErrReportNotReady means that the service is still making the report. Ask again in a minute,
	// or use a method that waits.
	ErrReportNotReady = errors.New("report not ready")
	// ErrDeclined means that the transaction was declined or rejected: it took no money.
	ErrDeclined = errors.New("declined")
	// ErrPending means that the transaction has not ended: it may still take the money. Do not call
	// again.
	ErrPending = errors.New("pending")
	// ErrOutcomeUnknown means that a write may have been executed. Do not call again.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrNotSent means that this call provably sent nothing: it may be made again. An
	// [UnknownOutcomeError] never matches it, also not that of a Submit before its claim.
	ErrNotSent = errors.New("nothing was sent")
)

// CallInfo names a call without its values.
type CallInfo struct {
	Operation Operation
	Method    string // HTTP verb
	Route     string // path with parameter names, such as "/transactions/{receiptNumber}"
}

// text names the call; an error made by hand may have no names.
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
	// Message says what the rule requires. It never contains the value.
	Message string
}

// ValidationError lists every rule that a request breaks. Nothing was sent. It matches [ErrInvalid]
// and [ErrNotSent].
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

// NetworkKind classifies a network failure.
type NetworkKind string

// The kinds of network failure.
const (
	NetworkKindDNS               = NetworkKind(transport.KindDNS)               // the host name could not be resolved
	NetworkKindCertificate       = NetworkKind(transport.KindCertificate)       // the certificate is not trusted
	NetworkKindProxy             = NetworkKind(transport.KindProxy)             // the proxy wants credentials
	NetworkKindConnectionRefused = NetworkKind(transport.KindConnectionRefused) // nothing accepts connections
	NetworkKindTLS               = NetworkKind(transport.KindTLS)               // the handshake failed
	NetworkKindTimeout           = NetworkKind(transport.KindTimeout)           // no answer in time
	NetworkKindReset             = NetworkKind(transport.KindReset)             // the connection broke
	NetworkKindCancelled         = NetworkKind(transport.KindCancelled)         // the caller's context was cancelled: matches context.Canceled
	NetworkKindDeadline          = NetworkKind(transport.KindDeadline)          // its deadline or WithTimeout passed: matches context.DeadlineExceeded
	NetworkKindOther             = NetworkKind(transport.KindOther)             // anything else
)

// hint says what usually helps, or "" if nothing general can be said.
func (k NetworkKind) hint() string {
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

// NetworkError is a request without an answer that changed nothing: a write that was never sent,
// which matches [ErrNotSent], or a read that failed. The call may be made again. errors.Is and
// errors.As find the cause, without the address's path and query. One made by hand counts as never
// sent.
type NetworkError struct {
	CallInfo
	Kind     NetworkKind
	Attempts int
	err      error
	sent     bool // if it is the cause of an unknown outcome
}

// Error returns the operation, the kind and the hint.
func (e *NetworkError) Error() string { return "quickstream: " + e.text() + ": " + e.says() }

func (e *NetworkError) says() string {
	text := "network failure (" + string(e.Kind) + ")"
	if e.Kind == NetworkKindCancelled || e.Kind == NetworkKindDeadline {
		text = "ended early (" + string(e.Kind) + ")"
	}
	if e.Method != http.MethodGet && !e.sent {
		text += ", nothing was sent"
	}
	if hint := e.Kind.hint(); hint != "" {
		text += ": " + hint
	}
	return text
}

// Unwrap returns the cause.
func (e *NetworkError) Unwrap() error { return e.err }

// Is matches [ErrNotSent] if nothing was sent, and the context's error if that ended the call.
func (e *NetworkError) Is(target error) bool {
	return target == ErrNotSent && !e.sent ||
		target == context.Canceled && e.Kind == NetworkKindCancelled ||
		target == context.DeadlineExceeded && e.Kind == NetworkKindDeadline
}

// UnknownOutcomeError is a write that may have been executed: the connection broke after sending,
// the context ended, the answer cannot be relied on, or it says that the service does not know. Do
// not make the call again; find out first, as FindOut says. Check for it before the context's error.
//
// It matches [ErrOutcomeUnknown] only, and does not unwrap to its cause, so that no check for
// another error takes it for "not processed".
type UnknownOutcomeError struct {
	CallInfo
	// Intent is for the service's Resume; nil for writes without one.
	Intent *Intent
	// Transaction is what the service answered, if that does not say how it ended; nil otherwise.
	Transaction *Transaction
	// IdempotencyKey is the key of every attempt; "" without one.
	IdempotencyKey string
	// Reference is what to look up: a payment reference, the receipt of a void, a customer number,
	// a payee reference, or a payment file's name.
	Reference string
	// ReceiptNumber is set if only it could be read from the answer. Look it up first.
	ReceiptNumber string
	// FirstSent is the start of the first attempt, by this machine's clock.
	FirstSent time.Time
	Attempts  int
	// Candidates are what a Resume found that settles nothing. None means "not found yet", not "pay
	// again".
	Candidates []Candidate
	// NextLook is when another Resume is useful; zero without a look-up.
	NextLook time.Time
	// FindOut says how to find out what happened.
	FindOut string
	// Cause is the last event, which proves nothing about earlier attempts: a [NetworkError], an
	// [APIError] with the answer's status, or another error. After a 401 call [Client.Check]. For a
	// Resume it is why the look-up failed, or nil.
	Cause error
}

// Candidate is something that a look-up found and that settles nothing. One pointer is set.
type Candidate struct {
	Transaction *Transaction
	Agreement   *Agreement
	PaymentFile *PaymentFile
	// Matches means that everything that could be compared is equal.
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
	text := doNotCallAgain + "quickstream: " + e.text() + ": outcome unknown after " + attempts
	if e.FindOut != "" {
		text += "; " + e.FindOut
	}
	if api, ok := errors.AsType[*APIError](e.Cause); ok {
		answer := *api
		answer.Reason = "" // "not processed" holds for the last attempt only
		text += " (last seen: " + answer.says() + ")"
	} else if seen, ok := errors.AsType[saying](e.Cause); ok {
		text += " (last seen: " + seen.says() + ")"
	} else if errors.Is(e.Cause, ErrNotSent) {
		text += " (" + strings.TrimPrefix(e.Cause.Error(), "quickstream: ") + ")"
	}
	return text
}

// doNotCallAgain begins the text of every error after which another call could take the money twice.
const doNotCallAgain = "do not call again: "

// Is matches [ErrOutcomeUnknown].
func (e *UnknownOutcomeError) Is(target error) bool { return target == ErrOutcomeUnknown }

// DecodeError is a successful answer to a read that could not be decoded, or one item of a list,
// which matches [ErrUnreadableItem]. Nothing was changed.
type DecodeError struct {
	CallInfo
	StatusCode int
	Attempts   int
	err        error
	body       func() []byte
	stranger   string // why something other than the service may have answered
	place      int    // position of an item on its page, from 1
}

// Error returns the operation and the reason, without the body.
func (e *DecodeError) Error() string { return "quickstream: " + e.text() + ": " + e.says() }

func (e *DecodeError) says() string {
	text := "the answer (" + statusText(e.StatusCode) + ") could not be decoded"
	if why, ok := errors.AsType[notOurs](e.err); ok {
		text = "the answer (" + statusText(e.StatusCode) + ") " + string(why)
	}
	if e.stranger != "" {
		text += ": " + e.stranger
	}
	return text
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.err }

// Is matches [ErrUnreadableItem] for an item of a list.
func (e *DecodeError) Is(target error) bool { return target == ErrUnreadableItem && e.place > 0 }

// RawBody returns the JSON that could not be decoded, or the item; for a body that is not JSON, and
// the route that issues keys, what [APIError.RawBody] returns.
func (e *DecodeError) RawBody() []byte {
	if e.body == nil {
		return nil
	}
	return e.body()
}

func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// The fields of these errors can repeat what was sent: Format and MarshalText show Error's text for every
// verb, log handler and encoder, of a pointer and of a value. The fields of the other errors hold no values.

// Format writes Error's text.
func (e UnknownOutcomeError) Format(f fmt.State, verb rune) {
	text := e.Error()
	if verb == 'q' {
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText returns Error's text.
func (e UnknownOutcomeError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// MarshalText returns Error's text.
func (e DeclinedError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// MarshalText returns Error's text.
func (e PendingError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }
