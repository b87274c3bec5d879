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

// The shape of requests, seen from the transport that a caller brings along.
// gock's mocks belong to the whole process, so that nothing here is parallel, and
// matches loosely, so that the request is compared here and not by gock.

// mocked returns a client over gock. What no mock answers goes nowhere.
func mocked(t *testing.T) *quickstream.Client {
	t.Helper()
	own := &http.Client{Transport: &http.Transport{}}
	gock.DisableNetworking()
	gock.InterceptClient(own)
	t.Cleanup(func() {
		assert.True(t, gock.IsDone(), "every mock is used")
		assert.False(t, gock.HasUnmatchedRequest())
		gock.RestoreClient(own)
		gock.OffAll()
	})
	client, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithHTTPClient(own))
	require.NoError(t, err)
	return client
}

// seen is a request as gock was asked to carry it.
type seen struct {
	method, address, body string
	header                http.Header
}

// expect registers a mock for the next request, whatever it is, which is kept. Which
// version it names is another test's.
func expect(t *testing.T, reply func(*gock.Response)) *seen {
	t.Helper()
	var kept seen
	mock := gock.New(baseURL)
	mock.AddMatcher(func(r *http.Request, _ *gock.Request) (bool, error) {
		assert.Regexp(t, "^quickstream-go/.", r.Header.Get("User-Agent"))
		kept = seen{method: r.Method, address: r.URL.String(), header: r.Header.Clone()}
		kept.header.Del("User-Agent")
		if r.Body == nil {
			return true, nil
		}
		data, err := io.ReadAll(r.Body)
		kept.body = string(data)
		return true, err
	})
	reply(mock.Response)
	return &kept
}

func replies(status int, body string) func(*gock.Response) {
	return func(r *gock.Response) {
		r.Status(status).SetHeader("Content-Type", "application/json").BodyString(body)
	}
}

const approvedBody = `{"receiptNumber":"R-1","status":"Approved","summaryCode":"0"}`

func TestShapeOfAPayment(t *testing.T) {
	client := mocked(t)
	sent := expect(t, replies(201, approvedBody))
	params := payment()
	params.PaymentReferenceNumber, params.Metadata, params.Comment = "REF-1", map[string]string{"b": "<2>", "a": "1"}, "5 > 4 & more"
	tx, err := client.Transactions.Pay(t.Context(), params, quickstream.WithHeader("X-Own", "1"), quickstream.WithIntentMetadata(""))
	require.NoError(t, err)
	assert.Equal(t, quickstream.OutcomeApproved, tx.Outcome())
	assert.Equal(t, "POST "+baseURL+"/transactions", sent.method+" "+sent.address)
	assert.Equal(t, http.Header{
		"Authorization": {"Basic U0VDUkVUX0tFWV8xOg=="}, "Accept": {"application/json"}, "Content-Type": {"application/json"},
		"idempotency-key": sent.header["idempotency-key"], "X-Own": {"1"}, //nolint:staticcheck // not canonical on purpose
	}, sent.header)
	assert.Equal(t, `{"transactionType":"PAYMENT","supplierBusinessCode":"SANDBOX01","principalAmount":10.50,"currency":"AUD","eci":"INTERNET",`+
		`"ipAddress":"203.0.113.7","customerReferenceNumber":"ORDER-1","paymentReferenceNumber":"REF-1","comment":"5 > 4 & more",`+
		`"metadata":{"a":"1","b":"<2>"},"storedCredentialData":{"entryMode":"MANUAL"},`+
		`"creditCard":{"cardholderName":"Ann Example","cardNumber":"4242424242424242","expiryDateMonth":"03","expiryDateYear":"2035","cvn":"123"}}`, sent.body)
}

func TestShapeOfReads(t *testing.T) {
	client := mocked(t)
	header := http.Header{"Authorization": {"Basic U0VDUkVUX0tFWV8xOg=="}, "Accept": {"application/json"}, "Cache-Control": {"no-cache"}}
	get := expect(t, replies(200, approvedBody))
	_, err := client.Transactions.Get(t.Context(), "R-1")
	require.NoError(t, err)
	assert.Equal(t, &seen{"GET", baseURL + "/transactions/R-1", "", header}, get)

	list := expect(t, replies(200, `{"data":[]}`))
	_, err = client.Transactions.ByBankAccount("032-999", quickstream.NewSecret("999994")).First(t.Context())
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.Equal(t, &seen{"GET", baseURL + "/transactions/for-bank-account?accountNumber=999994&bsb=032-999", "", header}, list)

	root := expect(t, replies(200, `{}`))
	_, err = client.Root(t.Context())
	require.NoError(t, err)
	assert.Equal(t, &seen{"GET", baseURL, "", header}, root)

	check := expect(t, replies(200, `{"data":[{}]}`))
	err = client.Check(t.Context())
	require.NoError(t, err)
	assert.Equal(t, &seen{"GET", baseURL + "/transactions", "", header}, check)
}

func TestShapeOfAToken(t *testing.T) {
	client := mocked(t)
	sent := expect(t, replies(201, `{"singleUseTokenId":"T-1"}`))
	_, err := client.SingleUseTokens.Create(t.Context(), quickstream.CreateSingleUseTokenParams{SupplierBusinessCode: "SHOP", Account: approvedCard()})
	require.NoError(t, err)
	assert.Equal(t, []string{"Basic UFVCTElTSEFCTEVfS0VZXzE6"}, sent.header["Authorization"])
	assert.Equal(t, `{"supplierBusinessCode":"SHOP","accountType":"CREDIT_CARD","cardholderName":"Ann Example","cardNumber":"4242424242424242",`+
		`"expiryDateMonth":"03","expiryDateYear":"2035","cvn":"123"}`, sent.body)
}
