package resolve_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// TestNextStepFollowsServiceRetries: a decline that the service may retry is paid again at once only
// if the merchant says that the service retries nothing. Nothing else becomes "pay again".
func TestNextStepFollowsServiceRetries(t *testing.T) {
	off := resolve.ServiceRetriesOff()
	policies := []resolve.Policy{{}, {ServiceRetries: resolve.ServiceRetriesFor(time.Hour)}, {ServiceRetries: off}}
	transactions := []*quickstream.Transaction{approved("R1"), unsettled("R1"), declined("R1", "43"), declined("R1", "54")}
	for _, code := range []string{"01", "05", "51", "91", "X7"} {
		transactions = append(transactions, declined("R1", code))
	}
	for _, tx := range transactions {
		for _, p := range policies {
			want := tx.NextStep()
			if want == quickstream.NextStepCheckRetries && p.ServiceRetries == off {
				want = quickstream.NextStepPayAgain
			}
			assert.Equal(t, want, p.NextStep(tx), "%s, %v", tx.ResponseCode, p.ServiceRetries)
			seen := p.Next(begun(quickstream.Intent{Attempts: 1}), found(tx), wednesday())
			assert.Equal(t, want, seen.Seen.NextStep, "%s, %v", tx.ResponseCode, p.ServiceRetries)
		}
	}
	assert.Equal(t, quickstream.NextStepCheckRetries, transactions[4].NextStep())
}

// A decline for lack of funds can be paid again at once only if the service does not retry it.
func ExamplePolicy_NextStep() {
	payment := &quickstream.Transaction{
		Status: quickstream.TransactionStatusDeclined, SummaryCode: quickstream.SummaryCodeDeclined, ResponseCode: "51",
	}
	for _, retries := range []resolve.ServiceRetries{resolve.ServiceRetriesFor(48 * time.Hour), resolve.ServiceRetriesOff()} {
		fmt.Println(resolve.DefaultPolicy(retries).NextStep(payment))
	}
	// Output:
	// check_retries
	// pay_again
}
