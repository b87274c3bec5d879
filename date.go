package quickstream

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// Date is a calendar date without a time zone, written YYYY-MM-DD. The zero Date means "not given".
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// NewDate returns the date, normalised as time.Date does.
func NewDate(year int, month time.Month, day int) Date {
	return DateOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// DateOf returns the date of t in t's location. The service's dates are taken for Sydney dates, which is
// unconfirmed: convert with t.In if necessary.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// IsZero reports whether d is the zero Date.
func (d Date) IsZero() bool { return d == Date{} }

// IsValid reports whether d exists in the calendar, in years 1 to 9999.
func (d Date) IsValid() bool {
	return d.Year >= 1 && d.Year <= 9999 && NewDate(d.Year, d.Month, d.Day) == d
}

// Compare returns -1, 0 or 1 if d is before, equal to or after other.
func (d Date) Compare(other Date) int { return d.In(time.UTC).Compare(other.In(time.UTC)) }

// AddDays returns the date n days later; n may be negative.
func (d Date) AddDays(n int) Date { return NewDate(d.Year, d.Month, d.Day+n) }

// In returns midnight of the date in a location.
func (d Date) In(loc *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, loc)
}

// String returns YYYY-MM-DD, or "" for the zero Date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// MarshalText writes YYYY-MM-DD, or nothing for the zero Date.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// longestDate has room for a time with its offset and fractions.
const longestDate = 64

// UnmarshalText reads YYYY-MM-DD, with or without a time, or a date such as 20 Nov 2026. Empty text
// is the zero Date.
func (d *Date) UnmarshalText(text []byte) error {
	*d = Date{}
	if len(text) == 0 {
		return nil
	}
	if len(text) > longestDate {
		return errors.New("quickstream: not a date")
	}
	day, _, _ := strings.Cut(strings.Replace(string(text), " ", "T", 1), "T")
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		t, err = time.Parse("2 Jan 2006", string(text))
	}
	if err != nil || t.Year() == 0 {
		return errors.New("quickstream: not a date of the form YYYY-MM-DD")
	}
	*d = DateOf(t)
	return nil
}

// EncodeValues adds the date to a query, unless it is zero.
func (d Date) EncodeValues(key string, v *url.Values) error {
	if !d.IsZero() {
		v.Set(key, d.String())
	}
	return nil
}

// YearMonth is a calendar month, written YYYY-MM. The zero YearMonth means "not given".
type YearMonth struct {
	Year  int
	Month time.Month
}

// IsZero reports whether m is the zero YearMonth.
func (m YearMonth) IsZero() bool { return m == YearMonth{} }

// String returns YYYY-MM, or "" for the zero YearMonth.
func (m YearMonth) String() string {
	if m.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d", m.Year, int(m.Month))
}

// EncodeValues adds the month to a query, unless it is zero.
func (m YearMonth) EncodeValues(key string, v *url.Values) error {
	if !m.IsZero() {
		v.Set(key, m.String())
	}
	return nil
}

// Timestamp is a point in time, written with a numeric offset such as +1100. The offsets +11:00 and
// Z are read too. In a response any other form leaves the field zero, and Extra has the value.
type Timestamp struct{ time.Time }

const timestampLayout = "2006-01-02T15:04:05.999999999-0700"

// String returns the time with its offset; "" for the zero Timestamp.
func (t Timestamp) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Format(timestampLayout)
}

// MarshalJSON writes the service's form, or "" for the zero Timestamp.
func (t Timestamp) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads a timestamp; null and "" are the zero Timestamp.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	text, err := wire.AnyText(data)
	if err != nil {
		return err
	}
	return t.UnmarshalText([]byte(text))
}

// UnmarshalText reads a timestamp; empty text is the zero Timestamp.
func (t *Timestamp) UnmarshalText(text []byte) error {
	*t = Timestamp{}
	if len(text) == 0 {
		return nil
	}
	for _, layout := range [...]string{"2006-01-02T15:04:05Z0700", time.RFC3339} {
		if parsed, err := time.Parse(layout, string(text)); err == nil {
			*t = Timestamp{parsed}
			return nil
		}
	}
	return errors.New("quickstream: not a time with an offset")
}
