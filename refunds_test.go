package quickstream

import (
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// followUpTable has the cases of the type, and those that all requests for a transaction with an
// original share.
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

func captureTable() ruleTable[CaptureParams] {
	type params = CaptureParams
	stored := func(p *params) **StoredCredentialData { return &p.StoredCredential }
	return followUpTable(
		(*TransactionsService).Capture,
		params{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD, StoredCredential: manual()},
		amountCases[params](), zeroCases[params](false),
		[]ruleCase[params]{
			{rule: "capture.storedCredentialData.required", pass: set(stored, manual()), fail: set(stored, nil)},
			{rule: "capture.storedCredentialData.entryMode", pass: set(stored, manual()), fail: set(stored, &StoredCredentialData{})},
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
	return followUpTable(
		(*TransactionsService).Refund,
		params{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD},
		amountCases[params](), zeroCases[params](false),
		[]ruleCase[params]{
			{rule: "refund.cardExpiry.valid", pass: set(expiry, YearMonth{9999, time.December}), fail: set(expiry, YearMonth{10000, time.January})},
			{rule: "refund.cardExpiry.valid", pass: set(expiry, YearMonth{1000, time.January}), fail: set(expiry, YearMonth{2035, 13})},
		},
	)
}
