package report

import (
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/gocarina/gocsv"
	"github.com/jszwec/csvutil"
	"github.com/shopspring/decimal"
)

const momentForm = "2006-01-02T15:04:05-0700"

// StandardFields reads with encoding/csv, one record in the place of the other.
func StandardFields(report io.Reader, t *Tally) error {
	return standard(report, t, func(record []string) error {
		for _, cell := range record {
			t.text(cell)
		}
		return nil
	})
}

func standard(report io.Reader, t *Tally, use func([]string) error) error {
	r := csv.NewReader(report)
	r.ReuseRecord = true
	for header := true; ; header = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if header {
			continue
		}
		if err := use(record); err != nil {
			return err
		}
		t.Records++
	}
}

// StandardTyped is what is written by hand around encoding/csv.
func StandardTyped(report io.Reader, t *Tally) error {
	return standard(report, t, func(record []string) error {
		for i, cell := range record {
			switch i {
			case 10, 11, 12:
				amount, err := decimal.NewFromString(cell)
				if err != nil {
					return err
				}
				t.cents(i-10, amount.CoefficientInt64())
			case 14:
				date, err := time.Parse(time.DateOnly, cell)
				if err != nil {
					return err
				}
				t.day(date.Date())
			case 15:
				at, err := time.Parse(momentForm, cell)
				if err != nil {
					return err
				}
				t.moment(at)
			case 22, 23:
				truth, err := strconv.ParseBool(cell)
				if err != nil {
					return err
				}
				t.truth(truth)
			default:
				t.text(cell)
			}
		}
		return nil
	})
}

// record is a row for decoders that fill structs. A is the type of its amounts.
type record[A any] struct {
	CommunityCode        string `csv:"Community Code"`
	SupplierBusinessCode string `csv:"Supplier Business Code"`
	BusinessName         string `csv:"Business Name"`
	Source               string `csv:"Source"`
	ReceiptNumber        string `csv:"Receipt Number"`
	TransactionType      string `csv:"Transaction Type"`
	Status               string `csv:"Status"`
	SummaryCode          string `csv:"Summary Code"`
	ResponseCode         string `csv:"Response Code"`
	ResponseDescription  string `csv:"Response Description"`
	PrincipalAmount      A      `csv:"Principal Amount"`
	SurchargeAmount      A      `csv:"Surcharge Amount"`
	TotalAmount          A      `csv:"Total Amount"`
	Currency             string `csv:"Currency"`
	SettlementDate       day    `csv:"Settlement Date"`
	TransactionTime      moment `csv:"Transaction Time"`
	CustomerNumber       string `csv:"Customer Number"`
	CustomerReference    string `csv:"Customer Reference Number"`
	Comment              string `csv:"Comment"`
	CardScheme           string `csv:"Card Scheme"`
	CardType             string `csv:"Card Type"`
	CardNumber           string `csv:"Card Number"`
	Refundable           bool   `csv:"Refundable"`
	Voidable             bool   `csv:"Voidable"`
	Address              string `csv:"Address"`
	ECI                  string `csv:"ECI"`
	IPAddress            string `csv:"IP Address"`
	PaymentReference     string `csv:"Payment Reference Number"`
	OriginalReceipt      string `csv:"Original Receipt Number"`
	MetadataOrder        string `csv:"metadata_order"`
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
	m.Time, err = time.Parse(momentForm, string(text))
	return err
}

// cents is an amount for those who do without decimals.
type cents int64

// UnmarshalText reads an amount with two decimals.
func (c *cents) UnmarshalText(text []byte) error {
	n := len(text)
	if n < 4 || text[n-3] != '.' {
		return errors.New("not an amount with two decimals")
	}
	var digits [20]byte
	whole, err := strconv.ParseInt(string(append(append(digits[:0], text[:n-3]...), text[n-2:]...)), 10, 64)
	*c = cents(whole)
	return err
}

func (r *record[A]) tally(t *Tally, hundredths func(A) int64) {
	for _, text := range [...]string{
		r.CommunityCode, r.SupplierBusinessCode, r.BusinessName, r.Source, r.ReceiptNumber, r.TransactionType, r.Status,
		r.SummaryCode, r.ResponseCode, r.ResponseDescription, r.Currency, r.CustomerNumber, r.CustomerReference, r.Comment,
		r.CardScheme, r.CardType, r.CardNumber, r.Address, r.ECI, r.IPAddress, r.PaymentReference, r.OriginalReceipt,
		r.MetadataOrder,
	} {
		t.text(text)
	}
	for i, amount := range [...]A{r.PrincipalAmount, r.SurchargeAmount, r.TotalAmount} {
		t.cents(i, hundredths(amount))
	}
	t.day(r.SettlementDate.Date())
	t.moment(r.TransactionTime.Time)
	t.truth(r.Refundable)
	t.truth(r.Voidable)
	t.Records++
}

func ofDecimal(d decimal.Decimal) int64 { return d.CoefficientInt64() }
func ofCents(c cents) int64             { return int64(c) }

// CSVUtil reads with csvutil into one struct, amounts as decimals.
func CSVUtil(report io.Reader, t *Tally) error { return csvUtil(report, t, ofDecimal) }

// CSVUtilCents reads with csvutil into one struct, amounts as integers.
func CSVUtilCents(report io.Reader, t *Tally) error { return csvUtil(report, t, ofCents) }

func csvUtil[A any](report io.Reader, t *Tally, hundredths func(A) int64) error {
	r := csv.NewReader(report)
	r.ReuseRecord = true
	decoder, err := csvutil.NewDecoder(r)
	if err != nil {
		return err
	}
	var row record[A]
	for {
		err := decoder.Decode(&row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row.tally(t, hundredths)
	}
}

// GoCSV reads with gocsv, which hands each struct to a function.
func GoCSV(report io.Reader, t *Tally) error {
	return gocsv.UnmarshalToCallbackWithError(report, func(row record[decimal.Decimal]) error {
		row.tally(t, ofDecimal)
		return nil
	})
}
