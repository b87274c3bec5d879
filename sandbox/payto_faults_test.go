package sandbox

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A lost answer proves nothing about the agreement; a read does.
func TestLostAnswersOfAgreements(t *testing.T) {
	for _, tt := range []struct {
		kind FaultKind
		done bool
	}{
		{ResetBeforeCommit(), false},
		{ResetAfterCommit(), true},
		{Status(http.StatusBadGateway, HTML), false},
		{StatusAfterCommit(http.StatusGatewayTimeout, HTML), true},
		{Garbage(BrokenJSON), true},
	} {
		t.Run(fmt.Sprint(tt.kind, tt.done), func(t *testing.T) {
			bubble(t, func(c *caller) {
				hook := c.subscribe()
				lose := func(operation string, r *http.Request) {
					require.NoError(t, c.box.Inject(Fault{Operation: operation, Nth: 1, Kind: tt.kind}))
					if out, err := c.try(r); err == nil && out.status < 300 {
						// Without a body there is nothing to break.
						assert.Equal(t, []any{"Garbage", true}, []any{tt.kind.String(), tt.done})
					}
					c.box.ClearFaults()
				}
				create, amend := "POST /customers/{customerId}/payto-agreements", "PATCH /payto-agreements/{agreementToken}"
				path := "/customers/" + c.payerCustomer() + "/payto-agreements"

				lose(create, c.request("POST", path, c.keys.Secret, c.agreementRequest()))
				c.pass(2 * time.Second)
				found, _ := c.must(http.StatusOK, c.get(path))["data"].([]any)
				assert.Len(t, found, map[bool]int{true: 1}[tt.done])

				token := c.reach(agreementActive)
				change := func(body object) { lose(amend, c.request("PATCH", "/payto-agreements/"+token, c.keys.Secret, body)) }
				change(statusRequest("SUSPENDED", "MD17"))
				assert.Equal(t, map[bool]any{true: "SUSPENDED", false: "ACTIVE"}[tt.done], c.readAgreement(token)["status"])
				if tt.done {
					assert.Contains(t, c.findings(c.patch(token, statusRequest("SUSPENDED", "MD17"))), "statusAmendment.statusCode", "done is not to be done again")
				}
				change(unilateralRequest())
				assert.Equal(t, map[bool]any{true: "ARRANGEMENT-2", false: "ARRANGEMENT-1"}[tt.done], c.readAgreement(token)["payeeReference"])
				change(bilateralRequest())
				assert.Equal(t, tt.done, c.readAgreement(token)["hasPendingBilateralAmendment"])
				change(statusRequest("CANCELLED", "MD17"))
				assert.Equal(t, tt.done, c.readAgreement(token)["status"] == "CANCELLED")

				token = c.reach(agreementPending)
				change(recallRequest())
				assert.Equal(t, tt.done, c.readAgreement(token)["status"] == "CANCELLED")
				assert.Equal(t, tt.done, len(hook.events()) > 1, "events are about what happened, not about what was answered")
			})
		})
	}
}

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

func TestAgreementCreationIsReplayed(t *testing.T) {
	bubble(t, func(c *caller) {
		first := c.must(http.StatusCreated, c.postAgreement(c.agreementRequest(), "Idempotency-Key", "K"))
		assert.Equal(t, first, c.must(http.StatusCreated, c.postAgreement(c.agreementRequest(), "Idempotency-Key", "K")))
		assert.Len(t, c.box.Agreements(), 1)
		c.must(http.StatusCreated, c.postAgreement(c.agreementRequest(), "Idempotency-Key", "L"))
		assert.Len(t, c.box.Agreements(), 2)
	})
}

