package sandbox

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func TestKeysAndOriginOfAServer(t *testing.T) {
	bubble(t, func(c *caller) {
		assert.Equal(t, "SANDBOX_SEC_MINE", c.keys.Secret)
		assert.Regexp(t, `^SANDBOX_PUB_[A-Z2-7]{26}$`, c.keys.Publishable)
		c.must(200, c.get("/businesses/"+DefaultBusiness))
		renewed := c.box.RenewKey(KeySecret, 0)
		assert.NotEqual(t, c.keys.Secret, renewed)
		assert.Equal(t, 401, c.get("/businesses/"+DefaultBusiness).status)
		c.keys.Secret = renewed

		require.NoError(t, c.box.Subscribe(Subscription{Handler: http.NotFoundHandler(), Secret: "s", Scheme: signature.AssumedHMAC{}}))
		c.activeAgreement(c.agreementRequest())
		c.pass(time.Second)
		assert.Contains(t, string(c.box.Deliveries()[0].Body), `"href":"http://shop.example:8642/rest/v1/payto-agreements/`)
	}, WithKeys(Keys{Secret: "SANDBOX_SEC_MINE"}), WithOrigin("http://shop.example:8642"), assuming(func(a *Assumptions) { a.RelatedLinks = true }))

	// A fixed key leaves the identifiers of a seed as they are.
	plain, fixed := New(WithSeed(7)), New(WithSeed(7), WithKeys(Keys{Secret: "SANDBOX_SEC_MINE"}))
	defer plain.Close()
	defer fixed.Close()
	assert.Equal(t, plain.Keys().Publishable, fixed.Keys().Publishable)
}

// Nothing of before a reset comes after it: no redelivery, no expiry, no retry, and no number.
func TestReset(t *testing.T) {
	bubble(t, func(c *caller) {
		posted := 0
		hook := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			posted++
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		require.NoError(t, c.box.Subscribe(Subscription{ID: "mine", Handler: hook, Secret: "s", Scheme: signature.AssumedHMAC{}}))
		before := c.must(201, c.post("/transactions", c.payment(), "Idempotency-Key", "once"))["receiptNumber"]
		c.newAgreement(c.agreementRequest())
		c.activeAgreement(changed(c.agreementRequest(), "payeeReference", "ARRANGEMENT-2"))
		c.pass(time.Second)
		assert.Equal(t, 1, posted)
		c.box.NextTransaction(Declined("05"))
		c.box.NextDelivery(DeliveryFault{Twice: true})
		require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Kind: Status(500, ServiceError)}))
		c.box.HoldDeliveries()
		count := len(c.box.Requests())

		c.box.Reset()
		assert.Empty(t, c.box.Ledger())
		assert.Empty(t, c.box.Requests())
		assert.Empty(t, c.box.Agreements())
		assert.Empty(t, c.box.Deliveries())
		assert.Empty(t, c.box.FaultCounts())
		c.pass(30 * 24 * time.Hour)
		assert.Equal(t, 1, posted, "neither a redelivery nor an agreement that expires")
		assert.Equal(t, 404, c.get("/transactions/"+before.(string)).status)
		after := c.must(201, c.post("/transactions", c.payment(), "Idempotency-Key", "once"))
		assert.Equal(t, "Approved", after["status"])
		assert.NotEqual(t, before, after["receiptNumber"])
		assert.Equal(t, count+1, c.box.Requests()[0].Number, "numbers go on")
		c.activeAgreement(c.agreementRequest())
		c.pass(time.Second)
		assert.Equal(t, 2, posted, "the subscription stays, and nothing is held")
	})
}

func (c *caller) payment() object {
	return object{
		"transactionType": "PAYMENT", "supplierBusinessCode": DefaultBusiness, "principalAmount": json.Number("10.50"), "currency": "AUD",
		"eci": "MAIL", "storedCredentialData": object{"entryMode": "MANUAL"},
		"creditCard": object{"cardNumber": goodCard, "expiryDateMonth": "02", "expiryDateYear": "2099"},
	}
}

