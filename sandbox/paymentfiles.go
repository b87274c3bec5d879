package sandbox

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	fileQueuedFor    = time.Minute
	fileProcessedFor = 2 * time.Minute
	fileClearedAfter = 72 * time.Hour // of files with bank accounts
)

// The states of a payment file.
const (
	fileQueued     = "QUEUED"
	fileProcessing = "PROCESSING"
	fileClearing   = "AWAITING_CLEARANCE"
	fileComplete   = "COMPLETE"
	fileFaulty     = "ERROR"
)

type paymentFile struct {
	id, name, format string
	status           string
	content          []byte // until it is processed
	batches          []*batch
}

// fileBody has only the two members that are public.
func (c *call) fileBody(f *paymentFile) object {
	return object{"links": c.links(get("self", c.href("payment-files", f.id))), "paymentFileId": f.id, "status": f.status}
}

func (b *Sandbox) uploadFile(c *call) answer {
	if c.header.Get("Prevent-CSRF") != "true" {
		return c.problem(http.StatusForbidden, "The header Prevent-CSRF: true is required.")
	}
	kind, params, err := mime.ParseMediaType(c.header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" || params["boundary"] == "" {
		return c.problem(http.StatusUnsupportedMediaType, "The Content-Type must be multipart/form-data.")
	}
	f, err := c.readUpload(params["boundary"])
	if err != nil {
		return c.problem(http.StatusBadRequest, "The body is not a well-formed form.")
	}
	if f.name != "" && b.files.first(func(known *paymentFile) bool { return known.name == f.name }) != nil {
		c.refuse("file", f.name, "a file with this name has been uploaded before")
	}
	if len(c.findings) > 0 {
		return c.invalid()
	}
	f.id = newID(b.ids, b.files.byID, 8)
	f.status = fileQueued
	b.files.add(f.id, f)
	b.after(fileQueuedFor, func() {
		f.status = fileProcessing
		b.after(fileProcessedFor, func() { b.process(f) })
	})
	return reply(http.StatusCreated, c.fileBody(f))
}

func (c *call) readUpload(boundary string) (*paymentFile, error) {
	f, form := &paymentFile{}, multipart.NewReader(bytes.NewReader(c.body), boundary)
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		switch name := part.FormName(); name {
		case "file":
			f.name, f.content = part.FileName(), content
		case "format":
			f.format += string(content) // two formats joined match none of those below
		default:
			c.refuse(name, "", "is not a part of this form")
		}
	}
	if f.name == "" {
		c.refuse("file", "", "must be a file with a name")
	}
	c.judge("format", f.format, []check{oneOf("CSV2", "CSV", "CSV_TOKENS", "FLAT_FILE", "FLAT_FILE_TOKENS", "MTS", "MTS_TOKENS")})
	return f, nil
}

// process makes the payments of a file, or none if the file is faulty. The caller holds mu.
func (b *Sandbox) process(f *paymentFile) {
	payments, ok := b.readLines(f)
	f.content = nil
	if !ok {
		f.status = fileFaulty
		return
	}
	f.status = fileComplete
	for _, p := range payments {
		b.payLine(f, p)
		if p.source.card == nil {
			f.status = fileClearing
		}
	}
	if f.status == fileClearing {
		b.after(fileClearedAfter, func() { f.status = fileComplete })
	}
}

func (b *Sandbox) listFiles(c *call) answer {
	found := slices.Clone(b.files.ordered)
	slices.Reverse(found)
	return list(c, found, (*call).fileBody)
}

// fileReport answers with a report of the payments of a file that is complete; nil is none.
func (b *Sandbox) fileReport(payments func(*paymentFile) []*transaction) func(*call) answer {
	return found("payment file", named(&b.files, "id"), func(c *call, f *paymentFile) answer {
		listed := payments(f)
		switch {
		case f.status != fileComplete:
			return c.notFound("report yet")
		case listed == nil:
			return c.notFound("report of a file in this format")
		}
		return answer{status: http.StatusOK, raw: responseReport(listed)}.with("Content-Type", plainText+";charset=UTF-8")
	})
}

// batch is the payments of a file with the same kind of account, business and currency.
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

// batchBody is the sandbox's own: its members are not public.
func (c *call) batchBody(t *batch) object {
	return object{
		"links":          c.links(get("self", c.href("payment-batches", t.id))),
		"paymentBatchId": t.id, "paymentFileId": t.file.id, "accountType": t.kind, "supplierBusinessCode": t.shop.code,
		"numberOfTransactions": len(t.payments), "totalAmount": amountOf(t.currency, t.total()),
	}
}

// payLine makes one payment of a file and adds it to its batch. The caller holds mu.
func (b *Sandbox) payLine(f *paymentFile, tx *transaction) {
	b.commit(tx, b.accountOutcome(tx.source, tx.Time))
	at := slices.IndexFunc(f.batches, func(t *batch) bool {
		return t.kind == tx.source.accountType() && t.shop == tx.shop && t.currency == tx.Currency
	})
	if at < 0 {
		t := &batch{id: newID(b.ids, b.batches.byID, 9), file: f, kind: tx.source.accountType(), shop: tx.shop, currency: tx.Currency}
		b.batches.add(t.id, t)
		f.batches = append(f.batches, t)
		at = len(f.batches) - 1
	}
	f.batches[at].payments = append(f.batches[at].payments, tx)
}

