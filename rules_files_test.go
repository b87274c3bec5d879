package quickstream

import (
	"strings"
	"time"
)

func transactionReportTable() ruleTable[TransactionReportParams] {
	type params = TransactionReportParams
	version := func(p *params) *ReportVersion { return &p.Version }
	date := func(p *params) *Date { return &p.SettlementDate }
	status := func(p *params) *TransactionStatus { return &p.TransactionStatus }
	sources := func(p *params) *[]string { return &p.Sources }
	columns := func(p *params) *[]string { return &p.Columns }
	return ruleTable[params]{
		rules: transactionReportRules,
		wire:  TransactionReportParams{},
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

func paymentFileUploadTable() ruleTable[PaymentFileUploadParams] {
	type params = PaymentFileUploadParams
	name := func(p *params) *string { return &p.FileName }
	size := func(p *params) *int64 { return &p.Size }
	cases := []ruleCase[params]{
		{rule: "paymentFile.fileName", pass: set(name, ascii(255)), fail: set(name, ascii(256))},
		{rule: "paymentFile.fileName", pass: set(name, "a b.csv"), fail: set(name, "")},
		{rule: "paymentFile.format.required", pass: func(p *params) { p.Format = "NEW" }, fail: func(p *params) { p.Format = "" }},
		{rule: "paymentFile.content.required", fail: func(p *params) { p.Content = nil }},
		{rule: "paymentFile.size.positive", pass: set(size, 1), fail: set(size, 0)},
		{rule: "paymentFile.size.positive", pass: set(size, 1), fail: set(size, -1)},
	}
	for _, bad := range []string{".", "..", "a/b", `a\b`, `a"b`, "é", "a\nb", "a\x7f"} {
		cases = append(cases, ruleCase[params]{rule: "paymentFile.fileName", pass: set(name, "..."), fail: set(name, bad)})
	}
	return ruleTable[params]{
		rules: paymentFileUploadRules,
		wire: struct {
			File   string `json:"file"`
			Format string `json:"format"`
		}{},
		valid: func() params {
			return params{FileName: "payments-1.csv", Format: PaymentFileFormatCSV2, Content: strings.NewReader("H"), Size: 1}
		},
		cases:  cases,
		broken: []string{"paymentFile.fileName", "paymentFile.format.required", "paymentFile.content.required", "paymentFile.size.positive"},
	}
}
