package sandbox

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPaymentAnswer(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(201, c.post("/transactions", changed(cardPayment("ORDER-1"),
			"supplierBusinessCode", "SHOP", "principalAmount", json.Number("1234.5"), "paymentReferenceNumber", "P-1",
			"comment", "thanks", "metadata", object{"a": "b"}, "debtRepayment", true, "mpgsData", object{"anything": 1}),
			"Idempotency-Key", "k"))
		for name, want := range map[string]any{
			"transactionType": "PAYMENT", "status": "Approved", "responseCode": "08", "summaryCode": "0",
			"customerReferenceNumber": "ORDER-1", "paymentReferenceNumber": "P-1", "comment": "thanks",
			"settlementDate": "2000-01-01", "transactionTime": "2000-01-01T11:00:00+1100",
			"refundable": false, "voidable": true, "ipAddress": payerIP, "debtRepayment": true, "supplierBusinessCode": "SHOP",
			"fraudGuardResult": "OK", "originalReceiptNumber": nil, "bankAccount": nil,
		} {
			assert.Equal(t, want, body[name], name)
		}
		assert.Equal(t, object{"a": "b"}, body["metadata"])
		for name, want := range map[string][]any{
			"principalAmount": {json.Number("1234.50"), "$1,234.50"},
			"surchargeAmount": {json.Number("13.58"), "$13.58"}, // 1.1 % of 1234.50 is 13.5795
			"totalAmount":     {json.Number("1248.08"), "$1,248.08"},
		} {
			amount := body[name].(object)
			assert.Equal(t, want, []any{amount["amount"], amount["displayAmount"]}, name)
			assert.Equal(t, "AUD", amount["currency"])
		}
		card := body["creditCard"].(object)
		for name, want := range map[string]any{
			"accountType": typeCard, "accountToken": nil, "customerId": nil, "defaultAccount": false, "cardNumber": "424242...242",
			"maskedCardNumber4Digits": "424242...4242", "expiryDateMonth": "02", "expiryDateYear": "35", "cardScheme": "VISA",
			"cardType": "CREDIT", "cardholderName": "Kim Lee", "panType": "FPAN", "walletProvider": nil,
		} {
			assert.Equal(t, want, card[name], name)
		}
		assert.Equal(t, "WBC", body["merchantAccount"].(object)["acquiringInstitution"])
		assert.Regexp(t, `^\d{15}$`, body["networkTransactionId"])

		entries := c.box.Ledger()
		require.Len(t, entries, 1)
		assert.Equal(t, Entry{
			Receipt: body["receiptNumber"].(string), Type: "PAYMENT", Outcome: "approved", Amount: 123450, Surcharge: 1358,
			Currency: "AUD", CustomerReferenceNumber: "ORDER-1", PaymentReferenceNumber: "P-1",
			Metadata: map[string]string{"a": "b"}, IdempotencyKey: "k", Time: c.box.Now(),
		}, entries[0])
		assert.Equal(t, int64(124808), entries.Net("order-1"))
	}, WithBusiness("SHOP", "The Shop", Surcharge{Scheme: "VISA", BasisPoints: 110}))
}

func TestTestCardsDecide(t *testing.T) {
	bubble(t, func(c *caller) {
		for number := range testCards {
			body := c.must(201, c.post("/transactions", changed(payment(number[len(number)-3:]), "creditCard", cardDetails(number))))
			code, declined := declineCodes[number[len(number)-2:]]
			want := []any{"Approved", "0", "08"}
			if declined {
				want = []any{"Declined", "1", code}
			}
			assert.Equal(t, want, []any{body["status"], body["summaryCode"], body["responseCode"]}, "ending %s", number[len(number)-4:])
			assert.NotContains(t, body["responseDescription"], "Response code")
		}
	})
}