// transactionsOfBatch takes the status to be a summaryCode. An invalid one is answered with
// 404 and not 422, as the contract lists.
func (b *Sandbox) transactionsOfBatch(c *call, t *batch) answer {
	code := c.query.Get("status")
	found := slices.DeleteFunc(slices.Clone(t.payments), func(tx *transaction) bool {
		return !b.visible(tx.Time, c.now) || code != "" && b.summaryCode(tx) != code
	})
	return b.pagesOf(c, found)
}

func (f *paymentFile) payments() []*transaction {
	all := []*transaction{}
	for _, t := range f.batches {
		all = append(all, t.payments...)
	}
	return all
}

// rejects are the payments that failed, for the MTS formats.
func (f *paymentFile) rejects() []*transaction {
	if !strings.HasPrefix(f.format, "MTS") {
		return nil
	}
	return slices.DeleteFunc(f.payments(), (*transaction).counts)
}

// responseReport has the columns of the vendor's public response report of CSV2 files. Reports of the other
// formats have them too: their own columns are not all public.
func responseReport(payments []*transaction) []byte {
	records := [][]string{{
		"Supplier Business Code", "Transaction Type", "Currency", "Amount", "Customer Reference Number", "Payment Reference Number",
		"Receipt Number", "Settlement Date",
	}}
	for _, tx := range payments {
		records = append(records, []string{
			tx.shop.code, tx.Type, tx.Currency, tx.total().String(), tx.CustomerReferenceNumber, tx.PaymentReferenceNumber,
			tx.ReceiptNumber, dateIn(tx.settlement, "02-01-2006"),
		})
	}
	return asCSV(records)
}

func merchantID(tx *transaction) string { return "SANDBOX" + tx.Currency }

const fileSource = "FILE" // unconfirmed: RESTAPI is the only public source code

// The lines of a payment file. Only the kinds of record and the header of CSV2
// are public; the rest is the sandbox's own, and is the same for every format:
//
//	H,<community code>,<date as YYYY-MM-DD>,2
//	C,<common members>,<card number>,<expiry MM>,<expiry YYYY>,<cardholder name>
//	B,<common members>,<bsb>,<account number>,<account name>
//	A,<common members>,<account token>
//	T,<number of payments>,<total amount>
//
// The common members are business code, currency, amount with two decimals,
// customer reference number and payment reference number.
var lineMembers = map[string][]string{ //nolint:gochecknoglobals // an immutable table
	"C": {"cardNumber", "expiryDateMonth", "expiryDateYear", "cardholderName"},
	"B": {"bsb", "accountNumber", "accountName"},
	"A": {sourceAccount},
}

// readLines reads the payments of a file; ok is false if the file is faulty.
func (b *Sandbox) readLines(f *paymentFile) (payments []*transaction, ok bool) {
	reader := csv.NewReader(bytes.NewReader(f.content))
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	last := len(records) - 1
	if err != nil || last < 1 {
		return nil, false
	}
	var total cents
	for _, record := range records[1:last] {
		tx := b.readLine(record)
		if tx == nil {
			return nil, false
		}
		total += tx.principal
		payments = append(payments, tx)
	}
	h := records[0]
	ok = len(h) == 4 && h[0] == "H" && h[1] == communityCode && dateForm(h[2]) == "" && h[3] == "2"
	return payments, ok && slices.Equal(records[last], []string{"T", strconv.Itoa(last - 1), total.String()})
}

// readLine reads one payment by the rules of a request with the same members; nil if it breaks one.
func (b *Sandbox) readLine(record []string) *transaction {
	kind := record[0]
	own, known := lineMembers[kind]
	names := append([]string{"supplierBusinessCode", "currency", "principalAmount", "customerReferenceNumber", "paymentReferenceNumber"}, own...)
	if !known || len(record) != len(names)+1 {
		return nil
	}
	members := make(map[string]string, len(names))
	for i, name := range names {
		members[name] = record[i+1]
	}
	c := b.background()
	doc, _ := json.Marshal(members) // texts
	f, _ := c.open("", doc)
	tx := b.newTransaction(f, typePayment)
	tx.shop, tx.via = b.business(f.need("supplierBusinessCode", b.knownBusiness)), fileSource
	tx.principal, _ = parseCents(f.need("principalAmount", moneyText))
	src := &source{}
	switch kind {
	case "C":
		src.card = b.readCard(f, false)
	case "B":
		src.bank = f.bankAccount()
	default:
		src = b.accountSource(f)
	}
	if !c.valid() {
		return nil
	}
	tx.source, tx.account = src.instrument, src.account
	tx.addSurcharge()
	return tx
}
