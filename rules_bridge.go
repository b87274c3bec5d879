package quickstream

// What the checks of transactions and the tables of the other requests share
// until these are checks too.

// check is for agreements, and for payments that bring one along.
func (p PayToPayerParams) check(f *findings) {
	f.require(p.Type != "", "payer.payerType.required", "payerType", "is required")
	f.require(p.ID != "", "payer.payerId.required", "payerId", "is required")
	f.require(p.Name != "", "payer.payerName.required", "payerName", "is required")
	f.require((p.BSB == "") == p.AccountNumber.IsZero(), "payer.account.pair", "bsb", "and accountNumber must be given together")
	f.require(p.BSB == "" || isDigits(p.BSB) && len(p.BSB) == 6, "payer.bsb.digits", "bsb", "must have 6 digits")
	number := p.AccountNumber.text()
	f.require(number == "" || isDigits(number) && lengthWithin(number, 6, 9), "payer.accountNumber.digits", "accountNumber", "must have 6 to 9 digits")
	f.require((p.PayIDType == "") == p.PayID.IsZero(), "payer.payId.pair", "payId", "and payIdType must be given together")
}

func (p NewPayToPayment) check(f *findings) {
	f.require(p.SupplierBusinessCode != "", "payToAgreement.supplierBusinessCode.required", "supplierBusinessCode", "is required")
	f.require(p.Purpose != "", "payToAgreement.purpose.required", "paymentDetails.purpose", "is required")
	f.require(p.Description != "", "payToAgreement.description.required", "paymentDetails.description", "is required")
	f.require(lengthWithin(p.Description, 0, maxDescription),
		"payToAgreement.description.length", "paymentDetails.description", "must not be longer than 140 characters")
	f.within("payerDetails", p.Payer.check)
}

func deref[T any](p *T) (T, bool) {
	if p == nil {
		var zero T
		return zero, false
	}
	return *p, true
}

//nolint:gochecknoglobals // an immutable table
var cardRules = []rule[CardDetails]{
	{
		"card.cardNumber.required", local, "cardNumber", "is required",
		func(c CardDetails) bool { return c.CardNumber.IsZero() },
	},
	{
		"card.cardNumber.digits", local, "cardNumber", "must consist of digits",
		func(c CardDetails) bool { return !c.CardNumber.IsZero() && !isDigits(c.CardNumber.text()) },
	},
	{
		"card.expiryDate.required", local, "expiryDateMonth", "is required, with expiryDateYear",
		func(c CardDetails) bool { return c.Expiry.IsZero() },
	},
	{
		"card.expiryDate.valid", local, "expiryDateMonth", "must be a month of a four-digit year",
		func(c CardDetails) bool {
			return !c.Expiry.IsZero() && !isExpiry(c.Expiry)
		},
	},
	{
		"card.cvn.digits", local, "cvn", "must have 3 or 4 digits",
		func(c CardDetails) bool {
			return !c.CVN.IsZero() && (!isDigits(c.CVN.text()) || lengthOutside(c.CVN.text(), 3, 4))
		},
	},
}

//nolint:gochecknoglobals // an immutable table
var bankAccountRules = []rule[BankAccountDetails]{
	{
		"bankAccount.accountName.required", local, "accountName", "is required",
		func(a BankAccountDetails) bool { return a.AccountName == "" },
	},
	{
		"bankAccount.bsb.required", local, "bsb", "is required",
		func(a BankAccountDetails) bool { return a.BSB == "" },
	},
	{
		"bankAccount.accountNumber.required", local, "accountNumber", "is required",
		func(a BankAccountDetails) bool { return a.AccountNumber.IsZero() },
	},
}

//nolint:gochecknoglobals // an immutable table
var nzBankAccountRules = []rule[NZBankAccountDetails]{
	{
		"nzBankAccount.nzAccountName.required", local, "nzAccountName", "is required",
		func(a NZBankAccountDetails) bool { return a.AccountName == "" },
	},
	{
		"nzBankAccount.nzBankCode.required", local, "nzBankCode", "is required",
		func(a NZBankAccountDetails) bool { return a.BankCode == "" },
	},
	{
		"nzBankAccount.nzBranchCode.required", local, "nzBranchCode", "is required",
		func(a NZBankAccountDetails) bool { return a.BranchCode == "" },
	},
	{
		"nzBankAccount.nzAccountNumber.required", local, "nzAccountNumber", "is required",
		func(a NZBankAccountDetails) bool { return a.AccountNumber.IsZero() },
	},
	{
		"nzBankAccount.nzAccountSuffix.required", local, "nzAccountSuffix", "is required",
		func(a NZBankAccountDetails) bool { return a.AccountSuffix == "" },
	},
}
