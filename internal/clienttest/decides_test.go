package clienttest_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
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
		"Root":             "links",
	}
}

// member is a member of a model, at a path.
type member struct {
	path    []string
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
		found = append(found, member{at, field.Tag.Get("wire") != ""})
		if of.Kind() == reflect.Struct {
			found = append(found, membersOf(of, at...)...)
		}
	}
	return found
}

// TestWhatDecides holds the tags of the models against that list. What a tag does is tested in
// package wire.
func TestWhatDecides(t *testing.T) {
	wanted := deciding()
	for _, m := range models(t) {
		if strings.HasPrefix(m.of.Name(), "Page[") {
			continue
		}
		var paths []string
		for _, member := range membersOf(m.of) {
			if member.decides {
				paths = append(paths, strings.Join(member.path, "."))
			}
		}
		assert.ElementsMatch(t, strings.Fields(wanted[m.of.Name()]), paths, m.of.Name())
		delete(wanted, m.of.Name())
	}
	assert.Empty(t, wanted)
}
