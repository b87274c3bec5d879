package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// fields reads one JSON object of a request, member by member, with exact names. It adds its findings to
// the call. At the end valid refuses the members that were not asked for.
type fields struct {
	c       *call
	path    string
	members map[string]json.RawMessage
	asked   map[string]bool
}

// readBody opens the JSON object of a request. If the body cannot be read, the object has no
// members, valid returns false, and invalid returns the answer that says why.
func (c *call) readBody() *fields {
	f := &fields{c: c, asked: make(map[string]bool)}
	var refusal answer
	if kind, _, err := mime.ParseMediaType(c.header.Get("Content-Type")); err != nil || kind != "application/json" {
		refusal = c.problem(http.StatusUnsupportedMediaType, "The Content-Type must be application/json.")
	} else if read, ok := c.open("", c.body); !ok {
		refusal = c.problem(http.StatusBadRequest, "The body is not a JSON object.")
	} else {
		return read
	}
	c.unreadable = &refusal
	return f
}

// open reads a JSON object. It returns false for anything else.
func (c *call) open(path string, doc []byte) (*fields, bool) {
	f := &fields{c: c, path: path, asked: make(map[string]bool)}
	if json.Unmarshal(doc, &f.members) != nil || f.members == nil {
		return nil, false
	}
	c.opened = append(c.opened, f)
	return f, true
}

func (f *fields) names() []string { return slices.Sorted(maps.Keys(f.members)) }

// valid ends the reading of a body. It adds unknown members to the findings, and returns true if
// the body could be read and there are no findings.
func (c *call) valid() bool {
	for _, f := range c.opened {
		for _, name := range f.names() {
			if !f.asked[name] {
				c.refuse(f.path+name, "", "is not a member of this request")
			}
		}
	}
	c.opened = nil
	return len(c.findings) == 0 && c.unreadable == nil
}

func (f *fields) refuse(name, value, message string) { f.c.refuse(f.path+name, value, message) }

// has reports whether a member is present and not null. The member then counts as asked for.
func (f *fields) has(name string) bool {
	f.asked[name] = true
	v, ok := f.members[name]
	return ok && string(v) != "null"
}

// ignore accepts members with any value.
func (f *fields) ignore(names ...string) {
	for _, name := range names {
		f.asked[name] = true
	}
}

type check func(string) string

// text reads an optional text. Null is the same as absent.
func (f *fields) text(name string, checks ...check) string { return f.read(false, name, checks...) }

func (f *fields) need(name string, checks ...check) string { return f.read(true, name, checks...) }

func (f *fields) read(required bool, name string, checks ...check) (s string) {
	before := len(f.c.findings)
	if f.has(name) {
		if json.Unmarshal(f.members[name], &s) != nil {
			f.refuse(name, "", "must be a string")
			return ""
		}
		f.c.judge(f.path+name, s, checks)
	}
	if required && s == "" && len(f.c.findings) == before {
		f.refuse(name, "", "is required")
	}
	return s
}

func (f *fields) flag(name string) (value, given bool) {
	if !f.has(name) {
		return false, false
	}
	if json.Unmarshal(f.members[name], &value) != nil {
		f.refuse(name, "", "must be true or false")
		return false, false
	}
	return value, true
}

// principal reads the required amount of a transaction, which is a JSON number.
func (f *fields) principal(least cents) cents {
	const name = "principalAmount"
	if !f.has(name) {
		f.refuse(name, "", "is required")
		return 0
	}
	value, wrong := parseCents(string(f.members[name]))
	if wrong == "" && value < least {
		wrong = "must be at least " + least.String()
	}
	if wrong != "" {
		f.refuse(name, "", wrong)
	}
	return value
}

// object opens a nested object. It returns nil if there is none, or the member is not an
// object.
func (f *fields) object(name string) *fields {
	if !f.has(name) {
		return nil
	}
	inner, ok := f.c.open(f.path+name+".", f.members[name])
	if !ok {
		f.refuse(name, "", "must be an object")
		return nil
	}
	return inner
}