func TestTestBankAccountsDecide(t *testing.T) {
	bubble(t, func(c *caller) {
		body := c.must(201, c.post("/transactions", bankPayment("OK", "032-999")))
		assert.Equal(t, []any{"Approved*", "0", "G", false, true}, []any{body["status"], body["summaryCode"], body["responseCode"], body["voidable"], body["refundable"]})
		assert.Equal(t, "xxxxxx994", body["bankAccount"].(object)["accountNumber"])
		assert.Equal(t, "SANDBOX01", body["supplierBusinessCode"])
		assert.NotNil(t, body["directEntryAccount"])
		assert.Nil(t, body["merchantAccount"])

		rejected := c.must(201, c.post("/transactions", bankPayment("R", "032-050")))
		assert.Equal(t, []any{"Declined", "3", "R"}, []any{rejected["status"], rejected["summaryCode"], rejected["responseCode"]})

		// The customer's bank declines later than the service approves.
		later := c.must(201, c.post("/transactions", bankPayment("D", "032-053")))
		assert.Equal(t, "Approved*", later["status"])
		assert.Len(t, c.box.Ledger().Charged("D"), 1)
		c.sleep(25 * time.Hour)
		later = c.must(200, c.get("/transactions/"+later["receiptNumber"].(string)))
		assert.Equal(t, []any{"Declined", "1", "3", false}, []any{later["status"], later["summaryCode"], later["responseCode"], later["refundable"]})
		assert.Empty(t, c.box.Ledger().Charged("D"))
		assert.Len(t, c.box.Ledger().Charged("OK"), 1)
	})
	bubble(t, func(c *caller) {
		for last := '1'; last <= '9'; last++ {
			body := c.must(201, c.post("/transactions", bankPayment("D", "032-05"+string(last))))
			assert.Equal(t, []any{"Declined", "1", string(last)}, []any{body["status"], body["summaryCode"], body["responseCode"]})
		}
	}, assuming(func(a *Assumptions) { a.BankReturnAfter = 0 }))
}

func TestPaymentFromEverySource(t *testing.T) {
	bubble(t, func(c *caller) {
		customer := c.must(201, c.post("/customers", object{"customerNumber": "1", "customerName": "K"}))["customerId"].(string)
		c.must(201, c.post("/transactions", changed(payment("T"), "singleUseTokenId", c.token(cardToken(goodCard)))))
		c.must(201, c.post("/transactions", changed(bankPayment("T2", ""), "bankAccount", nil, "ipAddress", payerIP, "singleUseTokenId", c.token(bankToken()))))
		nz := changed(bankPayment("NZ", ""), "bankAccount", nil, "nzBankAccount", nzAccount(), "currency", "NZD")
		body := c.must(201, c.post("/transactions", nz))
		assert.Equal(t, "xxxx321", body["nzBankAccount"].(object)["nzAccountNumber"])
		assert.NotNil(t, body["nzDirectEntryAccount"])
		assert.Equal(t, "Approved*", body["status"])

		byCustomer := changed(payment("C"), "customerId", customer)
		assert.Equal(t, "has no enabled default account", c.findings(c.post("/transactions", byCustomer))["customerId"])

		c.box.mu.Lock()
		first := c.box.registerAccount(c.box.customers.byID[customer], instrument{bank: &bankAccount{name: "K", bsb: "032999", number: "999994"}}, false)
		second := c.box.registerAccount(c.box.customers.byID[customer], instrument{card: &card{
			number: goodCard, month: "12", year: "2001", scheme: schemeVisa, cardType: cardCredit,
		}}, false)
		c.box.mu.Unlock()
		body = c.must(201, c.post("/transactions", changed(byCustomer, "eci", nil, "storedCredentialData", nil, "ipAddress", nil)))
		bank := body["bankAccount"].(object)
		assert.Equal(t, []any{first.token, customer, true}, []any{bank["accountToken"], bank["customerId"], bank["defaultAccount"]})

		byAccount := changed(payment("A"), "accountToken", second.token)
		body = c.must(201, c.post("/transactions", byAccount))
		assert.Equal(t, []any{second.token, false}, []any{body["creditCard"].(object)["accountToken"], body["creditCard"].(object)["defaultAccount"]})

		c.sleep(3 * 365 * 24 * time.Hour) // the card has expired
		assert.Equal(t, "54", c.must(201, c.post("/transactions", byAccount))["responseCode"])

		c.box.mu.Lock()
		second.enabled = false
		c.box.mu.Unlock()
		assert.Equal(t, "is disabled", c.findings(c.post("/transactions", byAccount))["accountToken"])
		c.must(200, c.do("PUT", "/customers/"+customer, c.keys.Secret, object{"enabled": false}))
		assert.Equal(t, "is disabled", c.findings(c.post("/transactions", byCustomer))["customerId"])
		assert.Contains(t, c.findings(c.post("/transactions", changed(byCustomer, "customerId", "1"))), "customerId")
		assert.Contains(t, c.findings(c.post("/transactions", changed(byAccount, "accountToken", "1"))), "accountToken")
	})
}

