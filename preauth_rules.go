package quickstream

import (
	"slices"

	"github.com/shopspring/decimal"
)

// preauthoriseRules are the rules of POST /transactions with transactionType
// PREAUTH and no authorisationType.
//
//nolint:gochecknoglobals // an immutable table
var preauthoriseRules = slices.Concat(
	within("", businessRules, func(p PreauthoriseParams) (supplierBusinessCode, bool) {
		return supplierBusinessCode(p.SupplierBusinessCode), true
	}),
	within("", amountRules, func(p PreauthoriseParams) (decimal.Decimal, bool) { return p.PrincipalAmount, true }),
	within("", currencyRules, func(p PreauthoriseParams) (Currency, bool) { return p.Currency, true }),
	within("", cardOnlyRules, func(p PreauthoriseParams) (source, bool) { return sourceOf(p.Source), true }),
	within("", orderedRules, func(p PreauthoriseParams) (ECI, bool) { return p.ECI, true }),
	within("", cardOrderRules, func(p PreauthoriseParams) (cardOrder, bool) {
		return cardOrder{sourceOf(p.Source), true, p.ECI, p.IPAddress, p.StoredCredential, p.ThreeDS2}, true
	}),
	within("", referenceRules, func(p PreauthoriseParams) (references, bool) {
		return references{p.CustomerReferenceNumber, p.PaymentReferenceNumber}, true
	}),
	within("creditCard", cardRules, func(p PreauthoriseParams) (CardDetails, bool) { return deref(sourceOf(p.Source).card) }),
)

// verifyAccountRules are the rules of POST /transactions with transactionType
// ACCOUNT_VERIFICATION.
//
//nolint:gochecknoglobals // an immutable table
var verifyAccountRules = slices.Concat(
	within("", businessRules, func(p VerifyAccountParams) (supplierBusinessCode, bool) {
		return supplierBusinessCode(p.SupplierBusinessCode), true
	}),
	within("", cardOnlyRules, func(p VerifyAccountParams) (source, bool) { return sourceOf(p.Source), true }),
	within("", orderedRules, func(p VerifyAccountParams) (ECI, bool) { return p.ECI, true }),
	within("", cardOrderRules, func(p VerifyAccountParams) (cardOrder, bool) {
		return cardOrder{sourceOf(p.Source), true, p.ECI, p.IPAddress, p.StoredCredential, p.ThreeDS2}, true
	}),
	within("", referenceRules, func(p VerifyAccountParams) (references, bool) {
		return references{p.CustomerReferenceNumber, p.PaymentReferenceNumber}, true
	}),
	within("creditCard", cardRules, func(p VerifyAccountParams) (CardDetails, bool) { return deref(sourceOf(p.Source).card) }),
)

// cardOnlyRules hold where an account can only be a card.
//
//nolint:gochecknoglobals // an immutable table
var cardOnlyRules = []rule[source]{
	{
		"transaction.source.card", local, "(account source)", "must be a card",
		func(s source) bool { return s.kind != "" && !s.kind.isCard() },
	},
}

// orderedRules hold where the scheme's own values of eci, which payments take,
// are not among those that the specification lists.
//
//nolint:gochecknoglobals // an immutable table
var orderedRules = []rule[ECI]{
	{
		"transaction.eci.paymentsOnly", local, "eci", "must be INTERNET, PHONE, MAIL, RECURRING or INSTALMENT: 5, 6 and 7 are for payments",
		func(e ECI) bool { return e == ECI5 || e == ECI6 || e == ECI7 },
	},
}

// preauthFollowUpRules are the rules of PREAUTH with authorisationType
// INCREMENTAL and REAUTHORISATION.
//
//nolint:gochecknoglobals // an immutable table
var preauthFollowUpRules = slices.Concat(
	followUpRules,
	within("", amountRules, func(p PreauthFollowUpParams) (decimal.Decimal, bool) { return p.PrincipalAmount, true }),
	[]rule[PreauthFollowUpParams]{
		{"preauth.reauthorisation.visa", service, "originalReceiptNumber", "a re-authorisation needs an expired original pre-authorisation of a Visa card", nil},
	},
)

// extendRules are the rules of PREAUTH with authorisationType EXTENSION, whose
// amount the client sets.
//
//nolint:gochecknoglobals // an immutable table
var extendRules = slices.Concat(
	within("", followUpRules, func(p ExtendParams) (PreauthFollowUpParams, bool) { return p.followUp(), true }),
	[]rule[ExtendParams]{
		{"preauth.extension.mastercard", service, "originalReceiptNumber", "an extension needs a pre-authorisation of a Mastercard", nil},
	},
)

//nolint:gochecknoglobals // an immutable table
var followUpRules = slices.Concat(
	within("", originalRules, func(p PreauthFollowUpParams) (string, bool) { return p.OriginalReceiptNumber, true }),
	within("", currencyRules, func(p PreauthFollowUpParams) (Currency, bool) { return p.Currency, true }),
	within("", referenceRules, func(p PreauthFollowUpParams) (references, bool) {
		return references{p.CustomerReferenceNumber, p.PaymentReferenceNumber}, true
	}),
	[]rule[PreauthFollowUpParams]{
		{"preauth.original.successful", service, "originalReceiptNumber", "must be the original, successful pre-authorisation", nil},
	},
)

