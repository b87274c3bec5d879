package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"
)

var (
	errSyntax = errors.New("not valid JSON")
	errDepth  = errors.New("JSON is nested too deeply")
	errMany   = errors.New("JSON of too many values")
	errName   = errors.New("a member has a name that is not valid UTF-8")
)

// Limits of JSON. A value of two bytes can take hundreds in memory, so the length of a body bounds
// nothing. A page of 1,000 transactions with all known members has about 100,000 values.
const (
	maxDepth       = 10_000 // that of encoding/json
	maxElements    = 5_000  // of a list
	maxValues      = 150_000
	maxErrorValues = 5_000 // of an error body
)

// maxShared bounds the data whose texts share one copy of it. A text that is kept keeps the copy.
// Identifiers are copied by themselves, because merchants keep them for long.
const maxShared = 8 << 10

// scanner walks through JSON once. It refuses what encoding/json refuses, and too many values.
type scanner struct {
	data   []byte
	at     int
	depth  int
	values int    // in objects and arrays so far
	copied string // data, or "" before a text is taken from it
	plain  any    // of the last Via
}

// HasAtMost reports whether data is JSON with at most this many values.
func HasAtMost(data []byte, values int) bool {
	s := scanner{data: data, values: maxValues - values}
	return s.skip() == nil && s.end() == nil
}

// peek moves to the next token and returns its first byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// end returns an error unless all data was read.
func (s *scanner) end() error {
	s.peek()
	if s.at < len(s.data) {
		return errSyntax
	}
	return nil
}

// raw returns the bytes of the next value.
func (s *scanner) raw() ([]byte, error) {
	s.peek()
	start := s.at
	err := s.skip()
	return s.data[start:s.at:s.at], err
}

// skip skips the next value.
func (s *scanner) skip() error {
	switch s.peek() {
	case '{':
		return s.members(func(quoted) error { return s.skip() })
	case '[':
		return s.list(func(int) error { return s.skip() })
	case '"':
		_, err := s.text()
		return err
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		_, err := s.number()
		return err
	}
}

// members reads an object, each value with value.
func (s *scanner) members(value func(name quoted) error) error {
	if err := s.open(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if more, err := s.more('}', n); err != nil || !more {
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		if err := value(name); err != nil {
			return err
		}
	}
}

// list reads an array, each element with item.
func (s *scanner) list(item func(n int) error) error {
	if s.peek() != '[' {
		return s.nothing()
	}
	if err := s.open(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		if more, err := s.more(']', n); err != nil || !more {
			return err
		}
		if err := item(n); err != nil {
			return err
		}
	}
}

// open enters the object or array at the cursor.
func (s *scanner) open() error {
	s.at++
	if s.depth++; s.depth > maxDepth {
		return errDepth
	}
	return nil
}

// more moves to the next element of an object or array after n elements, or past its end.
func (s *scanner) more(end byte, n int) (bool, error) {
	switch c := s.peek(); {
	case c == end:
		s.at++
		s.depth--
		return false, nil
	case n > 0 && c != ',':
		return false, errSyntax
	case n > 0:
		s.at++
	}
	if s.values++; s.values > maxValues || end == ']' && n == maxElements {
		return false, errMany
	}
	return true, nil
}

// name reads the name of a member and its colon.
func (s *scanner) name() (quoted, error) {
	if s.peek() != '"' {
		return quoted{}, errSyntax
	}
	name, err := s.text()
	if err != nil {
		return quoted{}, err
	}
	return name, s.colon()
}

func (s *scanner) colon() error {
	if s.peek() != ':' {
		return errSyntax
	}
	s.at++
	return nil
}

// quoted is a JSON string in the data, without its quotes.
type quoted struct {
	start, end int
	escaped    bool
	valid      bool // UTF-8
}

// bytes returns a text, without copying it if possible. One that is not valid UTF-8 ends before the
// first byte that is not.
func (s *scanner) bytes(q quoted) []byte {
	text := s.data[q.start:q.end:q.end]
	if !q.valid {
		text, _, _ = bytes.Cut(ValidUTF8(text), []byte(notUTF8))
	}
	if q.escaped {
		text = []byte(unescape(`"` + string(text) + `"`))
	}
	return text
}

// unescape returns the text of a JSON string without errors. Go knows most of its escapes.
func unescape(quoted string) (text string) {
	text, err := strconv.Unquote(quoted)
	if err != nil { // an escaped slash, or surrogates
		_ = json.Unmarshal([]byte(quoted), &text)
	}
	return text
}

// string returns the same text as bytes.
func (s *scanner) string(q quoted) string {
	if !q.valid || len(s.data) > maxShared {
		return string(s.bytes(q))
	}
	if s.copied == "" {
		s.copied = string(s.data)
	}
	if q.escaped {
		return unescape(s.copied[q.start-1 : q.end+1])
	}
	return s.copied[q.start:q.end]
}

// text reads the string at the cursor.
func (s *scanner) text() (quoted, error) {
	data, at := s.data, s.at+1
	found, ascii := quoted{start: at}, true
	for {
		for at < len(data) && data[at] != '"' && data[at] != '\\' && data[at]-' ' < utf8.RuneSelf-' ' {
			at++
		}
		if at >= len(data) || data[at] < ' ' {
			return quoted{}, errSyntax
		}
		switch data[at] {
		case '"':
			found.end, s.at = at, at+1
			found.valid = ascii || utf8.Valid(data[found.start:at])
			return found, nil
		case '\\':
			found.escaped, s.at = true, at
			if err := s.escape(); err != nil {
				return quoted{}, err
			}
			at = s.at
		default:
			ascii = false
		}
		at++
	}
}

// escape moves to the last byte of the escape sequence at the cursor.
func (s *scanner) escape() error {
	s.at++
	if s.at >= len(s.data) {
		return errSyntax
	}
	switch s.data[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			if s.at++; s.at >= len(s.data) || !isHex(s.data[s.at]) {
				return errSyntax
			}
		}
		return nil
	}
	return errSyntax
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) literal(text string) error {
	if !bytes.HasPrefix(s.data[s.at:], []byte(text)) {
		return errSyntax
	}
	s.at += len(text)
	return nil
}

