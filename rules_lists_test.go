package quickstream

import (
	"context"
	"io"
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
			{rule: "list.referenceNumber.ascii", pass: set(number, "~"), fail: set(number, "é")},
			{rule: "list.referenceNumber.ascii", pass: set(number, "~"), fail: set(number, "\x7f")},
		},
		broken: []string{"list.referenceNumber.required"},
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
		broken: []string{"list.settlementDate.required"},
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
			{rule: "list.accountToken.ascii", pass: set(token, "~"), fail: set(token, "é")},
		},
		broken: []string{"list.accountToken.required"},
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
		cases: []ruleCase[creditCardQuery]{
			{rule: "list.firstSix.digits", pass: set(first, "000000"), fail: set(first, "00000")},
			{rule: "list.firstSix.digits", pass: set(first, "999999"), fail: set(first, "9999999")},
			{rule: "list.firstSix.digits", pass: set(first, "411111"), fail: set(first, "41111x")},
			{rule: "list.lastThree.digits", pass: set(last, "000"), fail: set(last, "00")},
			{rule: "list.lastThree.digits", pass: set(last, "999"), fail: set(last, "9999")},
			{rule: "list.lastThree.digits", pass: set(last, "111"), fail: set(last, "11x")},
		},
		broken: []string{"list.firstSix.digits", "list.lastThree.digits"},
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
		cases: []ruleCase[bankAccountQuery]{
			{rule: "list.bsb.required", pass: set(bsb, "032002"), fail: set(bsb, "")},
			{rule: "list.bsb.ascii", pass: set(bsb, "032-002"), fail: set(bsb, "032–002")}, // an en dash
			{rule: "list.accountNumber.digits", pass: set(number, "111110"), fail: set(number, "11111")},
			{rule: "list.accountNumber.digits", pass: set(number, "000000000"), fail: set(number, "0000000000")},
			{rule: "list.accountNumber.digits", pass: set(number, "999994"), fail: set(number, "99999x")},
		},
		broken: []string{"list.bsb.required", "list.accountNumber.digits"},
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
		cases: []ruleCase[nzBankAccountQuery]{
			{rule: "list.bankCode.digits", pass: set(bank, "00"), fail: set(bank, "0")},
			{rule: "list.bankCode.digits", pass: set(bank, "99"), fail: set(bank, "999")},
			{rule: "list.bankCode.digits", pass: set(bank, "12"), fail: set(bank, "1x")},
			{rule: "list.branchCode.digits", pass: set(branch, "0000"), fail: set(branch, "000")},
			{rule: "list.branchCode.digits", pass: set(branch, "9999"), fail: set(branch, "99999")},
			{rule: "list.branchCode.digits", pass: set(branch, "3405"), fail: set(branch, "340x")},
			{rule: "list.nzAccountNumber.digits", pass: set(number, "0000000"), fail: set(number, "000000")},
			{rule: "list.nzAccountNumber.digits", pass: set(number, "00000000"), fail: set(number, "000000000")},
			{rule: "list.nzAccountNumber.digits", pass: set(number, "0000001"), fail: set(number, "000000x")},
		},
		broken: []string{"list.bankCode.digits", "list.branchCode.digits", "list.nzAccountNumber.digits"},
	}
}

// suspendedListTable counts months from January 2000, in which TestRules lives.
func suspendedListTable() ruleTable[SuspendedParams] {
	code := func(p *SuspendedParams) *string { return &p.SupplierBusinessCode }
	month := func(p *SuspendedParams) *YearMonth { return &p.Month }
	return ruleTable[SuspendedParams]{
		send: reading((*TransactionsService).Suspended),
		wire: SuspendedParams{},
		valid: func() SuspendedParams {
			return SuspendedParams{SupplierBusinessCode: canaryBusiness, Month: YearMonth{1999, time.December}}
		},
		cases: []ruleCase[SuspendedParams]{
			{rule: "list.supplierBusinessCode.required", pass: set(code, "B"), fail: set(code, "")},
			{rule: "list.month.required", fail: set(month, YearMonth{})},
			{rule: "list.month.required", pass: set(month, YearMonth{1999, time.December}), fail: set(month, YearMonth{1999, 13})},
			{rule: "list.month.past", pass: set(month, YearMonth{1999, time.July}), fail: set(month, YearMonth{1999, time.June})},
			{rule: "list.month.future", pass: set(month, YearMonth{2000, time.January}), fail: set(month, YearMonth{2000, time.February})},
		},
		broken: []string{"list.supplierBusinessCode.required", "list.month.required"},
	}
}

