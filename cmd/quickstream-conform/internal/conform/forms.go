package conform

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // Sydney, on machines without a time zone database

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

func sydney(t time.Time) time.Time {
	zone, err := time.LoadLocation("Australia/Sydney")
	if err != nil { // it is embedded
		return t
	}
	return t.In(zone)
}

// stamp is a time in an answer: its form, and the moment, which lies in the grain after at.
type stamp struct {
	form  string // as of the assumption TimeForm; empty: none of them
	at    time.Time
	grain time.Duration
}

// timeForms are the forms of times with their layouts.
//
//nolint:gochecknoglobals // an immutable table
var timeForms = []struct {
	form, layout string
	grain        time.Duration
}{
	{"+1100", "2006-01-02T15:04:05-0700", time.Second},
	{"+11:00", "2006-01-02T15:04:05-07:00", time.Second},
	{"+11", "2006-01-02T15:04:05-07", time.Second},
	{"Z", "2006-01-02T15:04:05Z", time.Second},
	{"none", "2006-01-02T15:04:05", time.Second},
	{"blank", "2006-01-02 15:04:05-0700", time.Second},
	{"minutes", "2006-01-02T15:04-0700", time.Minute},
	{"fraction", "2006-01-02T15:04:05.000-0700", time.Millisecond},
}

// timeOf reads a time in one of the listed forms. A time without an offset is taken as Sydney's.
func timeOf(v shape.Value) (stamp, bool) {
	if v.Kind == shape.Number && (len(v.Text) == 12 || len(v.Text) == 13) {
		ms, err := strconv.ParseInt(v.Text, 10, 64)
		return stamp{"epoch", time.UnixMilli(ms), time.Millisecond}, err == nil
	}
	if v.Kind != shape.Text {
		return stamp{}, false
	}
	for _, f := range timeForms {
		sample := strings.Replace(f.layout, "-07", "+07", 1)
		if shape.Pattern(v.Text) != shape.Pattern(sample) {
			continue
		}
		zone := time.UTC
		if f.form == "none" {
			zone = sydney(time.Now()).Location()
		}
		if at, err := time.ParseInLocation(f.layout, v.Text, zone); err == nil {
			return stamp{f.form, at, f.grain}, true
		}
	}
	return stamp{}, false
}

// mislabelled is how far a Sydney time that is labelled UTC is ahead.
func mislabelled(at time.Time) time.Duration {
	_, offset := sydney(at).Zone()
	return time.Duration(offset) * time.Second
}

// dateOf reads a date in one of the listed forms.
func dateOf(v shape.Value) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, "02 Jan 2006"} {
		if day, err := time.Parse(layout, v.Text); err == nil {
			return day, true
		}
	}
	return time.Time{}, false
}

// cents reads an amount in any of its forms.
func cents(v shape.Value) (n int64, ok bool) {
	if v.Kind == shape.Object {
		v = v.Get("amount")
	}
	if v.Kind != shape.Text && v.Kind != shape.Number {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(v.Text)
	if !ok {
		return 0, false
	}
	r.Mul(r, big.NewRat(100, 1))
	return r.Num().Int64(), r.IsInt() && r.Num().IsInt64()
}

// Bodies of requests, with public test numbers only.

const (
	cardApproved = "4111111111111111"
	bankAccepted = "032-999"
	payerSilent  = "032002" // does not answer in time
	payerActive  = "032007" // confirms, and cancels after a payment
)

func card(number string) object {
	return object{"cardNumber": number, "expiryDateMonth": "12", "expiryDateYear": strconv.Itoa(2039), "cardholderName": "Conform Probe", "cvn": "123"}
}

func bank(bsb string) object {
	return object{"accountName": "Conform Probe", "bsb": bsb, "accountNumber": "999994"}
}

// transaction is a request of a type with an amount, by mail order, without a payer's address.
func (s *session) transaction(kind, amount, source string, details any) object {
	body := object{"transactionType": kind, "supplierBusinessCode": s.business, "currency": s.cfg.currency(), "eci": "MAIL", source: details}
	if amount != "" {
		body["principalAmount"] = json.Number(amount)
	}
	if source != "bankAccount" && source != "payToData" {
		body["storedCredentialData"] = object{"entryMode": "MANUAL"}
	}
	if source == "payToData" {
		delete(body, "eci")
	}
	return body
}

// verification is a transaction that takes no money.
func (s *session) verification() object {
	return s.transaction("ACCOUNT_VERIFICATION", "", "creditCard", card(cardApproved))
}

// followUp is a request against an earlier transaction.
func (s *session) followUp(kind, receipt, amount string) object {
	return object{
		"transactionType": kind, "originalReceiptNumber": receipt, "currency": s.cfg.currency(), "principalAmount": json.Number(amount),
	}
}

func payer(bsb string) object {
	return object{"payerType": "PERS", "payerId": "CONFORM", "payerName": "Kim  Conform", "bsb": bsb, "accountNumber": "111111"}
}

// agreement is a request for an agreement of at most a few dollars.
func (s *session) agreement(bsb string) object {
	return object{
		"supplierBusinessCode": s.business,
		"paymentDetails": object{
			"purpose": "OTHR", "description": "Conform  probe", "startDate": s.today(0), "automaticRenewal": true,
		},
		"paymentTerms": object{
			"frequency": "MNTH", "agreementType": "VARI", "currency": "AUD", "paymentAmount": "1.00", "maximumPaymentAmount": "5.00",
		},
		"payerDetails": payer(bsb),
	}
}

// today is the day in Sydney, or one some days later.
func (s *session) today(days int) string {
	return sydney(s.cfg.Clock.Now()).AddDate(0, 0, days).Format(time.DateOnly)
}
