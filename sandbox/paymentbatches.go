package sandbox

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// batch is the payments of a file that are of one kind, business and currency.
type batch struct {
	id       string
	file     *paymentFile
	kind     string // account type
	shop     *business
	currency string
	payments []*transaction // in the order of the file
}

func (t *batch) total() (sum cents) {
	for _, tx := range t.payments {
		sum += tx.principal
	}
	return sum
}

// batchBody is the sandbox's own; no source names a member.
type batchBody struct {
	Links        []link     `json:"links"`
	ID           string     `json:"paymentBatchId"`
	FileID       string     `json:"paymentFileId"`
	AccountType  string     `json:"accountType"`
	BusinessCode string     `json:"supplierBusinessCode"`
	Count        int        `json:"numberOfTransactions"`
	Total        amountBody `json:"totalAmount"`
}

func (c *call) batchBody(t *batch) any {
	return batchBody{
		Links: c.related(
			get("self", c.href("payment-batches", t.id)),
			get("transactions", c.href("payment-batches", t.id, "transactions")),
		),
		ID: t.id, FileID: t.file.id, AccountType: t.kind, BusinessCode: t.shop.code,
		Count: len(t.payments), Total: amountOf(t.currency, t.total()),
	}
}

// payLine makes a payment of a file, and puts it into the batch where it belongs.
// The caller holds mu.
func (b *Sandbox) payLine(f *paymentFile, tx *transaction) {
	outcome := b.accountOutcome(tx.source, tx.created)
	if tx.source.payTo != nil {
		b.payByAgreement(b.background(), tx, &payToDetails{}, outcome)
	} else {
		b.commit(tx, outcome)
	}
	at := slices.IndexFunc(f.batches, func(t *batch) bool {
		return t.kind == tx.source.accountType() && t.shop == tx.shop && t.currency == tx.currency
	})
	if at < 0 {
		t := &batch{file: f, kind: tx.source.accountType(), shop: tx.shop, currency: tx.currency}
		for t.id == "" || b.files.batches[t.id] != nil {
			t.id = randomDigits(b.ids, 9)
		}
		b.files.batches[t.id] = t
		f.batches = append(f.batches, t)
		at = len(f.batches) - 1
	}
	f.batches[at].payments = append(f.batches[at].payments, tx)
}

func (b *Sandbox) getBatch(c *call) answer {
	t := b.files.batches[c.params["id"]]
	if t == nil {
		return c.notFound("payment batch")
	}
	return reply(http.StatusOK, c.batchBody(t))
}

// transactionsOfBatch takes the code to be a summaryCode. It knows 404 and no
// 422.
func (b *Sandbox) transactionsOfBatch(c *call) answer {
	t := b.files.batches[c.params["id"]]
	q := c.parameters()
	code := q.text("status", oneOf("0", "1", "2", "3"))
	if t == nil || !q.valid() {
		return c.notFound("payment batch or status")
	}
	found := slices.DeleteFunc(slices.Clone(t.payments), func(tx *transaction) bool {
		return !b.visible(tx, c.now) || code != "" && b.summaryCode(tx) != code
	})
	return b.pagesOf(c, found)
}

func (f *paymentFile) payments() (all []*transaction) {
	for _, t := range f.batches {
		all = append(all, t.payments...)
	}
	return all
}

// asCSV has the columns of the vendor's public response reports: for CSV2 those
// of them that are public, for other formats all of the older report.
func (f *paymentFile) asCSV(b *Sandbox) (string, bool) {
	headings := "Transaction Number,Date,Receipt Number,Merchant ID,Account Number,Customer Number,Amount,Response Code,Response Description"
	row := func(i int, tx *transaction) []string {
		return []string{
			fmt.Sprint(i + 1), reformatDate(tx.settlement, "02 Jan 2006"), tx.receipt, merchantID(tx), b.maskedSource(tx),
			tx.customerReference, tx.total().String(), tx.code, describe(tx),
		}
	}
	if f.format == "CSV2" {
		headings = "Supplier Business Code,Transaction Type,Currency,Amount,Customer Reference Number,Payment Reference Number,Receipt Number,Settlement Date"
		row = func(_ int, tx *transaction) []string {
			return []string{
				tx.shop.code, tx.kind, tx.currency, tx.total().String(), tx.customerReference, tx.paymentReference,
				tx.receipt, reformatDate(tx.settlement, "02-01-2006"),
			}
		}
	}
	out := []byte(headings)
	for i, tx := range f.payments() {
		out = append(out, "\r\n"...)
		for j, text := range row(i, tx) {
			out = appendField(out, j, text)
		}
	}
	return string(out), true
}

// asFlatFile is one line of fixed width for each payment; its layout is the
// sandbox's own.
func (f *paymentFile) asFlatFile(*Sandbox) (string, bool) {
	return flatLines(f.payments()), true
}

// asRejects is the lines of the payments that failed, for the MTS formats.
func (f *paymentFile) asRejects(*Sandbox) (string, bool) {
	failed := slices.DeleteFunc(f.payments(), (*transaction).counts)
	return flatLines(failed), strings.HasPrefix(f.format, "MTS")
}

func flatLines(payments []*transaction) string {
	lines := make([]string, 0, len(payments))
	for _, tx := range payments {
		lines = append(lines, fmt.Sprintf("%-10s%-20.20s%012d%s%-4s%s", tx.receipt, tx.customerReference, tx.total(), tx.currency, tx.code,
			reformatDate(tx.settlement, "20060102")))
	}
	return strings.Join(lines, "\r\n")
}

func merchantID(tx *transaction) string { return "SANDBOX" + tx.currency }
