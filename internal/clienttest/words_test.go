package clienttest_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestRefusalsAreAboutTheCall: an error body refuses a write only if its status, requestMethod and
// requestUrl do not name another request. Host and prefix of the address may be a proxy's.
func TestRefusalsAreAboutTheCall(t *testing.T) {
	for members, refuses := range map[string]bool{
		``: true, `"status":null,"requestMethod":null,"requestUrl":null`: true, `"status":"","requestMethod":"","requestUrl":""`: true,
		`"status":422`: true, `"status":"422"`: true, `"status":"422 Unprocessable Entity"`: true, `"status":"UNPROCESSABLE_ENTITY"`: true,
		`"status":400`: false, `"status":"400"`: false, `"status":"HTTP 404"`: false, `"status":["422"]`: false, `"status":422,"status":"422"`: false, `"status":422,"Status":422`: false,
		`"requestMethod":"POST"`: true, `"requestMethod":" post "`: true, `"requestMethod":"-"`: true,
		`"requestMethod":"PUT"`: false, `"requestMethod":"get"`: false, `"requestMethod":{"a":"POST"}`: false,
		`"requestUrl":"https://api.invalid/rest/v1/transactions/R-1/void"`: true, `"requestUrl":"http://10.0.0.7:8080/internal/transactions/R-1/void/?a=/b#/c"`: true,
		`"requestUrl":"/transactions/r%2D1/VOID"`: true, `"requestUrl":"/transactions/R-1/void#/transactions/R-2/void"`: true, `"requestUrl":"hidden"`: true, `"requestUrl":"?a=/b"`: true,
		`"requestUrl":"https://api.invalid/rest/v1/transactions/R-2/void"`: false, `"requestUrl":"https://api.invalid/rest/v1/transactions/R-1"`: false,
		`"requestUrl":"https://api.invalid/rest/v1/customers?next=/transactions/R-1/void"`: false, `"requestUrl":"/"`: false, `"requestUrl":"https://%zz/transactions/R-2/void"`: false,
		`"requestUrl":"x-transactions/R-1/void"`: false, `"requestUrl":["/transactions/R-1/void"]`: false, `"requestUrl":"/void"`: false,
	} {
		body := strings.TrimSuffix(`{"developerMessage":"No.",`+members, ",") + "}"
		_, err := clientOf(t, says(422, body)).Transactions.Void(t.Context(), "R-1")
		if refuses {
			assert.ErrorIs(t, err, quickstream.ErrInvalid, members)
			continue
		}
		assert.Equal(t, unknown, ending(err), "%s: %v", members, err)
		assert.ErrorContains(t, err, "answered 422 Unprocessable Entity: not the service's error body", members)
		_, err = clientOf(t, says(422, body)).Transactions.Get(t.Context(), "R-1")
		assert.ErrorIs(t, err, quickstream.ErrInvalid, "a read changes nothing: %s", members)
	}
	_, err := clientOf(t, says(503, `{"developerMessage":"No.","status":500}`)).Transactions.Pay(t.Context(), payment())
	assert.Equal(t, unknown, ending(err), "a 503 too: %v", err)
	agreed := `{"developerMessage":"No.","requestUrl":"` + baseURL + `/transactions"}`
	assert.Equal(t, answered, ending(second(clientOf(t, says(503, agreed)).Transactions.Pay(t.Context(), payment()))))
}

