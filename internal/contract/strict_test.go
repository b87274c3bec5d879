package contract_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/internal/contract"
)

// place is one member of a body: its path as documented, and the keys that lead there.
type place struct {
	path string
	keys []any
}

func places(value any) []place {
	var out []place
	var walk func(value any, path string, keys []any)
	walk = func(value any, path string, keys []any) {
		switch v := value.(type) {
		case map[string]any:
			for name, child := range v {
				p := place{path: strings.TrimPrefix(path+"."+name, "."), keys: append(slices.Clone(keys), name)}
				out = append(out, p)
				walk(child, p.path, p.keys)
			}
		case []any:
			for i, child := range v {
				walk(child, path+"[]", append(slices.Clone(keys), i))
			}
		}
	}
	walk(value, "", nil)
	return out
}

// changed returns a copy of the body in which one place was edited.
func changed(t testing.TB, body map[string]any, keys []any, edit func(parent map[string]any, name string)) []byte {
	t.Helper()
	var copied any
	decoder := json.NewDecoder(bytes.NewReader(encode(t, body)))
	decoder.UseNumber()
	if err := decoder.Decode(&copied); err != nil {
		t.Fatal(err)
	}
	at := copied
	for _, key := range keys[:len(keys)-1] {
		switch k := key.(type) {
		case string:
			at = at.(map[string]any)[k]
		case int:
			at = at.([]any)[k]
		}
	}
	edit(at.(map[string]any), keys[len(keys)-1].(string))
	return encode(t, copied)
}

func remove(parent map[string]any, name string) { delete(parent, name) }

func misspell(parent map[string]any, name string) {
	parent[name+"X"] = parent[name]
	delete(parent, name)
}

func wrongType(parent map[string]any, name string) {
	if _, isArray := parent[name].([]any); isArray {
		parent[name] = true
		return
	}
	parent[name] = []any{}
}

func set(value any) func(map[string]any, string) {
	return func(parent map[string]any, name string) { parent[name] = value }
}

// find returns the documented member that a place is, and whether anything may
// stand there.
func find(members []contract.Member, path string) (m contract.Member, free bool) {
	for _, m := range members {
		if m.Path == path {
			return m, false
		}
		if inside, ok := strings.CutSuffix(m.Path, "*"); ok && strings.HasPrefix(path, inside) && len(m.Types) == 0 {
			free = true
		}
	}
	return contract.Member{}, free
}

// TestEveryDocumentedMemberIsChecked spoils every member of every sample in
// turn. Each spoilt body differs from a valid one in that member only.
func TestEveryDocumentedMemberIsChecked(t *testing.T) {
	s := loadSamples(t)
	checks := 0
	done := map[string]bool{} // operations that return the same model have the same samples
	for _, e := range s.Exchanges {
		op := s.operation(t, e.Operation)
		request := func(body []byte) error { return s.validateBody(t, e, body) }
		response := func(body []byte) error { return op.ValidateResponse(e.Status, e.responseHeader(), body) }
		if v, ok := op.RequestVariant(encode(t, e.Body)); ok {
			checks += spoil(t, e.Operation+" request", v.Members, e.Body, request, !e.webhook())
		}
		members := op.ResponseMembers(e.Status)
		if key := fmt.Sprint(members, e.Response); !done[key] {
			done[key] = true
			checks += spoil(t, fmt.Sprint(e.Operation, " response ", e.Status), members, e.Response, response, false)
		}
	}
	if checks < 2_000 {
		t.Errorf("only %d spoilt bodies were tried", checks)
	}
}

// spoil expects each spoilt body to be refused. In an open body a misspelt
// member passes, and has to be named as undocumented instead.
func spoil(t *testing.T, where string, members []contract.Member, body map[string]any, validate func([]byte) error, closed bool) int {
	t.Helper()
	tried := 0
	for _, p := range places(body) {
		member, free := find(members, p.path)
		if free {
			continue
		}
		refused := func(what string, spoilt []byte) {
			tried++
			if validate(spoilt) == nil {
				t.Errorf("%s: %s passes with %s", where, p.path, what)
			}
		}
		refused("a wrong type", changed(t, body, p.keys, wrongType))
		if member.Required {
			refused("no value", changed(t, body, p.keys, remove))
		}
		if member.Path == "" { // a key of the caller's own, as in metadata
			continue
		}
		misspelt := changed(t, body, p.keys, misspell)
		if closed {
			refused("a misspelt name", misspelt)
			continue
		}
		unknown, err := contract.Undocumented(members, misspelt)
		if _, inside := find(members, p.path+"X"); !inside && (err != nil || !slices.Equal(unknown, []string{p.path + "X"})) {
			t.Errorf("%s: misspelt %s: undocumented are %v, %v", where, p.path, unknown, err)
		}
	}
	return tried
}

