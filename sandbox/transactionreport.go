package sandbox

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

const (
	reportKept       = time.Hour // until then a report of today does not show newer transactions
	reportDateLayout = "02-Jan-2006"
	reportTimeLayout = "02-Jan-2006 15:04:05"
)

// report is a CSV report. It is made once and does not change.
type report struct {
	ready   time.Time
	content []byte // nil until it is fetched
}

const plainText = "text/plain"

func (b *Sandbox) transactionReport(c *call) answer {
	if accept := c.header.Get("Accept"); accept != "" && accept != plainText {
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
		maps.DeleteFunc(b.reports, func(_ string, old *report) bool { return c.now.After(old.ready.Add(reportKept)) })
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

func (b *Sandbox) inReport(q url.Values, tx *transaction) bool {
	status, codes := q.Get("transactionStatus"), q.Get("source")
	sources := strings.Split(codes, ",")
	return tx.settlement == q.Get("settlementDate") && tx.soldBy(q) &&
		(status == "" || status == strings.TrimSuffix(b.status(tx), "*")) &&
		(codes == "" || slices.Contains(sources, b.sourceOf(tx)) || tx.via == "" && slices.Contains(sources, sourceREST)) &&
		(q.Get("excludePreAuths") != "true" || tx.Type != typePreauth && tx.Type != typeCancellation)
}

// writeReport writes the transactions that reads find, oldest first.
func (b *Sandbox) writeReport(c *call, columns []reportColumn) []byte {
	row := func(field func(reportColumn) string) (fields []string) {
		for _, col := range columns {
			fields = append(fields, field(col))
		}
		return fields
	}
	records := [][]string{row(func(col reportColumn) string { return col.heading })}
	for _, tx := range b.transactions.ordered {
		if b.visible(tx.Time, c.now) && b.inReport(c.query, tx) {
			records = append(records, row(func(col reportColumn) string { return col.value(tx) }))
		}
	}
	return asCSV(records)
}

// asCSV has CR LF between records but not after the last.
func asCSV(records [][]string) []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	_ = w.WriteAll(records) // to memory
	return bytes.TrimSuffix(out.Bytes(), []byte("\r\n"))
}

type reportColumn struct {
	heading string
	value   func(*transaction) string
}

const metadataColumn = "metadata_"

// reportLayout returns the columns of a version. Only the first four of version 1 and the first of version 2
// are public. UnknownMembers new adds another one, because the service adds columns from time to time.
func (b *Sandbox) reportLayout(version string) []reportColumn {
	var first []reportColumn
	business := "Supplier Business"
	if version == "1" {
		business = "Business"
		first = append(first, reportColumn{"Community Code", func(*transaction) string { return communityCode }})
	}
	first = append(first,
		reportColumn{business + " Code", func(tx *transaction) string { return tx.shop.code }},
		reportColumn{business + " Name", func(tx *transaction) string { return tx.shop.name }},
		reportColumn{"Source", b.sourceOf})
	if b.addsMembers() {
		first = append(first, reportColumn{"Added Later", func(*transaction) string { return `a "new" column` }})
	}
	return append(first, []reportColumn{
		{"Receipt Number", func(tx *transaction) string { return tx.ReceiptNumber }},
		{"Transaction Type", func(tx *transaction) string { return tx.Type }},
		{"Original Receipt Number", func(tx *transaction) string { return tx.OriginalReceiptNumber }},
		{"Status", b.status},
		{"Summary Code", b.summaryCode},
		{"Response Code", func(tx *transaction) string { return tx.code }},
		{"Response Description", describe},
		{"Settlement Date", func(tx *transaction) string { return dateIn(tx.settlement, reportDateLayout) }},
		{"Transaction Time", func(tx *transaction) string { return calendar.Sydney(tx.Time).Format(reportTimeLayout) }},
		{"Currency", func(tx *transaction) string { return tx.Currency }},
		{"Principal Amount", func(tx *transaction) string { return paid(tx, tx.principal) }},
		{"Surcharge Amount", func(tx *transaction) string { return paid(tx, tx.surcharge) }},
		{"Total Amount", func(tx *transaction) string { return paid(tx, tx.total()) }},
		{"Customer Reference Number", func(tx *transaction) string { return tx.CustomerReferenceNumber }},
		{"Payment Reference Number", func(tx *transaction) string { return tx.PaymentReferenceNumber }},
		{"Comment", func(tx *transaction) string { return tx.comment }},
		{"Account Type", func(tx *transaction) string { return tx.source.accountType() }},
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
			picked = append(picked, reportColumn{heading, func(tx *transaction) string { return tx.Metadata[key] }})
		default:
			return nil, heading
		}
	}
	return picked, ""
}
