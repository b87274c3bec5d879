package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

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