// An attempt that is under way during a reset, or while its subscription is deleted, is the last.
func TestEndedWhilePosting(t *testing.T) {
	for name, end := range map[string]func(*Sandbox){
		"reset":       (*Sandbox).Reset,
		"unsubscribe": func(b *Sandbox) { _ = b.Unsubscribe("1") },
	} {
		bubble(t, func(c *caller) {
			posted, release := 0, make(chan struct{})
			require.NoError(t, c.box.Subscribe(Subscription{Secret: "s", Scheme: signature.AssumedHMAC{}, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				posted++
				<-release
				w.WriteHeader(http.StatusServiceUnavailable)
			})}))
			token := c.newAgreement(c.agreementRequest())
			require.NoError(t, c.box.Payer(token, ConfirmAgreement))
			c.pass(time.Second)
			require.Equal(t, 1, posted)
			end(c.box)
			close(release)
			c.pass(48 * time.Hour)
			assert.Equal(t, 1, posted, name)
		}, assuming(func(a *Assumptions) { a.Events = "after" }))
	}
}

func TestSubscriptions(t *testing.T) {
	bubble(t, func(c *caller) {
		var posted []string
		add := func(id string, types ...string) error {
			return c.box.Subscribe(Subscription{ID: id, EventTypes: types, Secret: "s", Scheme: signature.AssumedHMAC{}, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				posted = append(posted, id)
				w.WriteHeader(http.StatusTeapot)
			})})
		}
		require.NoError(t, add("1"))
		require.NoError(t, add("", eventAgreementConfirmed))
		require.NoError(t, add("mine"))
		require.Error(t, add("mine"))
		var ids []string
		for _, s := range c.box.Subscriptions() {
			ids = append(ids, s.ID)
		}
		assert.Equal(t, []string{"1", "2", "mine"}, ids, "the default is a number that nobody has")
		c.box.Subscriptions()[1].EventTypes[0] = "changed"
		assert.Equal(t, eventAgreementConfirmed, c.box.Subscriptions()[1].EventTypes[0])

		c.box.HoldDeliveries()
		c.activeAgreement(c.agreementRequest())
		held := c.box.Deliveries()
		require.Len(t, held, 3)
		require.NoError(t, c.box.Unsubscribe("1"))
		require.Error(t, c.box.Unsubscribe("1"))
		require.NoError(t, c.box.ReleaseDeliveries())
		c.pass(time.Second)
		assert.ElementsMatch(t, []string{"", "mine"}, posted, "what was held is not posted to a subscription that is gone")
		assert.Empty(t, c.box.Deliveries()[0].Attempts)
		require.Error(t, c.box.Redeliver(held[0].ID))
		require.NoError(t, c.box.Unsubscribe("mine"))
		c.pass(48 * time.Hour)
		assert.NotContains(t, posted[2:], "mine", "nor posted again")
		assert.Contains(t, posted[2:], "")
		assert.Equal(t, DeliveryAbandoned, c.box.Deliveries()[2].State)
	})
}

// A receiver with the secret agrees with what an attempt says about its signature.
func TestSignaturesOfAttempts(t *testing.T) {
	for form, fault := range map[string]DeliveryFault{"plain": {}, "several": {Tampered: true}, "swapped": {Shift: -time.Hour}, "blanks": {Shift: time.Hour}} {
		bubble(t, func(c *caller) {
			var found error
			v, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{"s"})
			require.NoError(t, err)
			require.NoError(t, c.box.Subscribe(Subscription{Secret: "s", Scheme: signature.AssumedHMAC{}, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				var body bytes.Buffer
				_, _ = body.ReadFrom(r.Body)
				found = v.Verify(r.Header.Values(signature.Header), body.Bytes())
			})}))
			c.box.NextDelivery(fault)
			c.activeAgreement(c.agreementRequest())
			c.pass(time.Second)
			said := c.box.Deliveries()[0].Attempts[0].SignatureError
			if found == nil {
				assert.Empty(t, said)
				assert.Equal(t, DeliveryFault{}, fault)
			} else {
				assert.Equal(t, found.Error(), said)
			}
		}, assuming(func(a *Assumptions) { a.SignatureHeader = form }))
	}
}