// number reads the number at the cursor.
func (s *scanner) number() ([]byte, error) {
	start := s.at
	s.accept('-', '-')
	whole := s.digits()
	if whole == 0 || whole > 1 && s.data[s.at-whole] == '0' {
		return nil, errSyntax
	}
	if s.accept('.', '.') && s.digits() == 0 {
		return nil, errSyntax
	}
	if s.accept('e', 'E') {
		s.accept('+', '-')
		if s.digits() == 0 {
			return nil, errSyntax
		}
	}
	return s.data[start:s.at], nil
}

// accept skips one byte if it is a or b.
func (s *scanner) accept(a, b byte) bool {
	if s.at < len(s.data) && (s.data[s.at] == a || s.data[s.at] == b) {
		s.at++
		return true
	}
	return false
}

// digits skips digits and returns their count.
func (s *scanner) digits() int {
	start := s.at
	for s.at < len(s.data) && isDigit(s.data[s.at]) {
		s.at++
	}
	return s.at - start
}

// Unambiguous returns an error unless data is JSON in which all texts are UTF-8 and no object has a
// member twice, ignoring case: encoding/json would replace bytes, and take the last member. It also
// refuses a name with a letter that folds to an ASCII one. In metadata the case of names counts,
// because they are the merchant's.
func Unambiguous(data []byte) error {
	if !utf8.Valid(data) {
		return errEncoding
	}
	s := scanner{data: data}
	return cmp.Or(s.unambiguous(false), s.end())
}

func (s *scanner) unambiguous(exact bool) error {
	switch s.peek() {
	case '[':
		return s.list(func(int) error { return s.unambiguous(exact) })
	case '{':
	default:
		return s.skip()
	}
	seen := map[string]bool{}
	return s.members(func(q quoted) error {
		name := s.bytes(q)
		folded := name
		if !exact {
			folded = bytes.Map(leastFold, name)
		}
		if seen[string(folded)] {
			return ErrDuplicateMember
		}
		if isASCII(folded) && !isASCII(name) {
			return errFolded
		}
		seen[string(folded)] = true
		return s.unambiguous(exact || string(name) == "metadata")
	})
}

func isASCII(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c >= utf8.RuneSelf })
}

// leastFold returns the same rune for all runes that bytes.EqualFold takes for equal.
func leastFold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
