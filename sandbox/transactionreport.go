package sandbox

import (
	"cmp"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

const (
	reportKept       = time.Hour // a report of today does not show what has happened since
	reportDateLayout = "02-Jan-2006"
	reportTimeLayout = "02-Jan-2006 15:04:05"
)

// The headings of the transaction report's columns, as the sandbox writes them. The service publishes
// only the first four of version 1 and the first of version 2: take those of your facility from a
// report of your own.
const (
	ReportCommunityCode           = "Community Code"         // version 1
	ReportBusinessCode            = "Business Code"          // version 1
	ReportBusinessName            = "Business Name"          // version 1
	ReportSupplierBusinessCode    = "Supplier Business Code" // version 2
	ReportSupplierBusinessName    = "Supplier Business Name" // version 2
	ReportSource                  = "Source"
	ReportReceiptNumber           = "Receipt Number"
	ReportTransactionType         = "Transaction Type"
	ReportOriginalReceiptNumber   = "Original Receipt Number"
	ReportStatus                  = "Status"
	ReportSummaryCode             = "Summary Code"
	ReportResponseCode            = "Response Code"
	ReportResponseDescription     = "Response Description"
	ReportSettlementDate          = "Settlement Date"
	ReportTransactionTime         = "Transaction Time"
	ReportCurrency                = "Currency"
	ReportPrincipalAmount         = "Principal Amount"
	ReportSurchargeAmount         = "Surcharge Amount"
	ReportTotalAmount             = "Total Amount"
	ReportCustomerReferenceNumber = "Customer Reference Number"
	ReportPaymentReferenceNumber  = "Payment Reference Number"
	ReportComment                 = "Comment"
	ReportAccountType             = "Account Type"
	ReportAccountNumber           = "Account Number"
	ReportCardScheme              = "Card Scheme"
)

func (b *Sandbox) reportOperations() []operation {
	query := []parameter{
		may("version", oneOf("1", "2")), need("settlementDate", dateForm), may("transactionStatus", oneOf("Approved", "Declined")),
		may("supplierBusinessCode", b.knownBusiness), may("source", elements), may("excludePreAuths", oneOf("true", "false")), may("columns", elements),
	}
	return []operation{{id: "GET /transactions/csv", query: query, handle: b.transactionReport}}
}

// report is a CSV report. It is made once and does not change.
type report struct {
	ready   time.Time
	content []byte // nil until it is fetched
}

const plainText = "text/plain"

func (b *Sandbox) transactionReport(c *call) answer {
	if !acceptsOnlyText(c.header) {
		return c.problem(http.StatusNotAcceptable, "Accept must be text/plain or absent.")
	}
	columns := b.reportLayout(cmp.Or(c.query.Get("version"), "2"))
	if names := c.query.Get("columns"); names != "" {
		var unknown string
		if columns, unknown = pickColumns(columns, strings.Split(names, ",")); unknown != "" {
			c.refuse("columns", unknown, "names a column twice or one that the version does not have")
			return c.invalid()
		}
	}
	key := c.query.Encode()
	r := b.reports[key]
	if r == nil || c.now.After(r.ready.Add(reportKept)) {
		r = &report{ready: c.now.Add(b.assume.ReportGeneration)}
		b.reports[key] = r
	}
	if c.now.Before(r.ready) {
		pending := answer{status: http.StatusAccepted, raw: []byte("The report is being generated. Try again in one minute.")}
		return pending.with("Content-Type", plainText+";charset=UTF-8")
	}
	if r.content == nil {
		r.content = b.writeReport(c, columns)
	}
	return answer{status: http.StatusOK, raw: r.content}.
		with("Content-Type", plainText+";charset=UTF-8").
		with("Content-Disposition", `attachment; filename="transactions-`+c.query.Get("settlementDate")+`.csv"`)
}

// acceptsOnlyText reports a request that accepts text/plain only, or has no Accept header.
func acceptsOnlyText(h http.Header) bool {
	for _, line := range h.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			if kind, _, err := mime.ParseMediaType(one); err != nil || kind != plainText {
				return false
			}
		}
	}
	return true
}

func elements(s string) string {
	if slices.Contains(strings.Split(s, ","), "") {
		return "must be values joined by commas"
	}
	return ""
}

// inReport reports whether a transaction belongs to the report that a query asks for.
func (b *Sandbox) inReport(q url.Values, tx *transaction) bool {
	status, codes := q.Get("transactionStatus"), q.Get("source")
	sources := strings.Split(codes, ",")
	return tx.settlement == q.Get("settlementDate") && tx.soldBy(q) &&
		(status == "" || status == strings.TrimSuffix(b.status(tx), "*")) &&
		(codes == "" || slices.Contains(sources, b.sourceOf(tx)) || tx.via == "" && slices.Contains(sources, sourceREST)) &&
		(q.Get("excludePreAuths") != "true" || tx.kind != typePreauth && tx.kind != typeCancellation)
}

