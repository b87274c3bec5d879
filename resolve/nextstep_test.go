package resolve_test

import (
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
			seen := p.Next(begun(quickstream.Intent{Attempts: 1}), found(tx), wednesday())
			assert.Equal(t, want, seen.Seen.NextStep, "%s, %v", tx.ResponseCode, p.ServiceRetries)
		}
	}
	assert.Equal(t, quickstream.NextStepCheckRetries, transactions[4].NextStep())
}
