package quickstream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

func TestDate(t *testing.T) {
	for text, valid := range map[string]bool{
		"2026-03-01": true, "2024-02-29": true, "0001-01-01": true, "9999-12-31": true,
		"2026-02-29": false, "2026-13-01": false, "2026-00-10": false, "0000-00-00": false, "2026-3-1": false, "26-03-01": false,
		"2026/03/01": false, "2026-03-01 ": false, "2026-03-01T00:00:00Z": false, "20260301": false, "": false, "-2026-03-01": false, "２０２６-03-01": false,
	} {
		d, err := quickstream.ParseDate(text)
		assert.Equal(t, valid, err == nil, text)
		if err != nil {
			assert.True(t, d.IsZero(), text)
			assert.True(t, text == "" || !strings.Contains(err.Error(), text), "%v", err)
			continue
		}
		assert.Equal(t, text, d.String())
		assert.True(t, d.IsValid())
	}
	assert.Empty(t, quickstream.Date{}.String())
	assert.False(t, quickstream.Date{}.IsValid())
	for _, odd := range []quickstream.Date{{2026, 2, 30}, {2026, 13, 1}, {2026, 0, 1}, {-1, 1, 1}, {10000, 1, 1}, {0, 1, 1}} {
		assert.False(t, odd.IsValid(), "%v", odd)
	}
	assert.Equal(t, quickstream.Date{2026, time.March, 2}, quickstream.NewDate(2026, time.February, 30))
	assert.Equal(t, quickstream.Date{2026, time.March, 1}, quickstream.Date{2026, time.February, 28}.AddDays(1))
	assert.Equal(t, quickstream.Date{2024, time.February, 29}, quickstream.Date{2024, time.March, 1}.AddDays(-1))
	early, late := quickstream.Date{2025, time.December, 31}, quickstream.Date{2026, time.January, 1}
	assert.Equal(t, []int{-1, 0, 1}, []int{early.Compare(late), late.Compare(late), late.Compare(early)})

	sydney := time.FixedZone("", 11*60*60)
	midnight := late.In(sydney)
	assert.Equal(t, "2025-12-31T13:00:00Z", midnight.UTC().Format(time.RFC3339))
	assert.Equal(t, late, quickstream.DateOf(midnight))
	assert.Equal(t, early, quickstream.DateOf(midnight.UTC()))
}

func TestTimestamp(t *testing.T) {
	for text, utc := range map[string]string{
		"2026-03-01T10:11:12+1100":       "2026-02-28T23:11:12Z",
		"2026-03-01T10:11:12+11:00":      "2026-02-28T23:11:12Z",
		"2026-03-01T10:11:12Z":           "2026-03-01T10:11:12Z",
		"2026-03-01T10:11:12.5-0330":     "2026-03-01T13:41:12.5Z",
		"2026-03-01T10:11:12.123456789Z": "2026-03-01T10:11:12.123456789Z",
		"2026-03-01T10:11:12,5Z":         "2026-03-01T10:11:12.5Z",
		"2026-03-01T10:11+1100":          "2026-02-28T23:11:00Z",
		"2026-03-01T10:11+11:00":         "2026-02-28T23:11:00Z",
		"2026-03-01T23:59:59-12:00":      "2026-03-02T11:59:59Z",
		"2026-03-01T10:11:12+11":         "2026-02-28T23:11:12Z",
		"2026-03-01 10:11:12+1100":       "2026-02-28T23:11:12Z",
		"2026-03-01 10:11:12.5 +1100":    "2026-02-28T23:11:12.5Z",
		"2026-03-01 10:11Z":              "2026-03-01T10:11:00Z",
		"1772323872":                     "2026-03-01T00:11:12Z",
		"1772323872.5":                   "2026-03-01T00:11:12Z",
		"1772323872123":                  "2026-03-01T00:11:12.123Z",
		"2026-03-01T10:11:12":            "2026-02-28T23:11:12Z", // in Sydney
		"2026-03-01 10:11":               "2026-02-28T23:11:00Z",
		"2026-06-01T10:11:12.5":          "2026-06-01T00:11:12.5Z",
		"2026-04-05T01:59:59":            "2026-04-04T14:59:59Z",
		"2026-04-05T02:00:00":            "2026-04-04T16:00:00Z",
		"2026-10-04T01:59:59":            "2026-10-03T15:59:59Z",
		"2026-10-04T03:00:00":            "2026-10-03T16:00:00Z",
	} {
		var got, escaped quickstream.Timestamp
		require.NoError(t, json.Unmarshal([]byte(`"`+text+`"`), &got), text)
		require.NoError(t, json.Unmarshal([]byte(`"`+strings.NewReplacer("+", `\u002B`, ":", `\u003a`).Replace(text)+`"`), &escaped), text)
		assert.Equal(t, got, escaped, "the same text, as some encoders write it")
		assert.Equal(t, utc, got.UTC().Format(time.RFC3339Nano), text)
		stored, err := json.Marshal(got)
		require.NoError(t, err)
		var again quickstream.Timestamp
		require.NoError(t, json.Unmarshal(stored, &again), "%s", stored)
		assert.True(t, got.Equal(again.Time), "%s is stored as %s", text, stored)
		assert.Equal(t, got.String(), again.String())
		assumed := len(text) < 20 && !strings.HasSuffix(text, "Z") && !strings.HasPrefix(text, "1") || strings.HasSuffix(text, ":12.5")
		assert.Equal(t, []any{assumed, assumed}, []any{got.Assumed(), again.Assumed()}, text)
	}
	for _, text := range []string{
		`"2026-03-01T23:59:60Z"`, // a leap second, which Go's clock does not have
		`"0000-00-00T00:00:00Z"`, `"2026-03-01"`, `"2026-03-01  "`, `"2026-03-01x10:11:12Z"`, `"10:11"`, `"2026-02-30T00:00:00Z"`,
		`"2026-03-01T24:00:00Z"`, `0`, `-1772323872`, `1.7e9`, `99999999999999999999`, `9999999999999999`, `17723238x2`, `true`, `{}`, `"`, `"now"`, `"2026-03-01T10:11:12AEDT"`,
	} {
		var got quickstream.Timestamp
		err := got.UnmarshalJSON([]byte(text))
		require.Error(t, err, text)
		assert.NotContains(t, err.Error(), "2026", "the error repeats nothing")
		assert.True(t, got.IsZero())
	}
	for _, none := range []string{`null`, `""`} {
		got := quickstream.Timestamp{Time: time.Now()}
		require.NoError(t, json.Unmarshal([]byte(none), &got))
		assert.True(t, got.IsZero(), none)
		assert.Empty(t, got.String())
	}
}

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
