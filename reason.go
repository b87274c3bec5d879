package quickstream

import "github.com/quickstream-go/quickstream/internal/transport"

// Reason names what an answer of the service means. It is judged once, where the
// answer arrives; the sentinels follow it. A write is refused in the service's own words
// alone, whatever the status.
type Reason string

// The reasons.
const (
	ReasonInvalid      = Reason(transport.Invalid)      // 400 and 422: ErrInvalid
	ReasonUnauthorized = Reason(transport.Unauthorized) // 401: ErrUnauthorized
	ReasonForbidden    = Reason(transport.Forbidden)    // 403: ErrForbidden
	ReasonNotFound     = Reason(transport.NotFound)     // 404: ErrNotFound
	ReasonConflict     = Reason(transport.Conflict)     // 409
	ReasonRateLimited  = Reason(transport.RateLimited)  // 429: ErrRateLimited
	// ReasonUnavailable is a 503 in the service's own words, which say that nothing
	// was processed: [ErrUnavailable].
	ReasonUnavailable = Reason(transport.Unavailable)
	// ReasonThreeDSNotEnabled is a 503 on 3D Secure authentication in the service's
	// own words: [ErrThreeDSNotEnabled].
	ReasonThreeDSNotEnabled = Reason(transport.ThreeDSNotEnabled)
	// ReasonThreeDSUnavailable is any other 503 on 3D Secure authentication. It is
	// one of the two: [ErrThreeDSNotEnabled] and [ErrUnavailable].
	ReasonThreeDSUnavailable = Reason(transport.ThreeDSUnavailable)
	// ReasonRefused is a refusal by any other status that HTTP defines as not carried
	// out: 405, 406, 411, 413, 414 and 415.
	ReasonRefused    = Reason(transport.Refused)
	ReasonRedirected = Reason(transport.Redirected) // 3xx, which is never followed
	// ReasonInconclusive is an answer that says nothing about what was asked: any
	// other status, a 503 that is not in the service's own words, any refusal of a
	// write that is not, and a 409 where a key in flight may be meant. A write that
	// is answered so ends in an [UnknownOutcomeError].
	ReasonInconclusive = Reason(transport.Inconclusive)
)

// sentinels maps the reasons to what errors.Is finds.
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

// explains says what a caller should know about an answer besides its status.
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
