package sandbox_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
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