// writeReport writes the transactions that reads find, oldest first: a header record, and CR
// LF between records but not after the last.
func (b *Sandbox) writeReport(c *call, columns []reportColumn) []byte {
	var out []byte
	for i, col := range columns {
		out = appendField(out, i, col.heading)
	}
	for _, tx := range b.transactions.ordered {
		if !b.visible(tx, c.now) || !b.inReport(c.query, tx) {
			continue
		}
		out = append(out, "\r\n"...)
		for i, col := range columns {
			out = appendField(out, i, col.value(tx))
		}
	}
	return out
}

// appendField appends a field, with quotes if the text needs them.
func appendField(out []byte, i int, text string) []byte {
	if i > 0 {
		out = append(out, ',')
	}
	if !strings.ContainsAny(text, ",\"\r\n") {
		return append(out, text...)
	}
	out = append(out, '"')
	out = append(out, strings.ReplaceAll(text, `"`, `""`)...)
	return append(out, '"')
}

// reportColumn is one column of the transaction report.
type reportColumn struct {
	heading string
	value   func(*transaction) string
}

const metadataColumn = "metadata_"

// reportLayout returns the columns of a version. Only the four of version 1 and the first of
// version 2 are public. The others are the sandbox's own. One is not in any description,
// because the service adds columns from time to time.
func (b *Sandbox) reportLayout(version string) []reportColumn {
	first := []reportColumn{
		{ReportCommunityCode, func(*transaction) string { return communityCode }},
		{ReportBusinessCode, func(tx *transaction) string { return tx.shop.code }},
		{ReportBusinessName, func(tx *transaction) string { return tx.shop.name }},
		{ReportSource, b.sourceOf},
	}
	if version == "2" {
		first = []reportColumn{
			{ReportSupplierBusinessCode, func(tx *transaction) string { return tx.shop.code }},
			{ReportSupplierBusinessName, func(tx *transaction) string { return tx.shop.name }},
			{ReportSource, b.sourceOf},
		}
	}
	if b.addsMembers() {
		first = append(first, reportColumn{"Added Later", func(*transaction) string { return `a "new" column` }})
	}
	return append(first, []reportColumn{
		{ReportReceiptNumber, receiptOf},
		{ReportTransactionType, func(tx *transaction) string { return tx.kind }},
		{ReportOriginalReceiptNumber, func(tx *transaction) string { return tx.originalReceipt }},
		{ReportStatus, b.status},
		{ReportSummaryCode, b.summaryCode},
		{ReportResponseCode, func(tx *transaction) string { return tx.code }},
		{ReportResponseDescription, describe},
		{ReportSettlementDate, b.reportDate},
		{ReportTransactionTime, func(tx *transaction) string { return calendar.Sydney(tx.created).Format(reportTimeLayout) }},
		{ReportCurrency, func(tx *transaction) string { return tx.currency }},
		{ReportPrincipalAmount, func(tx *transaction) string { return paid(tx, tx.principal) }},
		{ReportSurchargeAmount, func(tx *transaction) string { return paid(tx, tx.surcharge) }},
		{ReportTotalAmount, func(tx *transaction) string { return paid(tx, tx.total()) }},
		{ReportCustomerReferenceNumber, func(tx *transaction) string { return tx.customerReference }},
		{ReportPaymentReferenceNumber, func(tx *transaction) string { return tx.paymentReference }},
		{ReportComment, func(tx *transaction) string { return tx.comment }},
		{ReportAccountType, func(tx *transaction) string { return tx.source.accountType() }},
		{ReportAccountNumber, b.maskedSource},
		{ReportCardScheme, func(tx *transaction) string {
			if tx.source.card == nil {
				return ""
			}
			return tx.source.card.scheme
		}},
	}...)
}

// paid returns an amount of a transaction, zero if it was voided: it is in no settlement total.
func paid(tx *transaction, amount cents) string {
	if tx.result == resultVoided {
		amount = 0
	}
	return amount.String()
}

// pickColumns returns the columns with the headings, or the heading that is not a column.
func pickColumns(layout []reportColumn, headings []string) (picked []reportColumn, unknown string) {
	for i, heading := range headings {
		at := slices.IndexFunc(layout, func(col reportColumn) bool { return col.heading == heading })
		key, isMetadata := strings.CutPrefix(heading, metadataColumn)
		switch {
		case slices.Contains(headings[:i], heading):
			return nil, heading
		case at >= 0:
			picked = append(picked, layout[at])
		case isMetadata && key != "":
			picked = append(picked, reportColumn{heading, func(tx *transaction) string { return tx.metadata[key] }})
		default:
			return nil, heading
		}
	}
	return picked, ""
}

func (b *Sandbox) reportDate(tx *transaction) string {
	return dateIn(tx.settlement, reportDateLayout)
}

// maskedSource returns the masked account of a transaction.
func (b *Sandbox) maskedSource(tx *transaction) string {
	switch {
	case tx.source.card != nil:
		return tx.source.card.firstSixLastThree()
	case tx.source.bank != nil:
		return maskedAccount(tx.source.bank.bsb, tx.source.bank.number)
	case tx.source.nz != nil:
		return tx.source.nz.masked()
	default:
		return tx.source.payTo.payer.maskedAccount
	}
}
