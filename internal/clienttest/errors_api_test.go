package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
)

// TestErrorsMadeByHand: a fake of a merchant's own needs nothing but exported fields
// to return what the client returns.
func TestErrorsMadeByHand(t *testing.T) {
	type set = []error
	for _, c := range []struct {
		err     error
		matches set
	}{
		{&quickstream.ValidationError{}, set{quickstream.ErrInvalid, quickstream.ErrNotSent}},
		{&quickstream.APIError{Reason: quickstream.ReasonInvalid}, set{quickstream.ErrInvalid}},
		{&quickstream.APIError{Reason: quickstream.ReasonUnauthorized}, set{quickstream.ErrUnauthorized}},
		{&quickstream.APIError{Reason: quickstream.ReasonForbidden}, set{quickstream.ErrForbidden}},
		{&quickstream.APIError{Reason: quickstream.ReasonNotFound}, set{quickstream.ErrNotFound}},
		{&quickstream.APIError{Reason: quickstream.ReasonRateLimited}, set{quickstream.ErrRateLimited}},
		{&quickstream.APIError{Reason: quickstream.ReasonUnavailable}, set{quickstream.ErrUnavailable}},
		{&quickstream.APIError{Reason: quickstream.ReasonThreeDSNotEnabled}, set{quickstream.ErrThreeDSNotEnabled}},
		{&quickstream.APIError{Reason: quickstream.ReasonThreeDSUnavailable}, set{quickstream.ErrThreeDSNotEnabled, quickstream.ErrUnavailable}},
		{&quickstream.APIError{Reason: quickstream.ReasonConflict}, nil},
		{&quickstream.APIError{StatusCode: 503}, nil}, // what a status means depends on the call
		{&quickstream.NetworkError{Kind: quickstream.NetworkKindDNS}, set{quickstream.ErrNotSent}},
		{&quickstream.NetworkError{Kind: quickstream.NetworkKindCancelled}, set{quickstream.ErrNotSent, context.Canceled}},
		{&quickstream.NetworkError{Kind: quickstream.NetworkKindDeadline}, set{quickstream.ErrNotSent, context.DeadlineExceeded}},
		{&quickstream.UnknownOutcomeError{}, set{quickstream.ErrOutcomeUnknown}},
		{&quickstream.UnknownOutcomeError{Cause: &quickstream.APIError{StatusCode: 404, Reason: quickstream.ReasonNotFound}}, set{quickstream.ErrOutcomeUnknown}},
		{&quickstream.PendingError{}, set{quickstream.ErrPending}},
		{&quickstream.DeclinedError{}, set{quickstream.ErrDeclined}},
		{&quickstream.DecodeError{}, nil},
	} {
		all := sentinels()
		all["not sent"] = quickstream.ErrNotSent
		for name, sentinel := range all {
			assert.Equal(t, slices.Contains(c.matches, sentinel), errors.Is(fmt.Errorf("wrapped: %w", c.err), sentinel), "%#v: %s", c.err, name)
		}
		held := errors.Is(c.err, quickstream.ErrPending) || errors.Is(c.err, quickstream.ErrOutcomeUnknown)
		assert.Equal(t, held, strings.HasPrefix(c.err.Error(), "do not call again: "), "%s", c.err)
		assert.NotContains(t, fmt.Sprint(c.err), "( )", "a call without names")
	}
}

// hints are what the text of a network failure says about its kind.
func hints() map[quickstream.NetworkKind]string {
	return map[quickstream.NetworkKind]string{
		quickstream.NetworkKindDNS:               "check the environment and this machine's DNS",
		quickstream.NetworkKindCertificate:       "update this machine's root certificates or use WithRootCAs",
		quickstream.NetworkKindProxy:             "pass a proxy URL that has them with WithProxy",
		quickstream.NetworkKindConnectionRefused: "check the environment and firewalls",
		quickstream.NetworkKindCancelled:         "the context was cancelled",
		quickstream.NetworkKindDeadline:          "the deadline of the context, or the limit of WithTimeout, has passed",
	}
}
