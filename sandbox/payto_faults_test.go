package sandbox

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLostAnswersOfPayToPayments(t *testing.T) {
	bubble(t, func(c *caller) {
		token := c.activeAgreement(c.agreementRequest())
		hook := c.subscribe()
		require.NoError(t, c.box.Inject(
			Fault{Operation: "POST /transactions", Nth: 1, Kind: ResetBeforeCommit()},
			Fault{Operation: "POST /transactions", Nth: 2, Kind: ResetAfterCommit()},
			Fault{Operation: "POST /transactions", Nth: 3, Kind: CommitLate(time.Hour)},
		))
		for i := range 3 {
			_, err := c.try(c.request("POST", "/transactions", c.keys.Secret, paying(token, "endToEndId", fmt.Sprint("E2E-", i)), "Idempotency-Key", fmt.Sprint(i)))
			require.Error(t, err)
		}
		charged := func() (out []string) {
			for _, e := range c.box.Ledger().Charged("ORDER") {
				out = append(out, e.EndToEndID)
			}
			return out
		}
		c.pass(2 * time.Minute)
		assert.Equal(t, []string{"E2E-1"}, charged())
		again := c.must(http.StatusCreated, c.post("/transactions", paying(token, "endToEndId", "E2E-1"), "Idempotency-Key", "1"))
		assert.Equal(t, "Pending", again["status"], "the answer that was lost")
		c.pass(2 * time.Hour)
		assert.Equal(t, []string{"E2E-1", "E2E-2"}, charged())
		assert.Equal(t, []string{"payto.payment.approved", "payto.payment.approved"}, hook.events())
	})
}

// Concurrent callers: an agreement is confirmed once, recalled or confirmed but not both, and
// every change has its event.
func TestAgreementsConcurrently(t *testing.T) {
	bubble(t, func(c *caller) {
		hook := c.subscribe()
		path := "/customers/" + c.payerCustomer() + "/payto-agreements"
		var wg sync.WaitGroup
		var mu sync.Mutex
		ended := map[string]int{}
		for range 20 {
			wg.Go(func() {
				out, err := c.try(c.request("POST", path, c.keys.Secret, c.agreementRequest()))
				if !assert.NoError(t, err) || !assert.Equal(t, http.StatusCreated, out.status) {
					return
				}
				token := out.body["agreementToken"].(string)
				var race sync.WaitGroup
				count := func(name string, won bool) {
					mu.Lock()
					defer mu.Unlock()
					if won {
						ended[name]++
					}
				}
				race.Go(func() { count("confirmed", c.box.Payer(token, ConfirmAgreement) == nil) })
				race.Go(func() { count("declined", c.box.Payer(token, DeclineAgreement) == nil) })
				race.Go(func() {
					out, err := c.try(c.request("PATCH", "/payto-agreements/"+token, c.keys.Secret, recallRequest()))
					count("recalled", err == nil && out.status == http.StatusNoContent)
				})
				race.Go(func() {
					c.box.Agreements()
					c.box.Deliveries()
				})
				race.Wait()
			})
		}
		wg.Wait()
		told := map[string]int{}
		for _, event := range hook.events() {
			told[event[len("payto.agreement."):]]++
		}
		assert.Equal(t, ended, told)
		assert.Equal(t, 20, ended["confirmed"]+ended["declined"]+ended["recalled"])
	})
}

func TestRecordsHideAccountsAndPayIDs(t *testing.T) {
	for in, want := range map[string]string{
		`{"accountNumber":"` + payerAccount + `","bsb":"650000"}`:               `{"accountNumber":"xxxxxxxx","bsb":"650000"}`,
		`{"accountNumber" : ` + payerAccount + `}`:                              `{"accountNumber" : xxxxxxxx}`,
		`{"nzAccountNumber":"7654321","accountNumber":"999994"}`:                `{"nzAccountNumber":"xxxxxxx","accountNumber":"999994"}`,
		`{"payId":"a\"b@c.org","payIdType":"EMAL"}`:                             `{"payId":"xxxxxxxxxx","payIdType":"EMAL"}`,
		`{"payId":"` + ConfirmingPayID + `"}`:                                   `{"payId":"` + ConfirmingPayID + `"}`,
		`broken "payId":"` + payerPayID + `", "accountNumber":"` + payerAccount: `broken "payId":"xxxxxxxxxxxxxxxxxxxxxxxxxxx", "accountNumber":"xxxxxxxx`,
	} {
		assert.Equal(t, want, string(maskAccounts([]byte(in))))
	}
	c := newCaller(t)
	defer c.box.Close()
	c.get("/transactions/for-bank-account?bsb=650-000&accountNumber=" + payerAccount)
	c.get("/nowhere?accountNumber=999994&payId=" + payerPayID)
	requests := c.box.Requests()
	assert.Equal(t, []string{"xxx", "650-000"}, []string{requests[0].Query.Get("accountNumber"), requests[0].Query.Get("bsb")})
	assert.Equal(t, []string{"999994", "xxx"}, []string{requests[1].Query.Get("accountNumber"), requests[1].Query.Get("payId")})
}
