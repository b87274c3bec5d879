package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// The answer to a payment is lost after the service has taken the money. The caller sees an
// error, and the ledger has the charge.
func Example() {
	box := sandbox.New()
	defer box.Close()
	err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Nth: 1, Kind: sandbox.ResetAfterCommit()})
	if err != nil {
		fmt.Println(err)
		return
	}

	body := `{"transactionType": "PAYMENT", "supplierBusinessCode": "SANDBOX01",
		"principalAmount": 10.50, "currency": "AUD", "customerReferenceNumber": "ORDER-1",
		"bankAccount": {"accountName": "Kim Lee", "bsb": "032-999", "accountNumber": "999994"}}`
	request, err := http.NewRequest(http.MethodPost, box.URL()+"/transactions", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	request.SetBasicAuth(box.Keys().Secret, "")
	request.Header.Set("Content-Type", "application/json")
	response, err := box.HTTPClient().Do(request)
	if err == nil {
		response.Body.Close()
	}

	fmt.Println("answered:", err == nil)
	fmt.Println("charged: ", len(box.Ledger().Charged("ORDER-1")))
	// Output:
	// answered: false
	// charged:  1
}

// post makes a request as a program without the SDK would.
func post(box *sandbox.Sandbox, path, body string) (map[string]any, error) {
	request, err := http.NewRequest(http.MethodPost, box.URL()+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.SetBasicAuth(box.Keys().Secret, "")
	request.Header.Set("Content-Type", "application/json")
	response, err := box.HTTPClient().Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var out map[string]any
	return out, json.NewDecoder(response.Body).Decode(&out)
}

// A payer confirms an agreement. The event arrives twice, the first time forged.
func ExampleSandbox_Subscribe() {
	clock := sandbox.NewClock(time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
	box := sandbox.New(sandbox.WithClock(clock))
	defer box.Close()
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{"secret"}, signature.WithClock(box.Now))
	if err != nil {
		fmt.Println(err)
		return
	}
	err = box.Subscribe(sandbox.Subscription{
		Secret: "secret", Scheme: signature.AssumedHMAC{},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err == nil {
				err = verifier.Verify(r.Header.Values(signature.Header), body)
			}
			if err != nil {
				fmt.Println("refused: ", err)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			var event struct{ EventType string }
			fmt.Println("accepted:", json.Unmarshal(body, &event) == nil, event.EventType)
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	customer, err := post(box, "/customers", `{"customerNumber": "C1", "customerName": "Kim Lee"}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	agreement, err := post(box, fmt.Sprintf("/customers/%v/payto-agreements", customer["customerId"]), `{
		"supplierBusinessCode": "SANDBOX01",
		"paymentDetails": {"purpose": "UTIL", "description": "Electricity", "startDate": "2026-03-02", "automaticRenewal": true},
		"paymentTerms": {"frequency": "MNTH", "agreementType": "VARI", "currency": "AUD", "maximumPaymentAmount": "100.00"},
		"payerDetails": {"payerType": "PERS", "payerId": "P1", "payerName": "Kim Lee", "bsb": "650000", "accountNumber": "999994"}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("created: ", agreement["status"])

	box.NextDelivery(sandbox.DeliveryFault{Tampered: true})
	if err := box.Payer(agreement["agreementToken"].(string), sandbox.ConfirmAgreement); err != nil {
		fmt.Println(err)
		return
	}
	_ = box.Flush(context.Background())
	clock.Advance(time.Minute) // what was refused is posted again
	_ = box.Flush(context.Background())
	// Output:
	// created:  PENDING
	// refused:  webhook signature: no signature matches
	// accepted: true payto.agreement.confirmed
}

func TestFacility(t *testing.T) {
	t.Parallel()
	f, err := sandbox.ReadFacility(strings.NewReader(`{"format":1,"host":"localhost","seen":"2030-01-02T03:04:05Z","tool":"1","findings":[
		{"name":"LookupLag","value":"5m"},{"name":"PageSize","value":"20"},
		{"name":"Paging","other":"backwards"},{"name":"KeyLifetime","open":"needs -wait 24h"}]}`))
	require.NoError(t, err)
	box := sandbox.New(sandbox.WithAssumptions(f))
	defer box.Close()
	want := sandbox.DefaultAssumptions()
	require.NoError(t, want.Set("LookupLag", "5m"))
	want.PageSize = 20
	assert.Equal(t, want, box.Assumptions(), "what is open or has another form keeps its default")
	for doc, want := range map[string]string{
		``:                           "EOF",
		`{"format":2,"findings":[]}`: "another format",
		`{"format":1,"findings":[{"name":"Paging","value":"yesterday"}]}`: "one of",
	} {
		_, err := sandbox.ReadFacility(strings.NewReader(doc))
		assert.ErrorContains(t, err, want, doc)
	}
}