// TestRules holds the rules that tie members together: each edit of a valid
// sample must be refused. TestMemberValues holds the limits of each member.
func TestRules(t *testing.T) {
	s := loadSamples(t)
	tests := []struct {
		operation string
		has       string // a member or member=value that picks the samples edited
		path      string
		edit      func(map[string]any, string)
	}{
		{"POST /transactions", "creditCard.cardNumber", "accountToken", set("A-1")},
		{"POST /transactions", "payToData", "customerId", set("1")},
		{"POST /transactions", "bankAccount", "nzBankAccount", set(map[string]any{"nzAccountName": "a", "nzBankCode": "03", "nzBranchCode": "0123", "nzAccountNumber": "0034141", "nzAccountSuffix": "03"})},
		{"POST /transactions", "transactionType=PAYMENT accountToken", "accountToken", remove},
		{"POST /transactions", "transactionType", "transactionType", set("PAYMENTS")},
		{"POST /transactions", "transactionType=PAYMENT creditCard", "threeDS2", set(true)},
		{"POST /transactions", "eci=INTERNET", "ipAddress", remove},
		{"POST /transactions", "paymentReferenceNumber", "paymentReferenceNumber", set("Café")},
		{"POST /transactions", "payToData.agreementToken", "payToData.payToAgreement", set(map[string]any{})},
		{"POST /transactions", "payToData.agreementToken", "payToData.agreementToken", remove},
		{"POST /transactions", "transactionType=PREAUTH eci", "payToData", set(map[string]any{"agreementToken": "C-100"})},
		{"POST /transactions", "transactionType=PREAUTH eci", "storedCredentialData", remove},
		{"POST /transactions", "transactionType=PREAUTH eci", "eci", set("5")},
		{"POST /transactions", "authorisationType", "eci", set("INTERNET")},
		{"POST /transactions", "authorisationType", "ipAddress", set("203.0.113.7")},
		{"POST /transactions", "authorisationType", "authorisationType", set("AGAIN")},
		{"POST /transactions", "transactionType=CAPTURE", "eci", set("INTERNET")},
		{"POST /transactions", "transactionType=REFUND", "accountToken", set("A-1")},
		{"POST /transactions", "transactionType=REFUND", "creditCard.cardNumber", set("4242424242424242")},
		{"POST /transactions", "transactionType=ACCOUNT_VERIFICATION", "principalAmount", set(json.Number("1.00"))},

		{"POST /single-use-tokens", "accountType", "accountType", set("APPLE_PAY")},
		{"POST /single-use-tokens", "threeDS2", "browserProfile", remove},
		{"POST /single-use-tokens", "threeDS2", "browserProfile.browserTZ", remove},
		{"POST /single-use-tokens", "threeDS2", "browserProfile.browserLanguage", set("en-Latn-AU")},
		{"POST /single-use-tokens", "accountType=DIRECT_DEBIT", "cvn", set("123")},
		{"POST /single-use-tokens", "accountType=DIRECT_DEBIT", "accountName", remove},

		{threeDS, "messageCategory", "principalAmount", remove},
		{threeDS, "messageCategory", "currency", remove},
		{threeDS, "messageCategory", "recurringExpiry", remove},
		{threeDS, "messageCategory", "purchaseInstalData", remove},
		{threeDS, "messageCategory=01", "messageCategory", func(body map[string]any, _ string) {
			maps.DeleteFunc(body, func(member string, _ any) bool { return strings.HasPrefix(member, "billAddr") })
		}},

		{createAgreement, "respondByTimeMinutes", "respondByTimeMinutes", set(7201)},
		{createAgreement, "supplierBusinessCode", "payeeReference", set(strings.Repeat("a", 36))},
		{createAgreement, "agreementCreationType=MIGRATED_DDR", "payeeReference", remove},
		{createAgreement, "agreementCreationType=MIGRATED_DDR", "paymentDetails.additionalInformation", remove},
		{createAgreement, "agreementCreationType=MIGRATED_DDR", "paymentDetails.endDate", set("2027-03-01")},
		{createAgreement, "agreementCreationType=MIGRATED_DDR", "paymentTerms.pointInTime", set(1)},
		{createAgreement, "agreementCreationType=MIGRATED_DDR", "paymentTerms.numberOfPaymentsPermitted", remove},
		{createAgreement, "agreementCreationType=MIGRATED_DDR", "paymentTerms.numberOfPaymentsPermitted", set(json.Number("1000000000000000000"))},
		{createAgreement, "agreementCreationType=MIGRATED_DDR", "payerDetails.payIdType", remove},
		{createAgreement, "agreementCreationType=AUTHORISED", "paymentDetails.endDate", remove},
		{createAgreement, "agreementCreationType=AUTHORISED", "paymentTerms.pointInTime", set(32)},
		{createAgreement, "agreementCreationType=AUTHORISED", "paymentTerms.frequency", set("WEEK")},
		{createAgreement, "agreementCreationType=AUTHORISED", "paymentTerms.lastPaymentAmount", remove},
		{createAgreement, "agreementCreationType=AUTHORISED", "payerDetails.bsb", remove},

		{updateAgreement, "updateType", "updateType", set("CANCEL")},
		{updateAgreement, "updateType", "statusCode", set("CANCELLED")},
		{updateAgreement, "recallPayToAgreement", "recallPayToAgreement.statusCode", set("ACTIVE")},
		{updateAgreement, "statusAmendment.reasonCode", "statusAmendment.reasonCode", remove},
		{updateAgreement, "statusAmendment.reasonCode", "statusAmendment.statusCode", set("CANCELLED")}, // MSUC is for suspensions
		{updateAgreement, "statusAmendment.statusCode=ACTIVE", "statusAmendment.reasonCode", set("AC04")},
		{updateAgreement, "unilateralAmendment", "unilateralAmendment.supplierBusinessCode", remove},
		{updateAgreement, "bilateralAmendment", "bilateralAmendment.paymentDetails.endDate", remove},
		{updateAgreement, "bilateralAmendment", "bilateralAmendment.paymentTerms.maximumPaymentAmount", set("1.234")},
		{updateAgreement, "bilateralAmendment", "unilateralAmendment", set(map[string]any{"description": "a", "supplierBusinessCode": "b"})},

		{"POST /customers/{customerId}/accounts", "singleUseTokenId", "receiptNumber", set("1")},
		{"POST /customers/{customerId}/accounts", "singleUseTokenId", "singleUseTokenId", remove},
		{"POST /customers/{customerId}/accounts", "receiptNumber", "threeDS2", set(true)},
		{"POST /customers", "customerNumber", "customerNumber", remove},
	}
	for _, tt := range tests {
		tried := 0
		for _, e := range s.Exchanges {
			if e.Operation != tt.operation || !has(e.Body, tt.has) {
				continue
			}
			tried++
			if err := s.validateBody(t, e, changed(t, e.Body, steps(tt.path), tt.edit)); err == nil {
				t.Errorf("%s with %s: edited %s passes", tt.operation, tt.has, tt.path)
			}
		}
		if tried == 0 {
			t.Errorf("%s: no sample has %s", tt.operation, tt.has)
		}
	}
}

const (
	threeDS         = "POST /single-use-tokens/{singleUseTokenId}/three-ds2-authentication"
	createAgreement = "POST /customers/{customerId}/payto-agreements"
	updateAgreement = "PATCH /payto-agreements/{agreementToken}"
)

// steps turns a path without arrays into keys.
func steps(path string) []any {
	var out []any
	for name := range strings.SplitSeq(path, ".") {
		out = append(out, name)
	}
	return out
}

// has tells whether a body fits conditions such as "transactionType=PAYMENT creditCard".
func has(body map[string]any, conditions string) bool {
	for _, condition := range strings.Fields(conditions) {
		path, want, valued := strings.Cut(condition, "=")
		var value any = body
		for _, name := range strings.Split(path, ".") {
			m, _ := value.(map[string]any)
			value = m[name]
		}
		if value == nil || valued && value != want {
			return false
		}
	}
	return true
}
