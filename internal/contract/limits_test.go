package contract_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// values are what a member or parameter must take and what it must refuse.
type values struct{ good, bad []any }

func upTo(n int) values {
	return values{[]any{strings.Repeat("a", n)}, []any{strings.Repeat("a", n+1)}}
}

func only(allowed ...string) values {
	v := values{bad: []any{"", "NONE", "99"}}
	for _, a := range allowed {
		v.good = append(v.good, a)
	}
	return v
}

// codes are "01" to the given number.
func codes(last string) values {
	v := values{bad: []any{"", "1", "00", string([]byte{'0', last[1] + 1})}}
	for c := byte('1'); c <= last[1]; c++ {
		v.good = append(v.good, string([]byte{'0', c}))
	}
	return v
}

var (
	filled   = values{[]any{"a"}, []any{""}}
	id       = values{[]any{strings.Repeat("a", 255)}, []any{"", strings.Repeat("a", 256)}}
	day      = values{[]any{"2026-02-28", "2028-02-29"}, []any{"", "2026-02-29", "20260228", "28/02/2026", "2026-02-28T00:00:00Z"}}
	compact  = values{[]any{"20260228"}, []any{"", "2026-02-28", "20261328", "20260232", "260228"}}
	month    = values{[]any{"01", "12"}, []any{"", "1", "00", "13", "001"}}
	bsb      = values{[]any{"032002", "032-002"}, []any{"", "32002", "032 002", "0320022", "032-00a"}}
	basicEci = only("INTERNET", "PHONE", "MAIL", "RECURRING", "INSTALMENT")
	purpose  = only("MORT", "UTIL", "LOAN", "DEPD", "GAMP", "RETL", "SALA", "PERS", "GOVT", "PENS", "TAXS", "OTHR")
	stamp    = values{
		[]any{"2026-03-01T10:15:30+1100", "2026-03-01T10:15:30+11:00", "2026-03-01T10:15:30Z", "2026-03-01T10:15:30.123-0330"},
		[]any{"", "2026-03-01", "2026-03-01T10:15:30", "2026-03-01 10:15:30+1100", "2026-03-01T10:15:30+11"},
	}
)

