package clienttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

const errorBody = `{"links":[],"errors":[{"fieldName":"cardNumber","fieldValue":"4111111111111111","messages":["is not valid"]}],` +
	`"status":"422","requestMethod":"POST","requestUrl":"https://api.invalid/rest/v1/transactions/for-bank-account?accountNumber=999994",` +
	`"customerMessage":"Please check.","developerMessage":"One field is not valid.","traceCode":"8a7f-Trace_1"}`

// sentinels are all errors that errors.Is is used with.
func sentinels() map[string]error {
	return map[string]error{
		"unauthorized": quickstream.ErrUnauthorized, "forbidden": quickstream.ErrForbidden, "not found": quickstream.ErrNotFound,
		"invalid": quickstream.ErrInvalid, "rate limited": quickstream.ErrRateLimited, "unavailable": quickstream.ErrUnavailable,
		"3DS": quickstream.ErrThreeDSNotEnabled, "key": quickstream.ErrKeyRequired, "unknown": quickstream.ErrOutcomeUnknown,
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

// TestStatusMatrix: each status is one type of error that matches one sentinel or
// none, and no other. A status refuses a write in the service's own words alone.
func TestStatusMatrix(t *testing.T) {
	reads := map[int]string{400: "invalid", 401: "unauthorized", 403: "forbidden", 404: "not found", 422: "invalid", 429: "rate limited", 503: "unavailable"}
	refuses := []int{400, 401, 403, 404, 405, 406, 411, 413, 414, 415, 422, 429, 503}
	for _, status := range []int{300, 301, 302, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 413, 414, 415, 422, 425, 429, 451, 460, 499, 500, 501, 502, 503, 504, 520, 599} {
		for body, own := range map[string]bool{errorBody: true, `{"errors":[{"fieldName":"a"}]}`: true, `{"errors":{"code":429}}`: false, "<html>4111111111111111</html>": false, "": false} {
			sentinel := reads[status]
			if status == 503 && !own {
				sentinel = ""
			}
			client := clientOf(t, says(status, body))
			_, err := client.Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
			assert.Equal(t, answered, ending(err), "GET %d", status)
			assert.Equal(t, sentinel, matching(err), "GET %d", status)

			_, err = client.Transactions.Pay(t.Context(), payment())
			if !own || !slices.Contains(refuses, status) {
				assert.Equal(t, unknown, ending(err), "POST %d", status)
				assert.Equal(t, "unknown", matching(err), "POST %d", status)
				assert.ErrorContains(t, err, fmt.Sprint("answered ", status), "the status is never lost")
				continue
			}
			assert.Equal(t, answered, ending(err), "POST %d", status)
			assert.Equal(t, sentinel, matching(err), "POST %d", status)
			refused, ok := errors.AsType[*quickstream.APIError](fmt.Errorf("wrapped: %w", err))
			require.True(t, ok)
			assert.Equal(t, []any{status, quickstream.OperationPay, "POST", "/transactions", 1}, []any{refused.StatusCode, refused.Operation, refused.Method, refused.Route, refused.Attempts})
			assert.Contains(t, err.Error(), fmt.Sprint(status), "the status is never lost")
		}
	}
}

func TestAPIErrorHoldsTheAnswer(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		resp := answer(429, errorBody)
		resp.Header.Set("Retry-After", "90")
		return resp, nil
	})
	_, err := client.Transactions.Pay(t.Context(), payment())
	refused, ok := errors.AsType[*quickstream.APIError](err)
	require.True(t, ok)
	assert.Equal(t, "Please check.", refused.CustomerMessage())
	assert.Equal(t, "One field is not valid.", refused.DeveloperMessage())
	assert.Equal(t, "8a7f-Trace_1", refused.TraceCode)
	assert.Equal(t, []quickstream.FieldError{{FieldName: "cardNumber", Messages: []string{"is not valid"}}}, refused.Fields())
	assert.Equal(t, 90*time.Second, refused.RetryAfter)
	assert.Equal(t, "quickstream: Transactions.Pay (POST /transactions): the service answered 429 Too Many Requests (fields: cardNumber), trace code 8a7f-Trace_1", err.Error())
}

