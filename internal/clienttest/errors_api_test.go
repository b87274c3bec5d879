package clienttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestMissingKeysAreNamed: with the variable that they come from.
func TestMissingKeysAreNamed(t *testing.T) {
	_, err := quickstream.NewClient(quickstream.CustomURL(baseURL), quickstream.Keys{})
	assert.ErrorContains(t, err, "QUICKSTREAM_SECRET_KEY and QUICKSTREAM_PUBLISHABLE_KEY")
	client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), quickstream.Keys{Publishable: testKeys().Publishable})
	require.NoError(t, err)
	err = client.Check(t.Context())
	assert.EqualError(t, err, "quickstream: Check: nothing was sent: API key required: this operation needs the secret key, which KeysFromEnv takes from QUICKSTREAM_SECRET_KEY")
}

// TestNotFoundSaysWhat: the kind of resource, and never which one.
func TestNotFoundSaysWhat(t *testing.T) {
	client := clientOf(t, says(404, `{"developerMessage":"No."}`))
	for what, err := range map[string]error{
		"none of the transactions has this receiptNumber, or it cannot be seen yet":      second(client.Transactions.Get(t.Context(), "ID-1")),
		"none of the payto-agreements has this agreementToken, or it cannot be seen yet": second(client.PayTo.Get(t.Context(), "ID-1")),
		"none of the customers has this customerId, or it has no accounts":               second(client.Accounts.List("ID-1").First(t.Context())),
		"nothing fits the query, or it cannot be seen yet":                               second(client.Transactions.ByReference("ID-1").First(t.Context())),
		"something that the request names was not found":                                 second(client.Transactions.Pay(t.Context(), payment())),
		"none of the customers has this customerId, or none of the notes has this noteId, or it cannot be seen yet": client.Do(t.Context(), quickstream.Request{
			Method: http.MethodGet, Route: "/customers/{customerId}/notes/{noteId}", Path: []string{"ID-1", "ID-2"},
		}, nil),
	} {
		assert.ErrorContains(t, err, "the service answered 404 Not Found: "+what)
		assert.NotContains(t, err.Error(), "ID-")
		assert.NotContains(t, err.Error(), "address", "the service's own words come from the service")
	}
	assert.ErrorContains(t, second(client.Transactions.Void(t.Context(), "ID-1")), "none of the transactions has this receiptNumber, or it cannot be seen yet")
	for _, call := range []error{clientOf(t, says(404, "")).Check(t.Context()), second(clientOf(t, says(404, "")).Transactions.Pay(t.Context(), payment()))} {
		assert.ErrorContains(t, call, "look at the environment's address")
	}
}

// TestStrangersAreNamed: a web site at the address, or an address that is not the
// service's.
func TestStrangersAreNamed(t *testing.T) {
	const page, versionless = "it is HTML or XML, and the service answers with JSON; look at the environment's address", "which does not end with a version such as /rest/v1"
	for _, c := range []struct {
		base, body          string
		status              int
		isPage, versionless bool
	}{
		{baseURL, " \n<!DOCTYPE html><html>Welcome</html>", 200, true, false},
		{baseURL, "<html>Welcome</html>", 404, true, false},
		{baseURL, "\ufeff<?xml?>", 502, true, false},
		{"https://api.invalid", "<html>Welcome</html>", 404, true, true},
		{"https://api.invalid/v1/", "<html>Welcome</html>", 404, true, false},
		{"https://api.invalid", "404 page not found", 404, false, true},
		{"https://api.invalid", "Welcome", 200, false, true},
		{"https://api.invalid", `{"developerMessage":"No."}`, 404, false, false},
		{"https://api.invalid", "", 500, false, false},
		{baseURL, "Welcome", 200, false, false},
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL(c.base), testKeys(), quickstream.WithHTTPClient(&http.Client{Transport: says(c.status, c.body)}), quickstream.WithMaxAttempts(1))
		require.NoError(t, err)
		for _, err := range []error{second(client.Transactions.Get(t.Context(), "R-1")), second(client.Transactions.Pay(t.Context(), payment()))} {
			require.Error(t, err)
			assert.Equal(t, c.isPage, strings.Contains(err.Error(), page), "%+v: %v", c, err)
			assert.Equal(t, c.versionless, strings.Contains(err.Error(), versionless), "%+v: %v", c, err)
		}
	}
	err := second(clientOf(t, says(503, "<html>")).SingleUseTokens.Authenticate(t.Context(), "T-1", authentication()))
	assert.ErrorContains(t, err, "do not pay without authentication instead")
}

