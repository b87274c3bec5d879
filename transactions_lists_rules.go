package quickstream

import "time"

// The rules of the lists of transactions, one table per query.

//nolint:gochecknoglobals // an immutable table
var referenceQueryRules = []rule[referenceQuery]{
	{
		"list.referenceNumber.required", local, "referenceNumber", "is required",
		func(q referenceQuery) bool { return q.ReferenceNumber == "" },
	},
	{
		"list.referenceNumber.ascii", local, "referenceNumber", "must consist of printable ASCII characters",
		func(q referenceQuery) bool { return !isASCII(q.ReferenceNumber) },
	},
}

//nolint:gochecknoglobals // an immutable table
var settlementDateQueryRules = []rule[settlementDateQuery]{
	{
		"list.settlementDate.required", local, "settlementDate", "is required and must be a date of the calendar",
		func(q settlementDateQuery) bool { return !q.SettlementDate.IsValid() },
	},
}

//nolint:gochecknoglobals // an immutable table
var accountTokenQueryRules = []rule[accountTokenQuery]{
	{
		"list.accountToken.required", local, "accountToken", "is required",
		func(q accountTokenQuery) bool { return q.AccountToken == "" },
	},
	{
		"list.accountToken.ascii", local, "accountToken", "must consist of printable ASCII characters",
		func(q accountTokenQuery) bool { return !isASCII(q.AccountToken) },
	},
}

//nolint:gochecknoglobals // an immutable table
var creditCardQueryRules = []rule[creditCardQuery]{
	{
		"list.firstSix.digits", local, "firstSix", "must have 6 digits",
		func(q creditCardQuery) bool { return !isDigits(q.FirstSix) || len(q.FirstSix) != 6 },
	},
	{
		"list.lastThree.digits", local, "lastThree", "must have 3 digits",
		func(q creditCardQuery) bool { return !isDigits(q.LastThree) || len(q.LastThree) != 3 },
	},
}

//nolint:gochecknoglobals // an immutable table
var bankAccountQueryRules = []rule[bankAccountQuery]{
	{
		"list.bsb.required", local, "bsb", "is required",
		func(q bankAccountQuery) bool { return q.BSB == "" },
	},
	{
		"list.bsb.ascii", local, "bsb", "must consist of printable ASCII characters",
		func(q bankAccountQuery) bool { return !isASCII(q.BSB) },
	},
	{
		"list.accountNumber.digits", local, "accountNumber", "must have 6 to 9 digits",
		func(q bankAccountQuery) bool {
			return !isDigits(q.AccountNumber) || lengthOutside(q.AccountNumber, 6, 9)
		},
	},
}

//nolint:gochecknoglobals // an immutable table
var nzBankAccountQueryRules = []rule[nzBankAccountQuery]{
	{
		"list.bankCode.digits", local, "bankCode", "must have 2 digits",
		func(q nzBankAccountQuery) bool { return !isDigits(q.BankCode) || len(q.BankCode) != 2 },
	},
	{
		"list.branchCode.digits", local, "branchCode", "must have 4 digits",
		func(q nzBankAccountQuery) bool { return !isDigits(q.BranchCode) || len(q.BranchCode) != 4 },
	},
	{
		"list.nzAccountNumber.digits", local, "accountNumber", "must have 7 or 8 digits",
		func(q nzBankAccountQuery) bool {
			return !isDigits(q.AccountNumber) || lengthOutside(q.AccountNumber, 7, 8)
		},
	},
}

//nolint:gochecknoglobals // an immutable table
var suspendedListRules = []rule[SuspendedListParams]{
	{
		"list.supplierBusinessCode.required", local, "supplierBusinessCode", "is required",
		func(p SuspendedListParams) bool { return p.SupplierBusinessCode == "" },
	},
	{
		"list.month.required", local, "month", "is required and must be a month of the calendar",
		func(p SuspendedListParams) bool { return !isMonth(p.Month) },
	},
	{
		"list.month.past", local, "month", "must be this month or one of the 6 before, in Sydney",
		func(p SuspendedListParams) bool { return isMonth(p.Month) && monthsAgo(p.Month, sydneyStandard) > 6 },
	},
	{
		"list.month.future", local, "month", "must not be in the future",
		func(p SuspendedListParams) bool { return isMonth(p.Month) && monthsAgo(p.Month, sydneySummer) < 0 },
	},
}

//nolint:gochecknoglobals // an immutable table
var returnedListRules = []rule[ReturnedListParams]{
	{
		"list.date.required", local, "date", "is required and must be a date of the calendar",
		func(p ReturnedListParams) bool { return !p.Date.IsValid() },
	},
}

//nolint:gochecknoglobals // an immutable table
var openPreauthListRules = []rule[OpenPreauthListParams]{
	{
		"list.month.required", local, "month", "is required and must be a month of the calendar",
		func(p OpenPreauthListParams) bool { return !isMonth(p.Month) },
	},
}

// isMonth reports whether a month can be written as the service wants it.
func isMonth(m YearMonth) bool {
	return m.Year >= 1 && m.Year <= 9999 && m.Month >= time.January && m.Month <= time.December
}

// Sydney is 10 hours ahead of UTC, and 11 in summer. At the edge of a month each
// rule takes the offset that refuses less, and leaves the hour to the service.
const (
	sydneyStandard = 10 * time.Hour
	sydneySummer   = 11 * time.Hour
)

// monthsAgo counts the months from m to the month at an offset.
func monthsAgo(m YearMonth, offset time.Duration) int {
	current := time.Now().UTC().Add(offset)
	return (current.Year()-m.Year)*12 + int(current.Month()) - int(m.Month)
}
