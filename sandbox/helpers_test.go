package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	goodCard = "4242424242424242"
	testCVN  = "837"
	payerIP  = "203.0.113.7"
)

type object = map[string]any

// caller makes raw requests and searches every answer for numbers that must not be in it.
type caller struct {
	t      *testing.T
	box    *Sandbox
	client *http.Client
	base   string
	keys   Keys
}

type response struct {
	status int
	header http.Header
	raw    []byte
	body   object
}

// bubble runs a test on fake time with a sandbox of its own.
func bubble(t *testing.T, f func(c *caller), opts ...Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(t, opts...)
		defer c.box.Close()
		f(c)
	})
}

func newCaller(t *testing.T, opts ...Option) *caller {
	box := New(opts...)
	return &caller{t: t, box: box, client: box.HTTPClient(), base: box.URL(), keys: box.Keys()}
}

func assuming(change func(*Assumptions)) Option { return WithAssumptions(change) }

func (c *caller) request(method, path, key string, body any, header ...string) *http.Request {
	c.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(c.t, err)
		reader = bytes.NewReader(raw)
	}
	url := path
	if strings.HasPrefix(path, "/") || path == "" {
		url = c.base + path
	}
	r, err := http.NewRequest(method, url, reader)
	require.NoError(c.t, err)
	if key != "" {
		r.SetBasicAuth(key, "")
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Idempotency-Key" {
			// With this spelling net/http does not send the request again by itself.
			r.Header["idempotency-key"] = []string{header[i+1]}
			continue
		}
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func (c *caller) try(r *http.Request) (response, error) {
	resp, err := c.client.Do(r)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	out := response{status: resp.StatusCode, header: resp.Header, raw: raw}
	if err != nil {
		return out, err
	}
	c.checkNumbers(string(raw))
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		if err := dec.Decode(&out.body); err != nil {
			return out, fmt.Errorf("answer is not JSON: %w", err)
		}
	}
	return out, nil
}

// checkNumbers fails the test if an answer has a card number, a CVN or the whole number of an
// account that a test used. A short number counts only if it stands alone, because random
// identifiers contain its digits by chance.
func (c *caller) checkNumbers(raw string) {
	c.t.Helper()
	for number := range testCards {
		if strings.Contains(raw, number) {
			c.t.Errorf("a card number was echoed: %s", raw)
		}
	}
	for _, secret := range []string{`"` + testCVN + `"`, `"8372"`, realPAN, payerPayID} {
		if strings.Contains(raw, secret) {
			c.t.Errorf("%s was echoed: %s", secret, raw)
		}
	}
	if number := accountNumbers.FindString(raw); number != "" {
		c.t.Errorf("%s was echoed: %s", number, raw)
	}
}

// accountNumbers finds the account numbers of the tests.
var accountNumbers = regexp.MustCompile(`\b(999994|123465|7654321|` + payerAccount + `)\b`)

func TestAccountNumbersAreFoundWhole(t *testing.T) {
	for text, want := range map[string]string{
		`{"accountNumber":"999994"}`:            "999994",
		"032-002 123465":                        "123465",
		"849999949 7654321":                     "7654321",
		"xxx " + payerAccount:                   payerAccount,
		`{"customerId":"849999949"}`:            "",
		`{"receiptNumber":"1234653264"}`:        "",
		`{"maskedAccountNumber":"xxx-000 x94"}`: "",
	} {
		assert.Equal(t, want, accountNumbers.FindString(text), text)
	}
}

// realPAN has the form of a card number and is not a test number.
var realPAN = func() string {
	const stem = "400000000000000"
	for digit := '0'; digit <= '9'; digit++ {
		if number := stem + string(digit); luhn(number) {
			return number
		}
	}
	return stem
}()

func (c *caller) do(method, path, key string, body any, header ...string) response {
	c.t.Helper()
	out, err := c.try(c.request(method, path, key, body, header...))
	require.NoError(c.t, err)
	return out
}