func (f *fields) texts(name string) map[string]string {
	inner := f.object(name)
	if inner == nil {
		return nil
	}
	out := make(map[string]string, len(inner.members))
	for _, key := range inner.names() {
		inner.asked[key] = true
		var s string
		if inner.members[key][0] != '"' || json.Unmarshal(inner.members[key], &s) != nil {
			inner.refuse(key, "", "must be a string")
		}
		out[key] = s
	}
	return out
}

func oneOf(allowed ...string) check {
	return func(s string) string {
		if slices.Contains(allowed, s) {
			return ""
		}
		return "must be one of " + strings.Join(allowed, ", ")
	}
}

type parameter struct {
	name     string
	required bool
	checks   []check
}

func need(name string, checks ...check) parameter { return parameter{name, true, checks} }
func may(name string, checks ...check) parameter  { return parameter{name, false, checks} }

// checkQuery refuses parameters that are unknown, given twice, missing or not valid.
func (c *call) checkQuery() (refusal answer, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		if known := slices.ContainsFunc(c.op.query, func(p parameter) bool { return p.name == name }); !known || len(c.query[name]) > 1 {
			c.refuse(name, "", "is not a parameter of this request, or is given twice")
		}
	}
	if len(c.findings) > 0 {
		return c.invalid(), false
	}
	for _, p := range c.op.query {
		value := c.query.Get(p.name)
		if p.required && value == "" {
			c.refuse(p.name, "", "is required")
		} else if c.query.Has(p.name) {
			c.judge(p.name, value, p.checks)
		}
	}
	switch {
	case len(c.findings) == 0:
		return answer{}, true
	case c.op.unknown != "":
		return c.notFound(c.op.unknown), false
	default:
		return c.invalid(), false
	}
}

func (c *call) judge(name, value string, checks []check) {
	for _, wrong := range checks {
		if message := wrong(value); message != "" {
			c.refuse(name, value, message)
			return
		}
	}
}

func atMost(n int) check {
	return func(s string) string {
		if utf8.RuneCountInString(s) > n {
			return fmt.Sprintf("must be at most %d characters", n)
		}
		return ""
	}
}

func filled(s string) string {
	if s == "" {
		return "must not be empty"
	}
	return ""
}

// form accepts texts that match a regular expression as a whole.
func form(pattern string) check {
	whole := regexp.MustCompile(`(?s)^(?:` + pattern + `)$`)
	return func(s string) string {
		if whole.MatchString(s) {
			return ""
		}
		return "must have the form " + pattern
	}
}

func digits(least, most int) check { return form(fmt.Sprintf("[0-9]{%d,%d}", least, most)) }

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func ascii(s string) string {
	for i := range len(s) {
		if s[i] > 0x7f {
			return "must be ASCII"
		}
	}
	return ""
}

// publicIP accepts addresses that a customer on the Internet can have.
func publicIP(s string) string {
	ip, err := netip.ParseAddr(s)
	switch {
	case err != nil || ip.Zone() != "":
		return "must be an IP address"
	case !ip.IsGlobalUnicast() || ip.IsPrivate() || netip.MustParsePrefix("100.64.0.0/10").Contains(ip.Unmap()): // carrier-grade NAT
		return "must be the public IP address of the customer"
	}
	return ""
}

// Patterns and layouts of texts.
const (
	bsbForm     = `[0-9]{3}-?[0-9]{3}`
	joined      = `[^,]+(,[^,]+)*`
	monthOfYear = `0[1-9]|1[0-2]`

	monthLayout = "2006-01"
)

func dateForm(s string) string    { return inLayout(s, time.DateOnly, "a date in the form YYYY-MM-DD") }
func compactDate(s string) string { return inLayout(s, "20060102", "a date in the form YYYYMMDD") }
func monthForm(s string) string   { return inLayout(s, monthLayout, "a month in the form YYYY-MM") }

func inLayout(s, layout, what string) string {
	if _, err := time.Parse(layout, s); err != nil {
		return "must be " + what
	}
	return ""
}