// TestEndedContextsAreTold: a deadline or a cancellation, of a read, of a write that
// was never sent, and of one that may have been.
func TestEndedContextsAreTold(t *testing.T) {
	contexts := map[quickstream.NetworkKind]func(context.Context) (context.Context, context.CancelFunc){
		quickstream.NetworkKindDeadline: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
		quickstream.NetworkKindCancelled: func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		},
	}
	for kind, begin := range contexts {
		synctest.Test(t, func(t *testing.T) {
			box, client := sandboxtest.New(t)
			require.NoError(t, box.Inject(sandbox.Fault{Kind: sandbox.HangAfterCommit()}))
			ctx, cancel := begin(t.Context())
			defer cancel()
			lost := second(client.Transactions.Pay(ctx, payment()))
			require.ErrorIs(t, lost, quickstream.ErrOutcomeUnknown)
			assert.ErrorContains(t, lost, "last seen: ended early ("+string(kind)+"): "+hints()[kind])
			unsent := second(client.Transactions.Pay(ctx, payment()))
			require.ErrorIs(t, unsent, quickstream.ErrNotSent)
			assert.ErrorContains(t, unsent, "ended early ("+string(kind)+"), nothing was sent: "+hints()[kind])
			ctx, cancel = begin(t.Context())
			defer cancel()
			read := client.Check(ctx)
			assert.Equal(t, kind, networkKind(t, read))
			assert.ErrorContains(t, read, "ended early ("+string(kind)+"): "+hints()[kind])
			assert.Equal(t, kind == quickstream.NetworkKindDeadline, errors.Is(read, context.DeadlineExceeded))
			assert.Equal(t, kind == quickstream.NetworkKindCancelled, errors.Is(read, context.Canceled))
		})
	}
}

// TestLaterAnswersAreNotExplained: that the second request was not processed says
// nothing about the first, and must not read as if it did.
func TestLaterAnswersAreNotExplained(t *testing.T) {
	err := &quickstream.UnknownOutcomeError{Cause: &quickstream.APIError{StatusCode: 503, Reason: quickstream.ReasonUnavailable}}
	assert.ErrorContains(t, err, "(last seen: the service answered 503 Service Unavailable)")
}

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
		{&quickstream.UnknownOutcomeError{Cause: &quickstream.NetworkError{Kind: quickstream.NetworkKindDeadline}}, set{quickstream.ErrOutcomeUnknown}},
		{&quickstream.UnknownOutcomeError{Cause: &quickstream.APIError{StatusCode: 404, Reason: quickstream.ReasonNotFound}}, set{quickstream.ErrOutcomeUnknown}},
		{&quickstream.UnknownOutcomeError{Cause: &quickstream.APIError{StatusCode: 503, Reason: quickstream.ReasonThreeDSUnavailable}}, set{quickstream.ErrOutcomeUnknown}},
		{&quickstream.UnknownOutcomeError{Cause: context.Canceled}, set{quickstream.ErrOutcomeUnknown}},
		{&quickstream.UnknownOutcomeError{Transaction: &quickstream.Transaction{Status: "Declined", SummaryCode: "1"}}, set{quickstream.ErrOutcomeUnknown}},
		{&quickstream.PendingError{}, set{quickstream.ErrPending}},
		{&quickstream.PendingError{Transaction: &quickstream.Transaction{Status: "Suspended"}}, set{quickstream.ErrPending}},
		{&quickstream.DeclinedError{}, set{quickstream.ErrDeclined}},
		{&quickstream.DeclinedError{Transaction: &quickstream.Transaction{Status: "Declined", SummaryCode: "3"}}, set{quickstream.ErrDeclined}},
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