func TestAnswersAreKept(t *testing.T) {
	bubble(t, func(c *caller) {
		c.post("/transactions", c.payment())
		assert.Nil(t, c.box.Requests()[0].Answer, "only if they are wanted")
	})
	bubble(t, func(c *caller) {
		for _, kind := range []FaultKind{{}, TruncatedBody(5), SlowBody(1000), Garbage(HTML)} {
			if kind.play != nil {
				require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: kind}))
			}
			_, _ = c.try(c.request("POST", "/transactions", c.keys.Secret, c.payment()))
		}
		requests := c.box.Requests()
		for _, r := range requests[:3] {
			assert.Contains(t, string(r.Answer), `"cardNumber":"424242...242"`, r.Fault)
		}
		assert.Contains(t, string(requests[3].Answer), "<html")
		requests[0].Answer[0] = 'x'
		assert.NotEqual(t, requests[0].Answer[0], c.box.Requests()[0].Answer[0], "it is a copy")
		echo := c.payment()
		echo["customerReferenceNumber"] = realPAN
		resp, err := c.client.Do(c.request("POST", "/transactions", c.keys.Secret, echo))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		last := c.box.Requests()[4]
		assert.Contains(t, string(last.Answer), `"customerReferenceNumber":"xxxx`)
		assert.NotContains(t, string(last.Answer), realPAN, "what an answer repeats is masked too")
	}, WithAnswers())
}

// Answers count in the memory that records may take.
func TestAttackRow10AnswersFillMemory(t *testing.T) {
	box := New(WithAnswers())
	defer box.Close()
	grown := heapGrowth(func() {
		for range 3000 {
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/rest/v1/"+strings.Repeat("x", 16<<10), nil)
			box.ServeHTTP(httptest.NewRecorder(), r)
		}
	})
	assert.Less(t, grown, int64(24<<20))
	kept := box.Requests()
	assert.Greater(t, len(kept), 100)
	assert.Equal(t, 3000, kept[len(kept)-1].Number)
	assert.NotEmpty(t, kept[len(kept)-1].Answer)
	box.ResetRequests()
	assert.Zero(t, box.requests.bytes)
}

func TestTestCards(t *testing.T) {
	cards := TestCards()
	assert.Len(t, cards, len(testCards))
	assert.Empty(t, cards[0].DeclineCode)
	byNumber := map[string]TestCard{}
	for _, card := range cards {
		byNumber[card.Number] = card
	}
	assert.Equal(t, TestCard{Number: "4111111111444496", Scheme: "VISA", Type: "CREDIT", DeclineCode: "51", ThreeDS: "Y"}, byNumber["4111111111444496"])
	assert.Equal(t, TestCard{Number: CardChallenge, Scheme: "VISA", Type: "CREDIT", ThreeDS: "C"}, byNumber[CardChallenge])
}

// The log says what happened to calls that got no answer, too.
func TestLogOfLostCalls(t *testing.T) {
	var logged bytes.Buffer
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(Fault{Operation: "POST /transactions", Nth: 1, Kind: ResetAfterCommit()}))
		_, err := c.try(c.request("POST", "/transactions", c.keys.Secret, c.payment(), "Idempotency-Key", "a-key"))
		require.Error(t, err)
		c.must(201, c.post("/transactions", c.payment(), "Idempotency-Key", "a-key"))
	}, WithLog(slog.New(slog.NewTextHandler(&logged, nil))))
	assert.Equal(t, 2, strings.Count(logged.String(), "\n"))
	assert.Contains(t, logged.String(), `msg=request call="POST /transactions" status="no answer" key=secret committed=true fault=ResetAfterCommit`)
	assert.Contains(t, logged.String(), `msg=request call="POST /transactions" status=201 key=secret replayed=true`)
	assert.NotContains(t, logged.String(), "a-key")
}