// TestErrorBodiesOfAnyShape: for a read the status counts, whatever the body is. A write
// is refused in the service's own words alone.
func TestErrorBodiesOfAnyShape(t *testing.T) {
	for _, body := range []string{
		``, ` `, `null`, `[]`, `{}`, `"no"`, `7`, `{"errors":{}}`, `{"errors":[7,null,[]]}`, `{"errors":[{"fieldName":{},"messages":{}}]}`,
		`{"customerMessage":{},"developerMessage":[],"traceCode":7}`, `{"status":{}}`, `<html>`, "\x00\xff", `{"errors":[{`, strings.Repeat("[", 20000),
		`{"traceCode":"` + strings.Repeat("1", 5000) + `"}`, `{"errors":[{"fieldName":"4111111111111111"}]}`, `{"traceCode":"a b\n\u0000"}`,
		strings.Repeat(" ", 3<<20),
	} {
		_, err := clientOf(t, says(404, body)).Transactions.Get(t.Context(), "R-1")
		assert.ErrorIs(t, err, quickstream.ErrNotFound, "GET %.40q", body)
		_, write := clientOf(t, says(404, body)).Transactions.Pay(t.Context(), payment())
		want := unknown
		if strings.Contains(body, `"fieldName":"`) {
			want = answered
		}
		assert.Equal(t, want, ending(write), "POST %.40q", body)
		for _, err := range []error{err, write} {
			assert.Less(t, len(err.Error()), 600)
			assert.NotContains(t, err.Error(), "4111")
			assert.NotContains(t, err.Error(), "\n")
			require.NotNil(t, answerIn(err))
			assert.LessOrEqual(t, len(answerIn(err).RawBody()), 1<<20)
		}
	}
}

func TestUnauthorisedNamesBothCauses(t *testing.T) {
	err := clientOf(t, says(401, "")).Check(t.Context())
	assert.ErrorIs(t, err, quickstream.ErrUnauthorized)
	assert.ErrorContains(t, err, "expired")
	assert.ErrorContains(t, err, "wrong kind")
}

// TestNoObjectWithAnError goes through every operation and every way to fail.
func TestNoObjectWithAnError(t *testing.T) {
	failing := map[string]service{
		"422": says(422, errorBody), "500": says(500, ""), "307": says(307, ""), "garbage": says(200, "{"), "wrong": says(200, `{"data":7,"links":7}`),
		"lost":   func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
		"unsent": unreachable(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}),
	}
	errs := 0
	for name, service := range failing {
		for _, op := range operations() {
			synctest.Test(t, func(t *testing.T) {
				result, err := op.call(t.Context(), clientOf(t, service), "ID-1")
				if err == nil { // the operation's success has no body, or none that is specified
					assert.True(t, result == nil || op.name == "Accounts.Register", "%s %s", op.name, name)
					assert.Contains(t, []string{"garbage", "wrong"}, name)
					return
				}
				errs++
				assert.Nil(t, result, "%s %s", op.name, name)
				for _, end := range []string{network, unknown, answered, decoding} {
					if ending(err) == end {
						return
					}
				}
				t.Errorf("%s %s: %v", op.name, name, err)
			})
		}
	}
	assert.Greater(t, errs, 250)
}

// unreachable returns a service that no connection leads to.
func unreachable(cause error) service {
	return func(r *http.Request) (*http.Response, error) {
		httptrace.ContextClientTrace(r.Context()).GetConn(r.URL.Host)
		return nil, cause
	}
}

// TestErrorsProveNothingByThemselves: a RoundTripper that shows nothing of what it
// does may have sent the payment, whatever its last error was.
func TestErrorsProveNothingByThemselves(t *testing.T) {
	client := clientOf(t, func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	})
	_, err := client.Transactions.Pay(t.Context(), payment(), quickstream.WithMaxAttempts(1))
	assert.Equal(t, unknown, ending(err), "%v", err)
}

