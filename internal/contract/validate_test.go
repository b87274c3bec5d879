package contract_test

import (
	"net/http"
	"testing"
)

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
