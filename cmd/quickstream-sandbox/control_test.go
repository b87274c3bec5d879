package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// bench is a handler with a sandbox behind it, called without a network.
type bench struct {
	t       *testing.T
	box     *sandbox.Sandbox
	c       *control
	handler http.Handler
}

func newBench(t *testing.T, opts ...sandbox.Option) *bench {
	clock := sandbox.NewRunningClock(time.Now())
	box := sandbox.New(append(opts, sandbox.WithClock(clock), sandbox.WithAnswerBodies())...)
	t.Cleanup(box.Close)
	c := &control{box: box, clock: clock, log: slog.New(slog.DiscardHandler)}
	handler, err := newHandler(c, guard{})
	require.NoError(t, err)
	return &bench{t, box, c, handler}
}

func (b *bench) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

func newRequest(method, path, body string) *http.Request {
	return httptest.NewRequest(method, "http://127.0.0.1:8642"+path, strings.NewReader(body))
}

// decoded is the answer to a request.
func (b *bench) decoded(want int, r *http.Request) (out any) {
	b.t.Helper()
	w := b.send(r)
	require.Equal(b.t, want, w.Code, w.Body.String())
	require.NoError(b.t, json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

// control calls a control endpoint.
func (b *bench) control(want int, method, path, body string) any {
	b.t.Helper()
	return b.decoded(want, newRequest(method, "/_sandbox"+path, body))
}

// service calls the service itself.
func (b *bench) service(want int, method, path, key string, body any) object {
	b.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(b.t, err)
	r := newRequest(method, "/rest/v1"+path, string(raw))
	r.SetBasicAuth(key, "")
	r.Header.Set("Content-Type", "application/json")
	return b.decoded(want, r).(object)
}

func (b *bench) pay(order string) map[string]any {
	b.t.Helper()
	return b.service(201, "POST", "/transactions", b.box.Keys().Secret, payment(order))
}

func payment(order string) object {
	return object{
		"transactionType": "PAYMENT", "supplierBusinessCode": sandbox.DefaultBusiness, "principalAmount": json.Number("10.50"), "currency": "AUD",
		"eci": "MAIL", "storedCredentialData": object{"entryMode": "MANUAL"}, "customerReferenceNumber": order,
		"creditCard": object{"cardNumber": "4242424242424242", "expiryDateMonth": "02", "expiryDateYear": "2099"},
	}
}

func (b *bench) agreement() string {
	b.t.Helper()
	token, err := b.c.newAgreement(b.t.Context())
	require.NoError(b.t, err)
	return token
}

func TestClock(t *testing.T) {
	b := newBench(t)
	before := b.box.Now()
	out := b.control(200, "POST", "/clock", `{"advance":"48h"}`).(object)
	now, err := time.Parse(time.RFC3339Nano, out["now"].(string))
	require.NoError(t, err)
	assert.WithinDuration(t, before.Add(48*time.Hour), now, time.Minute)
	assert.NotEmpty(t, b.control(200, "GET", "/clock", "").(object)["now"])
	b.control(200, "POST", "/clock", `{"advance":"7d"}`)
	assert.WithinDuration(t, before.Add((48+7*24)*time.Hour), b.box.Now(), time.Minute)
	for _, bad := range []string{`{"advance":"-1s"}`, `{"advance":"-1d"}`, `{"advance":"soon"}`, `{"advance":""}`, `{"advance":"d"}`, `{"advance":"99999d"}`, `{"advance":"1s","x":1}`, `advance`} {
		b.control(422, "POST", "/clock", bad)
	}
}

func TestOutcomesLedgerAndRequests(t *testing.T) {
	b := newBench(t)
	b.control(200, "POST", "/outcomes", `["declined 05","approved 4.00","rejected QA","erred","suspended","suspended","declined 01"]`)
	var codes []any
	receipts := map[string]string{}
	for _, order := range []string{"A", "B", "C", "D", "E", "F", "G"} {
		tx := b.pay(order)
		codes = append(codes, tx["responseCode"])
		receipts[order] = tx["receiptNumber"].(string)
	}
	assert.Equal(t, []any{"05", "10", "QA", "QI", "34", "34", "01"}, codes)
	for _, bad := range []string{`["declined"]`, `["approved 08"]`, `["lost"]`, `{}`} {
		b.control(422, "POST", "/outcomes", bad)
	}

	assert.Len(t, b.control(200, "GET", "/ledger", ""), 7)
	order := b.control(200, "GET", "/ledger?order=b", "").(object)
	assert.Equal(t, []any{1.0, 400.0}, []any{order["charged"], order["net"]})
	assert.Len(t, order["entries"], 1)

	requests := b.control(200, "GET", "/requests", "").([]any)
	require.Len(t, requests, 7)
	first := requests[0].(object)
	assert.Equal(t, "POST /transactions", first["operation"])
	assert.Contains(t, first["body"], `"customerReferenceNumber":"A"`)
	assert.Contains(t, first["answer"], `"receiptNumber":"`+receipts["A"])
	assert.NotContains(t, first["header"].(object)["Authorization"], b.box.Keys().Secret)
}

func TestFaults(t *testing.T) {
	b := newBench(t)
	for kind := range faultKinds() {
		counts := b.control(200, "POST", "/faults", `{"operation":"GET /","nth":99,"kind":"`+kind+`","delay":"1s","bytes":5,"retryAfter":"7","status":503}`).(object)
		assert.Contains(t, counts, kind)
	}
	counts := b.control(200, "POST", "/faults", `{"operation":"GET /","nth":99,"kind":"Garbage","body":"DuplicateMembers"}`).(object)
	assert.Contains(t, counts, "DuplicateMembers")
	b.control(200, "DELETE", "/faults", "")
	b.control(200, "POST", "/faults", `{"operation":"POST /transactions","nth":1,"kind":"StatusAfterCommit","status":502,"body":"ServiceError"}`)
	b.service(502, "POST", "/transactions", b.box.Keys().Secret, object{})
	assert.Equal(t, 1.0, b.control(200, "DELETE", "/faults", "").(object)["StatusAfterCommit"])
	for _, bad := range []string{
		`{"kind":"ConnectionRefused"}`, `{"kind":"Nonsense","status":500}`, `{"kind":"Status"}`, `{"kind":"Garbage","body":"PDF"}`, `{"kind":"DelayAfterCommit","delay":"x"}`,
		`{"kind":"ResetAfterCommit","operation":"GET /nowhere"}`, `{"kind":"ResetAfterCommit","sometimes":true}`,
	} {
		b.control(422, "POST", "/faults", bad)
	}
}

func TestAgreementsAndTheirPayers(t *testing.T) {
	b := newBench(t)
	token := b.agreement()
	assert.Contains(t, b.page("/simulate"), "reference TRIGGER-")
	b.done("/simulate", "payer", "confirm", "agreementToken", token)
	again := b.form("/simulate", url.Values{"do": {"payer"}, "with": {"confirm"}, "agreementToken": {token}})
	assert.Contains(t, again.Body.String(), "the agreement is ACTIVE")
	assert.Contains(t, b.page("/simulate"), "No requests.")
	for _, action := range []string{"confirm", "accept-amendment", "nonsense"} {
		b.control(422, "POST", "/agreements/"+token+"/"+action, "")
	}
	require.NoError(t, b.c.call(t.Context(), "PATCH", "/payto-agreements/"+token, object{"updateType": "BILATERAL_AMENDMENT", "bilateralAmendment": object{
		"paymentDetails": object{"automaticRenewal": true},
		"paymentTerms":   object{"frequency": "WEEK", "agreementType": "FIXE", "currency": "AUD", "paymentAmount": "20.00"},
	}}, nil))
	assert.Contains(t, b.page("/simulate"), "Change of a PayTo agreement")
	b.control(200, "POST", "/agreements/"+token+"/accept-amendment", "")
	b.done("/simulate", "agreement", "new")
	assert.Contains(t, b.page("/simulate"), "PayTo agreement</h3>")
}

// cardToken makes a token whose card has to be authenticated, and authenticates it.
func (b *bench) cardToken() (token string, authenticate func() any) {
	b.t.Helper()
	token = b.service(200, "POST", "/single-use-tokens", b.box.Keys().Publishable, object{
		"supplierBusinessCode": sandbox.DefaultBusiness, "accountType": "CREDIT_CARD", "cardNumber": sandbox.CardChallenge,
		"expiryDateMonth": "02", "expiryDateYear": "2099", "threeDS2": true, "browserProfile": object{
			"browserJavaEnabled": false, "browserLanguage": "en-AU", "browserScreenHeight": "900", "browserScreenWidth": "1440",
			"browserColorDepth": "24", "browserTZ": "-600",
		},
	})["singleUseTokenId"].(string)
	return token, func() any {
		return b.service(200, "POST", "/single-use-tokens/"+token+"/three-ds2-authentication", b.box.Keys().Secret, object{
			"messageCategory": "01", "threeDSRequestorAuthenticationInd": "01", "principalAmount": "10.50", "currency": "AUD",
			"billAddrLine1": "1 High St", "billAddrCity": "Sydney", "billAddrPostCode": "2000", "billAddrState": "NSW", "billAddrCountry": "036",
		})["transStatus"]
	}
}

// trigger raises an event and returns the id of its delivery.
func (b *bench) trigger(event string) string {
	b.t.Helper()
	assert.NotEmpty(b.t, b.control(200, "POST", "/trigger/"+event, "").(object)["agreementToken"])
	all := b.box.Deliveries()
	require.NotEmpty(b.t, all)
	last := all[len(all)-1]
	require.Equal(b.t, event, last.EventType)
	return last.ID
}

func TestChallengePage(t *testing.T) {
	b := newBench(t)
	token, authenticate := b.cardToken()
	assert.Equal(t, "C", authenticate())
	assert.Contains(t, b.page("/simulate"), "A payment of $10.50")
	b.control(422, "POST", "/challenges/"+token+"/C", "")
	b.done("/simulate", "challenge", "Y", "singleUseTokenId", token)
	assert.Equal(t, "Y", authenticate())
	b.control(422, "POST", "/challenges/"+token+"/Y", "")
}

func TestSubscriptionsAndDeliveries(t *testing.T) {
	b := newBench(t)
	handler, posted := receiver(t, "s")
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		assert.Equal(t, "p", password)
		handler(w, r)
	}))
	defer hook.Close()
	b.control(200, "POST", "/subscriptions", `{"url":"`+hook.URL+`","secret":"s","basicUser":"me","basicPassword":"p"}`)
	b.control(422, "POST", "/subscriptions", `{"url":"http://192.0.2.1/","secret":"s"}`)
	b.control(200, "POST", "/clock", `{"advance":"48h"}`) // signed with the real time all the same
	delivery := b.trigger("payto.agreement.declined")
	assert.Equal(t, "payto.agreement.declined", <-posted)
	attempt := b.control(200, "GET", "/deliveries", "").([]any)[0].(object)["attempts"].([]any)[0].(object)
	assert.Regexp(t, `^t=[0-9]{13},v1=[0-9a-f]{64}$`, attempt["signature"])
	assert.Empty(t, attempt["signatureError"])
	raw := b.send(newRequest("GET", "/_sandbox/deliveries/"+delivery+"/body", ""))
	assert.Equal(t, "application/json", raw.Header().Get("Content-Type"))
	assert.Equal(t, b.box.Deliveries()[0].Body, raw.Body.Bytes(), "byte by byte, as it was signed")
	b.control(422, "GET", "/deliveries/x/body", "")
}

// Every event can be triggered, for an agreement made for it, in many worlds.
func TestTriggers(t *testing.T) {
	for world := range worlds.Generate(1, 30) {
		b := newBench(t, world.Option())
		b.subscribe(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		for _, name := range eventTypes() {
			before := len(b.box.Deliveries())
			b.control(200, "POST", "/trigger/"+name, "")
			of := slices.DeleteFunc(b.box.Deliveries()[before:], func(d sandbox.Delivery) bool { return d.EventType != name })
			assert.Equal(t, b.box.Assumptions().Events != "never", len(of) == 1, "%s in world %s: %v", name, world, of)
		}
		b.box.Close()
	}
}

// A receiver that does not answer does not keep the clock from moving.
func TestTheClockDoesNotWaitForever(t *testing.T) {
	b := newBench(t)
	release := make(chan struct{})
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hook.Close()
	defer close(release)
	b.control(200, "POST", "/subscriptions", `{"url":"`+hook.URL+`","secret":"s"}`)
	require.NoError(t, b.box.Payer(b.agreement(), sandbox.ConfirmAgreement))
	b.control(200, "POST", "/clock", `{"advance":"1h"}`)
	assert.GreaterOrEqual(t, time.Until(b.box.Now()), time.Hour-time.Minute)
}
