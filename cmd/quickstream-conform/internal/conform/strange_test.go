package conform_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
)

// strangeService changes answers to forms that no assumption has.
type strangeService struct{ next http.RoundTripper }

func (s strangeService) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	text := string(body)
	for _, change := range [][2]string{
		{`"transactionTime":"(....)-(..)-(..)T[^"]*"`, `"transactionTime":"$3.$2.$1 03:04"`},
		{`"settlementDate":"(....)-(..)-(..)"`, `"settlementDate":"$3/$2/$1"`},
		{`"status":"Approved\*?"`, `"status":"Completed"`},
		{`"principalAmount":\{"currency":"AUD","amount":([0-9.]+)`, `"principalAmount":{"iso":"AUD","value":$1`},
		{`"conform":"[^"]*"`, `"conform":"crc32:00ff"`},
		{`"(customerReferenceNumber|endToEndId)":"`, `"$1":"QS:`},
		{`"links":\[\]`, `"links":""`},
		{`"comment":null`, `"comment":"n/a"`},
		{`"payToData":null`, `"payToData":{}`},
		{`"href":"http://[^/]*`, `"href":"http://elsewhere.localhost`},
		{`"frequency":"MNTH"`, `"frequency":"MONTHLY"`},
		{`"payerName":"Kim  Conform"`, `"payerName":"K. C."`},
		{`"receiptNumber":"([0-9]*)","transactionType":("[A-Z_]*")`, `"transactionType":$2,"receiptNumber":"$1"`},
		{`(?s).*"developerMessage":"[^"]*another body.*`, `{"code":"E1"}`},
		{`(?s).*"errors":(null|\[).*"developerMessage":.*`, `{"code":"E1"}`},
		{`"totalAmount":\{"currency":"AUD","amount":0\.38([^}]*)\}`, `"totalAmount":{"currency":"AUD","amount":9.38$1}`},
	} {
		text = regexp.MustCompile(change[0]).ReplaceAllString(text, change[1])
	}
	if strings.Contains(string(body), "another body") {
		resp.StatusCode = http.StatusPreconditionFailed
	}
	if strings.Contains(r.URL.RawQuery, "1990-01-02") {
		resp.StatusCode, text = http.StatusOK, `{"links":[],"data":{}}`
	}
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	return resp, nil
}

// What no assumption describes is something else, and the neighbours of it are right.
func TestStrangeService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		box := newBox(t, "UnknownEnumValues=false TransactionAnswers=full")
		cfg := config(box)
		cfg.Wait, cfg.NewKey = 15*time.Minute, nil
		cfg.HTTPClient = &http.Client{Transport: strangeService{box.HTTPClient().Transport}}
		report, err := conform.Run(t.Context(), cfg)
		require.NoError(t, err)
		found := findings(report)
		var others []string
		for _, a := range box.Assumptions().List() {
			switch f := found[a.Name]; {
			case f.Other != "":
				others = append(others, a.Name)
			case f.Value != "":
				assert.Equal(t, a.Value, f.Value, a.Name)
			}
		}
		assert.ElementsMatch(t, []string{
			"TimeForm", "DateForm", "StatusForm", "AmountForm", "Metadata", "EchoedReferences", "EmptyLists", "OptionalMembers",
			"InapplicableMembers", "NextLinks", "AgreementTerms", "AgreementTexts", "MemberOrder", "ErrorForm", "NothingFound", "FollowUpAmounts",
			"KeyMismatch", "UnknownEnumValues",
		}, others)
		undone(t, box, report.Left)
	})
}
