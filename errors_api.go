package quickstream

import (
	"bytes"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

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
// matches [ErrNotFound]. Printing shows the operation, the status and the trace code. Messages have
// methods.
type APIError struct {
	CallInfo
	StatusCode int
	// Reason is what the answer means.
	Reason Reason
	// TraceCode identifies the request for the service's technical support. It is "" if it repeats
	// what was sent.
	TraceCode string
	// RetryAfter is the pause that the service asked for; zero if none.
	RetryAfter time.Duration
	Attempts   int

	said     func() words // a function, because it may repeat what was sent
	stranger string       // why something other than the service may have answered
}

type words struct {
	customer, developer string
	fields              []FieldError
	body                []byte
	own                 bool // the body is the service's
}

// Error returns the operation, the status, the trace code and what to do.
func (e *APIError) Error() string { return "quickstream: " + e.text() + ": " + e.says() }

func (e *APIError) says() string {
	text := "the service answered " + statusText(e.StatusCode)
	switch {
	case e.StatusCode == 0: // made in a test
		text = strings.TrimSuffix("the service answered: "+strings.ReplaceAll(string(e.Reason), "_", " "), ": ")
	case e.stranger != "":
		text = "answered " + statusText(e.StatusCode)
	}
	for _, why := range []string{e.Reason.explains(), e.missing(), e.stranger} {
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
	return slices.Contains(e.Reason.sentinels(), target) || target == wire.ErrOwn && e.words().own
}

func (e *APIError) words() (w words) {
	if e.said != nil {
		w = e.said()
	}
	return w
}

// CustomerMessage returns the message for the end user. Messages may change: do not match on their
// text.
func (e *APIError) CustomerMessage() string { return e.words().customer }

// DeveloperMessage returns the message for logs, which may repeat what was sent.
func (e *APIError) DeveloperMessage() string { return e.words().developer }

// Fields returns what the service says about single fields, ten at most.
func (e *APIError) Fields() []FieldError { return e.words().fields }

// RawBody returns the answer's body: at most 256 KiB of JSON without the values of members that
// repeat secrets, or the first 16 KiB of anything else without what looks like a card number. A
// secret in a sentence of the service can remain. It is nil for the route that issues keys.
func (e *APIError) RawBody() []byte { return e.words().body }

// saying is an error that can be printed without its call.
type saying interface {
	error
	says() string
}

func (e *APIError) missing() string {
	if e.Reason != ReasonNotFound || e.stranger != "" || e.Route == "" {
		return ""
	}
	var none []string
	rest := e.Route
	for {
		before, after, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		name, tail, _ := strings.Cut(after, "}")
		none, rest = append(none, "none of the "+path.Base(before)+" has this "+name), tail
	}
	switch what := strings.Join(none, ", or "); {
	case what == "" && e.Method == http.MethodGet:
		return "nothing fits the query, or it cannot be seen yet" + e.orAddress()
	case what == "":
		return "something that the request names was not found" + e.orAddress()
	case rest != "" && e.Method == http.MethodGet:
		return what + ", or it has no " + path.Base(rest)
	default:
		return what + ", or it cannot be seen yet"
	}
}

func (e *APIError) orAddress() string {
	if e.CustomerMessage()+e.DeveloperMessage() != "" {
		return ""
	}
	return "; if nothing is ever found, look at the environment's address"
}

// stranger says why something other than the service may have answered, and what to check; "" if
// nothing shows it.
func (c *call) stranger(r *transport.Result) string {
	address := "look at the environment's address"
	versionless := !versionElement.MatchString(path.Base(c.client.base.Path))
	if versionless {
		address += ", which does not end with a version such as /rest/v1"
	}
	write := c.op.class != transport.Read
	foreign := write && !r.Problem.Own && r.Reason == transport.Inconclusive && r.Status >= 400 && r.Status < 500
	switch undecoded := r.Reason == transport.Inconclusive && r.Err != nil; {
	case foreign && r.Status == http.StatusUnauthorized:
		return foreignAnswer + ", which tries the keys too"
	case bytes.HasPrefix(bytes.TrimLeft(r.Body, "\ufeff \t\r\n"), []byte("<")):
		return "it is HTML or XML, and the service answers with JSON; " + address + ", and at proxies on the way"
	case !r.Problem.Own && (versionless && undecoded || (versionless || write) && r.Status == http.StatusNotFound):
		return address
	case foreign:
		return foreignAnswer
	}
	return ""
}

const foreignAnswer = "not the service's error body about this call, so it proves nothing; see WithRefusal if the service answers your facility so, " +
	"or find what stands in front of it with Client.Check"

// safeName returns a name from an error body if it looks like one. Otherwise it could repeat what
// was sent.
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

func (c *call) apiError(r *transport.Result) *APIError {
	said := words{customer: r.Problem.CustomerMessage, developer: r.Problem.DeveloperMessage, body: c.rawBody(r), own: r.Problem.Own}
	for _, f := range r.Problem.Fields {
		said.fields = append(said.fields, FieldError(f))
	}
	return &APIError{
		CallInfo: c.info(), StatusCode: r.Status, Reason: Reason(r.Reason), TraceCode: r.Problem.TraceCode,
		RetryAfter: r.RetryAfter, Attempts: r.Attempts, said: func() words { return said }, stranger: c.stranger(r),
	}
}

// Reason is what an answer of the service means. The sentinels follow from it.
type Reason string

// The reasons.
const (
	ReasonInvalid      = Reason(transport.Invalid)      // 400 and 422: ErrInvalid
	ReasonUnauthorized = Reason(transport.Unauthorized) // 401: ErrUnauthorized
	ReasonForbidden    = Reason(transport.Forbidden)    // 403: ErrForbidden
	ReasonNotFound     = Reason(transport.NotFound)     // 404: ErrNotFound
	ReasonConflict     = Reason(transport.Conflict)     // 409
	ReasonRateLimited  = Reason(transport.RateLimited)  // 429: ErrRateLimited
	// ReasonUnavailable is a 503 in the service's own words, which means that nothing was
	// processed: [ErrUnavailable].
	ReasonUnavailable = Reason(transport.Unavailable)
	// ReasonThreeDSNotEnabled is a 503 on 3D Secure authentication in the service's own words:
	// [ErrThreeDSNotEnabled].
	ReasonThreeDSNotEnabled = Reason(transport.ThreeDSNotEnabled)
	// ReasonThreeDSUnavailable is any other 503 on 3D Secure authentication: [ErrThreeDSNotEnabled]
	// and [ErrUnavailable], because it can be either.
	ReasonThreeDSUnavailable = Reason(transport.ThreeDSUnavailable)
	// ReasonRefused is a refusal with 405, 406, 411, 413, 414 or 415, which HTTP defines as not
	// executed, or with another status that [WithRefusal] accepts.
	ReasonRefused    = Reason(transport.Refused)
	ReasonRedirected = Reason(transport.Redirected) // 3xx, which is never followed
	// ReasonInconclusive is an answer that proves nothing: see "Retries" in the package
	// documentation. For a write it becomes an [UnknownOutcomeError].
	ReasonInconclusive = Reason(transport.Inconclusive)
)

func (r Reason) sentinels() []error {
	switch r {
	case ReasonInvalid:
		return []error{ErrInvalid}
	case ReasonUnauthorized:
		return []error{ErrUnauthorized}
	case ReasonForbidden:
		return []error{ErrForbidden}
	case ReasonNotFound:
		return []error{ErrNotFound}
	case ReasonRateLimited:
		return []error{ErrRateLimited}
	case ReasonUnavailable:
		return []error{ErrUnavailable}
	case ReasonThreeDSNotEnabled:
		return []error{ErrThreeDSNotEnabled}
	case ReasonThreeDSUnavailable:
		return []error{ErrThreeDSNotEnabled, ErrUnavailable}
	default:
		return nil
	}
}

func (r Reason) explains() string {
	switch r {
	case ReasonUnauthorized:
		return "the API key is expired, or it is of the wrong kind for this operation"
	case ReasonUnavailable:
		return "the request was not processed"
	case ReasonThreeDSNotEnabled:
		return "3D Secure is not enabled for the facility; do not pay without authentication instead"
	case ReasonThreeDSUnavailable:
		return "3D Secure is not enabled for the facility, or the service is unavailable: one of the two; do not pay without authentication instead"
	default:
		return ""
	}
}
