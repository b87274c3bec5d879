package wire

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var errKind = errors.New("a JSON value of another type than expected")

// Decode reads JSON into a value that holds nothing yet. It means the same as
// json.Unmarshal, apart from two things: an object that names a member twice is
// refused with [ErrDuplicateMember], and reading ends with the first error. It
// goes through the data once, apart from values that decode themselves, whose end
// it looks for first; encoding/json goes through it twice, and a search for
// duplicates makes three.
//
// A struct is read by its fields even where it decodes itself: it does so with
// Decode. What Decode does not read by itself, such as maps, it leaves to
// encoding/json.
func Decode[T any](data []byte, into *T) error {
	v := reflect.ValueOf(into).Elem()
	s := scanner{data: data}
	s.seen = s.few[:0]
	if err := waysOf(v.Type()).alone(&s, v, false); err != nil {
		return err
	}
	return s.end()
}

// Span is a value as it stands in the data that [Decode] reads. It shares its
// memory, which a json.RawMessage does not.
type Span []byte

// Spans are the items of a list. They are nil only where there is no list: null and an
// empty object are a list of nothing.
type Spans []Span

// reader reads the next value into v, which can be set and holds nothing yet.
type reader func(s *scanner, v reflect.Value, exact bool) error

// ways are how a type is read within another, and alone: there a struct is read by
// its fields, whatever its methods are.
type ways struct{ within, alone reader }

// readers remembers what newWays made for the types of the models.
//
//nolint:gochecknoglobals // a memo: nothing but the time it takes depends on it
var readers sync.Map // of ways, by reflect.Type

func waysOf(t reflect.Type) ways {
	if known, ok := readers.Load(t); ok {
		return known.(ways)
	}
	made := newWays(t)
	readers.Store(t, made)
	return made
}

func readerOf(t reflect.Type) reader { return waysOf(t).within }

func newWays(t reflect.Type) ways {
	within := newReader(t)
	if t.Kind() == reflect.Struct {
		return ways{within, newPlainReader(t)}
	}
	return ways{within, within}
}

func newReader(t reflect.Type) reader {
	switch {
	case t == reflect.TypeFor[json.Number](): // a string, and read from numbers
		return readForeign
	case t == reflect.TypeFor[Spans]():
		return readSpans
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return readUnmarshaler
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return readTextUnmarshaler
	}
	return newPlainReader(t)
}

// newPlainReader looks at what a type is made of, and not at its methods.
func newPlainReader(t reflect.Type) reader {
	switch t.Kind() {
	case reflect.String:
		return readString
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
		if r, ok := newStructReader(t); ok {
			return r.read
		}
	}
	return readForeign
}

func readSpans(s *scanner, v reflect.Value, exact bool) error {
	spans, end := Spans{}, byte(']')
	switch s.peek() {
	case 'n':
		v.Set(reflect.ValueOf(spans))
		return s.literal("null")
	case '{':
		end = '}'
	case '[':
	default:
		return errKind
	}
	if err := s.open(); err != nil {
		return err
	}
	for {
		more, err := s.more(end, len(spans))
		switch {
		case err != nil:
			return err
		case !more:
			v.Set(reflect.ValueOf(spans))
			return nil
		case end == '}':
			return errKind
		}
		raw, err := s.raw(exact)
		if err != nil {
			return err
		}
		spans = append(spans, raw)
	}
}

func readUnmarshaler(s *scanner, v reflect.Value, exact bool) error {
	raw, err := s.raw(exact)
	if err != nil {
		return err
	}
	return v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(raw)
}

func readTextUnmarshaler(s *scanner, v reflect.Value, _ bool) error {
	found, given, err := s.optionalText()
	if err != nil || !given {
		return err
	}
	text, err := found.bytes()
	if err != nil {
		return err
	}
	return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
}

func readForeign(s *scanner, v reflect.Value, exact bool) error {
	raw, err := s.raw(exact)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, v.Addr().Interface())
}

func readString(s *scanner, v reflect.Value, _ bool) error {
	found, given, err := s.optionalText()
	if err != nil || !given {
		return err
	}
	text, err := found.unquote()
	v.SetString(text)
	return err
}

// optionalText reads a string or null.
func (s *scanner) optionalText() (found quoted, given bool, err error) {
	switch s.peek() {
	case 'n':
		return quoted{}, false, s.literal("null")
	case '"':
		found, err = s.text()
		return found, true, err
	}
	return quoted{}, false, errKind
}