// These are the rules that the document of the service does not have. The conformance tests of
// internal/contract have the others, here and in the other tests of rules.
func TestPaymentRules(t *testing.T) {
	bubble(t, func(c *caller) {
		good := cardPayment("O")
		details := cardDetails(goodCard)
		for _, test := range []struct {
			body   object
			member string
			value  any
			field  string // if another member is at fault
		}{
			{good, "supplierBusinessCode", "NOBODY", ""},
			{good, "principalAmount", json.Number("1e3"), ""},
			{good, "principalAmount", json.Number("1000000000000000"), ""},
			{good, "ipAddress", "10.1.2.3", ""},
			{good, "ipAddress", "127.0.0.1", ""},
			{good, "ipAddress", "100.64.0.1", ""},
			{good, "ipAddress", "fe80::1", ""},
			{good, "ipAddress", "somewhere", ""},
			{good, "creditCard", changed(details, "cardNumber", realPAN), "creditCard.cardNumber"},
			{good, "creditCard", changed(details, "walletProvider", "GOOGLE_PAY"), "creditCard.walletProvider"},
			{bankPayment("O", "032-999"), "eci", "INTERNET", "ipAddress"},
		} {
			field := test.field
			if field == "" {
				field = test.member
			}
			assert.Contains(t, c.findings(c.post("/transactions", changed(test.body, test.member, test.value))), field, "%s=%v", test.member, test.value)
		}
		token := c.token(cardToken(goodCard))
		byToken := changed(payment("O"), "singleUseTokenId", token, "eci", "5", "ipAddress", nil)
		assert.Equal(t, map[string]string{"ipAddress": "is required with a single-use token, and for account details with eci INTERNET"}, c.findings(c.post("/transactions", byToken)))
		threeDS := c.token(changed(cardToken(goodCard), "threeDS2", true, "browserProfile", browser()))
		assert.Equal(t, "needs 3D Secure authentication first",
			c.findings(c.post("/transactions", changed(byToken, "singleUseTokenId", threeDS, "ipAddress", payerIP)))["singleUseTokenId"])
		assert.Empty(t, c.box.Ledger())

		for _, fine := range []object{
			changed(good, "eci", "PHONE", "ipAddress", nil, "creditCard", changed(details, "cvn", nil)),
			changed(good, "eci", "5", "ipAddress", nil, "cryptogram", "AAAA", "creditCard", changed(details, "walletProvider", "APPLE_PAY", "cvn", nil)),
			changed(good, "eci", "RECURRING", "ipAddress", nil, "storedCredentialData", object{"entryMode": "STORED_CREDENTIAL", "usage": "RECURRING"}),
			changed(good, "ipAddress", "2001:4860::1", "threeDS2", false),
			changed(good, "principalAmount", json.Number("10")),
			changed(good, "customerReferenceNumber", nil),
			changed(good, "cryptogram", "AAAA"),
			changed(good, "cryptogram", "AAAA", "creditCard", changed(details, "walletProvider", "APPLE_PAY")),
			changed(bankPayment("O", "032-999"), "currency", "NZD", "cryptogram", "AAAA"),
			changed(byToken, "eci", "MAIL"),
			changed(good, "eci", "RECURRING", "ipAddress", nil, "storedCredentialData", object{"entryMode": "STORED_CREDENTIAL"}),
		} {
			c.must(201, c.post("/transactions", fine))
		}
		assert.Len(t, c.box.Ledger(), 11)
	})
	bubble(t, func(c *caller) {
		bare := changed(cardPayment("O"), "eci", "RECURRING", "ipAddress", nil, "storedCredentialData", object{"entryMode": "STORED_CREDENTIAL"})
		assert.Contains(t, c.findings(c.post("/transactions", bare)), "storedCredentialData.usage")
		often := changed(cardPayment("O"), "storedCredentialData", object{"entryMode": "MANUAL", "usage": "OFTEN"})
		assert.Contains(t, c.findings(c.post("/transactions", often)), "storedCredentialData.usage")
	}, assuming(func(a *Assumptions) {
		a.UsageRequired, a.StoredCredentialUsages = []string{"RECURRING"}, []string{"RECURRING"}
	}))
}

