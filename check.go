package quickstream

import (
	"strings"
	"unicode/utf8"
)

// findings collects every rule that a request breaks, so that a caller sees all of them at once. A
// rule repeats what the contract says literally. The doc comment of a field names what only the
// service can judge.
type findings struct {
	disabled map[string]bool // by WithoutRule
	prefix   string          // path of the part under check, with its dot
	list     []Finding
}

// require adds a finding unless ok. The message says what must hold, and path is the
// member in the service's names.
func (f *findings) require(ok bool, rule, path, message string) {
	if !ok && !f.disabled[rule] {
		f.list = append(f.list, Finding{Rule: rule, Path: f.prefix + path, Message: message})
	}
}

// within checks a part of the request, whose members are below path.
func (f *findings) within(path string, check func(*findings)) {
	outer := f.prefix
	f.prefix += path + "."
	check(f)
	f.prefix = outer
}

// check runs the checks of a request. Findings end the call with a ValidationError, unless
// it has ended before.
func (c *call) check(checks func(*findings)) {
	f := findings{disabled: c.config.disabled}
	if checks(&f); f.list != nil && c.ended == nil {
		c.ended = c.unclaimed(&ValidationError{Operation: c.op.name, Findings: f.list})
	}
}

func count(given ...bool) (n int) {
	for _, is := range given {
		if is {
			n++
		}
	}
	return n
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// isPrintable reports whether text is printable ASCII, blanks included.
func isPrintable(text string) bool {
	for i := range len(text) {
		if text[i] > '~' || text[i] < ' ' {
			return false
		}
	}
	return true
}

// isVisible reports whether text is printable ASCII without blanks.
func isVisible(text string) bool { return isPrintable(text) && !strings.Contains(text, " ") }

func isDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// lengthWithin counts characters, not bytes.
func lengthWithin(text string, shortest, longest int) bool {
	n := utf8.RuneCountInString(text)
	return n >= shortest && n <= longest
}

// inRange lets an absent number pass.
func inRange[N int | int64](n *N, least, most N) bool { return n == nil || *n >= least && *n <= most }