func readBool(s *scanner, v reflect.Value, _ bool) error {
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

func readInt(s *scanner, v reflect.Value, _ bool) error {
	switch c := s.peek(); {
	case c == 'n':
		return s.literal("null")
	case c != '-' && !isDigit(c):
		return errKind
	}
	digits, err := s.number()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || v.OverflowInt(n) {
		return errKind
	}
	v.SetInt(n)
	return nil
}

// pointerReader and sliceReader find out about their elements when they meet one:
// a type may hold itself that way.
func pointerReader(elem reflect.Type) reader {
	readerOf := sync.OnceValue(func() reader { return readerOf(elem) })
	return func(s *scanner, v reflect.Value, exact bool) error {
		if s.peek() == 'n' {
			return s.literal("null")
		}
		target := reflect.New(elem)
		v.Set(target)
		return readerOf()(s, target.Elem(), exact)
	}
}

func sliceReader(elem reflect.Type) reader {
	readerOf := sync.OnceValue(func() reader { return readerOf(elem) })
	return func(s *scanner, v reflect.Value, exact bool) error {
		switch s.peek() {
		case 'n':
			return s.literal("null")
		case '[':
		default:
			return errKind
		}
		if err := s.open(); err != nil {
			return err
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		for n := 0; ; n++ {
			more, err := s.more(']', n)
			if err != nil || !more {
				return err
			}
			if n == v.Cap() {
				v.Grow(1)
			}
			v.SetLen(n + 1)
			if err := readerOf()(s, v.Index(n), exact); err != nil {
				return err
			}
		}
	}
}

// structReader reads objects into structs of one type.
type structReader struct {
	fields []fieldReader
	byName map[string]int // in fields
}

type fieldReader struct {
	name  string
	index []int
	read  reader
}

// newStructReader is not ok with a struct that encoding/json reads by rules which
// no model of ours needs: embedded pointers, fields that hide each other, and
// numbers in strings.
func newStructReader(t reflect.Type) (r *structReader, ok bool) {
	r = &structReader{byName: map[string]int{}}
	for _, field := range reflect.VisibleFields(t) {
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		embedded := field.Anonymous && name == ""
		switch {
		case embedded && field.Type.Kind() == reflect.Pointer, strings.Contains(options, "string"):
			return nil, false
		case !field.IsExported(), tag == "-", embedded && field.Type.Kind() == reflect.Struct:
			continue
		case name == "":
			name = field.Name
		}
		if _, hidden := r.byName[name]; hidden {
			return nil, false
		}
		r.byName[name] = len(r.fields)
		r.fields = append(r.fields, fieldReader{name, field.Index, readerOf(field.Type)})
	}
	return r, true
}

// field returns the field that encoding/json decodes a member into: the one of
// that name, or else of that name in another case; -1 if there is none.
func (r *structReader) field(name []byte) int {
	if i, ok := r.byName[string(name)]; ok {
		return i
	}
	folded := string(name)
	for i := range r.fields {
		if strings.EqualFold(r.fields[i].name, folded) {
			return i
		}
	}
	return -1
}

func (r *structReader) read(s *scanner, v reflect.Value, exact bool) error {
	switch s.peek() {
	case 'n':
		return s.literal("null")
	case '{':
	default:
		return errKind
	}
	if err := s.open(); err != nil {
		return err
	}
	seen, names := len(s.seen), len(s.names)
	s.seen = slices.Grow(s.seen, len(r.fields))[:seen+len(r.fields)]
	clear(s.seen[seen:])
	for n := 0; ; n++ {
		name, more, err := s.member(n)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		exact := exact || string(name) == freeForm
		i := r.field(name)
		if i < 0 {
			s.names = append(s.names, name)
			if err := s.skip(exact); err != nil {
				return err
			}
			continue
		}
		// Names that confuse decoding lead to the same field.
		if s.seen[seen+i] {
			return ErrDuplicateMember
		}
		s.seen[seen+i] = true
		if err := r.fields[i].read(s, v.FieldByIndex(r.fields[i].index), exact); err != nil {
			return fmt.Errorf("%s: %w", r.fields[i].name, err)
		}
	}
	twice := anyTwice(s.names[names:], exact)
	s.seen, s.names = s.seen[:seen], s.names[:names]
	if twice {
		return ErrDuplicateMember
	}
	return nil
}
