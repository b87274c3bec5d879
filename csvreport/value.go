package csvreport

import (
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
)

const (
	// maxFastDigits always fit into an int64, also in hundredths.
	maxFastDigits = 16

	// maxAmount is the greatest length of an amount.
	maxAmount = 64
)

// number is an amount in a report. It fits if an int64 holds it.
type number struct {
	units  int64 // without the point
	places int32
	fits   bool
}

// parseNumber reads an optional minus sign, digits and, if there are decimals, a
// point and digits: no exponent, no plus sign and no thousands separators.
func parseNumber(b []byte) (n number, ok bool) {
	if len(b) > maxAmount {
		return n, false
	}
	negative := b[0] == '-'
	if negative {
		b = b[1:]
	}
	count, point := 0, false
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9':
			count++
			if count <= maxFastDigits {
				n.units = 10*n.units + int64(c-'0')
			}
			if point {
				n.places++
			}
		case c == '.' && !point && i > 0 && i < len(b)-1:
			point = true
		default:
			return number{}, false
		}
	}
	if negative {
		n.units = -n.units
	}
	n.fits = count <= maxFastDigits
	return n, count > 0
}

// parseDate reads dates as the API writes them, and as the vendor publishes them for other reports.
// The forms exclude each other.
func parseDate(b []byte) (quickstream.Date, bool) {
	var year, month, day []byte
	switch {
	case len(b) == 10 && b[4] == '-' && b[7] == '-':
		year, month, day = b[:4], b[5:7], b[8:]
	case len(b) == 10 && b[2] == '-' && b[5] == '-':
		day, month, year = b[:2], b[3:5], b[6:]
	case len(b) == 11 && b[2] == b[6] && (b[2] == '-' || b[2] == ' '):
		day, month, year = b[:2], b[3:6], b[7:]
	default:
		return quickstream.Date{}, false
	}
	d := quickstream.Date{Year: digits(year, 9999), Day: digits(day, 31)}
	if len(month) == 2 {
		d.Month = time.Month(digits(month, 12))
	} else {
		for m := time.January; m <= time.December; m++ {
			if strings.EqualFold(m.String()[:3], string(month)) {
				d.Month = m
			}
		}
	}
	common := d.Year > 0 && d.Month > 0 && d.Day > 0 && d.Day <= 28
	return d, common || d.IsValid()
}

// parseTimestamp reads a date of the first form and a time with an offset.
func parseTimestamp(b []byte) (t quickstream.Timestamp, ok bool) {
	const shortest = len("2006-01-02T15:04:05Z")
	if len(b) < shortest || b[4] != '-' || b[10] != 'T' && b[10] != ' ' || b[13] != ':' || b[16] != ':' {
		return t, false
	}
	date, ok := parseDate(b[:10])
	hour, minute, second := digits(b[11:13], 23), digits(b[14:16], 59), digits(b[17:19], 59)
	zone, nano := b[19:], 0
	if zone[0] == '.' {
		n := 1
		for unit := 100_000_000; unit > 0 && n < len(zone) && zone[n]-'0' <= 9; n++ {
			nano += unit * int(zone[n]-'0')
			unit /= 10
		}
		ok = ok && n > 1
		zone = zone[n:]
	}
	where, known := parseOffset(zone)
	if !ok || !known || min(hour, minute, second) < 0 {
		return t, false
	}
	t.Time = time.Date(date.Year, date.Month, date.Day, hour, minute, second, nano, where)
	return t, true
}

// parseOffset reads Z, +11:00 or +1100.
func parseOffset(b []byte) (*time.Location, bool) {
	if string(b) == "Z" {
		return time.UTC, true
	}
	n := len(b)
	if n != 5 && (n != 6 || b[3] != ':') || b[0] != '+' && b[0] != '-' {
		return nil, false
	}
	hours, minutes := digits(b[1:3], 23), digits(b[n-2:], 59)
	east := 3600*hours + 60*minutes
	switch {
	case hours < 0 || minutes < 0:
		return nil, false
	case east == 0:
		return time.UTC, true
	case b[0] == '-':
		east = -east
	}
	return time.FixedZone("", east), true
}

// digits returns the value of decimal digits, or -1 for anything else and for more than most.
func digits(b []byte, most int) int {
	n := 0
	for _, c := range b {
		if c-'0' > 9 {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	if n > most {
		return -1
	}
	return n
}

func parseBool(b []byte) (value, ok bool) {
	var lower [len("false")]byte
	if len(b) > len(lower) {
		return false, false
	}
	for i, c := range b {
		lower[i] = c | 0x20 // makes letters of letters only
	}
	switch string(lower[:len(b)]) {
	case "true", "yes", "y":
		return true, true
	case "false", "no", "n":
		return false, true
	default:
		return false, false
	}
}
