package sandbox

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestManyCallers has customers pay at the same time while answers are lost.
func TestManyCallers(t *testing.T) {
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(
			Fault{Operation: "POST /transactions", Probability: 0.2, Kind: ResetAfterCommit()},
			Fault{Operation: "POST /transactions", Probability: 0.2, Kind: ResetBeforeCommit()},
			Fault{Operation: "POST /transactions", Probability: 0.2, Kind: DelayBeforeCommit(time.Second)},
			Fault{Probability: 0.1, Kind: SlowBody(500)},
		))
		const callers, orders = 8, 12
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for j := range orders {
					order := fmt.Sprintf("%d-%d", i, j)
					for {
						out, err := c.try(c.request("POST", "/transactions", c.keys.Secret, cardPayment(order), "Idempotency-Key", order))
						if err == nil && out.status == http.StatusCreated {
							break
						}
						c.sleep(time.Second)
					}
					c.box.Requests()
					c.box.Ledger()
					c.get("/transactions")
				}
			})
		}
		wg.Wait()
		ledger := c.box.Ledger()
		assert.Len(t, ledger, callers*orders)
		for i := range callers {
			for j := range orders {
				assert.Len(t, ledger.Charged(fmt.Sprintf("%d-%d", i, j)), 1)
			}
		}
		counts := c.box.FaultCounts()
		assert.Positive(t, counts["ResetAfterCommit"])
		assert.Positive(t, counts["ResetBeforeCommit"])
	}, WithSeed(1))
}

// TestNoAnswerHoldsANumber provokes errors about numbers in every way; the caller checks each
// answer.
func TestNoAnswerHoldsANumber(t *testing.T) {
	bubble(t, func(c *caller) {
		card := cardDetails(goodCard)
		for _, body := range []object{
			cardPayment("O"),
			changed(cardPayment("O"), "creditCard", changed(card, "cvn", "8372")),
			changed(cardPayment("O"), "creditCard", changed(card, "cardNumber", realPAN)),
			changed(cardPayment("O"), "creditCard", changed(card, "expiryDateYear", goodCard)),
			changed(cardPayment("O"), "eci", goodCard),
			changed(cardPayment("O"), "currency", "card "+goodCard),
			changed(cardPayment("O"), "singleUseTokenId", goodCard, "creditCard", nil),
			bankPayment("O", "032-999"),
			changed(bankPayment("O", ""), "bankAccount", object{"accountName": "K", "bsb": "1", "accountNumber": "999994-1"}),
			changed(bankPayment("O", ""), "bankAccount", nil, "nzBankAccount", changed(nzAccount(), "nzAccountSuffix", "x"), "currency", "NZD"),
		} {
			out := c.post("/transactions", body)
			assert.Contains(t, []int{201, 422}, out.status)
		}
		for _, body := range []object{cardToken(goodCard), bankToken(), nzToken(), changed(cardToken(goodCard), "accountNumber", "123465"), cardToken("378282" + strings.Repeat("0", 9))} {
			out := c.post("/single-use-tokens", body)
			assert.Contains(t, []int{200, 422}, out.status)
		}
		c.sleep(time.Minute)
		c.must(200, c.get("/transactions"))
	})
}
