package quickstream

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

func topUpTable() ruleTable[TopUpParams] {
	type params = TopUpParams
	return ruleTable[params]{
		send: sends((*TransactionsService).TopUp),
		wire: transactionJSON{},
		valid: func() params {
			return params{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(500, -2), Currency: CurrencyAUD}
		},
		cases: slices.Concat(
			originalCases(func(p *params) *string { return &p.OriginalReceiptNumber }),
			amountCases(func(p *params) *decimal.Decimal { return &p.PrincipalAmount }),
			currencyCases(func(p *params) *Currency { return &p.Currency }),
			referenceCases(
				func(p *params) *string { return &p.CustomerReferenceNumber },
				func(p *params) *string { return &p.PaymentReferenceNumber },
				func(p *params) *map[string]string { return &p.Metadata },
			),
		),
		broken: []string{"transaction.originalReceiptNumber.required", "transaction.currency.required", "transaction.principalAmount.positive"},
	}
}

func reauthoriseTable() ruleTable[ReauthoriseParams] {
	type params = ReauthoriseParams
	return ruleTable[params]{
		send: sends((*TransactionsService).Reauthorise),
		wire: transactionJSON{},
		valid: func() params {
			return params{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(500, -2), Currency: CurrencyAUD}
		},
		cases: slices.Concat(
			originalCases(func(p *params) *string { return &p.OriginalReceiptNumber }),
			amountCases(func(p *params) *decimal.Decimal { return &p.PrincipalAmount }),
			currencyCases(func(p *params) *Currency { return &p.Currency }),
			referenceCases(
				func(p *params) *string { return &p.CustomerReferenceNumber },
				func(p *params) *string { return &p.PaymentReferenceNumber },
				func(p *params) *map[string]string { return &p.Metadata },
			),
		),
		broken: []string{"transaction.originalReceiptNumber.required", "transaction.currency.required", "transaction.principalAmount.positive"},
	}
}

