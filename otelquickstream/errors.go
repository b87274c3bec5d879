package otelquickstream

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/quickstream-go/quickstream"
)

// other is the conventions' name for an error without a name of its own.
const other = "_OTHER"

// requestError returns the error.type of a request: the kind of network error, or a status from
// 400 on. It is "" if there is neither.
func requestError(a quickstream.AttemptInfo) string {
	switch {
	case a.Network != "":
		return networkError(a.Network)
	case a.StatusCode >= http.StatusBadRequest:
		return strconv.Itoa(a.StatusCode)
	}
	return ""
}

// callError returns the error.type of a call. An error may be a hook's, with any text in any
// field, so only names that are known here are returned.
func callError(end quickstream.EndInfo) string {
	err, unsent, unnamed := end.Err, end.Result == quickstream.CallResultNotSent, other
	switch lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); {
	case ok && !unsent:
		// Without an attempt, the claim of a Submit has failed. With attempts and an error
		// that has no name here, a later attempt was declined.
		err, unsent, unnamed = lost.Cause, end.Attempts == 0, "unsettled"
	case err == nil, errors.Is(err, quickstream.ErrReportNotReady) && !unsent:
		return ""
	}
	if _, ok := errors.AsType[*quickstream.ValidationError](err); ok {
		return "validation"
	}
	if unsent { // any other error in it may come from a call that a hook made
		if errors.Is(err, quickstream.ErrKeyRequired) {
			return "key_required"
		}
		return "not_sent"
	}
	if network, ok := errors.AsType[*quickstream.NetworkError](err); ok {
		return networkError(network.Kind)
	}
	if refused, ok := errors.AsType[*quickstream.APIError](err); ok {
		return answerError(refused.Reason)
	}
	if _, ok := errors.AsType[*quickstream.DecodeError](err); ok {
		return "undecodable"
	}
	return unnamed
}

func networkError(kind quickstream.NetworkKind) string {
	switch kind {
	case quickstream.NetworkKindDNS, quickstream.NetworkKindCertificate, quickstream.NetworkKindProxy, quickstream.NetworkKindConnectionRefused,
		quickstream.NetworkKindTLS, quickstream.NetworkKindTimeout, quickstream.NetworkKindReset, quickstream.NetworkKindCancelled,
		quickstream.NetworkKindDeadline:
		return "network_" + string(kind)
	default:
		return "network_other"
	}
}

func answerError(reason quickstream.Reason) string {
	switch reason {
	case quickstream.ReasonInvalid, quickstream.ReasonUnauthorized, quickstream.ReasonForbidden, quickstream.ReasonNotFound,
		quickstream.ReasonConflict, quickstream.ReasonRateLimited, quickstream.ReasonUnavailable, quickstream.ReasonThreeDSNotEnabled,
		quickstream.ReasonThreeDSUnavailable, quickstream.ReasonRefused, quickstream.ReasonRedirected, quickstream.ReasonInconclusive:
		return "answer_" + string(reason)
	default:
		return other
	}
}
