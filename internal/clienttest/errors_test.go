package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

const errorBody = `{"links":[],"errors":[{"fieldName":"cardNumber","fieldValue":"4111111111111111","messages":["is not valid"]}],` +
	`"note":"https://api.invalid/rest/v1/transactions/for-bank-account?accountNumber=999994",` +
	`"customerMessage":"Please check.","developerMessage":"One field is not valid.","traceCode":"8a7f-Trace_1"}`

// sentinels are all errors that errors.Is is used with.
func sentinels() map[string]error {
	return map[string]error{
		"unauthorized": quickstream.ErrUnauthorized, "forbidden": quickstream.ErrForbidden, "not found": quickstream.ErrNotFound,
		"invalid": quickstream.ErrInvalid, "rate limited": quickstream.ErrRateLimited, "unavailable": quickstream.ErrUnavailable,
		"3DS": quickstream.ErrThreeDSNotEnabled, "key": quickstream.ErrKeyRequired, "unknown": quickstream.ErrOutcomeUnknown,
		"declined": quickstream.ErrDeclined, "pending": quickstream.ErrPending,
		"cancelled": context.Canceled, "deadline": context.DeadlineExceeded,
	}
}

// matching returns the names of the sentinels that an error matches.
func matching(err error) string {
	var names []string
	for name, sentinel := range sentinels() {
		if errors.Is(err, sentinel) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// answerIn returns the answer that an error holds: the error itself, or the cause of an
// unknown outcome.
func answerIn(err error) *quickstream.APIError {
	if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		err = lost.Cause
	}
	api, _ := errors.AsType[*quickstream.APIError](err)
	return api
}

// TestStatusesMatchOneSentinel: a refusal matches the sentinel of its status, and no other. That of a
// read needs no words of the service, but for a 503.
func TestStatusesMatchOneSentinel(t *testing.T) {
	sentinels := map[int]string{400: "invalid", 401: "unauthorized", 403: "forbidden", 404: "not found", 422: "invalid", 429: "rate limited", 503: "unavailable"}
	for _, status := range []int{300, 307, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 413, 414, 415, 422, 425, 429, 451, 499, 500, 502, 503, 504, 599} {
		for body, own := range map[string]bool{errorBody: true, "<html>4111111111111111</html>": false} {
			client, sentinel := clientOf(t, says(status, body)), sentinels[status]
			if status == 503 && !own {
				sentinel = ""
			}
			_, err := client.Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
			assert.Equal(t, answered+" "+sentinel, ending(err)+" "+matching(err), "GET %d", status)
			if _, err = client.Transactions.Pay(t.Context(), payment()); ending(err) == unknown {
				sentinel = "unknown"
			}
			assert.Equal(t, sentinel, matching(err), "POST %d", status)
			assert.ErrorContains(t, err, fmt.Sprint("answered ", status), "the status is never lost")
		}
	}
}

func TestAPIErrorHoldsTheAnswer(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		resp := answer(429, errorBody)
		resp.Header.Set("Retry-After", "90")
		return resp, nil
	}, quickstream.WithHeader("X-Shop", "8a7")) // too short to be an echo
	_, err := client.Transactions.Pay(t.Context(), payment())
	refused, ok := errors.AsType[*quickstream.APIError](err)
	require.True(t, ok)
	assert.Equal(t, 90*time.Second, refused.RetryAfter)
	assert.Equal(t, []any{429, quickstream.OperationPay, "POST", "/transactions", 1}, []any{refused.StatusCode, refused.Operation, refused.Method, refused.Route, refused.Attempts})
	assert.Equal(t, "quickstream: Transactions.Pay (POST /transactions): the service answered 429 Too Many Requests (fields: cardNumber), trace code 8a7f-Trace_1", err.Error())
}

// unreachable returns a service that no connection leads to.
func unreachable(cause error) service {
	return func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn(r.URL.Host)
		return nil, cause
	}
}

// refusalThatSays returns an APIError of an answer that repeats a text wherever it can.
func refusalThatSays(t *testing.T, text string) *quickstream.APIError {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"customerMessage": text, "developerMessage": text, "errors": []any{map[string]any{"fieldName": text, "messages": []string{text}}},
	})
	require.NoError(t, err)
	_, err = clientOf(t, says(422, string(body))).Customers.Get(t.Context(), "C-1")
	refused, ok := errors.AsType[*quickstream.APIError](err)
	require.True(t, ok, err)
	said := regexp.MustCompile(`[0-9]{12,19}`).ReplaceAllString(text, "[redacted]") // what may be a card number
	require.Len(t, refused.Fields(), 1)
	require.Equal(t, []string{said}, refused.Fields()[0].Messages)
	require.Contains(t, said, refused.Fields()[0].FieldName, "it is cut")
	require.Equal(t, []string{said, said}, []string{refused.CustomerMessage(), refused.DeveloperMessage()})
	return refused
}

// TestEveryWriteIsTreatedAsOne: whatever the operation, only the service's error body refuses a write, and
// a 409 none that carries a key. TestRetryTable has all other statuses.
func TestEveryWriteIsTreatedAsOne(t *testing.T) {
	for _, op := range operations() {
		for _, c := range []struct {
			status int
			body   string
			own    bool
		}{{403, "<html>", false}, {403, errorBody, true}, {409, errorBody, true}} {
			method, requests := "", 0
			client := clientOf(t, func(r *http.Request) (*http.Response, error) {
				method, requests = r.Method, requests+1
				return answer(c.status, c.body), nil
			})
			_, err := op.call(t.Context(), client, "ID-1")
			want := answered
			if keyed := method == http.MethodPost; method != http.MethodGet && op.name != "Businesses.QueryCardSurcharge" && (!c.own || c.status == 409 && keyed) {
				want = unknown
			}
			assert.Equal(t, want, ending(err), "%s, %d %s: %v", op.name, c.status, c.body, err)
			assert.Equal(t, 1, requests, op.name)
			assert.NotErrorIs(t, err, quickstream.ErrNotSent, op.name)
		}
	}
}