// TestMemberValues tries the values of enumerations, and what is at both sides of the limits
// that the sandbox does not have: it holds the document to all others, in package conformance.
func TestMemberValues(t *testing.T) {
	s := loadSamples(t)
	const (
		tokens, accounts, pay = "POST /single-use-tokens", "POST /customers/{customerId}/accounts", "POST /transactions"
		agreed, migrated      = "agreementCreationType=AUTHORISED", "agreementCreationType=MIGRATED_DDR"
	)
	for _, tt := range []struct {
		operation, has, paths string
		values                values
	}{
		{tokens, "cardNumber", "cardNumber", values{[]any{"4242424242424242"}, []any{"", "4242-4242"}}},
		{tokens, "cardNumber", "expiryDateMonth", month},
		{tokens, "browserProfile", "browserProfile.browserLanguage", upTo(8)},
		{tokens, "browserProfile", "browserProfile.browserTZ", values{[]any{"0", "-600", "+1234"}, []any{"", "-12345", "+10:00", "x"}}},
		{tokens, "browserProfile", "browserProfile.browserLanguage", values{[]any{"en-AU"}, []any{"", "en_AU", "-"}}},
		{tokens, "browserProfile", "browserProfile.browserColorDepth", only("1", "4", "8", "15", "16", "24", "32", "48")},
		{tokens, "bsb", "bsb", bsb},

		{threeDS, "acctID", "messageCategory", codes("02")},
		{threeDS, "acctID", "threeDSRequestorAuthenticationInd", codes("06")},
		{threeDS, "acctID", "currency", only("AUD")},
		{threeDS, "acctID", "recurringExpiry preOrderDate chAccChange chAccDate chAccPwChange paymentAccAge shipAddressUsage", compact},
		{threeDS, "acctID", "deliveryTimeframe chAccChangeInd shipAddressUsageInd", codes("04")},
		{threeDS, "acctID", "preOrderPurchaseInd reorderItemsInd shipNameIndicator suspiciousAccActivity", codes("02")},
		{threeDS, "acctID", "shipIndicator", codes("07")},
		{threeDS, "acctID", "addrMatch", only("Y", "N")},
		{threeDS, "acctID", "chAccAgeInd chAccPwChangeInd paymentAccInd", codes("05")},

		{accounts, "singleUseTokenId", "singleUseTokenId", id},
		{accounts, "receiptNumber", "receiptNumber", id},

		{createAgreement, agreed, "agreementCreationType", values{[]any{""}, []any{"NEW"}}},
		{createAgreement, agreed, "paymentDetails.purpose", purpose},
		{createAgreement, migrated, "paymentTerms.frequency", only("ADHO", "DAIL", "WEEK", "FRTN", "MNTH", "QURT", "MIAN", "YEAR")},
		{createAgreement, agreed, "paymentTerms.agreementType", only("BALN", "FIXE", "USGB", "VARI")},
		{createAgreement, agreed, "paymentTerms.currency", only("AUD")},
		{createAgreement, agreed, "payerDetails.payerType", only("ORGN", "PERS")},
		{createAgreement, agreed, "payerDetails.payIdType", only("EMAL", "TELI", "AUBN", "ORGN")},

		{updateAgreement, "statusAmendment.reasonCode", "statusAmendment.reasonCode", only("AC04", "MD17", "MD20", "CTAM", "CTCA", "CTEX", "MCFC", "MCOC", "MSUC", "NOAS")},
		{updateAgreement, "statusAmendment.statusCode=ACTIVE", "statusAmendment.reasonCode", only("MD17", "CTAM", "NOAS")},

		{pay, "authorisationType=EXTENSION", "principalAmount", values{[]any{0, json.Number("0.00")}, []any{1, "0.00"}}},
		{pay, "currency", "currency", only("AUD", "NZD")},
		{pay, "transactionType=PAYMENT creditCard", "eci", only("INTERNET", "PHONE", "MAIL", "RECURRING", "INSTALMENT", "5", "6", "7")},
		{pay, "transactionType=PREAUTH eci", "eci", values{nil, basicEci.bad}},
		{pay, "transactionType=PREAUTH creditCard", "eci", basicEci},
		{pay, "transactionType=ACCOUNT_VERIFICATION creditCard", "eci", basicEci},
		{pay, "ipAddress", "ipAddress", values{[]any{"203.0.113.7", "2001:db8::7"}, []any{"", "203.0.113.700", "example.com"}}},
		{pay, "singleUseTokenId", "singleUseTokenId", id},
		{pay, "customerId", "customerId", id},
		{pay, "accountToken", "accountToken", id},
		{pay, "originalReceiptNumber", "originalReceiptNumber", id},
		{pay, "creditCard.cardNumber", "creditCard.expiryDateMonth", month},
		{pay, "creditCard.cardNumber", "creditCard.walletProvider", only("APPLE_PAY")},
		{pay, "bankAccount", "bankAccount.bsb", bsb},
		{pay, "payToData.agreementToken", "payToData.agreementToken", id},
		{pay, "payToData.payToAgreement", "payToData.payToAgreement.paymentDetails.purpose", purpose},
		{pay, "storedCredentialData", "storedCredentialData.entryMode", only("MANUAL", "STORED_CREDENTIAL")},
		{pay, "storedCredentialData", "storedCredentialData.usage", values{[]any{"RECURRING", "STANDING_ORDER", "UNSCHEDULED_MIT", "LATER"}, nil}},
		{pay, "cancellationType", "cancellationType", only("FULL", "PARTIAL")},

		{"WEBHOOK payto.payment.approved", "id", "id", id},
		{"WEBHOOK payto.payment.approved", "id", "timestamp data.transactionTime", stamp},
		{"WEBHOOK payto.payment.approved", "id", "data.settlementDate", day},
		{"WEBHOOK payto.payment.approved", "id", "data.authorisationCode", upTo(6)},
		{"WEBHOOK payto.payment.approved", "id", "data.networkTransactionId", upTo(15)},
		{"WEBHOOK payto.payment.approved", "id", "data.totalAmount.amount", values{[]any{json.Number("12.50"), json.Number("-1")}, []any{"12.50", json.Number("12.505")}}},
		{"WEBHOOK payto.agreement.confirmed", "id", "data.respondByTime", stamp},
		{"WEBHOOK payto.agreement.confirmed", "id", "data.paymentDetails.startDate data.paymentDetails.endDate data.paymentTerms.firstPaymentDue data.paymentTerms.lastPaymentDue", day},
	} {
		tried := 0
		for _, e := range s.Exchanges {
			if e.Operation != tt.operation || !has(e.Body, tt.has) {
				continue
			}
			for _, path := range strings.Fields(tt.paths) {
				for _, value := range tt.values.good {
					tried++
					if err := s.validateBody(t, e, changed(t, e.Body, steps(path), set(value))); err != nil {
						t.Errorf("%s %v is refused: %v", path, value, err)
					}
				}
				for _, value := range tt.values.bad {
					tried++
					if err := s.validateBody(t, e, changed(t, e.Body, steps(path), set(value))); err == nil {
						t.Errorf("%s: %s passes as %v", tt.operation, path, value)
					}
				}
			}
		}
		if tried == 0 {
			t.Errorf("%s: no sample has %s", tt.operation, tt.has)
		}
	}
}

