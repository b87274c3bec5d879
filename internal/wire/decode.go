package wire

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/shopspring/decimal"
)

// ErrDuplicateMember reports an object that has a deciding member twice: that could turn a decline
// into an approval.
var ErrDuplicateMember = errors.New("a member is named twice")

var (
	errKind       = errors.New("a JSON value of another type than expected")
	errFolded     = errors.New("a member has the name of another, in another case")
	errEncoding   = errors.New("a text is not valid UTF-8")
	errIdentifier = errors.New("an identifier cannot be one")
)

// decisive is the error of a deciding member. It fails every value around it.
type decisive struct{ error }

func (e decisive) Unwrap() error { return e.error }

// Decode reads JSON into a zero value: strictly the members that decide, leniently those that inform. The members
// of a struct are its fields with a json tag, by their exact names; a member without a field is ignored.
//
// A member with the tag `wire:"decides"` occurs once, under no name that differs only in case, and has the
// expected type. Its text is valid UTF-8, or an unsigned integer, which is read as its digits. The same
// holds for a text with the tag `wire:"identifies"`, which is empty or an identifier by [IsIdentifier], and
// for an amount with the tag `wire:"amount"`, whose struct may be the amount alone and is zero without one.
//
// All other members inform. One that cannot be read becomes the zero value; of two the last counts; a text may
// be a number, and ends at the first byte that is not UTF-8. Null is absent, and so is an empty value if a list
// or an object is expected. A struct is read by its fields even if it has UnmarshalJSON, which calls Decode.
func Decode[T any](data []byte, into *T) error {
	return decode(&scanner{data: data}, reflect.ValueOf(into).Elem())
}

// DecodeOwned is Decode of data that must not change any more, and returns it as a text. The texts in short data share it.
func DecodeOwned[T any](data []byte, into *T) (text string, err error) {
	text = unsafe.String(unsafe.SliceData(data), len(data)) //nolint:gosec // as strings.Builder does: data does not change
	return text, decode(&scanner{data: data, copied: text}, reflect.ValueOf(into).Elem())
}

func decode(s *scanner, into reflect.Value) error {
	return cmp.Or(decodersOf(into.Type()).alone(s, into), s.end())
}

// Span is a value of the data that [Decode] reads. It shares the data's memory, which a
// json.RawMessage does not. A member that is null is a nil Span.
type Span []byte

// MarshalJSON writes the value unchanged.
func (s Span) MarshalJSON() ([]byte, error) { return s, nil }

// Spans are the items of a list. They are nil only if there is no list: null and an empty value are
// an empty list.
type Spans []Span

// reader reads the next value into v, which is settable and zero.
type reader func(s *scanner, v reflect.Value) error

// decoders are the readers of a type within another, and alone. Alone, a struct is read by its
// members, whatever its methods are.
type decoders struct {
	within, alone reader
	members       *structReader // of a struct
}

// readers keeps the results of decodersOf for the types of the models.
//
//nolint:gochecknoglobals // a memo: nothing but the time it takes depends on it
var readers sync.Map // of decoders, by reflect.Type

// decodersOf makes the decoders of a type once. No model contains itself.
func decodersOf(t reflect.Type) decoders {
	if known, ok := readers.Load(t); ok {
		return known.(decoders)
	}
	made := decoders{within: newReader(t)}
	made.alone = made.within
	if t.Kind() == reflect.Struct {
		made.members = newStructReader(t)
		made.alone = made.members.read
		if made.within == nil || made.members.amount != nil || made.members.via != nil {
			made.within = made.alone
		}
	}
	readers.Store(t, made)
	return made
}

// newReader returns nil for a struct without methods that decode it.
func newReader(t reflect.Type) reader {
	switch {
	case t == reflect.TypeFor[Span]():
		return readSpan
	case t == reflect.TypeFor[Spans]():
		return readSpans
	case t == reflect.TypeFor[map[string]string]():
		return readTexts
	case t == reflect.TypeFor[decimal.Decimal]():
		return readDecimal
	case decodesItself(t):
		return readUnmarshaler
	case readsText(t):
		return readTextUnmarshaler
	}
	switch t.Kind() {
	case reflect.String:
		return readText
	case reflect.Bool:
		return readBool
	case reflect.Int, reflect.Int64:
		return readInt
	case reflect.Pointer:
		return pointerReader(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // base64
			return sliceReader(t.Elem())
		}
	case reflect.Struct:
		return nil
	}
	return readForeign
}

func decodesItself(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

func readsText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

func readUnmarshaler(s *scanner, v reflect.Value) error {
	raw, err := s.raw()
	if err != nil {
		return err
	}
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw)
}

func readTextUnmarshaler(s *scanner, v reflect.Value) error {
	switch s.peek() {
	case 'n':
		return s.literal("null")
	case '"':
	default:
		return errKind
	}
	found, err := s.text()
	switch {
	case err != nil:
		return err
	case !found.valid:
		return errEncoding
	}
	return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(s.bytes(found))
}

func readForeign(s *scanner, v reflect.Value) error {
	raw, err := s.raw()
	switch {
	case err != nil:
		return err
	case !utf8.Valid(raw):
		return errEncoding
	}
	return json.Unmarshal(raw, v.Addr().Interface())
}