// captureRules are the rules of POST /transactions with transactionType CAPTURE.
//
//nolint:gochecknoglobals // an immutable table
var captureRules = slices.Concat(
	within("", originalRules, func(p CaptureParams) (string, bool) {
		return receiptOf(p.OriginalReceiptNumber, p.Original), true
	}),
	within("", amountRules, func(p CaptureParams) (decimal.Decimal, bool) { return p.PrincipalAmount, true }),
	within("", currencyRules, func(p CaptureParams) (Currency, bool) { return p.Currency, true }),
	within("", referenceRules, func(p CaptureParams) (references, bool) {
		return references{p.CustomerReferenceNumber, p.PaymentReferenceNumber}, true
	}),
	within("", givenOriginalRules, func(p CaptureParams) (givenOriginal, bool) {
		return givenOriginal{p.OriginalReceiptNumber, p.Original, p.Currency}, p.Original != nil
	}),
	[]rule[CaptureParams]{
		{
			"capture.storedCredentialData.required", local, "storedCredentialData", "is required for cards",
			func(p CaptureParams) bool { return p.StoredCredential == nil },
		},
		{
			"capture.storedCredentialData.entryMode", local, "storedCredentialData.entryMode", "is required",
			func(p CaptureParams) bool { return p.StoredCredential != nil && p.StoredCredential.EntryMode == "" },
		},
		{
			"capture.principalAmount.double", given, "principalAmount", "must not be more than double the pre-authorised amount",
			func(p CaptureParams) bool {
				principal, ok := principalOf(p.Original)
				return ok && p.PrincipalAmount.GreaterThan(principal.Add(principal))
			},
		},
		{
			"capture.original.preauth", given, "originalReceiptNumber", "must be a pre-authorisation",
			func(p CaptureParams) bool {
				return p.Original != nil && p.Original.TransactionType != TransactionTypePreauth
			},
		},
		{"capture.once", service, "originalReceiptNumber", "must not have been captured before", nil},
	},
)

// cancelPreauthorisationRules are the rules of POST /transactions with
// transactionType PREAUTH_CANCELLATION.
//
//nolint:gochecknoglobals // an immutable table
var cancelPreauthorisationRules = slices.Concat(
	within("", originalRules, func(p CancelPreauthorisationParams) (string, bool) { return p.OriginalReceiptNumber, true }),
	within("", amountRules, func(p CancelPreauthorisationParams) (decimal.Decimal, bool) { return p.PrincipalAmount, true }),
	within("", currencyRules, func(p CancelPreauthorisationParams) (Currency, bool) { return p.Currency, true }),
	within("", referenceRules, func(p CancelPreauthorisationParams) (references, bool) {
		return references{p.CustomerReferenceNumber, p.PaymentReferenceNumber}, true
	}),
	[]rule[CancelPreauthorisationParams]{
		{
			"cancelPreauthorisation.cancellationType.required", local, "cancellationType", "is required",
			func(p CancelPreauthorisationParams) bool { return p.Type == "" },
		},
		{"cancelPreauthorisation.amount", service, "principalAmount", "must be the full original amount for FULL and an outstanding part for PARTIAL", nil},
	},
)

// refundRules are the rules of POST /transactions with transactionType REFUND.
//
//nolint:gochecknoglobals // an immutable table
var refundRules = slices.Concat(
	within("", originalRules, func(p RefundParams) (string, bool) {
		return receiptOf(p.OriginalReceiptNumber, p.Original), true
	}),
	within("", amountRules, func(p RefundParams) (decimal.Decimal, bool) { return p.PrincipalAmount, true }),
	within("", currencyRules, func(p RefundParams) (Currency, bool) { return p.Currency, true }),
	within("", referenceRules, func(p RefundParams) (references, bool) {
		return references{p.CustomerReferenceNumber, p.PaymentReferenceNumber}, true
	}),
	within("", givenOriginalRules, func(p RefundParams) (givenOriginal, bool) {
		return givenOriginal{p.OriginalReceiptNumber, p.Original, p.Currency}, p.Original != nil
	}),
	[]rule[RefundParams]{
		{
			"refund.cardExpiry.valid", local, "creditCard.expiryDateMonth", "must be a month of a four-digit year",
			func(p RefundParams) bool { return !p.CardExpiry.IsZero() && !isExpiry(p.CardExpiry) },
		},
		{
			"refund.refundable", given, "originalReceiptNumber", "the payment must be refundable",
			func(p RefundParams) bool { return p.Original != nil && !p.Original.Refundable },
		},
		{
			"refund.principalAmount.payment", given, "principalAmount", "must not be more than the payment's",
			func(p RefundParams) bool {
				principal, ok := principalOf(p.Original)
				return ok && p.PrincipalAmount.GreaterThan(principal)
			},
		},
		{
			"refund.principalAmount.payTo", given, "principalAmount", "must be all of the payment for PayTo",
			func(p RefundParams) bool {
				principal, ok := principalOf(p.Original)
				return ok && p.Original.PayToData != nil && p.PrincipalAmount.LessThan(principal)
			},
		},
		{"refund.remaining", service, "principalAmount", "must not be more than what earlier refunds left", nil},
	},
)

// givenOriginal is a transaction that was passed in besides its receipt number.
type givenOriginal struct {
	receiptNumber string
	original      *Transaction
	currency      Currency
}

//nolint:gochecknoglobals // an immutable table
var givenOriginalRules = []rule[givenOriginal]{
	{
		"transaction.original.same", given, "originalReceiptNumber", "must be that of the transaction that was passed in",
		func(g givenOriginal) bool {
			return g.receiptNumber != "" && g.receiptNumber != g.original.ReceiptNumber
		},
	},
	{
		"transaction.original.currency", given, "currency", "must be that of the transaction that was passed in",
		func(g givenOriginal) bool {
			amount := g.original.PrincipalAmount
			return amount != nil && amount.Currency != "" && g.currency != "" && amount.Currency != g.currency
		},
	},
}

func principalOf(t *Transaction) (decimal.Decimal, bool) {
	if t == nil || t.PrincipalAmount == nil {
		return decimal.Decimal{}, false
	}
	return t.PrincipalAmount.Amount, true
}
