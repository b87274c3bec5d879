package clienttest_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// deciding says, from the contract, which members of which answer decide what happened
// to whose money: identity, type, status, codes, amounts and their currency, and what
// holds these. Everything else informs.
func deciding() map[string]string {
	const amounts = "principalAmount principalAmount.amount principalAmount.currency surchargeAmount surchargeAmount.amount " +
		"surchargeAmount.currency totalAmount totalAmount.amount totalAmount.currency "
	const terms = "paymentTerms.firstPaymentAmount paymentTerms.firstPaymentAmount.amount paymentTerms.firstPaymentAmount.currency " +
		"paymentTerms.lastPaymentAmount paymentTerms.lastPaymentAmount.amount paymentTerms.lastPaymentAmount.currency " +
		"paymentTerms.paymentAmount paymentTerms.paymentAmount.amount paymentTerms.paymentAmount.currency " +
		"paymentTerms.maximumPaymentAmount paymentTerms.maximumPaymentAmount.amount paymentTerms.maximumPaymentAmount.currency "
	return map[string]string{
		"Transaction": "receiptNumber transactionType status summaryCode responseCode paymentReferenceNumber originalReceiptNumber " +
			"authorisationType cancellationType metadata payToData payToData.agreementToken payToData.endToEndId payToPayerAccount.customerId " +
			"creditCard.accountToken creditCard.customerId bankAccount.accountToken bankAccount.customerId nzBankAccount.accountToken nzBankAccount.customerId " + amounts,
		"Agreement": "agreementToken status payeeReference hasPendingBilateralAmendment paymentDetails paymentTerms paymentTerms.agreementType paymentTerms.frequency " +
			"payerDetails payerDetails.customerId " + terms,
		"Customer":         "customerId customerNumber status",
		"Account":          "accountToken accountType customerId",
		"SingleUseToken":   "singleUseTokenId accountType creditCard.threeDS2AuthRequired",
		"ThreeDSResult":    "transStatus",
		"PaymentFile":      "paymentFileId status",
		"PaymentBatch":     "paymentBatchId links",
		"RecurringPayment": "paymentScheduleId status",
		"Business":         "supplierBusinessCode",
		"CardSurcharge":    "cardScheme",
		"AcceptedCard":     "cardScheme",
		"CardPrefix":       "cardScheme",
		"Root":             "links",
	}
}

// member is a member of a model, at a path.
type member struct {
	path    []string
	of      reflect.Type
	decides bool
}

func membersOf(model reflect.Type, path ...string) (found []member) {
	for _, field := range reflect.VisibleFields(model) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			continue
		}
		of := field.Type
		for of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		at := append(slices.Clone(path), name)
		found = append(found, member{at, of, field.Tag.Get("wire") != ""})
		if of.Kind() == reflect.Struct {
			found = append(found, membersOf(of, at...)...)
		}
	}
	return found
}

// with returns the sample of a model with other JSON in the place of a member.
func (m member) with(t *testing.T, model reflect.Type, replaced string) string {
	t.Helper()
	tree := decodedTree(t, []byte(sample(model, model.Name())))
	at, last := tree, m.path[len(m.path)-1]
	for _, name := range m.path[:len(m.path)-1] {
		at = at[name].(map[string]any)
	}
	at[last] = "@"
	body, err := json.Marshal(tree)
	require.NoError(t, err)
	return strings.Replace(string(body), fmt.Sprintf("%q:%q", last, "@"), replaced, 1)
}

