package quickstream

import (
	"fmt"
	"net/url"
	"strings"
	"time"
)

// Date is a calendar date without a time zone, written YYYY-MM-DD. The zero
// Date means "not given".
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// NewDate returns the date, normalised as time.Date does.
func NewDate(year int, month time.Month, day int) Date {
	return DateOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// DateOf returns the date of t in t's own location. The service's dates are
// Sydney dates: convert with t.In before calling where that matters.
func DateOf(t time.Time) Date {
	year, month, day := t.Date()
	return Date{year, month, day}
}

// ParseDate parses YYYY-MM-DD.
func ParseDate(text string) (Date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Date{}, fmt.Errorf("quickstream: not a date of the form YYYY-MM-DD")
	}
	return DateOf(t), nil
}

// IsZero reports whether d is the zero Date.
func (d Date) IsZero() bool { return d == Date{} }

// IsValid reports whether d exists in the calendar and can be written with a
// four-digit year.
func (d Date) IsValid() bool {
	return d.Year >= 1 && d.Year <= 9999 && NewDate(d.Year, d.Month, d.Day) == d
}

// Compare returns -1, 0 or 1 when d is before, equal to or after other.
func (d Date) Compare(other Date) int { return d.In(time.UTC).Compare(other.In(time.UTC)) }

// AddDays returns the date n days later, or earlier when n is negative.
func (d Date) AddDays(n int) Date { return NewDate(d.Year, d.Month, d.Day+n) }

// In returns midnight of the date in a location.
func (d Date) In(loc *time.Location) time.Time {
	return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, loc)
}

// String returns the date as YYYY-MM-DD, and "" for the zero Date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// MarshalText writes YYYY-MM-DD, and nothing for the zero Date.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads YYYY-MM-DD. Empty text is the zero Date, and a time after
// the date is ignored.
func (d *Date) UnmarshalText(text []byte) error {
	day, _, _ := strings.Cut(string(text), "T")
	if day == "" {
		*d = Date{}
		return nil
	}
	parsed, err := ParseDate(day)
	*d = parsed
	return err
}

// EncodeValues adds the date to a query, and nothing for the zero Date.
func (d Date) EncodeValues(key string, v *url.Values) error {
	if !d.IsZero() {
		v.Set(key, d.String())
	}
	return nil
}

// YearMonth is a calendar month, written YYYY-MM. The zero YearMonth means "not
// given".
type YearMonth struct {
	Year  int
	Month time.Month
}

// ParseYearMonth parses YYYY-MM.
func ParseYearMonth(text string) (YearMonth, error) {
	t, err := time.Parse("2006-01", text)
	if err != nil {
		return YearMonth{}, fmt.Errorf("quickstream: not a month of the form YYYY-MM")
	}
	return YearMonth{t.Year(), t.Month()}, nil
}

// IsZero reports whether m is the zero YearMonth.
func (m YearMonth) IsZero() bool { return m == YearMonth{} }

// String returns the month as YYYY-MM, and "" for the zero YearMonth.
func (m YearMonth) String() string {
	if m.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d", m.Year, int(m.Month))
}

// MarshalText writes YYYY-MM, and nothing for the zero YearMonth.
func (m YearMonth) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads YYYY-MM. Empty text is the zero YearMonth.
func (m *YearMonth) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*m = YearMonth{}
		return nil
	}
	parsed, err := ParseYearMonth(string(text))
	*m = parsed
	return err
}

// EncodeValues adds the month to a query, and nothing for the zero YearMonth.
func (m YearMonth) EncodeValues(key string, v *url.Values) error {
	if !m.IsZero() {
		v.Set(key, m.String())
	}
	return nil
}

// Timestamp is a point in time as the service writes it, with a numeric offset
// such as +1100; +11:00 and Z are read as well.
type Timestamp struct{ time.Time }

// String returns the time with its offset, and "" for the zero Timestamp.
func (t Timestamp) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.999999999-0700")
}

// MarshalText writes the form that the service uses.
func (t Timestamp) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes the form that the service uses, and "" for the zero
// Timestamp.
func (t Timestamp) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// UnmarshalJSON reads a timestamp; null and "" are the zero Timestamp.
func (t *Timestamp) UnmarshalJSON(data []byte) error {
	text := string(data)
	if text == "null" {
		*t = Timestamp{}
		return nil
	}
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return fmt.Errorf("quickstream: a timestamp is not a string")
	}
	return t.UnmarshalText(data[1 : len(data)-1])
}

// UnmarshalText reads a timestamp; empty text is the zero Timestamp.
func (t *Timestamp) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = Timestamp{}
		return nil
	}
	for _, layout := range [...]string{"2006-01-02T15:04:05.999999999Z0700", time.RFC3339Nano, "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07:00"} {
		if parsed, err := time.Parse(layout, string(text)); err == nil {
			*t = Timestamp{parsed}
			return nil
		}
	}
	return fmt.Errorf("quickstream: not an ISO 8601 time with an offset")
}