// Random histories of one agreement against a model of the contract's table.
func TestAgreementsFollowTheModel(t *testing.T) {
	type model struct {
		status    string
		amendment bool
		weekly    bool
	}
	status := func(to string) func(*model) bool {
		return func(m *model) bool {
			if m.status != "ACTIVE" && m.status != "SUSPENDED" || m.status == to {
				return false
			}
			m.status, m.amendment = to, m.amendment && to != "CANCELLED"
			return true
		}
	}
	payer := func(to string) func(*model) bool {
		return func(m *model) bool {
			pending := m.status == "PENDING"
			if pending {
				m.status = to
			}
			return pending
		}
	}
	amendable := func(m *model) bool { return m.status == "ACTIVE" || m.status == "SUSPENDED" }
	answer := func(accepts bool) func(*model) bool {
		return func(m *model) bool {
			was := m.amendment
			m.weekly = m.weekly || was && accepts
			m.amendment = false
			return was
		}
	}
	type step struct {
		name  string
		model func(*model) bool
		do    func(c *caller, token string) bool
	}
	patch := func(body object) func(*caller, string) bool {
		return func(c *caller, token string) bool { return c.patch(token, body).status == http.StatusNoContent }
	}
	steps := []step{
		{"confirm", payer("ACTIVE"), func(c *caller, token string) bool { return c.box.Payer(token, ConfirmAgreement) == nil }},
		{"decline", payer("CANCELLED"), func(c *caller, token string) bool { return c.box.Payer(token, DeclineAgreement) == nil }},
		{"expire", payer("CANCELLED"), func(c *caller, token string) bool { return c.box.Payer(token, ExpireAgreement) == nil }},
		{"recall", payer("CANCELLED"), patch(recallRequest())},
		{"suspend", status("SUSPENDED"), patch(statusRequest("SUSPENDED", "NOAS"))},
		{"reactivate", status("ACTIVE"), patch(statusRequest("ACTIVE", "NOAS"))},
		{"cancel", status("CANCELLED"), patch(statusRequest("CANCELLED", "NOAS"))},
		{"amend", amendable, patch(unilateralRequest())},
		{"propose", func(m *model) bool {
			ok := amendable(m) && !m.amendment
			m.amendment = m.amendment || ok
			return ok
		}, patch(bilateralRequest())},
		{"accept", answer(true), func(c *caller, token string) bool { return c.box.Payer(token, AcceptAmendment) == nil }},
		{"refuse", answer(false), func(c *caller, token string) bool { return c.box.Payer(token, RefuseAmendment) == nil }},
		{"recall amendment", answer(false), patch(recallAmendmentRequest())},
		{"pay", func(m *model) bool { return m.status == "ACTIVE" }, func(c *caller, token string) bool {
			return c.post("/transactions", costing(token, "30.00")).status == http.StatusCreated
		}},
	}
	bubble(t, func(c *caller) {
		legal := 0
		for seed := range uint64(60) {
			dice := rand.New(rand.NewPCG(seed, 7))
			token, m, history := c.newAgreement(c.agreementRequest()), model{status: "PENDING"}, []string(nil)
			if seed%4 > 0 { // most histories are about the time after the confirmation
				require.True(t, steps[0].do(c, token) && steps[0].model(&m))
			}
			for range 12 {
				s := steps[dice.IntN(len(steps))]
				if s.name == "cancel" && dice.IntN(3) > 0 || s.name == "pay" && m.weekly {
					continue
				}
				history = append(history, s.name)
				want := s.model(&m)
				require.Equal(t, want, s.do(c, token), "seed %d: %v", seed, history)
				if want {
					legal++
				}
				body := c.readAgreement(token)
				got := model{body["status"].(string), body["hasPendingBilateralAmendment"].(bool), body["paymentTerms"].(object)["frequency"] == "WEEK"}
				require.Equal(t, m, got, "seed %d: %v", seed, history)
			}
		}
		assert.Greater(t, legal, 150, "the histories lead somewhere")
		for _, a := range c.box.Agreements() {
			assert.LessOrEqual(t, len(a.Payments), 12)
		}
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
