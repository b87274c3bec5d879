package clienttest_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestAnswersInAnotherForm: what is no fact may differ if our id agrees, or no id is shown and the
// reference or the end-to-end identifier as sent does. Otherwise the outcome is unknown.
func TestAnswersInAnotherForm(t *testing.T) {
	const payment, customer, business, endToEnd = "paymentReferenceNumber", "customerReferenceNumber", "supplierBusinessCode", "payToData.endToEndId"
	data := func(pairs ...any) object {
		return changedBy(object{"agreementToken": "A-1", "endToEndId": "E-1"}, pairs...)
	}
	for name, c := range map[string]struct {
		change  []any // of an answer that shows our id and all that was sent
		unknown bool
	}{
		"as sent":                   {},
		"shortened reference":       {change: []any{payment, "REF"}},
		"another customer":          {change: []any{customer, "ORD"}},
		"a business by name":        {change: []any{business, "The Shop Pty Ltd"}},
		"another end-to-end id":     {change: []any{"payToData", data("endToEndId", "E-9")}},
		"all of them":               {change: []any{payment, "REF", customer, "ORD", business, "The Shop", "payToData", data("endToEndId", "E-9")}},
		"no id, by its reference":   {change: []any{"metadata", nil, business, "The Shop", "payToData", data("endToEndId", "E-9")}},
		"no id, by the end-to-end":  {change: []any{"metadata", nil, payment, "REF", business, "The Shop"}},
		"no id, nothing that names": {change: []any{"metadata", nil, payment, nil, "payToData", data("endToEndId", nil)}},

		"no id, shortened":            {change: []any{"metadata", nil, payment, "REF", "payToData", data("endToEndId", "E-9")}, unknown: true},
		"no id, agreement and amount": {change: []any{"metadata", nil, payment, nil, business, "The Shop", "payToData", data("endToEndId", nil)}, unknown: true},
		"no id, agreement is shown":   {change: []any{"metadata", nil, payment, "REF", "payToData", data("endToEndId", nil)}, unknown: true},
		"another id":                  {change: []any{"metadata", object{"intentId": "ANOTHER"}}, unknown: true},
		"another agreement":           {change: []any{"payToData", data("agreementToken", "A-2")}, unknown: true},
		"another amount":              {change: []any{"principalAmount", money("49.94")}, unknown: true},
		"another currency":            {change: []any{"principalAmount", object{"currency": "NZD", "amount": 49.95}}, unknown: true},
		"another type":                {change: []any{"transactionType", "REFUND"}, unknown: true},
	} {
		params := payToPayment("A-1", "49.95")
		params.SupplierBusinessCode, params.PaymentReferenceNumber, params.CustomerReferenceNumber = "SHOP", "REFERENCE-1", "ORDER-1"
		params.AgreementToken, params.EndToEndID = "A-1", "E-1"
		client := clientOf(t, echoing(t, func(t object) {
			maps.Copy(t, object{customer: "ORDER-1", business: "SHOP", "payToData": data()})
			maps.Copy(t, changedBy(t, c.change...))
		}))
		_, err := client.PayTo.Collect(t.Context(), params)
		if c.unknown {
			require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown, name)
			continue
		}
		require.NoError(t, err, name)
	}
}

// A payment from a bank account whose answer shows a PayTo payment, and nothing that names ours, is unknown.
func TestAnswerOfAnotherKind(t *testing.T) {
	client := clientOf(t, echoing(t, func(t object) {
		delete(t, "metadata")
		maps.Copy(t, object{"paymentReferenceNumber": "REF", "payToData": object{"agreementToken": "A-1", "endToEndId": "E-1"}})
	}))
	_, err := client.Transactions.Pay(t.Context(), bankDebit("SHOP"))
	assert.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
}

// changedBy returns an object with other members; nil removes one.
func changedBy(o object, pairs ...any) object {
	changed := maps.Clone(o)
	for pair := range slices.Chunk(pairs, 2) {
		changed[pair[0].(string)] = pair[1]
	}
	return changed
}
