package quickstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// Sentinels for errors.Is. Each error type says which of them it matches. The error of a write
// matches the sentinel of a status only if the answer has the service's error body: see the package
// documentation.
var (
	// ErrUnauthorized is a 401: the wrong kind of key, or an expired one. If the 401 of a write
	// lacks the service's error body, see [Client.Check].
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden is a 403: the key lacks a permission.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound is a 404. After an unknown outcome it means "not found yet". The error of a
	// Resume never matches it.
	ErrNotFound = errors.New("not found")
	// ErrUnreadableItem is one item of a list that cannot be read. The list continues after it.
	ErrUnreadableItem = errors.New("an item of the list cannot be read")
	// ErrInvalid is a request that was refused, by the service with 400 or 422, or by this package
	// before sending. A proxy that sends a write twice may pass on the refusal of one request, such as
	// "token used" or "wrong key", although the service executed the other.
	ErrInvalid = errors.New("invalid request")
	// ErrRateLimited is a 429: too many requests, or the token quota is used up.
	ErrRateLimited = errors.New("rate limited")
	// ErrUnavailable is a 503 with the service's error body: the request was not processed. It
	// never matches an unknown outcome.
	ErrUnavailable = errors.New("service unavailable, request not processed")
	// ErrThreeDSNotEnabled is a 503 on 3D Secure authentication. Without the service's error body
	// it matches [ErrUnavailable] too. Never pay without authentication because of it.
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
	// [UnknownOutcomeError] never matches it, not even that of a Submit before its claim.
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

// FieldError is one field that the service refused. FieldName is "" if the service does not name
// the field. The refused value is not kept.
type FieldError struct {
	FieldName string
	Messages  []string
}

// APIError is an answer that refuses the request: a write was not executed. For a read it may also
// be a failure that outlasted the attempts.
//
// It matches the sentinel of its [Reason], also if made by hand: &APIError{Reason: ReasonNotFound}
// matches [ErrNotFound]. Printing shows the operation, the status and the trace code. Methods
// return the messages.
type APIError struct {
	CallInfo
	StatusCode int
	// Reason is the meaning of the answer.
	Reason Reason
	// TraceCode identifies the request for the service's technical support. It is "" if it repeats
	// a value of the request.
	TraceCode string
	// RetryAfter is the pause that the service asked for; zero if none.
	RetryAfter time.Duration
	Attempts   int

	body    func() errorBody // a function, because it may repeat values of the request
	foreign string           // why something other than the service may have answered
}

type errorBody struct {
	customer, developer string
	fields              []FieldError
	raw                 []byte
	fromService         bool // the service's, not a proxy's or gateway's
}

// Error returns the operation, the status, the trace code and what to do.
func (e *APIError) Error() string { return "quickstream: " + e.text() + ": " + e.describe() }

func (e *APIError) describe() string {
	text := "the service answered " + statusText(e.StatusCode)
	switch {
	case e.StatusCode == 0: // made in a test
		text = strings.TrimSuffix("the service answered: "+strings.ReplaceAll(string(e.Reason), "_", " "), ": ")
	case e.foreign != "":
		text = "answered " + statusText(e.StatusCode)
	}
	for _, why := range []string{e.Reason.hint(), e.foreign} {
		if why != "" {
			text += ": " + why
		}
	}
	names := []string{}
	for _, f := range e.Fields() {
		if f.FieldName != "" {
			names = append(names, safeName(f.FieldName, 4))
		}
	}
	if len(names) > 0 {
		text += " (fields: " + strings.Join(names, ", ") + ")"
	}
	if e.TraceCode != "" {
		text += ", trace code " + safeName(e.TraceCode, 64)
	}
	return text
}

// Is matches the sentinels of the reason.
func (e *APIError) Is(target error) bool {
	return slices.Contains(e.Reason.sentinels(), target) || target == wire.ErrFromService && e.contents().fromService
}

func (e *APIError) contents() (b errorBody) {
	if e.body != nil {
		b = e.body()
	}
	return b
}

// CustomerMessage returns the message for the end user. Messages may change: do not match on their
// text.
func (e *APIError) CustomerMessage() string { return e.contents().customer }

// DeveloperMessage returns the message for logs. It may repeat values of the request.
func (e *APIError) DeveloperMessage() string { return e.contents().developer }

// Fields returns the errors of single fields, ten at most.
func (e *APIError) Fields() []FieldError { return e.contents().fields }

// RawBody returns the body of the answer: at most 256 KiB of JSON without the values of members
// that repeat secrets, or the first 16 KiB of anything else without numbers that may be a card's. A
// secret in a sentence of the service can remain. It is nil for the route that issues keys.
func (e *APIError) RawBody() []byte { return e.contents().raw }

func (c *call) apiError(r *transport.Result) *APIError {
	body := errorBody{customer: r.Problem.CustomerMessage, developer: r.Problem.DeveloperMessage, raw: c.rawBody(r), fromService: r.Problem.FromService}
	for _, f := range r.Problem.Fields {
		body.fields = append(body.fields, FieldError(f))
	}
	return &APIError{
		CallInfo: c.info(), StatusCode: r.Status, Reason: Reason(r.Reason), TraceCode: r.Problem.TraceCode,
		RetryAfter: r.RetryAfter, Attempts: r.Attempts, body: func() errorBody { return body }, foreign: c.foreignHint(r),
	}
}

// Reason is the meaning of an answer. It decides which sentinels the error matches.
type Reason string

// The reasons.
const (
	ReasonInvalid      Reason = Reason(transport.Invalid)      // 400 and 422: ErrInvalid
	ReasonUnauthorized Reason = Reason(transport.Unauthorized) // 401: ErrUnauthorized
	ReasonForbidden    Reason = Reason(transport.Forbidden)    // 403: ErrForbidden
	ReasonNotFound     Reason = Reason(transport.NotFound)     // 404: ErrNotFound
	ReasonConflict     Reason = Reason(transport.Conflict)     // 409
	ReasonRateLimited  Reason = Reason(transport.RateLimited)  // 429: ErrRateLimited
	// ReasonUnavailable is a 503 with the service's error body: nothing was processed. It matches
	// [ErrUnavailable].
	ReasonUnavailable Reason = Reason(transport.Unavailable)
	// ReasonThreeDSNotEnabled is a 503 on 3D Secure authentication with the service's error body:
	// [ErrThreeDSNotEnabled].
	ReasonThreeDSNotEnabled Reason = Reason(transport.ThreeDSNotEnabled)
	// ReasonThreeDSUnavailable is any other 503 on 3D Secure authentication. It can be either, and
	// matches [ErrThreeDSNotEnabled] and [ErrUnavailable].
	ReasonThreeDSUnavailable Reason = Reason(transport.ThreeDSUnavailable)
	// ReasonRefused is a refusal with 405, 406, 411, 413, 414 or 415, which HTTP defines as not
	// executed, or with another status that [WithRefusal] accepts.
	ReasonRefused    Reason = Reason(transport.Refused)
	ReasonRedirected Reason = Reason(transport.Redirected) // 3xx, which is never followed
	// ReasonInconclusive is an answer that proves nothing: see "Retries" in the package
	// documentation. For a write it becomes an [UnknownOutcomeError].
	ReasonInconclusive Reason = Reason(transport.Inconclusive)
)

func (r Reason) sentinels() []error {
	return map[Reason][]error{
		ReasonInvalid:            {ErrInvalid},
		ReasonUnauthorized:       {ErrUnauthorized},
		ReasonForbidden:          {ErrForbidden},
		ReasonNotFound:           {ErrNotFound},
		ReasonRateLimited:        {ErrRateLimited},
		ReasonUnavailable:        {ErrUnavailable},
		ReasonThreeDSNotEnabled:  {ErrThreeDSNotEnabled},
		ReasonThreeDSUnavailable: {ErrThreeDSNotEnabled, ErrUnavailable},
	}[r]
}

// hint says what the reason means and what to do, or "" if the status says it.
func (r Reason) hint() string {
	return map[Reason]string{
		ReasonUnauthorized:       "the API key is expired, or it is of the wrong kind for this operation",
		ReasonNotFound:           "nothing has such an identifier or fits the query, or it cannot be seen yet; if nothing is ever found, look at the environment's address",
		ReasonUnavailable:        "the request was not processed",
		ReasonThreeDSNotEnabled:  "3D Secure is not enabled for the facility; do not pay without authentication instead",
		ReasonThreeDSUnavailable: "3D Secure is not enabled for the facility, or the service is unavailable: one of the two; do not pay without authentication instead",
	}[r]
}

// foreignHint says why something other than the service may have answered, and what to check; "" if
// nothing shows it.
func (c *call) foreignHint(r *transport.Result) string {
	address := "look at the environment's address"
	versionless := !versionElement.MatchString(path.Base(c.client.base.Path))
	if versionless {
		address += ", which does not end with a version such as /rest/v1"
	}
	write := c.op.class != transport.Read
	foreign := write && !r.Problem.FromService && r.Reason == transport.Inconclusive && r.Status >= 400 && r.Status < 500
	switch undecoded := r.Reason == transport.Inconclusive && r.Err != nil; {
	case foreign && r.Status == http.StatusUnauthorized:
		return foreignAnswer + ", which tries the keys too"
	case bytes.HasPrefix(bytes.TrimLeft(r.Body, "\ufeff \t\r\n"), []byte("<")):
		return "it is HTML or XML, and the service answers with JSON; " + address + ", and at proxies on the way"
	case !r.Problem.FromService && (versionless && undecoded || (versionless || write) && r.Status == http.StatusNotFound):
		return address
	case foreign:
		return foreignAnswer
	}
	return ""
}

const foreignAnswer = "not the service's error body about this call, so it proves nothing; see WithRefusal if the service answers your facility so, " +
	"or find what stands in front of it with Client.Check"

// NetworkKind classifies a network failure.
type NetworkKind string

// The kinds of network failure.
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

// hint says what usually helps, or "" if nothing general can be said.
func (k NetworkKind) hint() string {
	return map[NetworkKind]string{
		NetworkKindDNS:               "the host name could not be resolved; check the environment and this machine's DNS",
		NetworkKindCertificate:       "the server's certificate is not trusted; update this machine's root certificates or use WithRootCAs",
		NetworkKindProxy:             "the proxy wants credentials; pass a proxy URL that has them with WithProxy",
		NetworkKindConnectionRefused: "nothing accepts connections there; check the environment and firewalls",
		NetworkKindTLS:               "the TLS handshake failed; something between here and the service may be interfering",
		NetworkKindTimeout:           "no answer in time; see WithAttemptTimeout",
		NetworkKindCancelled:         "the context was cancelled, as that of an HTTP request is when its client goes away; go on with another, such as context.WithoutCancel with a limit",
		NetworkKindDeadline:          "the deadline of the context, or the limit of WithTimeout, has passed; go on with a context that has more time",
	}[k]
}

// NetworkError is a request without an answer that changed nothing: a write that was never sent,
// which matches [ErrNotSent], or a read that failed. The call may be made again. errors.Is and
// errors.As find the cause, without the address's path and query. A NetworkError made by hand
// counts as never sent.
type NetworkError struct {
	CallInfo
	Kind     NetworkKind
	Attempts int
	err      error
	sent     bool // an attempt may have arrived
}

// Error returns the operation, the kind and the hint.
func (e *NetworkError) Error() string { return "quickstream: " + e.text() + ": " + e.describe() }

func (e *NetworkError) describe() string {
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

// DecodeError is a successful answer to a read that could not be decoded, or one item of a list,
// which matches [ErrUnreadableItem]. Nothing was changed.
type DecodeError struct {
	CallInfo
	StatusCode int
	Attempts   int
	err        error
	body       func() []byte
	foreign    string // why something other than the service may have answered
	place      int    // position of an item on its page, from 1
}

// Error returns the operation and the reason, without the body.
func (e *DecodeError) Error() string { return "quickstream: " + e.text() + ": " + e.describe() }

func (e *DecodeError) describe() string {
	text := "the answer (" + statusText(e.StatusCode) + ") could not be decoded"
	if why, ok := errors.AsType[notOurs](e.err); ok {
		text = "the answer (" + statusText(e.StatusCode) + ") " + string(why)
	}
	if e.foreign != "" {
		text += ": " + e.foreign
	}
	return text
}

// Unwrap returns the cause.
func (e *DecodeError) Unwrap() error { return e.err }

// Is matches [ErrUnreadableItem] for an item of a list.
func (e *DecodeError) Is(target error) bool { return target == ErrUnreadableItem && e.place > 0 }

// RawBody returns the JSON that could not be decoded, or the item. For a body that is not JSON, and
// for the route that issues keys, it returns the same as [APIError.RawBody].
func (e *DecodeError) RawBody() []byte {
	if e.body == nil {
		return nil
	}
	return e.body()
}

func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// safeName returns a name from an error body, or "?" if it does not look like a name: it could
// repeat a value of the request.
func safeName(name string, maxDigits int) string {
	const longest = 64
	digits := 0
	for _, c := range name {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '.', c == '_', c == '-', c == '[', c == ']':
		default:
			return "?"
		}
	}
	if len(name) > longest || digits > maxDigits {
		return "?"
	}
	return name
}
