package quickstream

import (
	"context"
	"io"
	"slices"
	"time"
)

// itself is the query of a list that takes one value.
func itself[T any](query *T) *T { return query }

// at is one value of a query that has several.
func at(i int) func(*[3]string) *string {
	return func(query *[3]string) *string { return &query[i] }
}

func referenceQueryTable() ruleTable[string] {
	return ruleTable[string]{
		send:      reading((*TransactionsService).ByReference),
		elsewhere: []string{"referenceNumber"},
		valid:     func() string { return canaryReference },
		cases: []ruleCase[string]{
			{rule: "list.referenceNumber.required", pass: set(itself, " "), fail: set(itself, "")},
			{rule: "list.referenceNumber.ascii", pass: set(itself, "a\tb\x7f"), fail: set(itself, "é")},
			{rule: "list.referenceNumber.ascii", pass: set(itself, "~"), fail: set(itself, "\u0080")},
		},
	}
}

func settlementDateQueryTable() ruleTable[Date] {
	return ruleTable[Date]{
		send:      reading((*TransactionsService).BySettlementDate),
		elsewhere: []string{"settlementDate"},
		valid:     func() Date { return Date{2026, time.July, 1} },
		cases: []ruleCase[Date]{
			{rule: "list.settlementDate.required", pass: set(itself, Date{2028, time.February, 29}), fail: set(itself, Date{2027, time.February, 29})},
			{rule: "list.settlementDate.required", pass: set(itself, Date{9999, time.December, 31}), fail: set(itself, Date{})},
		},
	}
}

func accountTokenQueryTable() ruleTable[string] {
	return ruleTable[string]{
		send:      reading((*TransactionsService).ByAccount),
		elsewhere: []string{"accountToken"},
		valid:     func() string { return canaryToken },
		cases: []ruleCase[string]{
			{rule: "list.accountToken.required", pass: set(itself, "1"), fail: set(itself, "")},
			{rule: "list.accountToken.ascii", pass: set(itself, "a\tb"), fail: set(itself, "é")},
		},
	}
}

func creditCardQueryTable() ruleTable[[3]string] {
	return ruleTable[[3]string]{
		send: reading(func(s *TransactionsService, q [3]string, opts ...CallOption) List[Transaction] {
			return s.ByCreditCard(q[0], q[1], opts...)
		}),
		elsewhere: []string{"firstSix", "lastThree"},
		valid:     func() [3]string { return [3]string{"424242", "242"} },
		cases:     slices.Concat(digitRows("list.firstSix.digits", 6, 6, at(0)), digitRows("list.lastThree.digits", 3, 3, at(1))),
	}
}

func bankAccountQueryTable() ruleTable[[3]string] {
	return ruleTable[[3]string]{
		send: reading(func(s *TransactionsService, q [3]string, opts ...CallOption) List[Transaction] {
			return s.ByBankAccount(q[0], NewSecret(q[1]), opts...)
		}),
		elsewhere: []string{"bsb", "accountNumber"},
		valid:     func() [3]string { return [3]string{"032-002", canaryAccount} },
		cases: append(
			digitRows("list.accountNumber.digits", 6, 9, at(1)),
			ruleCase[[3]string]{rule: "list.bsb.required", pass: set(at(0), "032002"), fail: set(at(0), "")},
			ruleCase[[3]string]{rule: "list.bsb.ascii", pass: set(at(0), "032-002"), fail: set(at(0), "032–002")}, // an en dash
		),
	}
}

func nzBankAccountQueryTable() ruleTable[[3]string] {
	return ruleTable[[3]string]{
		send: reading(func(s *TransactionsService, q [3]string, opts ...CallOption) List[Transaction] {
			return s.ByNZBankAccount(q[0], q[1], NewSecret(q[2]), opts...)
		}),
		elsewhere: []string{"bankCode", "branchCode", "accountNumber"},
		valid:     func() [3]string { return [3]string{"12", "3405", canaryNZAccount} },
		cases: slices.Concat(
			digitRows("list.bankCode.digits", 2, 2, at(0)), digitRows("list.branchCode.digits", 4, 4, at(1)),
			digitRows("list.nzAccountNumber.digits", 7, 8, at(2)),
		),
	}
}

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