func (c *caller) get(path string) response { return c.do("GET", path, c.keys.Secret, nil) }

func (c *caller) post(path string, body any, header ...string) response {
	c.t.Helper()
	key := c.keys.Secret
	if path == "/single-use-tokens" {
		key = c.keys.Publishable
	}
	return c.do("POST", path, key, body, header...)
}

// must checks the status and returns the body.
func (c *caller) must(want int, r response) object {
	c.t.Helper()
	require.Equal(c.t, want, r.status, string(r.raw))
	return r.body
}

// findings are the messages of an error body by field name.
func (c *caller) findings(r response) map[string]string {
	c.t.Helper()
	require.Equal(c.t, http.StatusUnprocessableEntity, r.status, string(r.raw))
	out := make(map[string]string)
	list, _ := r.body["errors"].([]any)
	for _, e := range list {
		entry := e.(object)
		var messages []string
		for _, m := range entry["messages"].([]any) {
			messages = append(messages, m.(string))
		}
		out[entry["fieldName"].(string)] = strings.Join(messages, "; ")
	}
	return out
}

// changed returns a copy with members set; a nil value removes one.
func changed(o object, pairs ...any) object {
	out := make(object, len(o))
	for k, v := range o {
		out[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if name := pairs[i].(string); pairs[i+1] == nil {
			delete(out, name)
		} else {
			out[name] = pairs[i+1]
		}
	}
	return out
}

func cardDetails(number string) object {
	cvn := testCVN
	if strings.HasPrefix(number, "3") && schemeOf(number) == schemeAmex {
		cvn = "8372"
	}
	return object{
		"cardholderName": "Kim Lee", "cardNumber": number, "cvn": cvn,
		"expiryDateMonth": "02", "expiryDateYear": "2035",
	}
}

func cardToken(number string) object {
	return changed(cardDetails(number), "supplierBusinessCode", DefaultBusiness, "accountType", typeCard)
}

// payment is a payment without a source.
func payment(order string) object {
	return object{
		"transactionType": "PAYMENT", "supplierBusinessCode": DefaultBusiness,
		"principalAmount": json.Number("10.50"), "currency": "AUD", "eci": "INTERNET", "ipAddress": payerIP,
		"storedCredentialData":    object{"entryMode": "MANUAL"},
		"customerReferenceNumber": order,
	}
}

func cardPayment(order string) object {
	return changed(payment(order), "creditCard", cardDetails(goodCard))
}

func bankPayment(order, bsb string) object {
	return changed(payment(order), "eci", nil, "ipAddress", nil, "storedCredentialData", nil,
		"bankAccount", object{"accountName": "Kim Lee", "bsb": bsb, "accountNumber": "999994"})
}

func (c *caller) token(body object) string {
	c.t.Helper()
	return c.must(200, c.post("/single-use-tokens", body))["singleUseTokenId"].(string)
}

// pay makes a card payment and returns its receipt number.
func (c *caller) pay(order string) string {
	c.t.Helper()
	return c.must(201, c.post("/transactions", cardPayment(order)))["receiptNumber"].(string)
}

func linkOf(body object, rel string) string {
	list, _ := body["links"].([]any)
	for _, l := range list {
		if l.(object)["rel"] == rel {
			return l.(object)["href"].(string)
		}
	}
	return ""
}

// listed reads the pages of a list, and returns a member of each item.
func (c *caller) listed(path, member string) []string {
	c.t.Helper()
	out := []string{}
	for path != "" {
		page := c.must(200, c.get(path))
		data := page["data"].([]any)
		require.LessOrEqual(c.t, len(data), c.box.assume.PageSize)
		for _, item := range data {
			out = append(out, item.(object)[member].(string))
		}
		path = linkOf(page, "next")
	}
	return out
}

func (c *caller) receipts(path string) []string {
	c.t.Helper()
	return c.listed(path, "receiptNumber")
}

// sleep lets time pass on the bubble's clock.
func (c *caller) sleep(d time.Duration) { <-time.After(d) }
