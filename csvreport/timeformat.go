package csvreport

import (
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
)

// element is a part of a format: a byte that stands for itself, or one of the
// parts of a time below, which are no such byte.
type element uint8

const (
	year element = 0x80 + iota
	month
	monthName
	day
	hour
	minute
	second
	zone
)

// timeFormat is a format of package time, made ready for reading without
// allocation: time.Parse allocates for every format that does not fit.
type timeFormat []element

func (f timeFormat) has(e element) bool {
	for _, each := range f {
		if each == e {
			return true
		}
	}
	return false
}

// compile reads a format. It has to name a day.
func compile(text string) (timeFormat, bool) {
	elements := []struct {
		text string
		element
	}{
		{"2006", year},
		{"01", month},
		{"Jan", monthName},
		{"02", day},
		{"15", hour},
		{"04", minute},
		{"05", second},
		{"Z07:00", zone},
	}
	var f timeFormat
scan:
	for text != "" {
		for _, e := range elements {
			if rest, ok := strings.CutPrefix(text, e.text); ok {
				if f.has(e.element) {
					return nil, false
				}
				f = append(f, e.element)
				text = rest
				continue scan
			}
		}
		c := text[0]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if c >= 0x80 || c >= '0' && c <= '9' || letter && c != 'T' {
			return nil, false
		}
		f = append(f, element(c))
		text = text[1:]
	}
	return f, f.has(year) && f.has(month) != f.has(monthName) && f.has(day)
}

// moment is what a text says by a format.
type moment struct {
	quickstream.Date
	hour, minute, second, nano int
	offset                     int // seconds east
	zoned                      bool
}

// parse reads a text that has the format from end to end. What is in m when it
// has not, means nothing.
func (f timeFormat) parse(b []byte, m *moment) bool {
	*m = moment{}
	for _, e := range f {
		var ok bool
		switch e {
		case year:
			var century, rest int
			if century, b, ok = twoDigits(b, 0, 99); ok {
				rest, b, ok = twoDigits(b, 0, 99)
			}
			m.Year = 100*century + rest
			ok = ok && m.Year > 0
		case month:
			var number int
			number, b, ok = twoDigits(b, 1, 12)
			m.Month = time.Month(number)
		case monthName:
			m.Month, b, ok = namedMonth(b)
		case day:
			m.Day, b, ok = twoDigits(b, 1, 31)
		case hour:
			m.hour, b, ok = twoDigits(b, 0, 23)
		case minute:
			m.minute, b, ok = twoDigits(b, 0, 59)
		case second:
			if m.second, b, ok = twoDigits(b, 0, 59); ok {
				m.nano, b, ok = fraction(b)
			}
		case zone:
			m.zoned = true
			m.offset, b, ok = offset(b)
		default:
			if ok = len(b) > 0 && b[0] == byte(e); ok {
				b = b[1:]
			}
		}
		if !ok {
			return false
		}
	}
	return len(b) == 0 && (m.Day <= 28 || m.IsValid())
}

// twoDigits reads a number of exactly two digits.
func twoDigits(b []byte, least, most int) (int, []byte, bool) {
	if len(b) < 2 || b[0]-'0' > 9 || b[1]-'0' > 9 {
		return 0, nil, false
	}
	value := 10*int(b[0]-'0') + int(b[1]-'0')
	return value, b[2:], value >= least && value <= most
}

func namedMonth(b []byte) (time.Month, []byte, bool) {
	const names = "janfebmaraprmayjunjulaugsepoctnovdec"
	if len(b) < 3 {
		return 0, nil, false
	}
	name := [3]byte{b[0] | 0x20, b[1] | 0x20, b[2] | 0x20}
	for m := time.January; m <= time.December; m++ {
		if at := 3 * int(m-1); string(name[:]) == names[at:at+3] {
			return m, b[3:], true
		}
	}
	return 0, nil, false
}

// fraction reads the fraction that may follow the seconds, in nanoseconds.
func fraction(b []byte) (int, []byte, bool) {
	if len(b) == 0 || b[0] != '.' {
		return 0, b, true
	}
	b = b[1:]
	nano, n := 0, 0
	for ; n < len(b) && b[n] >= '0' && b[n] <= '9'; n++ {
		nano = 10*nano + int(b[n]-'0')
		if n == 9 {
			return 0, nil, false
		}
	}
	for i := n; i < 9; i++ {
		nano *= 10
	}
	return nano, b[n:], n > 0
}

// offset reads Z, +11:00 or +1100.
func offset(b []byte) (int, []byte, bool) {
	if len(b) > 0 && b[0] == 'Z' {
		return 0, b[1:], true
	}
	if len(b) < 5 || b[0] != '+' && b[0] != '-' {
		return 0, nil, false
	}
	sign := 1
	if b[0] == '-' {
		sign = -1
	}
	hours, b, ok := twoDigits(b[1:], 0, 23)
	if !ok {
		return 0, nil, false
	}
	if len(b) > 0 && b[0] == ':' {
		b = b[1:]
	}
	minutes, b, ok := twoDigits(b, 0, 59)
	return sign * (3600*hours + 60*minutes), b, ok
}

func (f *formats) date(b []byte) (quickstream.Date, bool) {
	var m moment
	for _, format := range f.dates {
		if format.parse(b, &m) {
			return m.Date, true
		}
	}
	return quickstream.Date{}, false
}

func (f *formats) time(b []byte) (quickstream.Timestamp, bool) {
	var m moment
	for _, format := range f.times {
		if !format.parse(b, &m) {
			continue
		}
		where := f.location
		if m.zoned {
			where = time.UTC
			if m.offset != 0 {
				where = time.FixedZone("", m.offset)
			}
		}
		if where == nil {
			continue
		}
		return quickstream.Timestamp{Time: time.Date(m.Year, m.Month, m.Day, m.hour, m.minute, m.second, m.nano, where)}, true
	}
	return quickstream.Timestamp{}, false
}
