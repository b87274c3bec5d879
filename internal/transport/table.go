package transport

import (
	"net/http"
	"slices"
)

// Class groups operations by what may be done after a lost answer. The classes are the columns of
// the retry table.
type Class uint8

// The four classes.
const (
	Read   Class = iota // changes nothing and may be repeated: a GET, or a POST that only asks
	Keyed               // a POST with a documented Idempotency-Key, or harmless to repeat: /transactions, 3D Secure, /single-use-tokens
	Post                // every other POST: it carries a key too, but the service documents no effect
	Change              // a PATCH, PUT or DELETE, which carries no key
	classes
)

// Reason says how an attempt failed, or what its answer means.
type Reason string

// The reasons.
const (
	Succeeded          Reason = "succeeded"            // a 2xx that could be decoded
	NeverSent          Reason = "never_sent"           // no request left this machine
	Lost               Reason = "lost"                 // the connection broke or timed out after sending
	ContextEnded       Reason = "context_ended"        // the caller's context ended after sending
	Inconclusive       Reason = "inconclusive"         // an answer that says nothing about the request
	Unavailable        Reason = "unavailable"          // a 503 with the service's error body: not processed
	ThreeDSNotEnabled  Reason = "three_ds_not_enabled" // the same on 3D Secure authentication
	ThreeDSUnavailable Reason = "three_ds_unavailable" // any other 503 on 3D Secure authentication
	RateLimited        Reason = "rate_limited"
	Invalid            Reason = "invalid"
	Unauthorized       Reason = "unauthorized"
	Forbidden          Reason = "forbidden"
	NotFound           Reason = "not_found"
	Conflict           Reason = "conflict"
	Refused            Reason = "refused" // any other refusal that counts
	Redirected         Reason = "redirected"
)

// CallResult says how a call ends.
type CallResult uint8

// The results.
const (
	Success       CallResult = iota // the answer was decoded
	NetworkFailed                   // nothing was sent, or a read failed on the way
	Unknown                         // a write may have been executed
	Answered                        // the service's answer is the result, as an error
	NotSent                         // the call ended before its first attempt
)

// Again says whether another attempt may be made, within the limit of attempts, the context and the
// longest pause.
type Again uint8

// The conditions for a further attempt.
const (
	Never     Again = iota // the call ends
	Temporary              // if the cause is temporary
	Always
	SameKey // with the same idempotency key, within the resend window and without NoResend
)

// Step is a cell of the retry table.
type Step struct {
	Again Again
	End   CallResult
}

// Row is a row of the retry table.
type Row struct {
	When    string // in the words of the root's package documentation
	Reasons []Reason
	Steps   [classes]Step
}

// Table is the whole policy, and is constant. settle adds one rule: once an attempt of a write may
// have reached the service unanswered, only a success settles the call.
//
//nolint:gochecknoglobals // the one table
var Table = []Row{
	{"success", []Reason{Succeeded}, [classes]Step{{Never, Success}, {Never, Success}, {Never, Success}, {Never, Success}}},
	{"never sent", []Reason{NeverSent}, [classes]Step{{Temporary, NetworkFailed}, {Temporary, NetworkFailed}, {Temporary, NetworkFailed}, {Temporary, NetworkFailed}}},
	{"lost after sending", []Reason{Lost}, [classes]Step{{Always, NetworkFailed}, {SameKey, Unknown}, {Never, Unknown}, {Never, Unknown}}},
	{"context ended", []Reason{ContextEnded}, [classes]Step{{Never, NetworkFailed}, {Never, Unknown}, {Never, Unknown}, {Never, Unknown}}},
	{"inconclusive", []Reason{Inconclusive}, [classes]Step{{Always, Answered}, {Never, Unknown}, {Never, Unknown}, {Never, Unknown}}},
	{"503, error body", []Reason{Unavailable}, [classes]Step{{Always, Answered}, {Never, Answered}, {Never, Answered}, {Never, Answered}}},
	{"503 on 3D Secure", []Reason{ThreeDSNotEnabled, ThreeDSUnavailable}, [classes]Step{{Never, Answered}, {Never, Answered}, {Never, Answered}, {Never, Answered}}},
	{"refused with 429", []Reason{RateLimited}, [classes]Step{{Always, Answered}, {Never, Answered}, {Never, Answered}, {Never, Answered}}},
	{"refused", []Reason{Invalid, Unauthorized, Forbidden, NotFound, Conflict, Refused}, [classes]Step{{Never, Answered}, {Never, Answered}, {Never, Answered}, {Never, Answered}}},
	{"3xx, not followed", []Reason{Redirected}, [classes]Step{{Never, Answered}, {Never, Unknown}, {Never, Unknown}, {Never, Unknown}}},
}

// step returns the cell for a reason and a class.
func step(r Reason, c Class) Step {
	for _, row := range Table {
		if slices.Contains(row.Reasons, r) {
			return row.Steps[c]
		}
	}
	return Step{Never, Unknown} // an answer without a reason is not trusted
}

// judge says what a status other than a success means; no other code decides by status. fromService
// means that the body is the service's, about this call: an answer of a proxy or gateway proves
// nothing about a payment.
func (x *exchange) judge(status int, fromService bool) Reason {
	call := &x.call
	threeDS503 := call.ThreeDS && status == http.StatusServiceUnavailable
	if call.Class != Read && !fromService && status >= 400 && !threeDS503 {
		return Inconclusive
	}
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return Invalid
	case http.StatusUnauthorized:
		return Unauthorized
	case http.StatusForbidden:
		return Forbidden
	case http.StatusNotFound:
		return NotFound
	case http.StatusConflict: // of a POST it may mean a key that is in use
		if call.Class != Read && call.Key != "" {
			return Inconclusive
		}
		return Conflict
	case http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusLengthRequired,
		http.StatusRequestEntityTooLarge, http.StatusRequestURITooLong, http.StatusUnsupportedMediaType:
		return Refused
	case http.StatusTooManyRequests:
		return RateLimited
	case http.StatusServiceUnavailable:
		switch {
		case call.ThreeDS && fromService:
			return ThreeDSNotEnabled
		case call.ThreeDS:
			return ThreeDSUnavailable
		case fromService:
			return Unavailable
		}
		return Inconclusive
	}
	if status >= 300 && status < 400 {
		return Redirected
	}
	return Inconclusive
}
