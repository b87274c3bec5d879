package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/leaktest"
	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const (
	goodCard = "4242424242424242"
	testCVN  = "837"
	payerIP  = "203.0.113.7"
)

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
	box := New(append([]Option{assuming(restless)}, opts...)...)
	return &caller{t: t, box: box, client: box.HTTPClient(), base: box.URL(), keys: box.Keys()}
}

// restless sets the assumptions of the tests of this package, unless they say otherwise: more
// happens than by default.
func restless(a *Assumptions) {
	a.LookupLag, a.PageSize, a.UnknownMembers, a.Events, a.Redelivery = 2*time.Second, 3, "new", "before", "same"
	a.KeyLifetime, a.TokenQuota = 5*time.Minute, 100
	a.RetrySchedule, a.ReportGeneration = []time.Duration{24 * time.Hour, 48 * time.Hour}, 90*time.Second
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
	out := maps.Clone(o)
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
	return object{
		"cardholderName": "Kim Lee", "cardNumber": number, "cvn": testCVN,
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

// The identifiers of the payers of these tests. No answer, record or notification may show
// them.
const (
	payerAccount = "87263541"
	payerPayID   = "kim.lee.private@example.org"
)

// agreementRequest is a valid request whose payer does nothing without Sandbox.Payer.
func (c *caller) agreementRequest() object {
	return object{
		"payeeReference": "ARRANGEMENT-1", "supplierBusinessCode": DefaultBusiness,
		"paymentDetails": object{
			"purpose": "UTIL", "description": "Electricity", "startDate": c.today(), "automaticRenewal": true,
			"additionalInformation": "Meter 7",
		},
		"paymentTerms": object{
			"frequency": "MNTH", "pointInTime": 15, "agreementType": "VARI", "currency": "AUD",
			"paymentAmount": "5.00", "maximumPaymentAmount": "100.00",
		},
		"payerDetails": accountPayer("650000"),
	}
}

func accountPayer(bsb string) object {
	return object{"payerType": "PERS", "payerId": "PAYER-1", "payerName": "Kim Lee", "payerReference": "KL", "bsb": bsb, "accountNumber": payerAccount}
}

func payIDPayer(kind, id string) object {
	return object{"payerType": "PERS", "payerId": "PAYER-1", "payerName": "Kim Lee", "payIdType": kind, "payId": id}
}

// with returns a copy with members of a nested object changed.
func with(o object, name string, pairs ...any) object {
	return changed(o, name, changed(o[name].(object), pairs...))
}

func (c *caller) today() string { return calendar.Sydney(c.box.Now()).Format(time.DateOnly) }

func (c *caller) payerCustomer() string {
	c.t.Helper()
	found, _ := c.must(200, c.get("/customers?customerNumber=C1"))["data"].([]any)
	if len(found) > 0 {
		return found[0].(object)["customerId"].(string)
	}
	return c.must(201, c.post("/customers", object{"customerNumber": "C1", "customerName": "Kim Lee"}))["customerId"].(string)
}

func (c *caller) postAgreement(body any, header ...string) response {
	c.t.Helper()
	return c.post("/customers/"+c.payerCustomer()+"/payto-agreements", body, header...)
}

// newAgreement creates an agreement and waits until it can be read.
func (c *caller) newAgreement(body object) string {
	c.t.Helper()
	return c.must(201, c.postAgreement(body))["agreementToken"].(string)
}

// activeAgreement creates an agreement that the payer has confirmed.
func (c *caller) activeAgreement(body object) string {
	c.t.Helper()
	token := c.newAgreement(body)
	require.NoError(c.t, c.box.Payer(token, ConfirmAgreement))
	return token
}

func (c *caller) readAgreement(token string) object {
	c.t.Helper()
	c.pass(c.box.assume.LookupLag)
	return c.must(200, c.get("/payto-agreements/"+token))
}

// pass lets time pass in a bubble, with everything that becomes due.
func (c *caller) pass(d time.Duration) {
	c.sleep(d)
	synctest.Wait()
}

// agreementState is the real status, whatever reads return.
func (c *caller) agreementState(token string) string {
	c.t.Helper()
	for _, a := range c.box.Agreements() {
		if a.AgreementToken == token {
			return a.Status
		}
	}
	c.t.Fatal("no such agreement")
	return ""
}

func (c *caller) patch(token string, body any) response {
	c.t.Helper()
	return c.do("PATCH", "/payto-agreements/"+token, c.keys.Secret, body)
}

func recallRequest() object {
	return object{"updateType": "RECALL_PAYTO_AGREEMENT", "recallPayToAgreement": object{"statusCode": "CANCELLED"}}
}

func statusRequest(to, reason string) object {
	inner := object{"statusCode": to}
	if reason != "" {
		inner["reasonCode"] = reason
	}
	return object{"updateType": "STATUS_AMENDMENT", "statusAmendment": inner}
}

func unilateralRequest() object {
	return object{"updateType": "UNILATERAL_AMENDMENT", "unilateralAmendment": object{
		"description": "Gas", "payeeReference": "ARRANGEMENT-2", "supplierBusinessCode": DefaultBusiness,
	}}
}

func bilateralRequest() object {
	return object{"updateType": "BILATERAL_AMENDMENT", "bilateralAmendment": object{
		"paymentDetails": object{"automaticRenewal": true},
		"paymentTerms":   object{"frequency": "WEEK", "agreementType": "FIXE", "currency": "AUD", "paymentAmount": "20.00"},
	}}
}

func recallAmendmentRequest() object { return object{"updateType": "RECALL_BILATERAL_AMENDMENT"} }

func payToPayment(token string) object {
	return object{
		"transactionType": "PAYMENT", "supplierBusinessCode": DefaultBusiness,
		"principalAmount": json.Number("10.50"), "currency": "AUD", "customerReferenceNumber": "ORDER",
		"payToData": object{"agreementToken": token, "endToEndId": "E2E-1", "remittanceInformation1": "Invoice 7"},
	}
}

const hookSecret = "whsec-7d1f"

// receiver is a merchant's endpoint. It checks every notification.
type receiver struct {
	c        *caller
	verifier *signature.Verifier

	mu      sync.Mutex
	answers []int // one each, then 200
	got     []received
}

type received struct {
	id, event string
	data      object
	raw       []byte
	header    string // of the signature
	err       error  // of the verification
	at        time.Time
}

func (c *caller) receiver(answers ...int) *receiver {
	c.t.Helper()
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{hookSecret}, signature.WithClock(c.box.Now))
	require.NoError(c.t, err)
	return &receiver{c: c, verifier: verifier, answers: answers}
}

// subscribe adds an endpoint, which gives the answers first and then 200.
func (c *caller) subscribe(answers ...int) *receiver {
	c.t.Helper()
	r := c.receiver(answers...)
	require.NoError(c.t, c.box.Subscribe(Subscription{Handler: r, Secret: hookSecret, Scheme: signature.AssumedHMAC{}}))
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	raw, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	var body struct {
		ID, Timestamp, EventType string
		Data                     object
	}
	in := received{raw: raw, header: q.Header.Get(signature.Header), err: r.verifier.Verify(q.Header.Values(signature.Header), raw), at: r.c.box.Now()}
	if assert.NoError(r.c.t, json.Unmarshal(raw, &body)) {
		in.id, in.event, in.data = body.ID, body.EventType, body.Data
	}
	assert.Regexp(r.c.t, `^[A-Z2-7]{36}$`, body.ID)
	assert.Regexp(r.c.t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+1[01]00$`, body.Timestamp)
	assert.Equal(r.c.t, "application/json", q.Header.Get("Content-Type"))
	assert.Equal(r.c.t, http.MethodPost, q.Method)
	r.c.checkNumbers(string(raw))

	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, in)
	status := http.StatusOK
	if in.err != nil {
		status = http.StatusUnauthorized
	} else if len(r.answers) > 0 {
		status, r.answers = r.answers[0], r.answers[1:]
	}
	w.WriteHeader(status)
}

// events are the event types received so far.
func (r *receiver) events() []string {
	var out []string
	for _, in := range r.all() {
		out = append(out, in.event)
	}
	return out
}

func (r *receiver) all() []received {
	require.NoError(r.c.t, r.c.box.Flush(r.c.t.Context()))
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]received(nil), r.got...)
}

// checkRecords searches the sandbox's records for the payer's account and PayID.
func (c *caller) checkRecords() {
	c.t.Helper()
	for _, r := range c.box.Requests() {
		for _, secret := range []string{payerAccount, payerPayID} {
			if strings.Contains(string(r.Body), secret) {
				c.t.Errorf("recorded: %s", r.Body)
			}
		}
	}
	for _, d := range c.box.Deliveries() {
		c.checkNumbers(string(d.Body))
	}
}

// TestMain fails when goroutines or connections outlive the tests.
func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }
