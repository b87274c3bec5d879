package quickstream

import (
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// followUpTable has the cases that all requests for a transaction with an original
// share, and those of the type.
func followUpTable[T any](
	method func(*TransactionsService, context.Context, T, ...CallOption) (*Transaction, error), valid T, cases ...[]ruleCase[T],
) ruleTable[T] {
	receipt := member[T, string]("OriginalReceiptNumber")
	cases = append(cases, currencyCases[T](), referenceCases[T](), []ruleCase[T]{
		{rule: "transaction.originalReceiptNumber.required", pass: set(receipt, "1"), fail: set(receipt, "")},
	})
	return ruleTable[T]{
		send: sends(method), wire: transactionJSON{}, valid: func() T { return valid },
		cases: slices.Concat(cases...),
	}
}

func topUpTable() ruleTable[TopUpParams] {
	return followUpTable(
		(*TransactionsService).TopUp,
		TopUpParams{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(500, -2), Currency: CurrencyAUD},
		amountCases[TopUpParams](), zeroCases[TopUpParams](true),
	)
}

func reauthoriseTable() ruleTable[ReauthoriseParams] {
	return followUpTable(
		(*TransactionsService).Reauthorise,
		ReauthoriseParams{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(500, -2), Currency: CurrencyAUD},
		amountCases[ReauthoriseParams](), zeroCases[ReauthoriseParams](true),
	)
}

func extendTable() ruleTable[ExtendParams] {
	return followUpTable(
		(*TransactionsService).Extend, ExtendParams{OriginalReceiptNumber: canaryReceipt, Currency: CurrencyAUD},
	)
}

// original is a transaction that was read, of 10.50 AUD.
func original(kind TransactionType, change ...func(*Transaction)) *Transaction {
	t := &Transaction{
		ReceiptNumber: canaryReceipt, TransactionType: kind, Refundable: true,
		PrincipalAmount: &Amount{Currency: CurrencyAUD, Amount: decimal.New(1050, -2)},
		TotalAmount:     &Amount{Currency: CurrencyAUD, Amount: decimal.New(1050, -2)},
	}
	for _, c := range change {
		c(t)
	}
	return t
}

// givenOriginalCases are for requests that can be given the transaction that
// they follow, here one of the right kind for the request.
func givenOriginalCases[T any](given *Transaction) []ruleCase[T] {
	receipt, currency := member[T, string]("OriginalReceiptNumber"), member[T, Currency]("Currency")
	with := set(member[T, *Transaction]("Original"), given)
	bare := *given
	bare.PrincipalAmount, bare.TotalAmount = &Amount{Amount: given.PrincipalAmount.Amount}, nil
	unsaid := set(member[T, *Transaction]("Original"), &bare)
	lower := *given
	lower.PrincipalAmount = &Amount{Currency: "aud", Amount: given.PrincipalAmount.Amount}
	folded := set(member[T, *Transaction]("Original"), &lower)
	return []ruleCase[T]{
		{rule: "transaction.originalReceiptNumber.required", pass: all(with, set(receipt, "")), fail: set(receipt, "")},
		{rule: "transaction.original.same", pass: all(with, set(receipt, canaryReceipt)), fail: all(with, set(receipt, canaryReceipt+"9"))},
		{rule: "transaction.original.currency", pass: all(with, set(currency, CurrencyAUD)), fail: all(with, set(currency, CurrencyNZD))},
		{rule: "transaction.original.currency", pass: all(unsaid, set(currency, CurrencyNZD)), fail: all(with, set(currency, CurrencyNZD))},
		{rule: "transaction.original.currency", pass: all(folded, set(currency, CurrencyAUD)), fail: all(folded, set(currency, CurrencyNZD))},
		{rule: "transaction.currency.required", pass: all(with, set(currency, "")), fail: all(unsaid, set(currency, ""))},
	}
}

func captureTable() ruleTable[CaptureParams] {
	type params = CaptureParams
	stored := func(p *params) **StoredCredentialData { return &p.StoredCredential }
	of := func(t *Transaction, amount string) func(*params) {
		return func(p *params) { p.Original, p.PrincipalAmount = t, decimal.RequireFromString(amount) }
	}
	preauth := original(TransactionTypePreauth)
	return followUpTable(
		(*TransactionsService).Capture,
		params{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD, StoredCredential: manual()},
		amountCases[params](), zeroCases[params](false), givenOriginalCases[params](preauth),
		[]ruleCase[params]{
			{rule: "capture.storedCredentialData.required", pass: set(stored, manual()), fail: set(stored, nil)},
			{rule: "capture.storedCredentialData.entryMode", pass: set(stored, manual()), fail: set(stored, &StoredCredentialData{})},
			// A top-up, which the original does not show, raises the limit.
			{rule: "capture.original.preauth", pass: of(preauth, "1000"), fail: of(original(TransactionTypePayment), "1")},
			// An answer may leave the type out, and show it in another case.
			{rule: "capture.original.preauth", pass: of(original(""), "1"), fail: of(original("Payment"), "1")},
			{rule: "capture.original.preauth", pass: of(original("Preauth"), "1"), fail: of(original("Refund"), "1")},
		},
	)
}

func cancelPreauthorisationTable() ruleTable[CancelPreauthorisationParams] {
	type params = CancelPreauthorisationParams
	kind := func(p *params) *CancellationType { return &p.Type }
	return followUpTable(
		(*TransactionsService).CancelPreauthorisation,
		params{OriginalReceiptNumber: canaryReceipt, Type: CancellationTypeFull, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD},
		amountCases[params](), zeroCases[params](true),
		[]ruleCase[params]{{rule: "cancelPreauthorisation.cancellationType.required", pass: set(kind, CancellationTypePartial), fail: set(kind, "")}},
	)
}

func refundTable() ruleTable[RefundParams] {
	type params = RefundParams
	expiry := func(p *params) *YearMonth { return &p.CardExpiry }
	of := func(t *Transaction, amount string) func(*params) {
		return func(p *params) { p.Original, p.PrincipalAmount = t, decimal.RequireFromString(amount) }
	}
	paid := original(TransactionTypePayment)
	payTo := original(TransactionTypePayment, func(t *Transaction) { t.PayToData = &PayToData{AgreementToken: canaryAgreement} })
	closed := original(TransactionTypePayment, func(t *Transaction) { t.Refundable = false })
	unknown := original(TransactionTypePayment, func(t *Transaction) { t.PrincipalAmount, t.TotalAmount = nil, nil })
	aud := func(cents int64) *Amount { return &Amount{Currency: CurrencyAUD, Amount: decimal.New(cents, -2)} }
	inTotal := original(TransactionTypePayment, func(t *Transaction) { t.TotalAmount = aud(1062) })
	inParts := original(TransactionTypePayment, func(t *Transaction) { t.SurchargeAmount, t.TotalAmount = aud(11), nil })
	return followUpTable(
		(*TransactionsService).Refund,
		params{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD},
		amountCases[params](), zeroCases[params](false), givenOriginalCases[params](paid),
		[]ruleCase[params]{
			{rule: "refund.cardExpiry.valid", pass: set(expiry, YearMonth{9999, time.December}), fail: set(expiry, YearMonth{10000, time.January})},
			{rule: "refund.cardExpiry.valid", pass: set(expiry, YearMonth{1000, time.January}), fail: set(expiry, YearMonth{2035, 13})},
			// What was read may be old: the service judges whether it is refundable now.
			{rule: "refund.principalAmount.payment", pass: of(closed, "10.50"), fail: of(closed, "10.51")},
			{rule: "refund.principalAmount.payment", pass: of(paid, "10.50"), fail: of(paid, "10.51")},
			{rule: "refund.principalAmount.payment", pass: of(unknown, "10.51"), fail: of(payTo, "10.51")},
			{rule: "refund.principalAmount.payment", pass: of(inTotal, "10.62"), fail: of(inTotal, "10.63")},
			{rule: "refund.principalAmount.payment", pass: of(inParts, "10.61"), fail: of(inParts, "10.62")},
			{rule: "refund.principalAmount.payTo", pass: of(payTo, "10.50"), fail: of(payTo, "10.49")},
			{rule: "refund.principalAmount.payTo", pass: of(paid, "10.49"), fail: of(payTo, "0.01")},
		},
	)
}