// TestCardConditions: what a card given in full brings with it depends on how
// the order came in.
func TestCardConditions(t *testing.T) {
	s := loadSamples(t)
	op := s.operation(t, "POST /transactions")
	const start = `{"transactionType":"PAYMENT","supplierBusinessCode":"BUSINESSONE","principalAmount":1.00,"currency":"AUD",`
	const card = `"cardNumber":"4242424242424242","expiryDateMonth":"01","expiryDateYear":"2031"`
	const stored = `"storedCredentialData":{"entryMode":"MANUAL"}`
	for rest, want := range map[string]bool{
		`"eci":"MAIL",` + stored + `,"creditCard":{` + card + `}}`:                                               true,
		`"eci":"INTERNET",` + stored + `,"ipAddress":"203.0.113.7","creditCard":{` + card + `}}`:                 false, // no cvn
		`"eci":"INTERNET",` + stored + `,"ipAddress":"203.0.113.7","creditCard":{` + card + `,"cvn":"123"}}`:     true,
		`"eci":"INTERNET",` + stored + `,"creditCard":{` + card + `,"cvn":"123"}}`:                               false, // no address
		`"eci":"5",` + stored + `,"creditCard":{` + card + `,"walletProvider":"APPLE_PAY"}}`:                     false, // no cryptogram
		`"eci":"5",` + stored + `,"cryptogram":"AAAA","creditCard":{` + card + `,"walletProvider":"APPLE_PAY"}}`: true,
		`"eci":"MAIL","creditCard":{` + card + `}}`:                                                              false, // no stored credential data
		stored + `,"creditCard":{` + card + `}}`:                                                                 false, // no eci
		`"singleUseTokenId":"T-1"}`:                                                                              false, // no address
		`"singleUseTokenId":"T-1","ipAddress":"203.0.113.7"}`:                                                    true,
		`"eci":"MAIL","singleUseTokenId":"T-1"}`:                                                                 true,
		`"threeDS2":true,"accountToken":"A-1"}`:                                                                  false,
		`"threeDS2":false,"accountToken":"A-1"}`:                                                                 true,
		`"eci":"INTERNET","accountToken":"A-1"}`:                                                                 true,  // stored, so no address
		`"eci":"INTERNET","bankAccount":{"accountName":"a","bsb":"032002","accountNumber":"123465"}}`:            false, // no address
		`"bankAccount":{"accountName":"a","bsb":"032002","accountNumber":"123465"}}`:                             true,
	} {
		if err := op.ValidateRequestBody("application/json", []byte(start+rest)); (err == nil) != want {
			t.Errorf("%s: %v", rest, err)
		}
	}
}

// TestWalletCards: a wallet's card brings its cryptogram if the customer pays with it.
func TestWalletCards(t *testing.T) {
	op := loadSamples(t).operation(t, "POST /transactions")
	for _, kind := range []string{`"PAYMENT","principalAmount":1.00,"currency":"AUD"`, `"PREAUTH","principalAmount":1.00,"currency":"AUD"`, `"ACCOUNT_VERIFICATION"`} {
		pays := strings.HasPrefix(kind, `"PAYMENT"`)
		for cryptogram, want := range map[string]bool{``: !pays, `,"cryptogram":"AAAA"`: true} {
			body := `{"transactionType":` + kind + `,"supplierBusinessCode":"BUSINESSONE","eci":"MAIL","storedCredentialData":{"entryMode":"MANUAL"}` + cryptogram +
				`,"creditCard":{"cardNumber":"4242424242424242","expiryDateMonth":"01","expiryDateYear":"2031","walletProvider":"APPLE_PAY"}}`
			if err := op.ValidateRequestBody("application/json", []byte(body)); (err == nil) != want {
				t.Errorf("%s: %v", body, err)
			}
		}
	}
}

