package contract_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/quickstream-go/quickstream/internal/contract"
)

func TestRequestVariants(t *testing.T) {
	s := loadSamples(t)
	names := func(id string) []string {
		var out []string
		for _, v := range s.operation(t, id).RequestVariants() {
			out = append(out, v.Name)
		}
		return out
	}
	for id, want := range map[string][]string{
		"POST /transactions": {
			"PaymentRequest", "RefundRequest",
			"InitialPreauthorisationRequest", "IncrementalPreauthorisationRequest", "ExtensionPreauthorisationRequest", "ReauthorisationRequest",
			"CaptureRequest", "PreauthorisationCancellationRequest", "AccountVerificationRequest",
		},
		"POST /single-use-tokens": {"CreditCardTokenRequest", "BankAccountTokenRequest", "NZBankAccountTokenRequest"},
		updateAgreement: {
			"AgreementRecall", "AgreementStatusAmendment", "AgreementUnilateralAmendment", "AgreementBilateralAmendment", "AgreementAmendmentRecall",
		},
		"POST /customers/{customerId}/accounts": {"AccountRequest"}, // its choice is between members, not forms
		"GET /transactions":                     nil,
		"WEBHOOK payto.payment.approved":        {"PaymentApprovedNotification"},
	} {
		if got := names(id); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
}

func TestMembers(t *testing.T) {
	s := loadSamples(t)
	payment := s.operation(t, "POST /transactions").RequestVariants()[0].Members
	customer := s.operation(t, "POST /customers").RequestVariants()[0].Members
	list := s.operation(t, "GET /transactions").ResponseMembers(200)
	failure := s.operation(t, "GET /transactions").ResponseMembers(500)
	for _, tt := range []struct {
		members []contract.Member
		want    contract.Member
	}{
		{payment, contract.Member{Path: "transactionType", Types: []string{"string"}, Required: true, Values: []string{"PAYMENT"}}},
		{payment, contract.Member{Path: "principalAmount", Types: []string{"number"}, Required: true}},
		{payment, contract.Member{Path: "creditCard", Types: []string{"object"}}},
		{payment, contract.Member{Path: "creditCard.cardNumber", Types: []string{"string"}, Required: true}},
		{payment, contract.Member{Path: "nzBankAccount.nzBankCode", Types: []string{"string"}}},
		{payment, contract.Member{Path: "storedCredentialData.usage", Types: []string{"string"}, Values: []string{"RECURRING", "STANDING_ORDER", "UNSCHEDULED_MIT"}}},
		{payment, contract.Member{Path: "payToData.payToAgreement.payerDetails.payIdType", Types: []string{"string"}, Values: []string{"EMAL", "TELI", "AUBN", "ORGN"}}},
		{payment, contract.Member{Path: "metadata.*", Types: []string{"string"}}},
		{payment, contract.Member{Path: "mpgsData.*"}},
		{customer, contract.Member{Path: "address.city", Types: []string{"string", "null"}}},
		{list, contract.Member{Path: "data[].totalAmount.amount", Types: []string{"number"}, Required: true}},
		{list, contract.Member{Path: "data[].networkTransactionId", Types: []string{"string", "null"}, MaxLength: 15}},
		{list, contract.Member{Path: "links[].rel", Types: []string{"string"}, Required: true, Values: []string{"self", "next", "prev"}}},
		{failure, contract.Member{Path: "errors[].messages[]", Types: []string{"string"}}},
	} {
		i := slices.IndexFunc(tt.members, func(m contract.Member) bool { return m.Path == tt.want.Path })
		if i < 0 {
			t.Errorf("%s is not documented", tt.want.Path)
		} else if !reflect.DeepEqual(tt.members[i], tt.want) {
			t.Errorf("got %+v, want %+v", tt.members[i], tt.want)
		}
	}
	if got := s.operation(t, updateAgreement).ResponseMembers(204); got != nil {
		t.Errorf("a response without a body has %v", got)
	}
}

func TestUndocumented(t *testing.T) {
	members := []contract.Member{{Path: "a"}, {Path: "a.b"}, {Path: "a.v", Values: []string{"V", "W"}}, {Path: "list"}, {Path: "list[].c"}, {Path: "free"}, {Path: "free.*"}}
	got, err := contract.Undocumented(members, []byte(`{"a":{"b":1,"v":"VW","x":1},"list":[{"c":1},{"d":1},{"d":2}],"free":{"any":{"deep":1}},"y":{"z":1}}`))
	if want := []string{"a.v=VW", "a.x", "list[].d", "y"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := contract.Undocumented(members, []byte(`{`)); err == nil {
		t.Error("a body that is not JSON passes")
	}
}

func TestDocumented(t *testing.T) {
	members := []contract.Member{{Path: "a"}, {Path: "a.b"}, {Path: "a.c"}, {Path: "list"}, {Path: "list[].d"}, {Path: "texts"}, {Path: "texts[]"}, {Path: "free"}, {Path: "free.*"}, {Path: "e"}}
	got, err := contract.Documented(members, []byte(`{"a":{"b":0,"c":null,"x":1},"list":[{},{"d":""}],"texts":["t"],"free":{"any":{"deep":1}},"y":1}`))
	if want := []string{"a", "a.b", "free", "free.*", "list", "list[].d", "texts", "texts[]"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, err := contract.Documented(members, []byte(`{`)); err == nil {
		t.Error("a body that is not JSON passes")
	}
}

func TestRequestVariant(t *testing.T) {
	s := loadSamples(t)
	for _, tt := range []struct{ id, body, want string }{
		{"POST /transactions", `{"transactionType":"PREAUTH","authorisationType":"EXTENSION"}`, "ExtensionPreauthorisationRequest"},
		{"POST /transactions", `{"transactionType":"PREAUTH"}`, "InitialPreauthorisationRequest"},
		{"POST /transactions", `{"transactionType":"LOTTERY"}`, ""},
		{"POST /transactions", `[]`, ""},
		{"POST /customers", `{}`, "CustomerRequest"},
		{"POST /payment-files", `{}`, ""}, // a form
		{"GET /transactions", ``, ""},
	} {
		got, ok := s.operation(t, tt.id).RequestVariant([]byte(tt.body))
		if got.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%s %s: %q, want %q", tt.id, tt.body, got.Name, tt.want)
		}
	}
}

func TestResponseTypes(t *testing.T) {
	s := loadSamples(t)
	for _, tt := range []struct {
		id     string
		status int
		want   []string
	}{
		{"GET /transactions", 200, []string{"application/json"}},
		{"GET /transactions/csv", 202, []string{"application/json", "text/plain"}},
		{"GET /transactions/csv", 299, nil},
		{updateAgreement, 204, nil},
	} {
		if got := s.operation(t, tt.id).ResponseTypes(tt.status); !slices.Equal(got, tt.want) {
			t.Errorf("%s %d: %v, want %v", tt.id, tt.status, got, tt.want)
		}
	}
}

func TestParameters(t *testing.T) {
	s := loadSamples(t)
	got := s.operation(t, "GET /customers/{customerId}/payto-agreements").Parameters()
	want := []contract.Parameter{
		{Name: "customerId", In: "path", Required: true},
		{Name: "supplierBusinessCode", In: "query"},
		{Name: "status", In: "query", Values: []string{"CREATED", "REJECTED", "PENDING", "ACTIVE", "CANCELLED", "SUSPENDED"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
