package quickstream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
)

// fmt, loggers and encoders do not show secrets.
func ExampleSecret() {
	number := quickstream.NewSecret(visaCard)
	fmt.Printf("%v %+v %#v %s\n", number, quickstream.CardDetails{CardNumber: number}, number, number)
	fmt.Println(number.Equal(quickstream.NewSecret(visaCard)))
	// Output:
	// [redacted] {CardholderName: CardNumber:[redacted] Expiry: CVN: WalletProvider: Cryptogram:} [redacted] [redacted]
	// true
}

// Dates have no time zone. The service's are Sydney dates: convert a time before you take its date.
func ExampleDate() {
	sydney := time.FixedZone("AEST", 10*60*60)
	date := quickstream.DateOf(time.Date(2026, time.June, 30, 20, 0, 0, 0, time.UTC).In(sydney))
	fmt.Println(date, date.AddDays(31))
	fmt.Println(date.Compare(must(quickstream.ParseDate("2026-07-02"))), date.In(time.UTC).Weekday())
	fmt.Println(quickstream.Date{Year: 2026, Month: time.February, Day: 29}.IsValid())
	// Output:
	// 2026-07-01 2026-08-01
	// -1 Wednesday
	// false
}

// Months are used by expiry dates and by some lists.
func ExampleYearMonth() {
	month := quickstream.YearMonth{Year: 2035, Month: time.March}
	fmt.Println(month, month.Month)
	// Output: 2035-03 March
}

// Amounts are decimals, read digit by digit.
func ExampleAmount() {
	var amount quickstream.Amount
	if err := json.Unmarshal([]byte(`{"currency": "AUD", "amount": 49.90, "displayAmount": "$49.90"}`), &amount); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(amount, amount.DisplayAmount)
	// Output: 49.90 AUD $49.90
}

// A time without an offset is taken as Sydney time, and Assumed reports it.
func ExampleTimestamp_Assumed() {
	var given, assumed quickstream.Timestamp
	if err := errors.Join(given.UnmarshalText([]byte("2026-11-20T10:11:12+1100")), assumed.UnmarshalText([]byte("2026-11-20T10:11:12"))); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(given, given.Assumed())
	fmt.Println(assumed, assumed.Assumed(), assumed.Equal(given.Time))
	// Output:
	// 2026-11-20T10:11:12+1100 false
	// 2026-11-20T10:11:12 true true
}

// The address of a link may contain an account number. Only Href returns it.
func ExampleLink() {
	var link quickstream.Link
	if err := json.Unmarshal([]byte(`{"rel": "next", "href": "https://example.com/list?accountNumber=123465"}`), &link); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %+v\n", link, link)
	fmt.Println(len(link.Href()))
	// Output:
	// Link(next) Link(next)
	// 45
}
