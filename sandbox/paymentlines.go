package sandbox

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const fileSource = "FILE" // unconfirmed: RESTAPI is the only public source code

// The lines of a payment file. Only the kinds of record and the header of CSV2
// are public; the rest is the sandbox's own, and is the same for every format:
//
//	H,<community code>,<date as YYYY-MM-DD>,2
//	C,<common members>,<card number>,<expiry MM>,<expiry YYYY>,<cardholder name>
//	B,<common members>,<bsb>,<account number>,<account name>
//	N,<common members>,<bank code>,<branch code>,<account number>,<suffix>,<account name>
//	P,<common members>,<agreement token>
//	T,<number of payments>,<total amount>
//
// The common members are business code, currency, amount with two decimals,
// customer reference number and payment reference number. In the formats of
// tokens, C, B and N lines have an account token in place of the account.
//
//nolint:gochecknoglobals // an immutable table
var lineMembers = map[string][]string{
	"C": {"cardNumber", "expiryDateMonth", "expiryDateYear", "cardholderName"},
	"B": {"bsb", "accountNumber", "accountName"},
	"N": {"nzBankCode", "nzBranchCode", "nzAccountNumber", "nzAccountSuffix", "nzAccountName"},
	"P": {"agreementToken"},
}

//nolint:gochecknoglobals // an immutable table
var commonMembers = []string{"supplierBusinessCode", "currency", "principalAmount", "customerReferenceNumber", "paymentReferenceNumber"}

// readLines reads the payments of a file. The faults do not contain values.
func (b *Sandbox) readLines(f *paymentFile) (payments []*transaction, faults []string) {
	reader := csv.NewReader(bytes.NewReader(f.content))
	reader.FieldsPerRecord = -1
	records, err := reader.ReadAll()
	if err != nil || len(records) < 2 {
		return nil, []string{"the file is not made of lines of fields with a header and a trailer"}
	}
	fault := func(line int, what string) { faults = append(faults, fmt.Sprintf("line %d: %s", line, what)) }
	last := len(records) - 1
	if h := records[0]; !slices.Equal([]string{h[0], h[len(h)-1]}, []string{"H", "2"}) || len(h) != 4 || h[1] != communityCode || dateForm(h[2]) != "" {
		fault(1, "is not the header H,"+communityCode+",<date>,2")
	}
	var total cents
	for i, record := range records[1:last] {
		tx, message := b.readLine(record, strings.HasSuffix(f.format, "_TOKENS"))
		if message != "" {
			fault(i+2, message)
			continue
		}
		total += tx.principal
		payments = append(payments, tx)
	}
	if want := []string{"T", strconv.Itoa(last - 1), total.String()}; len(faults) == 0 && !slices.Equal(records[last], want) {
		fault(last+1, "is not the trailer with the number of payments and their total")
	}
	return payments, faults
}

// readLine reads one payment by the rules of a request with the same members.
func (b *Sandbox) readLine(record []string, tokens bool) (tx *transaction, message string) {
	kind := record[0]
	own, known := lineMembers[kind]
	if tokens && kind != "P" {
		own = []string{sourceAccount}
	}
	names := slices.Concat(commonMembers, own)
	if !known || len(record) != len(names)+1 {
		return nil, "is not a payment with the members of its kind"
	}
	members := make(map[string]string, len(names))
	for i, name := range names {
		members[name] = record[i+1]
	}
	doc, err := json.Marshal(members)
	if err != nil { // texts can always be written
		return nil, err.Error()
	}
	c := b.background()
	f, err := c.open("", doc)
	if err != nil {
		return nil, err.Error()
	}
	tx = b.newTransaction(f, typePayment)
	tx.shop, tx.via = b.business(f.need("supplierBusinessCode", b.knownBusiness)), fileSource
	tx.principal, _ = parseCents(f.need("principalAmount", b.moneyText))
	src := &source{}
	switch {
	case own[0] == sourceAccount:
		src = b.accountSource(f)
	case kind == "C":
		src.card = b.readCard(f, false)
	case kind == "B":
		src.bank = b.readBankAccount(f, f.need)
	case kind == "N":
		src.nz = b.readNZBankAccount(f, f.need)
	default:
		src.payTo = &payToDetails{}
		if src.instrument.payTo = b.agreement(members["agreementToken"]); src.instrument.payTo == nil {
			f.refuse("agreementToken", "", "is not an agreement")
		}
		f.ignore("agreementToken")
		b.checkPayTo(f, tx, src)
	}
	checkCurrency(f, tx, src)
	if src != nil && !lineFits(kind, src.instrument) {
		f.refuse(own[0], "", "is not an account for a line of this kind")
	}
	if !c.valid() {
		return nil, c.findings[0].FieldName + " " + c.findings[0].Messages[0]
	}
	tx.source, tx.account = src.instrument, src.account
	tx.addSurcharge()
	return tx, ""
}

// checkCurrency refuses a bank account in another currency than its country's.
func checkCurrency(f *fields, tx *transaction, src *source) {
	switch {
	case src == nil:
	case src.bank != nil && tx.currency == "NZD":
		f.refuse("currency", tx.currency, "must be AUD for an Australian bank account")
	case src.nz != nil && tx.currency == "AUD":
		f.refuse("currency", tx.currency, "must be NZD for a New Zealand bank account")
	}
}

// lineFits reports whether an account is of the kind that the line says.
func lineFits(kind string, i instrument) bool {
	return kind == "C" == (i.card != nil) && kind == "B" == (i.bank != nil) && kind == "N" == (i.nz != nil)
}
