package clienttest_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/h2non/gock.v1"

	"github.com/quickstream-go/quickstream"
)

const approvedBody = `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0"}`

// TestShapeOfAPayment sees a request from the transport that a caller brings along. gock's mocks belong
// to the whole process, so that nothing here is parallel, and match loosely, so that the request is
// compared here and not by gock.
func TestShapeOfAPayment(t *testing.T) {
	own := &http.Client{Transport: &http.Transport{}}
	gock.DisableNetworking()
	gock.InterceptClient(own)
	t.Cleanup(func() {
		assert.True(t, gock.IsDone(), "every mock is used")
		gock.RestoreClient(own)
		gock.OffAll()
	})
	var address, body string
	var header http.Header
	mock := gock.New(baseURL)
	mock.AddMatcher(func(r *http.Request, _ *gock.Request) (bool, error) {
		read, err := io.ReadAll(r.Body)
		address, header, body = r.Method+" "+r.URL.String(), r.Header.Clone(), string(read)
		return true, err
	})
	mock.Response.Status(201).SetHeader("Content-Type", "application/json").BodyString(approvedBody)
	client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithHTTPClient(own))
	require.NoError(t, err)
	params := payment()
	params.PaymentReferenceNumber, params.Metadata, params.Comment = "REF-1", map[string]string{"b": "<2>", "a": "1"}, "5 > 4 & more"
	_, err = client.Transactions.Pay(t.Context(), params, quickstream.WithHeader("X-Own", "1"), quickstream.WithIntentMetadata(""))
	require.NoError(t, err)
	assert.Equal(t, "POST "+baseURL+"/transactions", address)
	assert.Equal(t, http.Header{
		"Authorization": {"Basic U0VDUkVUX0tFWV8xOg=="}, "Accept": {"application/json"}, "Content-Type": {"application/json"}, "User-Agent": header["User-Agent"],
		"idempotency-key": header["idempotency-key"], "X-Own": {"1"}, //nolint:staticcheck // not canonical on purpose
	}, header)
	assert.Equal(t, `{"transactionType":"PAYMENT","supplierBusinessCode":"SANDBOX01","principalAmount":10.50,"currency":"AUD","eci":"INTERNET",`+
		`"ipAddress":"203.0.113.7","customerReferenceNumber":"ORDER-1","paymentReferenceNumber":"REF-1","comment":"5 > 4 & more",`+
		`"metadata":{"a":"1","b":"<2>"},"storedCredentialData":{"entryMode":"MANUAL"},`+
		`"creditCard":{"cardholderName":"Ann Example","cardNumber":"4242424242424242","expiryDateMonth":"03","expiryDateYear":"2035","cvn":"123"}}`, body)
}
