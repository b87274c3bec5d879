package sandbox

import (
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (b *Sandbox) reportOperations() []operation {
	return []operation{{id: "GET /transactions/csv", handle: b.transactionReport}}
}

// report is a CSV report that was asked for. It is made once, and holds what was
// there at that time.
type report struct {
	ready   time.Time
	content []byte // nil until somebody fetches it
}

// reportQuery is what a report is to hold.
type reportQuery struct {
	version, date, status, business string
	sources                         []string
	excludePreauths                 bool
	columns                         []reportColumn
}

const plainText = "text/plain"

func (b *Sandbox) transactionReport(c *call) answer {
	if !acceptsOnlyText(c.header) {
		return c.problem(http.StatusNotAcceptable, "Accept must be text/plain or absent.")
	}
	query, ok := b.readReportQuery(c)
	if !ok {
		return c.invalid()
	}
	key := c.query.Encode()
	r := b.reports[key]
	if r == nil || c.now.After(r.ready.Add(reportKept)) {
		r = &report{ready: c.now.Add(b.assume.ReportGeneration)}
		b.reports[key] = r
	}
	if c.now.Before(r.ready) {
		pending := answer{status: http.StatusAccepted}.with("Content-Type", plainText+";charset=UTF-8")
		if b.assume.ReportPendingText {
			pending.raw = []byte("The report is being generated. Try again in one minute.")
		}
		return pending
	}
	if r.content == nil {
		r.content = b.writeReport(query, c.now)
	}
	return answer{status: http.StatusOK, raw: r.content}.
		with("Content-Type", plainText+";charset=UTF-8").
		with("Content-Disposition", `attachment; filename="transactions-`+query.date+`.csv"`)
}

// acceptsOnlyText reports a request that names text/plain or nothing at all.
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

func (b *Sandbox) readReportQuery(c *call) (reportQuery, bool) {
	q := c.parameters()
	r := reportQuery{
		version:  q.need("version", oneOf("1", "2")),
		date:     q.need("settlementDate", dateForm),
		status:   q.text("transactionStatus", oneOf("Approved", "Declined")),
		business: q.text("supplierBusinessCode", b.knownBusiness),
	}
	r.excludePreauths = q.text("excludePreAuths", oneOf("true", "false")) == "true"
	if codes := q.text("source", elements); codes != "" {
		r.sources = strings.Split(codes, ",")
	}
	r.columns = b.reportLayout(r.version)
	if names := q.text("columns", elements); names != "" {
		var unknown string
		if r.columns, unknown = pickColumns(r.columns, strings.Split(names, ",")); unknown != "" {
			c.refuse("columns", unknown, "names a column twice or one that version "+r.version+" does not have")
		}
	}
	return r, q.valid()
}

func elements(s string) string {
	if slices.Contains(strings.Split(s, ","), "") {
		return "must be values joined by commas"
	}
	return ""
}

// holds reports whether a transaction belongs into the report.
func (r reportQuery) holds(b *Sandbox, tx *transaction) bool {
	return tx.settlement == r.date &&
		(r.business == "" || r.business == tx.shop.code) &&
		(r.status == "" || r.status == strings.TrimSuffix(b.status(tx), "*")) &&
		(r.sources == nil || slices.Contains(r.sources, b.sourceOf(tx)) || tx.via == "" && slices.Contains(r.sources, sourceREST)) &&
		(!r.excludePreauths || tx.kind != typePreauth && tx.kind != typeCancellation)
}

// writeReport makes a report of what reads can see, oldest first: a header
// record, and CR LF between records but not after the last.
func (b *Sandbox) writeReport(r reportQuery, now time.Time) []byte {
	var out []byte
	for i, col := range r.columns {
		out = appendField(out, i, col.heading)
	}
	for _, tx := range b.transactions.ordered {
		if !b.visible(tx, now) || !r.holds(b, tx) {
			continue
		}
		out = append(out, "\r\n"...)
		for i, col := range r.columns {
			out = appendField(out, i, col.value(tx))
		}
	}
	return out
}

// appendField quotes where the text needs it, and doubles inner quotes.
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
