package contract_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestValidateRequestRefuses(t *testing.T) {
	s := loadSamples(t)
	authorise := func(r *http.Request) { r.SetBasicAuth("KEY", "") }
	tests := map[string]struct {
		operation, target string
		edit              func(*http.Request)
		want              string // part of the error; empty when the request is fine
	}{
		"nothing":                    {"GET /transactions/csv", "/rest/v1/transactions/csv?version=2&settlementDate=2026-03-01", authorise, ""},
		"nothing without base path":  {"GET /transactions/{receiptNumber}", "/transactions/1000001", authorise, ""},
		"nothing, escaped":           {"GET /transactions/{receiptNumber}", "/rest/v1/transactions/a%2Fb", authorise, ""},
		"nothing, reserved in value": {"GET /transactions/for-reference-number", "/rest/v1/transactions/for-reference-number?referenceNumber=a%3Ab%2Cc", authorise, ""},
		"no key":                     {"GET /", "/rest/v1/", func(*http.Request) {}, "no key was sent, want secretKey or publishableKey"},
		"a password":                 {"GET /", "/rest/v1/", func(r *http.Request) { r.SetBasicAuth("KEY", "x") }, "password"},
		"a bearer token":             {"GET /", "/rest/v1/", func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }, "no key"},
		"the wrong path":             {"GET /transactions/{receiptNumber}", "/rest/v1/transactions/1/2", authorise, "not this operation"},
		"an empty path parameter":    {"GET /transactions/{receiptNumber}", "/rest/v1/transactions/", authorise, "path parameter receiptNumber"},
		"a long path parameter":      {"GET /transactions/{receiptNumber}", "/rest/v1/transactions/" + strings.Repeat("1", 256), authorise, "path parameter receiptNumber"},
		"a missing parameter":        {"GET /transactions/csv", "/rest/v1/transactions/csv?version=2", authorise, "query parameter settlementDate is missing"},
		"an unknown parameter":       {"GET /transactions/csv", "/rest/v1/transactions/csv?version=2&settlementDate=2026-03-01&excludePreauths=true", authorise, "query parameter excludePreauths is not documented"},
		"a repeated parameter":       {"GET /transactions/csv", "/rest/v1/transactions/csv?version=2&version=1&settlementDate=2026-03-01", authorise, "version is given 2 times"},
		"a bad boolean":              {"GET /transactions/csv", "/rest/v1/transactions/csv?version=2&settlementDate=2026-03-01&excludePreAuths=1", authorise, "excludePreAuths is not true or false"},
		"a bad value":                {"GET /transactions/csv", "/rest/v1/transactions/csv?version=3&settlementDate=2026-03-01", authorise, "query parameter version"},
		"a query that cannot be read": {"GET /transactions", "/rest/v1/transactions", func(r *http.Request) {
			authorise(r)
			r.URL.RawQuery = "a=%zz"
		}, "invalid URL escape"},
		"an empty key": {"POST /transactions/{receiptNumber}/void", "/rest/v1/transactions/1/void", func(r *http.Request) {
			authorise(r)
			r.Header["idempotency-key"] = []string{""}
		}, "header parameter Idempotency-Key"},
		"a body where none belongs": {"POST /transactions/{receiptNumber}/void", "/rest/v1/transactions/1/void", func(r *http.Request) {
			authorise(r)
			r.Body = io.NopCloser(strings.NewReader("{}"))
		}, "a request body is not documented"},
		"no body": {"POST /transactions", "/rest/v1/transactions", authorise, "the request body is missing"},
		"another content type": {"POST /transactions", "/rest/v1/transactions", func(r *http.Request) {
			authorise(r)
			r.Header.Set("Content-Type", "text/plain")
			r.Body = io.NopCloser(strings.NewReader("{}"))
		}, `content type "text/plain" is not documented`},
		"two documents": {"POST /customers", "/rest/v1/customers", func(r *http.Request) {
			authorise(r)
			r.Header.Set("Content-Type", "application/json")
			r.Body = io.NopCloser(strings.NewReader(`{"customerNumber":"1","customerName":"a"}{}`))
		}, "request body"},
	}
	for name, tt := range tests {
		op := s.operation(t, tt.operation)
		r := httptest.NewRequest(op.Method, tt.target, nil)
		tt.edit(r)
		err := op.ValidateRequest(r)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error is %v, want %q", name, err, tt.want)
		}
	}
}

