package quickstream

import (
	"context"
	"strings"
)

func paymentFileUploadTable() ruleTable[UploadPaymentFileParams] {
	type params = UploadPaymentFileParams
	name := func(p *params) *string { return &p.FileName }
	size := func(p *params) *int64 { return &p.Size }
	cases := []ruleCase[params]{
		{rule: "paymentFile.fileName", pass: set(name, ascii(256)), fail: set(name, "")},
		{rule: "paymentFile.fileName", pass: set(name, "a b.csv"), fail: set(name, "a\rb")},
		{rule: "paymentFile.fileName", pass: set(name, `"löhne" 7月.csv`), fail: set(name, "a\x00")},
		{rule: "paymentFile.format.required", pass: func(p *params) { p.Format = "NEW" }, fail: func(p *params) { p.Format = "" }},
		{rule: "paymentFile.content.required", fail: func(p *params) { p.Content = nil }},
		{rule: "paymentFile.size.positive", pass: set(size, 1), fail: set(size, 0)},
		{rule: "paymentFile.size.positive", pass: set(size, 1), fail: set(size, -1)},
	}
	for _, bad := range []string{".", "..", "a/b", `a\b`, "../a.csv", "a\"\r\nX-Evil: 1\r\nX: \"", "é\xff", "a\nb", "a\x7f", "a\u0085"} {
		cases = append(cases, ruleCase[params]{rule: "paymentFile.fileName", pass: set(name, "..."), fail: set(name, bad)})
	}
	return ruleTable[params]{
		send: func(c *Client, p params, opts ...CallOption) (any, error) {
			return c.PaymentFiles.Upload(context.Background(), p, opts...)
		},
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
