package quickstream

import (
	"context"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func referenceQueryTable() ruleTable[referenceQuery] {
	number := func(q *referenceQuery) *string { return &q.ReferenceNumber }
	return ruleTable[referenceQuery]{
		send: reading(func(s *TransactionsService, q referenceQuery, opts ...CallOption) List[Transaction] {
			return s.ByReference(q.ReferenceNumber, opts...)
		}),
		wire:  referenceQuery{},
		valid: func() referenceQuery { return referenceQuery{canaryReference} },
		cases: []ruleCase[referenceQuery]{
			{rule: "list.referenceNumber.required", pass: set(number, " "), fail: set(number, "")},
			{rule: "list.referenceNumber.ascii", pass: set(number, "a\tb\x7f"), fail: set(number, "é")},
			{rule: "list.referenceNumber.ascii", pass: set(number, "~"), fail: set(number, "\u0080")},
		},
	}
}

func settlementDateQueryTable() ruleTable[settlementDateQuery] {
	date := func(q *settlementDateQuery) *Date { return &q.SettlementDate }
	return ruleTable[settlementDateQuery]{
		send: reading(func(s *TransactionsService, q settlementDateQuery, opts ...CallOption) List[Transaction] {
			return s.BySettlementDate(q.SettlementDate, opts...)
		}),
		wire:  settlementDateQuery{},
		valid: func() settlementDateQuery { return settlementDateQuery{Date{2026, time.July, 1}} },
		cases: []ruleCase[settlementDateQuery]{
			{rule: "list.settlementDate.required", pass: set(date, Date{2028, time.February, 29}), fail: set(date, Date{2027, time.February, 29})},
			{rule: "list.settlementDate.required", pass: set(date, Date{9999, time.December, 31}), fail: set(date, Date{})},
		},
	}
}

func accountTokenQueryTable() ruleTable[accountTokenQuery] {
	token := func(q *accountTokenQuery) *string { return &q.AccountToken }
	return ruleTable[accountTokenQuery]{
		send: reading(func(s *TransactionsService, q accountTokenQuery, opts ...CallOption) List[Transaction] {
			return s.ByAccount(q.AccountToken, opts...)
		}),
		wire:  accountTokenQuery{},
		valid: func() accountTokenQuery { return accountTokenQuery{canaryToken} },
		cases: []ruleCase[accountTokenQuery]{
			{rule: "list.accountToken.required", pass: set(token, "1"), fail: set(token, "")},
			{rule: "list.accountToken.ascii", pass: set(token, "a\tb"), fail: set(token, "é")},
		},
	}
}

func creditCardQueryTable() ruleTable[creditCardQuery] {
	first := func(q *creditCardQuery) *string { return &q.FirstSix }
	last := func(q *creditCardQuery) *string { return &q.LastThree }
	return ruleTable[creditCardQuery]{
		send: reading(func(s *TransactionsService, q creditCardQuery, opts ...CallOption) List[Transaction] {
			return s.ByCreditCard(q.FirstSix, q.LastThree, opts...)
		}),
		wire:  creditCardQuery{},
		valid: func() creditCardQuery { return creditCardQuery{"424242", "242"} },
		cases: slices.Concat(digitRows("list.firstSix.digits", 6, 6, first), digitRows("list.lastThree.digits", 3, 3, last)),
	}
}

func bankAccountQueryTable() ruleTable[bankAccountQuery] {
	bsb := func(q *bankAccountQuery) *string { return &q.BSB }
	number := func(q *bankAccountQuery) *string { return &q.AccountNumber }
	return ruleTable[bankAccountQuery]{
		send: reading(func(s *TransactionsService, q bankAccountQuery, opts ...CallOption) List[Transaction] {
			return s.ByBankAccount(q.BSB, NewSecret(q.AccountNumber), opts...)
		}),
		wire:  bankAccountQuery{},
		valid: func() bankAccountQuery { return bankAccountQuery{"032-002", canaryAccount} },
		cases: append(
			digitRows("list.accountNumber.digits", 6, 9, number),
			ruleCase[bankAccountQuery]{rule: "list.bsb.required", pass: set(bsb, "032002"), fail: set(bsb, "")},
			ruleCase[bankAccountQuery]{rule: "list.bsb.ascii", pass: set(bsb, "032-002"), fail: set(bsb, "032–002")}, // an en dash
		),
	}
}

func nzBankAccountQueryTable() ruleTable[nzBankAccountQuery] {
	bank := func(q *nzBankAccountQuery) *string { return &q.BankCode }
	branch := func(q *nzBankAccountQuery) *string { return &q.BranchCode }
	number := func(q *nzBankAccountQuery) *string { return &q.AccountNumber }
	return ruleTable[nzBankAccountQuery]{
		send: reading(func(s *TransactionsService, q nzBankAccountQuery, opts ...CallOption) List[Transaction] {
			return s.ByNZBankAccount(q.BankCode, q.BranchCode, NewSecret(q.AccountNumber), opts...)
		}),
		wire:  nzBankAccountQuery{},
		valid: func() nzBankAccountQuery { return nzBankAccountQuery{"12", "3405", canaryNZAccount} },
		cases: slices.Concat(
			digitRows("list.bankCode.digits", 2, 2, bank), digitRows("list.branchCode.digits", 4, 4, branch),
			digitRows("list.nzAccountNumber.digits", 7, 8, number),
		),
	}
}

// suspendedListTable counts months from January 2000, in which TestRules lives.
func suspendedListTable() ruleTable[MonthParams] {
	code := func(p *MonthParams) *string { return &p.SupplierBusinessCode }
	month := func(p *MonthParams) *YearMonth { return &p.Month }
	return ruleTable[MonthParams]{
		send: reading((*TransactionsService).Suspended),
		wire: MonthParams{},
		valid: func() MonthParams {
			return MonthParams{SupplierBusinessCode: canaryBusiness, Month: YearMonth{1999, time.December}}
		},
		cases: []ruleCase[MonthParams]{
			{rule: "list.supplierBusinessCode.required", pass: set(code, "B"), fail: set(code, "")},
			{rule: "list.month.required", fail: set(month, YearMonth{})},
			{rule: "list.month.required", pass: set(month, YearMonth{1999, time.December}), fail: set(month, YearMonth{1999, 13})},
			{rule: "list.month.required", fail: set(month, YearMonth{9999, 13})},
			{rule: "list.month.past", pass: set(month, YearMonth{1999, time.July}), fail: set(month, YearMonth{1999, time.June})},
			{rule: "list.month.past", pass: set(month, YearMonth{2000, time.February}), fail: set(month, YearMonth{1999, time.June})},
		},
	}
}

func openPreauthListTable() ruleTable[MonthParams] {
	month := func(p *MonthParams) *YearMonth { return &p.Month }
	return ruleTable[MonthParams]{
		send:  reading((*TransactionsService).OpenPreauths),
		wire:  MonthParams{},
		valid: func() MonthParams { return MonthParams{Month: YearMonth{2026, time.July}} },
		cases: []ruleCase[MonthParams]{
			{rule: "list.month.required", pass: set(month, YearMonth{1, time.January}), fail: set(month, YearMonth{})},
			{rule: "list.month.required", fail: set(month, YearMonth{0, time.January})},
			{rule: "list.month.required", pass: set(month, YearMonth{9999, time.December}), fail: set(month, YearMonth{9999, 13})},
			{rule: "list.month.required", pass: set(month, YearMonth{9999, time.January}), fail: set(month, YearMonth{10000, time.January})},
			{rule: "list.month.required", pass: set(month, YearMonth{2026, time.January}), fail: set(month, YearMonth{2026, 0})},
		},
	}
}

func returnedListTable() ruleTable[ReturnedParams] {
	date := func(p *ReturnedParams) *Date { return &p.Date }
	return ruleTable[ReturnedParams]{
		send:  reading((*TransactionsService).Returned),
		wire:  ReturnedParams{},
		valid: func() ReturnedParams { return ReturnedParams{Date: Date{2026, time.July, 1}} },
		cases: []ruleCase[ReturnedParams]{
			{rule: "list.date.required", pass: set(date, Date{2028, time.February, 29}), fail: set(date, Date{2027, time.February, 29})},
			{rule: "list.date.required", pass: set(date, Date{9999, time.December, 31}), fail: set(date, Date{})},
		},
	}
}

func transactionReportTable() ruleTable[ReportParams] {
	type params = ReportParams
	date := func(p *params) *Date { return &p.SettlementDate }
	status := func(p *params) *TransactionStatus { return &p.TransactionStatus }
	sources := func(p *params) *[]string { return &p.Sources }
	columns := func(p *params) *[]string { return &p.Columns }
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.Transactions.DownloadReport(context.Background(), io.Discard, p, opts...)
		},
		wire:  ReportParams{},
		valid: func() params { return params{SettlementDate: Date{2026, time.July, 1}} },
		cases: []ruleCase[params]{
			{rule: "report.settlementDate.required", pass: set(date, Date{2028, time.February, 29}), fail: set(date, Date{2027, time.February, 29})},
			{rule: "report.settlementDate.required", pass: set(date, Date{9999, time.December, 31}), fail: set(date, Date{})},
			{rule: "report.transactionStatus", pass: set(status, TransactionStatusApproved), fail: set(status, TransactionStatusPending)},
			{rule: "report.transactionStatus", pass: set(status, TransactionStatusDeclined), fail: set(status, "approved")},
			{rule: "report.source.elements", pass: set(sources, []string{"RESTAPI", "NEW"}), fail: set(sources, []string{"RESTAPI,NEW"})},
			{rule: "report.source.elements", pass: set(sources, []string{}), fail: set(sources, []string{"RESTAPI", ""})},
			{rule: "report.columns.elements", pass: set(columns, []string{"receiptNumber", "metadata_basket"}), fail: set(columns, []string{"a,b"})},
			{rule: "report.columns.elements", pass: set(columns, nil), fail: set(columns, []string{""})},
		},
	}
}

// TestSuspendedMonthTurnsInSydney goes to the hours at the end of a month in
// which it depends on daylight saving whether the next has begun in Sydney. The
// month that may be too old is let through then.
func TestSuspendedMonthTurnsInSydney(t *testing.T) {
	for before, want := range map[time.Duration][]string{ // the end of January 2000 in UTC
		10*time.Hour + 30*time.Minute: nil,
		10 * time.Hour:                {"list.month.past"},
	} {
		synctest.Test(t, func(t *testing.T) {
			<-time.After(time.Until(time.Date(2000, time.February, 1, 0, 0, 0, 0, time.UTC).Add(-before)))
			got := suspendedListTable().breaks(MonthParams{YearMonth{1999, time.July}, canaryBusiness})
			assert.Equal(t, want, got, "%s before the end of January", before)
		})
	}
}
