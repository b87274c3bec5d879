package sandbox

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// The identifiers of the payers of these tests. No answer, record or notification may show
// them.
const (
	payerAccount = "87263541"
	payerPayID   = "kim.lee.private@example.org"
)

// agreementRequest is a valid request whose payer does nothing without being told.
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
	c.pass(c.box.assume.AgreementLookupLag)
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
		if a.Token == token {
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

// subscribe gives the sandbox an endpoint of its own.
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
	assert.Regexp(r.c.t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, body.ID)
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

// listenAgain takes a port that was in use before.
func listenAgain(address string) (net.Listener, error) {
	return new(net.ListenConfig).Listen(context.Background(), "tcp", address)
}