func extendTable() ruleTable[ExtendParams] {
	type params = ExtendParams
	return ruleTable[params]{
		send:  sends((*TransactionsService).Extend),
		wire:  transactionJSON{},
		valid: func() params { return params{OriginalReceiptNumber: canaryReceipt, Currency: CurrencyAUD} },
		cases: slices.Concat(
			originalCases(func(p *params) *string { return &p.OriginalReceiptNumber }),
			currencyCases(func(p *params) *Currency { return &p.Currency }),
			referenceCases(
				func(p *params) *string { return &p.CustomerReferenceNumber },
				func(p *params) *string { return &p.PaymentReferenceNumber },
				func(p *params) *map[string]string { return &p.Metadata },
			),
		),
		broken: []string{"transaction.originalReceiptNumber.required", "transaction.currency.required"},
	}
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
// they follow: with sets it, of the right kind for the request.
func givenOriginalCases[T any](receipt func(*T) *string, currency func(*T) *Currency, with func(*T)) []ruleCase[T] {
	and := func(change func(*T)) func(*T) {
		return func(request *T) { with(request); change(request) }
	}
	return []ruleCase[T]{
		{rule: "transaction.originalReceiptNumber.required", pass: and(set(receipt, "")), fail: set(receipt, "")},
		{rule: "transaction.original.same", pass: and(set(receipt, canaryReceipt)), fail: and(set(receipt, canaryReceipt+"9"))},
		{rule: "transaction.original.currency", pass: and(set(currency, CurrencyAUD)), fail: and(set(currency, CurrencyNZD))},
	}
}

func captureTable() ruleTable[CaptureParams] {
	type params = CaptureParams
	receipt := func(p *params) *string { return &p.OriginalReceiptNumber }
	currency := func(p *params) *Currency { return &p.Currency }
	stored := func(p *params) **StoredCredentialData { return &p.StoredCredential }
	of := func(t *Transaction, amount string) func(*params) {
		return func(p *params) { p.Original, p.PrincipalAmount = t, decimal.RequireFromString(amount) }
	}
	preauth := original(TransactionTypePreauth)
	return ruleTable[params]{
		send: sends((*TransactionsService).Capture),
		wire: transactionJSON{},
		valid: func() params {
			return params{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD, StoredCredential: manual()}
		},
		cases: slices.Concat(
			originalCases(receipt),
			amountCases(func(p *params) *decimal.Decimal { return &p.PrincipalAmount }),
			currencyCases(currency),
			referenceCases(
				func(p *params) *string { return &p.CustomerReferenceNumber },
				func(p *params) *string { return &p.PaymentReferenceNumber },
				func(p *params) *map[string]string { return &p.Metadata },
			),
			givenOriginalCases(receipt, currency, func(p *params) { p.Original = preauth }),
			[]ruleCase[params]{
				{rule: "capture.storedCredentialData.required", pass: set(stored, manual()), fail: set(stored, nil)},
				{rule: "capture.storedCredentialData.entryMode", pass: set(stored, manual()), fail: set(stored, &StoredCredentialData{})},
				// A top-up, which the original does not show, raises the limit.
				{rule: "capture.original.preauth", pass: of(preauth, "1000"), fail: of(original(TransactionTypePayment), "1")},
			},
		),
		worst: params{
			OriginalReceiptNumber: "1", Original: original(TransactionTypeRefund), PrincipalAmount: decimal.New(21001, -3), Currency: CurrencyNZD,
		},
		broken: []string{
			"transaction.principalAmount.decimals", "transaction.original.same", "transaction.original.currency",
			"capture.storedCredentialData.required", "capture.original.preauth",
		},
	}
}

func cancelPreauthorisationTable() ruleTable[CancelPreauthorisationParams] {
	type params = CancelPreauthorisationParams
	kind := func(p *params) *CancellationType { return &p.Type }
	return ruleTable[params]{
		send: sends((*TransactionsService).CancelPreauthorisation),
		wire: transactionJSON{},
		valid: func() params {
			return params{OriginalReceiptNumber: canaryReceipt, Type: CancellationTypeFull, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD}
		},
		cases: slices.Concat(
			originalCases(func(p *params) *string { return &p.OriginalReceiptNumber }),
			amountCases(func(p *params) *decimal.Decimal { return &p.PrincipalAmount }),
			currencyCases(func(p *params) *Currency { return &p.Currency }),
			referenceCases(
				func(p *params) *string { return &p.CustomerReferenceNumber },
				func(p *params) *string { return &p.PaymentReferenceNumber },
				func(p *params) *map[string]string { return &p.Metadata },
			),
			[]ruleCase[params]{{
				rule: "cancelPreauthorisation.cancellationType.required",
				pass: set(kind, CancellationTypePartial), fail: set(kind, ""),
			}},
		),
		broken: []string{
			"transaction.originalReceiptNumber.required", "transaction.principalAmount.positive",
			"transaction.currency.required", "cancelPreauthorisation.cancellationType.required",
		},
	}
}

func refundTable() ruleTable[RefundParams] {
	type params = RefundParams
	receipt := func(p *params) *string { return &p.OriginalReceiptNumber }
	currency := func(p *params) *Currency { return &p.Currency }
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
	return ruleTable[params]{
		send: sends((*TransactionsService).Refund),
		wire: transactionJSON{},
		valid: func() params {
			return params{OriginalReceiptNumber: canaryReceipt, PrincipalAmount: decimal.New(1050, -2), Currency: CurrencyAUD}
		},
		cases: slices.Concat(
			originalCases(receipt),
			amountCases(func(p *params) *decimal.Decimal { return &p.PrincipalAmount }),
			currencyCases(currency),
			referenceCases(
				func(p *params) *string { return &p.CustomerReferenceNumber },
				func(p *params) *string { return &p.PaymentReferenceNumber },
				func(p *params) *map[string]string { return &p.Metadata },
			),
			givenOriginalCases(receipt, currency, func(p *params) { p.Original = paid }),
			[]ruleCase[params]{
				{rule: "refund.cardExpiry.valid", pass: set(expiry, YearMonth{9999, time.December}), fail: set(expiry, YearMonth{10000, time.January})},
				{rule: "refund.cardExpiry.valid", pass: set(expiry, YearMonth{1000, time.January}), fail: set(expiry, YearMonth{2035, 13})},
				{rule: "refund.refundable", pass: of(paid, "1"), fail: of(closed, "1")},
				{rule: "refund.principalAmount.payment", pass: of(paid, "10.50"), fail: of(paid, "10.51")},
				{rule: "refund.principalAmount.payment", pass: of(unknown, "10.51"), fail: of(payTo, "10.51")},
				{rule: "refund.principalAmount.payment", pass: of(inTotal, "10.62"), fail: of(inTotal, "10.63")},
				{rule: "refund.principalAmount.payment", pass: of(inParts, "10.61"), fail: of(inParts, "10.62")},
				{rule: "refund.principalAmount.payTo", pass: of(payTo, "10.50"), fail: of(payTo, "10.49")},
				{rule: "refund.principalAmount.payTo", pass: of(paid, "10.49"), fail: of(payTo, "0.01")},
			},
		),
		worst: params{
			OriginalReceiptNumber: "1", Original: closed, PrincipalAmount: decimal.New(10501, -3), Currency: CurrencyNZD, CardExpiry: YearMonth{35, time.March},
		},
		broken: []string{
			"transaction.principalAmount.decimals", "transaction.original.same", "transaction.original.currency",
			"refund.cardExpiry.valid", "refund.refundable", "refund.principalAmount.payment",
		},
	}
}
