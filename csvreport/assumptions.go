package csvreport

import (
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"
)

// Report names a kind of report.
type Report string

// The reports whose columns this package knows in part.
const (
	TransactionsV1  Report = "transactions, version 1"
	TransactionsV2  Report = "transactions, version 2"
	PayToAgreements Report = "PayTo agreements"
)

// Assumptions is all that this package takes for granted beyond what the service
// publishes. Change what your own reports show to be otherwise, starting from
// DefaultAssumptions.
type Assumptions struct {
	// Layouts are tried in order. The first one whose Detect names are all in the
	// header is the report's.
	Layouts []Layout

	// Dates and Times are formats that are tried in order. They are written as in
	// package time, from these elements of fixed width: 2006, 01, Jan, 02, and for
	// Times also 15, 04, 05 and Z07:00. A month's name is read in upper and lower
	// case, a fraction may follow the seconds, and Z07:00 stands for Z, +11:00 and
	// +1100 alike. Other letters than T, and other digits, are refused.
	Dates, Times []string

	// Location is where times without an offset are from. With nil they are errors:
	// which time zone a report is in is not public.
	Location *time.Location

	// True and False are the texts of a boolean, in upper or lower case.
	True, False []string

	// Amount reads an amount. With nil it is an optional minus sign, digits and, if
	// there are decimals, a point and digits.
	Amount func(text string) (amount decimal.Decimal, ok bool)
}

// Layout is what is assumed about the columns of one report.
type Layout struct {
	Report Report
	// Detect names columns that this report has, and those after it in the list of
	// layouts have not. Without any the layout is used by WithReport only.
	Detect []string
	// Columns gives fields the names of their columns.
	Columns map[Field]string
}

// DefaultAssumptions returns what is assumed where nothing else is said. Each
// call returns a new value.
//
// From the vendor's public pages are the columns of [PayToAgreements], of
// [TransactionsV1] those of CommunityCode, SupplierBusinessCode, BusinessName and
// Source, and of [TransactionsV2] that of SupplierBusinessCode. All other names
// are those of the API's members in words, as the known ones are; unconfirmed.
// Date formats are those of other reports of the same product, which differ among
// each other; amounts are written 100.00 in all of these. Formats of times and
// booleans are guesses.
func DefaultAssumptions() Assumptions {
	v1 := transactionColumns()
	v1[CommunityCode] = "Community Code"
	v1[SupplierBusinessCode] = "Business Code"
	v1[BusinessName] = "Business Name"
	v2 := transactionColumns()
	v2[SupplierBusinessCode] = "Supplier Business Code"
	return Assumptions{
		Layouts: []Layout{
			{Report: PayToAgreements, Detect: []string{"Agreement Token"}, Columns: map[Field]string{
				PayeeReference:       "Payee Reference",
				AgreementToken:       "Agreement Token",
				AgreementStatus:      "Agreement Status",
				CustomerID:           "Customer ID",
				CustomerNumber:       "Customer Number",
				SupplierBusinessCode: "Supplier Business Code",
				RespondByTime:        "Respond By Time",
				Purpose:              "Purpose",
			}},
			{Report: TransactionsV1, Detect: []string{"Business Code"}, Columns: v1},
			{Report: TransactionsV2, Detect: []string{"Supplier Business Code"}, Columns: v2},
		},
		Dates: []string{"2006-01-02", "02-01-2006", "02 Jan 2006", "02-Jan-2006"},
		Times: []string{
			"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00",
			"2006-01-02T15:04:05", "2006-01-02 15:04:05",
			"02 Jan 2006 15:04:05", "02-Jan-2006 15:04:05", "02-01-2006 15:04:05",
		},
		True:  []string{"true", "yes", "Y"},
		False: []string{"false", "no", "N"},
	}
}

func transactionColumns() map[Field]string {
	return map[Field]string{
		Source:                  "Source",
		ReceiptNumber:           "Receipt Number",
		OriginalReceiptNumber:   "Original Receipt Number",
		TransactionType:         "Transaction Type",
		Status:                  "Status",
		SummaryCode:             "Summary Code",
		ResponseCode:            "Response Code",
		ResponseDescription:     "Response Description",
		SettlementDate:          "Settlement Date",
		TransactionTime:         "Transaction Time",
		Currency:                "Currency",
		PrincipalAmount:         "Principal Amount",
		SurchargeAmount:         "Surcharge Amount",
		TotalAmount:             "Total Amount",
		CustomerReferenceNumber: "Customer Reference Number",
		PaymentReferenceNumber:  "Payment Reference Number",
		CustomerNumber:          "Customer Number",
		Comment:                 "Comment",
	}
}

// formats is the part of the assumptions that reads cells, made ready.
type formats struct {
	dates, times []timeFormat
	location     *time.Location
	yes, no      []string
	amount       func(string) (decimal.Decimal, bool)
}

func newFormats(a *Assumptions) (*formats, error) {
	f := &formats{location: a.Location, yes: slices.Clone(a.True), no: slices.Clone(a.False), amount: a.Amount}
	for _, text := range a.Dates {
		format, ok := compile(text)
		if !ok || format.has(hour) || format.has(minute) || format.has(second) || format.has(zone) {
			return nil, fmt.Errorf("csv report: not a date format: %q", text)
		}
		f.dates = append(f.dates, format)
	}
	for _, text := range a.Times {
		format, ok := compile(text)
		if !ok || !format.has(hour) || !format.has(minute) {
			return nil, fmt.Errorf("csv report: not a time format: %q", text)
		}
		f.times = append(f.times, format)
	}
	return f, nil
}