// TestWhatDecides plants odd answers. What decides stands there once, by its own name
// and as what it should be, or the answer is undecodable; what informs is forgiven.
func TestWhatDecides(t *testing.T) {
	wanted, tried := deciding(), 0
	for _, m := range models(t) {
		if strings.HasPrefix(m.of.Name(), "Page[") {
			continue
		}
		var paths []string
		for _, member := range membersOf(m.of) {
			path, name := strings.Join(member.path, "."), member.path[len(member.path)-1]
			if member.decides {
				paths = append(paths, path)
			}
			read := func(replaced string) (response, error) {
				tried++
				return m.read(member.with(t, m.of, replaced))
			}
			for _, odd := range oddFor(member.of) {
				got, err := read(fmt.Sprintf("%q:%s", name, odd))
				assert.Equal(t, member.decides, err != nil, "%s.%s: %s: %v", m.of.Name(), path, odd, err)
				if err == nil && name != "links" {
					assert.True(t, got.Extra()[path] != nil, "%s.%s: %s", m.of.Name(), path, odd)
				}
			}
			good := sample(member.of, name)
			for _, first := range []string{good, "null"} {
				for _, again := range namesLike(name) {
					_, err := read(fmt.Sprintf("%q:%s,%q:%s", name, first, again, good))
					assert.Equal(t, member.decides, err != nil, "%s.%s and %s: %v", m.of.Name(), path, again, err)
				}
			}
			if member.of.Kind() == reflect.String && name != "customerId" { // which has to be that of the request
				got, err := read(fmt.Sprintf("%q:17", name))
				require.NoError(t, err, "%s.%s", m.of.Name(), path)
				assert.Equal(t, "17", fieldAt(reflect.ValueOf(got), member.path).String(), "%s.%s", m.of.Name(), path)
			}
		}
		want := strings.Fields(wanted[m.of.Name()])
		slices.Sort(want)
		slices.Sort(paths)
		assert.Equal(t, want, paths, m.of.Name())
		delete(wanted, m.of.Name())
	}
	assert.Empty(t, wanted)
	assert.Greater(t, tried, 1000)
	t.Logf("%d answers", tried)
}

// namesLike are the member's own name, and others that only fold to it.
func namesLike(name string) []string {
	fold := strings.NewReplacer("s", "\u017f", "k", "\u212a", "S", "\u017f", "K", "\u212a")
	return []string{name, strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], fold.Replace(name)}
}

// oddFor are values that a member cannot have.
func oddFor(of reflect.Type) []string {
	switch of {
	case reflect.TypeFor[quickstream.FraudGuardResult](): // takes everything
		return nil
	case reflect.TypeFor[quickstream.Amount]():
		return []string{`"free"`, `true`, `[1]`, `{"amount":{}}`, `{"amount":1,"currency":["AUD"]}`, `{"amount":1,"amount":2}`, `{"Amount":1}`}
	case reflect.TypeFor[decimal.Decimal]():
		return []string{`"free"`, `true`, `[1]`, `{"x":1}`, `"1,000.00"`, `1e400`}
	case reflect.TypeFor[quickstream.Date](), reflect.TypeFor[quickstream.Timestamp]():
		return []string{`"soon"`, `true`, `{}`, `[]`, `-1`}
	}
	switch of.Kind() {
	case reflect.String:
		return []string{`true`, `{}`, `[]`, `["x"]`, `{"x":"y"}`}
	case reflect.Bool:
		return []string{`"true"`, `1`, `{}`, `[]`}
	case reflect.Int64:
		return []string{`"many"`, `true`, `1.5`, `{}`}
	default: // what holds others
		return []string{`"x"`, `7`, `true`, `[7]`}
	}
}

// fieldAt returns the field for a member.
func fieldAt(v reflect.Value, path []string) reflect.Value {
	for _, name := range path {
		v = reflect.Indirect(v)
		for _, field := range reflect.VisibleFields(v.Type()) {
			if member, _, _ := strings.Cut(field.Tag.Get("json"), ","); member == name {
				v = v.FieldByIndex(field.Index)
				break
			}
		}
	}
	return v
}

// TestNestedAnswers: an answer in a member named data is read, and one without an object
// is no answer.
func TestNestedAnswers(t *testing.T) {
	for body, number := range map[string]string{
		`{"data":{"customerId":"C-1","new":1}}`: "C-1", `{"customerId":"C-1","data":{"customerId":"C-2"}}`: "C-1",
		`{}`: "", ``: "", `null`: "", `{"data":{}}`: "", `{"data":null}`: "", `{"data":[{"customerId":"C-1"}]}`: "", `{"data":{"customerId":{}}}`: "",
		`{"data":{"customerId":"C-1"},"data":{}}`: "", `{"new":{"customerId":"C-1"}}`: "", `{"data":{"data":{"customerId":"C-1"}}}`: "", `[{"customerId":"C-1"}]`: "",
		`{"data":{"customerId":"C-1"},"DATA":{"customerId":"C-2"}}`: "", `{"customerId":"","Data":{"customerId":"C-1"}}`: "",
	} {
		client := clientOf(t, says(201, body))
		customer, err := client.Customers.Create(t.Context(), quickstream.CreateCustomerParams{CustomerNumber: "N-1", CustomerName: "N"})
		if number == "" {
			assert.Nil(t, customer, body)
			assert.Equal(t, unknown, ending(err), body)
			continue
		}
		require.NoError(t, err, body)
		assert.Equal(t, number, customer.CustomerID)
		assert.NotEmpty(t, customer.Extra())
	}
}
