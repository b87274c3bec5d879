package report

import (
	"encoding/csv"
	"errors"
	"io"
	"time"

	"github.com/jszwec/csvutil"
	"github.com/shopspring/decimal"
)

// StandardFields reads with encoding/csv, which reuses one record.
func StandardFields(report io.Reader, t *Tally) error {
	r := csv.NewReader(report)
	r.ReuseRecord = true
	if _, err := r.Read(); err != nil { // the header
		return err
	}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, cell := range record {
			text(t, cell)
		}
		t.Records++
	}
}

// record is a row for a decoder that fills structs.
type record struct {
	CommunityCode        string          `csv:"Community Code"`
	SupplierBusinessCode string          `csv:"Supplier Business Code"`
	BusinessName         string          `csv:"Business Name"`
	Source               string          `csv:"Source"`
	ReceiptNumber        string          `csv:"Receipt Number"`
	TransactionType      string          `csv:"Transaction Type"`
	Status               string          `csv:"Status"`
	SummaryCode          string          `csv:"Summary Code"`
	ResponseCode         string          `csv:"Response Code"`
	ResponseDescription  string          `csv:"Response Description"`
	PrincipalAmount      decimal.Decimal `csv:"Principal Amount"`
	SurchargeAmount      decimal.Decimal `csv:"Surcharge Amount"`
	TotalAmount          decimal.Decimal `csv:"Total Amount"`
	Currency             string          `csv:"Currency"`
	SettlementDate       day             `csv:"Settlement Date"`
	TransactionTime      moment          `csv:"Transaction Time"`
	CustomerNumber       string          `csv:"Customer Number"`
	CustomerReference    string          `csv:"Customer Reference Number"`
	Comment              string          `csv:"Comment"`
	CardScheme           string          `csv:"Card Scheme"`
	CardType             string          `csv:"Card Type"`
	CardNumber           string          `csv:"Card Number"`
	Refundable           bool            `csv:"Refundable"`
	Voidable             bool            `csv:"Voidable"`
	Address              string          `csv:"Address"`
	ECI                  string          `csv:"ECI"`
	IPAddress            string          `csv:"IP Address"`
	PaymentReference     string          `csv:"Payment Reference Number"`
	OriginalReceipt      string          `csv:"Original Receipt Number"`
	MetadataOrder        string          `csv:"metadata_order"`
}

type day struct{ time.Time }

// UnmarshalText reads a date.
func (d *day) UnmarshalText(text []byte) (err error) {
	d.Time, err = time.Parse(time.DateOnly, string(text))
	return err
}

type moment struct{ time.Time }

// UnmarshalText reads a point in time.
func (m *moment) UnmarshalText(text []byte) (err error) {
	m.Time, err = time.Parse("2006-01-02T15:04:05-0700", string(text))
	return err
}

// CSVUtil reads with csvutil into one struct.
func CSVUtil(report io.Reader, t *Tally) error {
	r := csv.NewReader(report)
	r.ReuseRecord = true
	decoder, err := csvutil.NewDecoder(r)
	if err != nil {
		return err
	}
	var row record
	for {
		err := decoder.Decode(&row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row.tally(t)
	}
}

func (r *record) tally(t *Tally) {
	for _, s := range [...]string{
		r.CommunityCode, r.SupplierBusinessCode, r.BusinessName, r.Source, r.ReceiptNumber, r.TransactionType, r.Status,
		r.SummaryCode, r.ResponseCode, r.ResponseDescription, r.Currency, r.CustomerNumber, r.CustomerReference, r.Comment,
		r.CardScheme, r.CardType, r.CardNumber, r.Address, r.ECI, r.IPAddress, r.PaymentReference, r.OriginalReceipt,
		r.MetadataOrder,
	} {
		text(t, s)
	}
	for _, amount := range [...]decimal.Decimal{r.PrincipalAmount, r.SurchargeAmount, r.TotalAmount} {
		t.value(amount.CoefficientInt64())
	}
	t.day(r.SettlementDate.Date())
	t.value(r.TransactionTime.Unix())
	t.truth(r.Refundable)
	t.truth(r.Voidable)
	t.Records++
}
