package main

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
)

// bench is a handler with a sandbox behind it, called without a network.
type bench struct {
	t       *testing.T
	box     *sandbox.Sandbox
	clock   *sandbox.Clock
	handler http.Handler
}

func newBench(t *testing.T) *bench {
	clock := sandbox.NewRunningClock(time.Now())
	box := sandbox.New(sandbox.WithClock(clock), sandbox.WithAnswers())
	t.Cleanup(box.Close)
	handler, err := newHandler(&control{box: box, clock: clock, log: slog.New(slog.DiscardHandler)}, guard{})
	require.NoError(t, err)
	return &bench{t, box, clock, handler}
}

func (b *bench) send(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

func newRequest(method, path, body string) *http.Request {
	return httptest.NewRequest(method, "http://127.0.0.1:8642"+path, strings.NewReader(body))
}

// control calls a control endpoint, and decodes its answer.
func (b *bench) control(want int, method, path, body string) any {
	b.t.Helper()
	w := b.send(newRequest(method, "/_sandbox"+path, body))
	require.Equal(b.t, want, w.Code, w.Body.String())
	var out any
	require.NoError(b.t, json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

// service calls the service itself.
func (b *bench) service(want int, method, path, key string, body any) map[string]any {
	b.t.Helper()
	raw, err := json.Marshal(body)
	require.NoError(b.t, err)
	r := newRequest(method, "/rest/v1"+path, string(raw))
	r.SetBasicAuth(key, "")
	r.Header.Set("Content-Type", "application/json")
	w := b.send(r)
	require.Equal(b.t, want, w.Code, w.Body.String())
	var out map[string]any
	require.NoError(b.t, json.Unmarshal(w.Body.Bytes(), &out))
	return out
}

func (b *bench) pay(order string) map[string]any {
	b.t.Helper()
	return b.service(201, "POST", "/transactions", b.box.Keys().Secret, object{
		"transactionType": "PAYMENT", "supplierBusinessCode": sandbox.DefaultBusiness, "principalAmount": json.Number("10.50"), "currency": "AUD",
		"eci": "MAIL", "storedCredentialData": object{"entryMode": "MANUAL"}, "customerReferenceNumber": order,
		"creditCard": object{"cardNumber": "4242424242424242", "expiryDateMonth": "02", "expiryDateYear": "2099"},
	})
}

func (b *bench) agreement() string {
	b.t.Helper()
	token, err := (&control{box: b.box, clock: b.clock}).newAgreement(b.t.Context())
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
	for _, f := range faults() {
		counts := b.control(200, "POST", "/faults", `{"operation":"GET /","nth":99,"kind":"`+f.Kind+`","delay":"1s","bytes":5,"retryAfter":"7","status":503}`).(object)
		assert.Contains(t, counts, f.Kind)
	}
	counts := b.control(200, "POST", "/faults", `{"operation":"GET /","nth":99,"kind":"Garbage","body":"DuplicateMembers"}`).(object)
	assert.Contains(t, counts, "Garbage")
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
	page := func() string { return b.send(newRequest("GET", "/_sandbox/make", "")).Body.String() }
	assert.Contains(t, page(), "reference TRIGGER-")
	confirm := url.Values{"agreementToken": {token}, "payer": {"confirm"}}
	assert.Equal(t, http.StatusSeeOther, b.form("/make", confirm).Code)
	assert.Contains(t, b.form("/make", confirm).Body.String(), "the agreement is ACTIVE")
	assert.Contains(t, page(), "Nobody is asked")
	for _, action := range []string{"confirm", "accept-amendment", "nonsense"} {
		b.control(422, "POST", "/agreements/"+token+"/"+action, "")
	}
	amend := newRequest("PATCH", "/rest/v1/payto-agreements/"+token,
		`{"updateType":"BILATERAL_AMENDMENT","bilateralAmendment":{"paymentDetails":{"automaticRenewal":true},`+
			`"paymentTerms":{"frequency":"WEEK","agreementType":"FIXE","currency":"AUD","paymentAmount":"20.00"}}}`)
	amend.SetBasicAuth(b.box.Keys().Secret, "")
	amend.Header.Set("Content-Type", "application/json")
	require.Equal(t, 204, b.send(amend).Code)
	assert.Contains(t, page(), "A change of an agreement")
	b.control(200, "POST", "/agreements/"+token+"/accept-amendment", "")
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
	assert.Contains(t, b.send(newRequest("GET", "/_sandbox/make", "")).Body.String(), "a payment of $10.50")
	b.control(422, "POST", "/challenges/"+token+"/C", "")
	assert.Equal(t, http.StatusSeeOther, b.form("/make", url.Values{"singleUseTokenId": {token}, "transStatus": {"Y"}}).Code)
	assert.Equal(t, "Y", authenticate())
	b.control(422, "POST", "/challenges/"+token+"/Y", "")
}

func TestSubscriptionsAndDeliveries(t *testing.T) {
	b := newBench(t)
	r := newReceiver(t, "s")
	refused := 0
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Authorization") == "" {
			refused++
		}
		r.ServeHTTP(w, q)
	}))
	defer hook.Close()
	b.control(200, "POST", "/subscriptions", `{"url":"`+hook.URL+`","secret":"s","basicUser":"me","basicPassword":"p"}`)
	b.control(422, "POST", "/subscriptions", `{"url":"http://192.0.2.1/","secret":"s"}`)
	b.control(200, "POST", "/clock", `{"advance":"48h"}`) // signed with the real time all the same
	delivery := b.trigger("payto.agreement.declined")
	assert.Equal(t, []string{"payto.agreement.declined"}, r.next(1))
	assert.Zero(t, refused)

	attempt := b.control(200, "GET", "/deliveries", "").([]any)[0].(object)["attempts"].([]any)[0].(object)
	assert.Regexp(t, `^t=[0-9]{13},v1=[0-9a-f]{64}$`, attempt["signature"])
	assert.Empty(t, attempt["signatureError"])
	raw := b.send(newRequest("GET", "/_sandbox/deliveries/"+delivery+"/body", ""))
	assert.Equal(t, "application/json", raw.Header().Get("Content-Type"))
	assert.NoError(t, r.verify.Verify([]string{attempt["signature"].(string)}, raw.Body.Bytes()))
	b.control(422, "GET", "/deliveries/x/body", "")
}