// TestPointInTime: each frequency has a highest day or month of its own.
func TestPointInTime(t *testing.T) {
	s, tried := loadSamples(t), 0
	for frequency, last := range map[string]int{"DAIL": 24, "WEEK": 7, "FRTN": 14, "MNTH": 31, "QURT": 3, "MIAN": 6, "YEAR": 12} {
		for _, e := range s.Exchanges {
			if e.Operation != createAgreement || !has(e.Body, "paymentTerms.pointInTime") {
				continue
			}
			for value, want := range map[int]bool{0: false, 1: true, last: true, last + 1: false} {
				body := changed(t, e.Body, steps("paymentTerms.pointInTime"), func(terms map[string]any, name string) {
					terms["frequency"], terms[name] = frequency, value
				})
				tried++
				if err := s.validateBody(t, e, body); (err == nil) != want {
					t.Errorf("%s %d: %v", frequency, value, err)
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no sample has a pointInTime")
	}
}

// TestPayerIsReached: by account, by PayID or by both, whose members come in pairs.
func TestPayerIsReached(t *testing.T) {
	s, tried := loadSamples(t), 0
	for _, e := range s.Exchanges {
		if e.Operation != createAgreement || !has(e.Body, "payerDetails.bsb payerDetails.payId") {
			continue
		}
		for without, want := range map[string]bool{
			"":                                  true,
			"bsb accountNumber":                 true,
			"payIdType payId":                   true,
			"bsb accountNumber payIdType payId": true, // whether one of the pairs is required is not stated
			"bsb payIdType payId":               false,
			"accountNumber payIdType payId":     false,
			"bsb accountNumber payId":           false,
			"bsb accountNumber payIdType":       false,
			"ultimatePayerName payerReference":  true,
			"payerId payerName":                 true,
			"payerType":                         true,
		} {
			body := changed(t, e.Body, steps("payerDetails"), func(parent map[string]any, name string) {
				for _, member := range strings.Fields(without) {
					delete(parent[name].(map[string]any), member)
				}
			})
			tried++
			if err := s.validateBody(t, e, body); (err == nil) != want {
				t.Errorf("without %q: %v", without, err)
			}
		}
	}
	if tried == 0 {
		t.Error("no sample has both a bsb and a PayID")
	}
}

// TestAgreementsWithoutCodes: the contract has the values of these members, and calls none of them
// required.
func TestAgreementsWithoutCodes(t *testing.T) {
	op := loadSamples(t).operation(t, createAgreement)
	const start = `{"supplierBusinessCode":"BUSINESSONE","payerDetails":{},`
	for rest, want := range map[string]bool{
		`"paymentDetails":{"endDate":"2028-03-01"},"paymentTerms":{}}`:                                 true,
		`"paymentDetails":{"endDate":"2028-03-01"},"paymentTerms":{"pointInTime":99}}`:                 true,
		`"paymentDetails":{"automaticRenewal":true},"paymentTerms":{"frequency":"ADHO"}}`:              false, // no number
		`"paymentDetails":{"automaticRenewal":true},"paymentTerms":{"agreementType":"BALN"}}`:          false, // no last amount
		`"paymentDetails":{},"paymentTerms":{}}`:                                                       false, // neither end nor renewal
		`"paymentDetails":{"automaticRenewal":true,"endDate":"2028-03-01"},"paymentTerms":{}}`:         false,
		`"paymentDetails":{"automaticRenewal":false},"paymentTerms":{"frequency":"MNTH"}}`:             false,
		`"paymentDetails":{"automaticRenewal":true},"paymentTerms":{"frequency":"MNTH"}}`:              true,
		`"paymentDetails":{"automaticRenewal":true},"paymentTerms":{"frequency":"DAIL","currency":1}}`: false,
	} {
		if err := op.ValidateRequestBody("application/json", []byte(start+rest)); (err == nil) != want {
			t.Errorf("%s: %v", rest, err)
		}
	}
}

// TestPartsOfBilateralAmendments: one part can be amended alone.
func TestPartsOfBilateralAmendments(t *testing.T) {
	op := loadSamples(t).operation(t, "PATCH /payto-agreements/{agreementToken}")
	const details, terms = `"paymentDetails":{"automaticRenewal":true}`, `"paymentTerms":{"frequency":"MNTH"}`
	for parts, want := range map[string]bool{details: true, terms: true, details + "," + terms: true, `"respondByTimeMinutes":60`: false} {
		body := `{"updateType":"BILATERAL_AMENDMENT","bilateralAmendment":{` + parts + `}}`
		if err := op.ValidateRequestBody("application/json", []byte(body)); (err == nil) != want {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestThreeDSConditions: what is asked depends on the purpose.
func TestThreeDSConditions(t *testing.T) {
	s := loadSamples(t)
	op := s.operation(t, threeDS)
	for body, want := range map[string]bool{
		`{"messageCategory":"02","threeDSRequestorAuthenticationInd":"04"}`:                                                                                                                                                                   true,
		`{"messageCategory":"02","threeDSRequestorAuthenticationInd":"01"}`:                                                                                                                                                                   false,
		`{"messageCategory":"01","threeDSRequestorAuthenticationInd":"04"}`:                                                                                                                                                                   false,
		`{"messageCategory":"01","threeDSRequestorAuthenticationInd":"01","principalAmount":"1.00","currency":"AUD","billAddrLine1":"a","billAddrCity":"b"}`:                                                                                  true,
		`{"messageCategory":"01","threeDSRequestorAuthenticationInd":"02","principalAmount":"1.00","currency":"AUD","billAddrLine1":"a","billAddrCity":"b"}`:                                                                                  false,
		`{"messageCategory":"01","threeDSRequestorAuthenticationInd":"02","principalAmount":"1.00","currency":"AUD","recurringExpiry":"20271231","recurringFrequency":"28","billAddrLine1":"a","billAddrCity":"b"}`:                           true,
		`{"messageCategory":"01","threeDSRequestorAuthenticationInd":"03","principalAmount":"1.00","currency":"AUD","recurringExpiry":"20271231","recurringFrequency":"28","billAddrLine1":"a","billAddrCity":"b"}`:                           false,
		`{"messageCategory":"01","threeDSRequestorAuthenticationInd":"03","principalAmount":"1.00","currency":"AUD","recurringExpiry":"20271231","recurringFrequency":"28","purchaseInstalData":"12","billAddrLine1":"a","billAddrCity":"b"}`: true,
	} {
		if err := op.ValidateRequestBody("application/json", []byte(body)); (err == nil) != want {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestParameterValues does the same for query parameters.
func TestParameterValues(t *testing.T) {
	s := loadSamples(t)
	yearMonth := values{[]any{"2026-01", "2026-12"}, []any{"", "2026-00", "2026-13", "2026-1", "2026-01-01"}}
	csvList := values{[]any{"a", "a,b c"}, []any{"", ",", "a,", "a,,b"}}
	for _, tt := range []struct {
		operation, names string
		optional         bool
		values           values
	}{
		{"GET /customers/{customerId}/payto-agreements", "status", true, only("CREATED", "REJECTED", "PENDING", "ACTIVE", "CANCELLED", "SUSPENDED")},
		{"GET /transactions/suspended", "month", false, yearMonth},
		{"GET /transactions/open-preauths", "month", false, yearMonth},
		{"GET /transactions/csv", "version", true, only("1", "2")},
		{"GET /transactions/csv", "transactionStatus", true, only("Approved", "Declined")},
		{"GET /transactions/csv", "source columns", true, csvList},
		{"GET /transactions/csv", "excludePreAuths", true, values{[]any{"true", "false"}, []any{"", "1", "TRUE"}}},
		{"GET /payment-batches/{id}/transactions", "status", true, filled},
	} {
		tried := false
		for _, e := range s.Exchanges {
			if e.Operation != tt.operation {
				continue
			}
			op := s.operation(t, e.Operation)
			check := func(name string, value any, want bool) {
				r := e.request(t, op, nil)
				query := r.URL.Query()
				query.Del(name)
				if value != nil {
					query.Set(name, value.(string))
				}
				r.URL.RawQuery = query.Encode()
				if err := op.ValidateRequest(r); (err == nil) != want {
					t.Errorf("%s: %s %v: %v", tt.operation, name, value, err)
				}
			}
			tried = true
			for _, name := range strings.Fields(tt.names) {
				check(name, nil, tt.optional)
				for _, value := range tt.values.good {
					check(name, value, true)
				}
				for _, value := range tt.values.bad {
					check(name, value, false)
				}
			}
		}
		if !tried {
			t.Errorf("no sample of %s", tt.operation)
		}
	}
}