func TestValidateRequestLeavesTheBodyReadable(t *testing.T) {
	s := loadSamples(t)
	op := s.operation(t, "POST /customers")
	want := `{"customerNumber":"1","customerName":"a"}`
	r := exchange{Path: "/customers"}.request(t, op, []byte(want))
	if err := op.ValidateRequest(r); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r.Body); err != nil || string(got) != want {
		t.Errorf("body is %q, %v", got, err)
	}
}

func TestUploadRefuses(t *testing.T) {
	s := loadSamples(t)
	op := s.operation(t, "POST /payment-files")
	for name, e := range map[string]exchange{
		"no CSRF header": {Path: "/payment-files", Form: map[string]string{"file": "a.csv", "format": "CSV2"}},
		"no format":      {Path: "/payment-files", Headers: csrf, Form: map[string]string{"file": "a.csv"}},
		"no file":        {Path: "/payment-files", Headers: csrf, Form: map[string]string{"format": "CSV2"}},
		"unknown part":   {Path: "/payment-files", Headers: csrf, Form: map[string]string{"file": "a.csv", "format": "CSV2", "name": "a.csv"}},
		"file as text":   {Path: "/payment-files", Headers: csrf, Form: map[string]string{"file": "", "format": "CSV2"}},
	} {
		if err := op.ValidateRequest(e.request(t, op, nil)); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

var csrf = map[string]string{"Prevent-CSRF": "true"}

func TestValidateResponseRefuses(t *testing.T) {
	s := loadSamples(t)
	for name, tt := range map[string]struct {
		operation   string
		status      int
		contentType string
		body        string
	}{
		"no receipt":              {"GET /transactions/{receiptNumber}", 200, "application/json", `{"transactionType":"PAYMENT","status":"Approved","summaryCode":"0"}`},
		"no receipt in a list":    {"GET /transactions", 200, "application/json", `{"links":[],"data":[{"transactionType":"PAYMENT","status":"Approved","summaryCode":"0"}]}`},
		"no receipt on void":      {"POST /transactions/{receiptNumber}/void", 200, "application/json", `{"transactionType":"PAYMENT","status":"Voided","summaryCode":"0"}`},
		"amount as a string":      {"POST /transactions", 201, "application/json", `{"receiptNumber":"1","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","totalAmount":{"currency":"AUD","amount":"12.50"}}`},
		"bare amount":             {"POST /transactions", 201, "application/json", `{"receiptNumber":"1","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","totalAmount":12.50}`},
		"amount of mills":         {"POST /transactions", 201, "application/json", `{"receiptNumber":"1","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","totalAmount":{"currency":"AUD","amount":12.505}}`},
		"numeric summary code":    {"POST /transactions", 201, "application/json", `{"receiptNumber":"1","transactionType":"PAYMENT","status":"Approved","summaryCode":0}`},
		"time without offset":     {"POST /transactions", 201, "application/json", `{"receiptNumber":"1","transactionType":"PAYMENT","status":"Approved","summaryCode":"0","transactionTime":"2026-03-01T10:15:30"}`},
		"200 for a creation":      {"POST /transactions", 200, "application/json", `{"receiptNumber":"1","transactionType":"PAYMENT","status":"Approved","summaryCode":"0"}`},
		"a redirect":              {"GET /transactions", 302, "application/json", ``},
		"an empty success":        {"GET /transactions", 200, "application/json", ``},
		"a relative link":         {"GET /", 200, "application/json", `{"links":[{"rel":"next","href":"::"}]}`},
		"a year of four digits":   {"POST /single-use-tokens", 200, "application/json", `{"singleUseTokenId":"T-1","accountType":"CREDIT_CARD","creditCard":{"expiryDateYear":"2031"}}`},
		"a month of one digit":    {"POST /single-use-tokens", 200, "application/json", `{"singleUseTokenId":"T-1","accountType":"CREDIT_CARD","creditCard":{"expiryDateMonth":"1"}}`},
		"null":                    {"GET /transactions", 200, "application/json", `null`},
		"an array":                {"GET /transactions", 200, "application/json", `[]`},
		"a list without links":    {"GET /transactions", 200, "application/json", `{"data":[]}`},
		"HTML":                    {"GET /transactions", 200, "text/html", `<html>`},
		"HTML error":              {"GET /transactions", 500, "text/html", `<html>`},
		"no content type":         {"GET /transactions", 200, "", `{"links":[],"data":[]}`},
		"cut off":                 {"GET /transactions", 200, "application/json", `{"links":[],"data":[`},
		"a body with 204":         {"PATCH /payto-agreements/{agreementToken}", 204, "application/json", `{}`},
		"200 for an amendment":    {"PATCH /payto-agreements/{agreementToken}", 200, "application/json", `{}`},
		"agreement without token": {"GET /payto-agreements/{agreementToken}", 200, "application/json", `{"status":"ACTIVE"}`},
		"422 without a body":      {"POST /transactions", 422, "application/json", ``},
		"CSV as JSON":             {"GET /transactions/csv", 200, "application/json", `{}`},
		"CSV in Latin-1":          {"GET /transactions/csv", 200, "text/plain", "Caf\xe9"},
	} {
		op := s.operation(t, tt.operation)
		header := http.Header{"Content-Type": {tt.contentType}}
		if err := op.ValidateResponse(tt.status, header, []byte(tt.body)); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestResponsesMayGrow(t *testing.T) {
	s := loadSamples(t)
	op := s.operation(t, "GET /transactions/{receiptNumber}")
	body := []byte(`{"receiptNumber":"1","transactionType":"NEW","status":"New","summaryCode":"9","newMember":{"a":1}}`)
	if err := op.ValidateResponse(200, http.Header{"Content-Type": {"application/json"}}, body); err != nil {
		t.Error(err)
	}
}

func TestNotifications(t *testing.T) {
	s := loadSamples(t)
	unknown := `{"id":"1","timestamp":"2026-03-01T10:15:30+1100","eventType":"payto.agreement.new","data":{"a":1}}`
	if err := s.doc.ValidateNotification(signed, []byte(unknown)); err != nil {
		t.Error(err)
	}
	unsigned := http.Header{"Content-Type": {"application/json"}}
	misformed := http.Header{"Content-Type": {"application/json"}, "X-Webhook-Signature": {"v1=abc"}}
	for name, tt := range map[string]struct {
		header http.Header
		body   string
	}{
		"unsigned":               {unsigned, unknown},
		"misformed signature":    {misformed, unknown},
		"no id":                  {signed, strings.Replace(unknown, `"id":"1",`, "", 1)},
		"no event type":          {signed, strings.Replace(unknown, `"eventType":"payto.agreement.new",`, "", 1)},
		"data of another kind":   {signed, strings.Replace(unknown, "agreement.new", "payment.approved", 1)},
		"not JSON":               {signed, "eventType=a"},
		"time without an offset": {signed, strings.Replace(unknown, "+1100", "", 1)},
	} {
		if err := s.doc.ValidateNotification(tt.header, []byte(tt.body)); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestMatch(t *testing.T) {
	s := loadSamples(t)
	for target, want := range map[string]string{
		"GET /rest/v1":                        "GET /",
		"GET /rest/v1/":                       "GET /",
		"GET /rest/v1/transactions/csv":       "GET /transactions/csv",
		"GET /transactions/csv?version=1":     "GET /transactions/csv",
		"GET /rest/v1/transactions/1":         "GET /transactions/{receiptNumber}",
		"GET /rest/v1/transactions/suspended": "GET /transactions/suspended",
		"DELETE /rest/v1/transactions/1":      "",
		"GET /rest/v1x/transactions/1":        "",
		"GET /rest/v1/nothing":                "",
	} {
		method, path, _ := strings.Cut(target, " ")
		op, err := s.doc.Match(httptest.NewRequest(method, path, nil))
		switch {
		case want == "" && err == nil:
			t.Errorf("%s matched %s", target, op.ID)
		case want != "" && (err != nil || op.ID != want):
			t.Errorf("%s: %v, want %s", target, err, want)
		}
	}
}

// TestErrorSpeaksOfTheVariantSent: a choice of ten forms must not answer with
// what is wrong under the nine others.
func TestErrorSpeaksOfTheVariantSent(t *testing.T) {
	s := loadSamples(t)
	op := s.operation(t, "POST /transactions")
	for body, want := range map[string]string{
		`{"transactionType":"REFUND","originalReceiptNumber":"1","currency":"AUD"}`:                                 "RefundRequest",
		`{"transactionType":"PREAUTH","authorisationType":"EXTENSION","principalAmount":0.00,"currency":"AUD"}`:     "ExtensionPreauthorisationRequest",
		`{"transactionType":"PREAUTH","principalAmount":1.00,"currency":"AUD"}`:                                     "InitialPreauthorisationRequest",
		`{"transactionType":"PREAUTH_CANCELLATION","cancellationType":"FULL","principalAmount":1,"currency":"AUD"}`: "PreauthorisationCancellationRequest",
	} {
		err := op.ValidateRequestBody("application/json", []byte(body))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "PaymentRequest") {
			t.Errorf("%s: %v", body, err)
		}
	}
}