func openPreauthListTable() ruleTable[OpenPreauthsParams] {
	month := func(p *OpenPreauthsParams) *YearMonth { return &p.Month }
	return ruleTable[OpenPreauthsParams]{
		send:  reading((*TransactionsService).OpenPreauths),
		wire:  OpenPreauthsParams{},
		valid: func() OpenPreauthsParams { return OpenPreauthsParams{Month: YearMonth{2026, time.July}} },
		cases: []ruleCase[OpenPreauthsParams]{
			{rule: "list.month.required", pass: set(month, YearMonth{1, time.January}), fail: set(month, YearMonth{})},
			{rule: "list.month.required", pass: set(month, YearMonth{9999, time.December}), fail: set(month, YearMonth{9999, 13})},
			{rule: "list.month.required", pass: set(month, YearMonth{9999, time.January}), fail: set(month, YearMonth{10000, time.January})},
			{rule: "list.month.required", pass: set(month, YearMonth{2026, time.January}), fail: set(month, YearMonth{2026, 0})},
		},
		broken: []string{"list.month.required"},
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
		broken: []string{"list.date.required"},
	}
}

func transactionReportTable() ruleTable[ReportParams] {
	type params = ReportParams
	version := func(p *params) *ReportVersion { return &p.Version }
	date := func(p *params) *Date { return &p.SettlementDate }
	status := func(p *params) *TransactionStatus { return &p.TransactionStatus }
	sources := func(p *params) *[]string { return &p.Sources }
	columns := func(p *params) *[]string { return &p.Columns }
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) error {
			_, err := c.Transactions.DownloadReport(context.Background(), io.Discard, p, opts...)
			return err
		},
		wire:  ReportParams{},
		valid: func() params { return params{SettlementDate: Date{2026, time.July, 1}} },
		cases: []ruleCase[params]{
			{rule: "report.version", pass: set(version, ReportVersion1), fail: set(version, "0")},
			{rule: "report.version", pass: set(version, ReportVersion2), fail: set(version, "3")},
			{rule: "report.settlementDate.required", pass: set(date, Date{2028, time.February, 29}), fail: set(date, Date{2027, time.February, 29})},
			{rule: "report.settlementDate.required", pass: set(date, Date{9999, time.December, 31}), fail: set(date, Date{})},
			{rule: "report.transactionStatus", pass: set(status, TransactionStatusApproved), fail: set(status, TransactionStatusPending)},
			{rule: "report.transactionStatus", pass: set(status, TransactionStatusDeclined), fail: set(status, "approved")},
			{rule: "report.source.elements", pass: set(sources, []string{"RESTAPI", "NEW"}), fail: set(sources, []string{"RESTAPI,NEW"})},
			{rule: "report.source.elements", pass: set(sources, []string{}), fail: set(sources, []string{"RESTAPI", ""})},
			{rule: "report.columns.elements", pass: set(columns, []string{"receiptNumber", "metadata_basket"}), fail: set(columns, []string{"a,b"})},
			{rule: "report.columns.elements", pass: set(columns, nil), fail: set(columns, []string{""})},
		},
		worst:  params{Version: "3", TransactionStatus: "?", Sources: []string{","}, Columns: []string{","}},
		broken: []string{"report.version", "report.settlementDate.required", "report.transactionStatus", "report.source.elements", "report.columns.elements"},
	}
}

// TestSuspendedMonthTurnsInSydney goes to the hours at the end of a month in
// which it depends on daylight saving whether the next has begun in Sydney. Both
// months are let through then.
func TestSuspendedMonthTurnsInSydney(t *testing.T) {
	for _, now := range []struct {
		before time.Duration // the end of January 2000 in UTC
		broken map[time.Month][]string
	}{
		{11*time.Hour + time.Second, map[time.Month][]string{
			time.July: nil, time.February: {"list.month.future"},
		}},
		{10*time.Hour + 30*time.Minute, map[time.Month][]string{
			time.July: nil, time.February: nil,
		}},
		{10 * time.Hour, map[time.Month][]string{
			time.July: {"list.month.past"}, time.February: nil,
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			<-time.After(time.Until(time.Date(2000, time.February, 1, 0, 0, 0, 0, time.UTC).Add(-now.before)))
			for month, want := range now.broken {
				year := 2000
				if month == time.July {
					year = 1999
				}
				got := suspendedListTable().breaks(SuspendedParams{canaryBusiness, YearMonth{year, month}})
				assert.Equal(t, want, got, "%s %d, %s before the end of January", month, year, now.before)
			}
		})
	}
}