// TestNetworkConditions: what is certain not to have been sent is a NetworkError
// with a hint, for every kind of call.
func TestNetworkConditions(t *testing.T) {
	for kind, cause := range map[quickstream.NetworkKind]error{
		quickstream.NetworkKindDNS:               &net.DNSError{Err: "no such host", Name: "api.invalid", IsNotFound: true},
		quickstream.NetworkKindConnectionRefused: &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		quickstream.NetworkKindTimeout:           &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded},
		quickstream.NetworkKindProxy:             errors.New("Proxy Authentication Required"),
	} {
		synctest.Test(t, func(t *testing.T) {
			client := clientOf(t, unreachable(cause))
			_, err := client.Transactions.Pay(t.Context(), payment())
			failed, ok := errors.AsType[*quickstream.NetworkError](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, kind, failed.Kind)
			assert.NotEmpty(t, kind.Hint())
			assert.ErrorIs(t, err, cause)
			assert.Empty(t, matching(err))
			assert.ErrorContains(t, err, "nothing was sent")
			assert.ErrorContains(t, err, kind.Hint())
			assert.Equal(t, kind == quickstream.NetworkKindTimeout, failed.Timeout())
		})
	}
	assert.Empty(t, quickstream.NetworkKindOther.Hint())
}

// TestUnknownOutcomeHidesItsCause: whatever the last answer was, no check for it
// may succeed.
func TestUnknownOutcomeHidesItsCause(t *testing.T) {
	for status := range 600 {
		cause := &quickstream.APIError{StatusCode: status, TraceCode: "T-1"}
		err := error(&quickstream.UnknownOutcomeError{Cause: cause})
		assert.Equal(t, "unknown", matching(err), status)
		assert.NoError(t, errors.Unwrap(err))
		_, ok := errors.AsType[*quickstream.APIError](err)
		assert.False(t, ok)
		if status != 0 {
			assert.ErrorContains(t, err, fmt.Sprint("the service answered ", status))
		}
		assert.ErrorContains(t, err, "T-1")
	}
	for _, cause := range []error{context.Canceled, context.DeadlineExceeded} {
		assert.Equal(t, "unknown", matching(&quickstream.UnknownOutcomeError{Cause: cause}), "middleware takes it for not done")
	}
	assert.Equal(t, "unknown", matching(&quickstream.UnknownOutcomeError{}))
}

// TestErrorsPrintAlike: each error gives the same text by every route, as a
// pointer and as a value.
func TestErrorsPrintAlike(t *testing.T) {
	const secret = "ann@example.com"
	tx := &quickstream.Transaction{ReceiptNumber: secret, Status: "Declined", SummaryCode: "1", ResponseCode: "05"}
	for _, err := range []error{
		&quickstream.ValidationError{Operation: "X", Findings: []quickstream.Finding{{Rule: "r", Path: "p", Message: "m"}, {Rule: "s", Path: "q", Message: "n"}}},
		refusalThatSays(t, secret),
		&quickstream.NetworkError{Kind: quickstream.NetworkKindDNS},
		&quickstream.UnknownOutcomeError{
			Reference: secret, ReceiptNumber: secret, IdempotencyKey: secret, Intent: &quickstream.Intent{Reference: secret},
			Cause: errors.New(secret),
		},
		&quickstream.DecodeError{StatusCode: 200},
		&quickstream.DeclinedError{Transaction: tx},
	} {
		text := err.Error()
		assert.True(t, strings.HasPrefix(text, "quickstream: "), text)
		for _, printed := range printedErrors(t, err) {
			assert.Equal(t, text, printed, "%T", err)
			assert.NotContains(t, printed, secret)
		}
		assert.Equal(t, fmt.Sprintf("%q", text), fmt.Sprintf("%q", err))
		asJSON, jsonErr := json.Marshal(map[string]any{"err": err})
		require.NoError(t, jsonErr)
		assert.NotContains(t, string(asJSON), secret)
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

// printedErrors prints an error, as a pointer and as a value.
func printedErrors(t *testing.T, err error) []string {
	t.Helper()
	value := reflect.ValueOf(err).Elem().Interface()
	var printed []string
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		printed = append(printed, fmt.Sprintf(verb, err), fmt.Sprintf(verb, value))
	}
	for _, v := range []any{err, value} {
		data, jsonErr := json.Marshal(v)
		require.NoError(t, jsonErr)
		var text string
		require.NoError(t, json.Unmarshal(data, &text), "%s", data)
		var asText, asJSON bytes.Buffer
		slog.New(slog.NewTextHandler(&asText, nil)).Info("x", "err", v)
		assert.Contains(t, asText.String(), "err="+strconv.Quote(err.Error()))
		slog.New(slog.NewJSONHandler(&asJSON, nil)).Info("x", "err", v)
		var record struct{ Err string }
		require.NoError(t, json.Unmarshal(asJSON.Bytes(), &record))
		printed = append(printed, text, record.Err)
	}
	return printed
}