// readDecimal reads an amount. Null and an empty text are none, which differs from zero.
func readDecimal(s *scanner, v reflect.Value) error {
	raw, err := s.raw()
	if err != nil {
		return err
	}
	var n Number
	err = n.UnmarshalJSON(raw)
	*v.Addr().Interface().(*decimal.Decimal) = n.d
	return err
}

// readText accepts a number as it is written.
func readText(s *scanner, v reflect.Value) error {
	if c := s.peek(); c != 'n' && c != '"' && c != '-' && !isDigit(c) {
		return errKind
	}
	text, err := s.anyText()
	v.SetString(text)
	return err
}

// readDecidingText accepts an integer by its digits.
func readDecidingText(s *scanner, v reflect.Value) error {
	switch s.peek() {
	case 'n':
		return s.literal("null")
	case '"':
		found, err := s.text()
		if err != nil {
			return err
		}
		text := s.string(found)
		if !found.valid || strings.Contains(text, "\ufffd") { // of half a surrogate pair
			return errEncoding
		}
		v.SetString(text)
		return nil
	}
	number, err := s.number()
	if err != nil || bytes.ContainsAny(number, "-.eE") {
		return errKind
	}
	v.SetString(string(number))
	return nil
}

func readIdentifier(s *scanner, v reflect.Value) error {
	err := readDecidingText(s, v)
	id := v.String()
	if err == nil && id != "" && !IsIdentifier(id) {
		return errIdentifier
	}
	v.SetString(strings.Clone(id))
	return err
}

// AnyText reads a text or any other JSON, as a member that informs.
func AnyText(data []byte) (string, error) {
	s := scanner{data: data}
	text, err := s.anyText()
	return text, cmp.Or(err, s.end())
}

// anyText reads a text. Null is an empty text, and anything else its JSON.
func (s *scanner) anyText() (string, error) {
	switch s.peek() {
	case 'n':
		return "", s.literal("null")
	case '"':
		found, err := s.text()
		if err != nil {
			return "", err
		}
		return s.string(found), nil
	default:
		raw, err := s.raw()
		if err == nil && !utf8.Valid(raw) {
			err = errEncoding
		}
		return string(raw), err
	}
}

// readTexts reads an object with names of the merchant's. A value that is not a text is kept as its
// JSON.
func readTexts(s *scanner, v reflect.Value) error {
	if s.peek() != '{' {
		return s.nothing()
	}
	texts := map[string]string{}
	err := s.members(func(q quoted) error {
		if !q.valid {
			return errName
		}
		name := s.string(q)
		if _, twice := texts[name]; twice {
			return ErrDuplicateMember
		}
		start := s.at
		text, err := s.anyText()
		texts[name] = text
		if err == nil && !utf8.Valid(s.data[start:s.at]) {
			err = errEncoding
		}
		return err
	})
	if err == nil {
		v.Set(reflect.ValueOf(texts))
	}
	return err
}

func readBool(s *scanner, v reflect.Value) error {
	switch s.peek() {
	case 'n':
		return s.literal("null")
	case 't':
		v.SetBool(true)
		return s.literal("true")
	case 'f':
		return s.literal("false")
	}
	return errKind
}

// readInt reads a number, or a text that holds one.
func readInt(s *scanner, v reflect.Value) error {
	if s.peek() == 'n' {
		return s.literal("null")
	}
	raw, err := s.raw()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	if err != nil || v.OverflowInt(n) {
		return errKind
	}
	v.SetInt(n)
	return nil
}

// pointerReader reads nil for a value that decodes itself as zero, such as an amount without a number.
func pointerReader(elem reflect.Type) reader {
	read, zeroIsNil := decodersOf(elem).within, decodesItself(elem)
	return func(s *scanner, v reflect.Value) error {
		if s.peek() == 'n' {
			return s.literal("null")
		}
		target := reflect.New(elem)
		if err := read(s, target.Elem()); err != nil {
			return err
		}
		if !zeroIsNil || !target.Elem().IsZero() {
			v.Set(target)
		}
		return nil
	}
}

func sliceReader(elem reflect.Type) reader {
	read := decodersOf(elem).within
	return func(s *scanner, v reflect.Value) error {
		if s.peek() == 'n' {
			return s.literal("null")
		}
		err := s.list(func(n int) error {
			if n == v.Cap() {
				v.Grow(4)
			}
			v.SetLen(n + 1)
			return read(s, v.Index(n))
		})
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		return err
	}
}

func readSpan(s *scanner, v reflect.Value) error {
	if s.peek() == 'n' {
		return s.literal("null")
	}
	raw, err := s.raw()
	v.SetBytes(raw)
	return err
}

func readSpans(s *scanner, v reflect.Value) error {
	spans := Spans{}
	err := s.list(func(int) error {
		raw, err := s.raw()
		spans = append(spans, raw)
		return err
	})
	v.Set(reflect.ValueOf(spans))
	return err
}

// nothing skips null, and an empty object, array or text where another type was expected. Anything
// else is an error.
func (s *scanner) nothing() error {
	raw, err := s.raw()
	switch {
	case err != nil || raw[0] == 'n':
		return err
	case strings.IndexByte(`{["`, raw[0]) < 0 || len(bytes.TrimSpace(raw[1:len(raw)-1])) > 0:
		return errKind
	}
	return nil
}