// TestWalletCards: a wallet's card needs no CVN, and a cryptogram only if the customer pays with it.
func TestWalletCards(t *testing.T) {
	bubble(t, func(c *caller) {
		for _, kind := range []string{"PAYMENT", "PREAUTH", "ACCOUNT_VERIFICATION"} {
			bare := changed(cardPayment("O"), "transactionType", kind, "creditCard", changed(cardDetails(goodCard), "walletProvider", "APPLE_PAY", "cvn", nil))
			if kind == "ACCOUNT_VERIFICATION" {
				bare = changed(bare, "principalAmount", nil)
			}
			c.must(201, c.post("/transactions", changed(bare, "cryptogram", "AAAA")))
			c.must(201, c.post("/transactions", changed(bare, "storedCredentialData", object{"entryMode": "STORED_CREDENTIAL"})))
			c.must(201, c.post("/transactions", changed(bare, "eci", "RECURRING", "ipAddress", nil)))
			if kind == "PAYMENT" {
				assert.Equal(t, map[string]string{"cryptogram": "is required with walletProvider if the customer pays"}, c.findings(c.post("/transactions", bare)))
			}
		}
	})
}

func TestEveryFindingIsReported(t *testing.T) {
	bubble(t, func(c *caller) {
		got := c.findings(c.post("/transactions", object{
			"transactionType": "PAYMENT", "creditCard": object{"cardNumber": realPAN, "cvn": "8"}, "bankacount": 1,
		}))
		assert.Len(t, got, 8, "%v", got)
	})
}

func TestScriptedOutcomes(t *testing.T) {
	bubble(t, func(c *caller) {
		c.box.NextTransaction(Declined("05"), Rejected("QA"), Suspended(), Erred(),
			Erred().ThenAfter(18*time.Hour, Erred()).ThenAfter(6*time.Hour, Approved()))
		c.findings(c.post("/transactions", changed(cardPayment("O"), "currency", nil))) // uses up none
		var receipts []string
		for _, want := range [][]any{
			{"Declined", "1", "05"}, {"Declined", "3", "QA"}, {"Suspended", "1", "34"}, {"Declined", "2", "QI"}, {"Declined", "2", "QI"}, {"Approved", "0", "08"},
		} {
			body := c.must(201, c.post("/transactions", cardPayment("O")))
			assert.Equal(t, want, []any{body["status"], body["summaryCode"], body["responseCode"]})
			receipts = append(receipts, body["receiptNumber"].(string))
		}
		summary := func(i int) any { return c.must(200, c.get("/transactions/"+receipts[i]))["summaryCode"] }
		c.sleep(24*time.Hour - time.Second)
		assert.Equal(t, []any{"2", "2"}, []any{summary(3), summary(4)})
		assert.Len(t, c.box.Ledger().Charged("O"), 1)
		c.sleep(time.Second)
		assert.Equal(t, []any{"2", "0"}, []any{summary(3), summary(4)})
		assert.Len(t, c.box.Ledger().Charged("O"), 2)
		assert.Len(t, c.box.Ledger().Order("o"), 6)
	})
}

func TestThenAfterDoesNotChangeItsReceiver(t *testing.T) {
	erred := Erred().ThenAfter(time.Hour, Erred())
	_ = erred.ThenAfter(time.Hour, Approved())
	assert.Nil(t, erred.next.outcome.next)
}

func TestVoidableUntilCutOffAndRefundableAfter(t *testing.T) {
	flags := func(c *caller, receipt string) []any {
		body := c.must(200, c.get("/transactions/"+receipt))
		return []any{body["voidable"], body["refundable"]}
	}
	bubble(t, func(c *caller) { // the bubble begins at 11:00 in Sydney
		receipt := c.pay("O")
		c.sleep(7*time.Hour - time.Second)
		assert.Equal(t, []any{true, false}, flags(c, receipt))
		c.sleep(time.Second)
		assert.Equal(t, []any{false, true}, flags(c, receipt))
		assert.Equal(t, "2000-01-02", c.must(201, c.post("/transactions", cardPayment("O")))["settlementDate"])
	})
	bubble(t, func(c *caller) {
		receipt := c.pay("O")
		c.sleep(time.Minute)
		assert.Equal(t, []any{true, true}, flags(c, receipt))
	}, assuming(func(a *Assumptions) { a.RefundBeforeCutOff = true }))
}