// TestWithRefusal: the caller's function can only turn an unknown outcome into a refusal, and only
// of a 4xx to an only attempt.
func TestWithRefusal(t *testing.T) {
	asked := 0
	client := func(s service, says func() bool) *quickstream.Client {
		asked = 0
		return clientOf(t, s, quickstream.WithRefusal(func(_ int, header http.Header, body []byte) bool {
			asked++
			assert.Equal(t, []any{"<html>", "application/json"}, []any{string(body), header.Get("Content-Type")})
			header.Set("Content-Type", "changed")
			body[0] = '?'
			return says()
		}))
	}
	yes := func() bool { return true }
	reasons := map[int]quickstream.Reason{
		400: quickstream.ReasonInvalid, 401: quickstream.ReasonUnauthorized, 403: quickstream.ReasonForbidden, 404: quickstream.ReasonNotFound,
		422: quickstream.ReasonInvalid, 429: quickstream.ReasonRateLimited,
	}
	for _, status := range []int{101, 301, 307, 399, 400, 401, 402, 403, 404, 405, 407, 408, 409, 410, 413, 422, 425, 426, 429, 460, 499, 500, 503, 599} {
		var resp quickstream.Response
		_, err := client(says(status, "<html>"), yes).Transactions.Pay(t.Context(), payment(), quickstream.WithResponseInto(&resp))
		assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
		if status < 400 || status > 499 || slices.Contains([]int{408, 409, 425}, status) {
			assert.Equal(t, unknown, ending(err), status)
			assert.Zero(t, asked, status)
			assert.Equal(t, map[bool]quickstream.Reason{true: quickstream.ReasonRedirected, false: quickstream.ReasonInconclusive}[status/100 == 3], answerIn(err).Reason, status)
			continue
		}
		assert.Equal(t, answered, ending(err), status)
		assert.Equal(t, 1, asked, status)
		want := reasons[status]
		if want == "" {
			want = quickstream.ReasonRefused
		}
		assert.Equal(t, want, answerIn(err).Reason, status)
		assert.Equal(t, "<html>", string(answerIn(err).RawBody()), "the function has a copy")
		assert.NotContains(t, err.Error(), "proves nothing", status)
	}
	_, err := client(says(422, "<html>"), func() bool { panic("mine") }).Transactions.Pay(t.Context(), payment())
	assert.Equal(t, unknown, ending(err), "a panic")
	_, err = client(says(402, "<html>"), yes).Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
	assert.Equal(t, quickstream.ReasonInconclusive, answerIn(err).Reason)
	_, err = clientOf(t, says(409, "")).Businesses.QueryCardSurcharge(t.Context(), "SHOP", quickstream.NewSecret("4242424242424242"))
	assert.Equal(t, quickstream.ReasonConflict, answerIn(err).Reason, "a POST that only asks has no key in use")
	_, err = client(says(422, errorBody), yes).Transactions.Pay(t.Context(), payment())
	assert.ErrorIs(t, err, quickstream.ErrInvalid)
	assert.Zero(t, asked, "neither for reads nor for the service's error body")
	for _, body := range []string{"<html>", errorBody} {
		_, err = client(func(*http.Request) (*http.Response, error) {
			resp := answer(422, body)
			resp.ContentLength++
			return resp, nil
		}, yes).Transactions.Pay(t.Context(), payment())
		assert.Equal(t, unknown, ending(err), "half of %s", body)
		assert.Zero(t, asked, "half a body")
	}
	_, err = quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithRefusal(nil))
	assert.ErrorContains(t, err, "WithRefusal")

	for name, c := range map[string]struct {
		first func(*http.Request) error
		ends  string
	}{
		"never sent": {func(r *http.Request) error {
			httptrace.ContextClientTrace(r.Context()).GetConn(r.URL.Host)
			return io.ErrUnexpectedEOF
		}, answered},
		"lost": {func(*http.Request) error { return io.ErrUnexpectedEOF }, unknown},
		"sent twice below": {func(r *http.Request) error {
			for range 2 {
				httptrace.ContextClientTrace(r.Context()).WroteHeaders()
			}
			return nil
		}, unknown},
	} {
		synctest.Test(t, func(t *testing.T) {
			attempts := 0
			client := client(func(r *http.Request) (*http.Response, error) {
				if attempts++; attempts == 1 {
					if err := c.first(r); err != nil {
						return nil, err
					}
				}
				return answer(422, "<html>"), nil
			}, yes)
			_, err := client.Transactions.Pay(t.Context(), payment())
			assert.Equal(t, c.ends, ending(err), name)
			assert.Equal(t, map[string]int{answered: 1, unknown: 0}[c.ends], asked, name)
		})
	}
}

// TestDocumentedSuccesses: an answer counts with 200, 201 and 204, which the service uses, and a
// report that is not ready with 202. What else stands between 200 and 299 is not the service's.
func TestDocumentedSuccesses(t *testing.T) {
	calls := map[string]struct {
		body string
		call func(*quickstream.Client) error
		ends string
	}{
		"Pay": {approvedBody, func(c *quickstream.Client) error { return second(c.Transactions.Pay(t.Context(), payment())) }, unknown},
		"Register": {`{"accountToken":"A-1"}`, func(c *quickstream.Client) error {
			return second(c.Accounts.Register(t.Context(), "C-1", quickstream.RegisterAccountParams{ReceiptNumber: "R-1"}))
		}, unknown},
		"Get": {`{"receiptNumber":"R-1"}`, func(c *quickstream.Client) error {
			return second(c.Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1)))
		}, decoding},
		"Check": {`{"data":[]}`, func(c *quickstream.Client) error { return c.Check(t.Context(), quickstream.WithMaxAttempts(1)) }, decoding},
		"Do": {`{}`, func(c *quickstream.Client) error {
			return c.Do(t.Context(), quickstream.Request{Method: "POST", Route: "/notes"}, nil)
		}, unknown},
	}
	for name, c := range calls {
		for _, status := range []int{200, 202, 203, 205, 206, 207, 208, 226, 299} {
			err := c.call(clientOf(t, says(status, c.body)))
			want := c.ends
			if status == 200 || status == 202 && name == "Do" {
				want = succeeds
			}
			assert.Equal(t, want, ending(err), "%s, %d: %v", name, status, err)
			if want != succeeds {
				assert.ErrorContains(t, err, fmt.Sprint(status), name)
			}
		}
	}
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](calls["Pay"].call(clientOf(t, says(203, approvedBody))))
	require.True(t, ok)
	assert.Empty(t, lost.ReceiptNumber, "it is no documented success")
	_, err := clientOf(t, says(202, "")).Transactions.DownloadReport(t.Context(), io.Discard, quickstream.ReportParams{SettlementDate: quickstream.Date{Year: 2026, Month: time.March, Day: 2}})
	assert.ErrorIs(t, err, quickstream.ErrReportNotReady)
	for _, status := range []int{201, 204} {
		assert.NoError(t, calls["Register"].call(clientOf(t, says(status, ""))), status)
	}
}

// TestCheckWithoutTransactions: the service may answer 404 for an empty list. For a wrong path it, or a
// gateway, does so for everything.
func TestCheckWithoutTransactions(t *testing.T) {
	for body, own := range map[string]bool{errorBody: true, "<html>no such page</html>": false, "": false} {
		for _, root := range []bool{true, false} {
			err := clientOf(t, func(r *http.Request) (*http.Response, error) {
				if root && r.URL.Path == "/rest/v1" {
					return answer(http.StatusOK, `{"links":[]}`), nil
				}
				return answer(http.StatusNotFound, body), nil
			}).Check(t.Context())
			assert.Equal(t, own && root, err == nil, body)
			assert.Equal(t, !(own && root), errors.Is(err, quickstream.ErrNotFound), body)
		}
	}
}
