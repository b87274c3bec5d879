package quickstream

import (
	"slices"

	"github.com/shopspring/decimal"
)

// payRules are the rules of POST /transactions with transactionType PAYMENT.
//
//nolint:gochecknoglobals // an immutable table
var payRules = slices.Concat(
	within("", businessRules, func(p PayParams) (supplierBusinessCode, bool) {
		return supplierBusinessCode(p.SupplierBusinessCode), true
	}),
	within("", amountRules, func(p PayParams) (decimal.Decimal, bool) { return p.PrincipalAmount, true }),
	within("", currencyRules, func(p PayParams) (Currency, bool) { return p.Currency, true }),
	within("", cardOrderRules, func(p PayParams) (cardOrder, bool) {
		s := sourceOf(p.Source)
		return cardOrder{s, s.kind.isCard(), p.ECI, p.IPAddress, p.StoredCredential, p.ThreeDS2}, true
	}),
	within("", referenceRules, func(p PayParams) (references, bool) {
		return references{p.CustomerReferenceNumber, p.PaymentReferenceNumber}, true
	}),
	within("creditCard", cardRules, func(p PayParams) (CardDetails, bool) { return deref(sourceOf(p.Source).card) }),
	within("bankAccount", bankAccountRules, func(p PayParams) (BankAccountDetails, bool) { return deref(sourceOf(p.Source).bank) }),
	within("nzBankAccount", nzBankAccountRules, func(p PayParams) (NZBankAccountDetails, bool) { return deref(sourceOf(p.Source).nzBank) }),
	within("payToData", payToPaymentRules, func(p PayParams) (PayToPayment, bool) { return deref(sourceOf(p.Source).payTo) }),
	within("payToData.payToAgreement", newPayToPaymentRules, func(p PayParams) (NewPayToPayment, bool) { return deref(sourceOf(p.Source).newPayTo) }),
	[]rule[PayParams]{
		{"pay.agreement.active", service, "payToData.agreementToken", "must be an active agreement", nil},
		{"pay.mpgsData.required", service, "mpgsData", "is required in some Mastercard Payment Gateway configurations", nil},
	},
)

//nolint:gochecknoglobals // an immutable table
var payToPaymentRules = []rule[PayToPayment]{
	{
		"payToData.agreementToken.required", local, "agreementToken", "is required",
		func(p PayToPayment) bool { return p.AgreementToken == "" },
	},
}
