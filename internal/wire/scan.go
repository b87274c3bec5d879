package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"
)

var (
	errSyntax = errors.New("not valid JSON")
	errDepth  = errors.New("JSON is nested too deeply")
	errMany   = errors.New("JSON of too many values")
)

// Limits of JSON. A value of two bytes can take hundreds in memory, so the length of a body bounds
// nothing. A page of 1,000 transactions with all known members has about 100,000 values.
const (
	maxDepth       = 10_000 // that of encoding/json
	maxElements    = 5_000  // of a list
	maxValues      = 150_000
	maxErrorValues = 5_000 // of an error body
)

// scanner walks through JSON once. It refuses what encoding/json refuses, and too many values.
type scanner struct {
	data   []byte
	at     int
	depth  int
	values int // in objects and arrays so far
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
		return s.object()
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

func (s *scanner) object() error {
	if err := s.open(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		_, more, err := s.member(n)
		if err != nil || !more {
			return err
		}
		if err := s.skip(); err != nil {
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

// member reads the name of the next member of an object after n members, or moves past its end.
func (s *scanner) member(n int) (name []byte, more bool, err error) {
	if more, err = s.more('}', n); err != nil || !more {
		return nil, false, err
	}
	name, err = s.name()
	return name, true, err
}

// name reads the name of a member and its colon.
func (s *scanner) name() ([]byte, error) {
	if s.peek() != '"' {
		return nil, errSyntax
	}
	name, err := s.text()
	if err != nil {
		return nil, err
	}
	if s.peek() != ':' {
		return nil, errSyntax
	}
	s.at++
	return name.bytes()
}

// quoted is a JSON string with its quotes.
type quoted struct {
	json  []byte
	plain bool // the text between the quotes is the content
}

func (q quoted) content() []byte { return q.json[1 : len(q.json)-1] }

func (q quoted) unquote() (string, error) {
	if q.plain {
		return string(q.content()), nil
	}
	var text string
	err := json.Unmarshal(q.json, &text)
	return text, err
}

// bytes returns the text, without copying if possible.
func (q quoted) bytes() ([]byte, error) {
	if q.plain {
		return q.content(), nil
	}
	text, err := q.unquote()
	return []byte(text), err
}

// text reads the string at the cursor.
func (s *scanner) text() (quoted, error) {
	start, ascii, escaped := s.at, true, false
	for s.at++; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; {
		case c == '"':
			s.at++
			json := s.data[start:s.at:s.at]
			return quoted{json, !escaped && (ascii || utf8.Valid(json))}, nil
		case c == '\\':
			escaped = true
			if err := s.escape(); err != nil {
				return quoted{}, err
			}
		case c < ' ':
			return quoted{}, errSyntax
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return quoted{}, errSyntax
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

// Unambiguous returns an error unless data is JSON in which no object has a member twice, in any
// case: encoding/json would take the last of them. It also refuses a name with a letter that folds
// to an ASCII one. Names in metadata are the merchant's, and their case counts.
func Unambiguous(data []byte) error {
	s := scanner{data: data}
	if err := s.unambiguous(false); err != nil {
		return err
	}
	return s.end()
}

func (s *scanner) unambiguous(exact bool) error {
	switch s.peek() {
	case '[':
		return s.list(func(int) error { return s.unambiguous(exact) })
	case '{':
	default:
		return s.skip()
	}
	if err := s.open(); err != nil {
		return err
	}
	seen := map[string]bool{}
	for n := 0; ; n++ {
		name, more, err := s.member(n)
		if err != nil || !more {
			return err
		}
		inner, folded := exact || string(name) == "metadata", name
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
		if err := s.unambiguous(inner); err != nil {
			return err
		}
	}
}

func isASCII(text []byte) bool {
	return !slices.ContainsFunc(text, func(c byte) bool { return c >= utf8.RuneSelf })
}

// leastFold returns the same rune for all that bytes.EqualFold takes for equal.
func leastFold(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
