package signature

import "strings"

const (
	maxValues       = 5    // v1 values: one for each live secret, with room to spare
	maxHeaderLength = 8192 // five signatures of any known algorithm
)

// parsed is a parsed header. Its strings are views of the header.
type parsed struct {
	timestamp string
	ms        int64 // timestamp, read
	values    []string
}

// read parses the header, which must have one value.
func (p *parsed) read(header []string) error {
	if len(header) == 0 || len(header) == 1 && header[0] == "" {
		return ErrMissing
	}
	if len(header) > 1 || !p.parse(header[0]) {
		return ErrMalformed
	}
	return nil
}

// parse reads the value of the header into p and reuses p.values. It ignores unknown elements, such
// as v0, which a sender may add, and blanks around elements.
func (p *parsed) parse(header string) bool {
	*p = parsed{values: p.values[:0]}
	if len(header) > maxHeaderLength {
		return false
	}
	for more := true; more; {
		var element string
		element, header, more = strings.Cut(header, ",")
		element = strings.Trim(element, " \t")
		if value, is := strings.CutPrefix(element, "v1="); is {
			if len(p.values) == maxValues || !visible(value) {
				return false
			}
			p.values = append(p.values, value)
		} else if value, is := strings.CutPrefix(element, "t="); is {
			ms, ok := parseTimestamp(value)
			if p.timestamp != "" || !ok {
				return false
			}
			p.timestamp, p.ms = value, ms
		} else if element == "v1" || element == "t" {
			return false
		}
	}
	return p.timestamp != "" && len(p.values) > 0
}

// parseTimestamp reads milliseconds between 1973 and 2286. The length of twelve or thirteen digits
// excludes seconds, microseconds and overflow.
func parseTimestamp(s string) (ms int64, ok bool) {
	if len(s) != 12 && len(s) != 13 || s[0] == '0' {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		ms = 10*ms + int64(s[i]-'0')
	}
	return ms, true
}

// visible reports whether s is not empty and all printable ASCII without spaces.
func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return s != ""
}
