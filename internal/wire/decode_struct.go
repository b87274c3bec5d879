package wire

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// structReader reads objects into structs of one type.
type structReader struct {
	fields []fieldReader
	byName map[string]int // in fields
	amount *fieldReader   // the field with the tag amount, or nil
	via    reader         // of a struct with a Via, or nil
}

// Via is a field of a type T that is read as a P, whose Value is the T, and not by its own fields.
type Via[P interface{ Value() T }, T any] struct{}

func (Via[P, T]) reader() reader {
	read := decodersOf(reflect.TypeFor[P]()).alone
	return func(s *scanner, v reflect.Value) error {
		plain, ok := s.plain.(*P)
		if !ok {
			plain = new(P)
			s.plain = plain
		}
		*plain = *new(P)
		err := read(s, reflect.ValueOf(plain).Elem())
		*v.Addr().Interface().(*T) = (*plain).Value()
		return err
	}
}

type fieldReader struct {
	name    string
	quoted  []byte // the name in JSON
	index   []int
	model   reflect.Type
	decides bool
	read    reader
}

func newStructReader(t reflect.Type) *structReader {
	r, amount := &structReader{byName: map[string]int{}}, -1
	for _, field := range reflect.VisibleFields(t) {
		if via, is := reflect.Zero(field.Type).Interface().(interface{ reader() reader }); is {
			r.via = via.reader()
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		read, tag := decodersOf(field.Type).within, field.Tag.Get("wire")
		if t := field.Type; tag == "identifies" {
			read = readIdentifier
		} else if tag == "amount" {
			amount = len(r.fields)
		} else if tag == "decides" && t.Kind() == reflect.String && !decodesItself(t) && !readsText(t) {
			read = readDecidingText
		}
		r.byName[name] = len(r.fields)
		r.fields = append(r.fields, fieldReader{name, strconv.AppendQuote(nil, name), field.Index, field.Type, tag != "", read})
	}
	if amount >= 0 {
		r.amount = &r.fields[amount]
	}
	return r
}

// maxFields limits the fields of a struct, to notice duplicates.
const maxFields = 128

func (r *structReader) read(s *scanner, v reflect.Value) error {
	switch c := s.peek(); {
	case r.via != nil:
		return r.via(s, v)
	case c != '{' && r.amount != nil:
		return r.amount.read(s, v.FieldByIndex(r.amount.index))
	case c != '{':
		return s.nothing()
	}
	if err := s.open(); err != nil {
		return err
	}
	var seen [maxFields]bool
	i := -1
	for n := 0; ; n++ {
		if more, err := s.more('}', n); err != nil {
			return err
		} else if !more {
			if r.amount != nil && v.FieldByIndex(r.amount.index).IsZero() {
				v.SetZero()
			}
			return nil
		}
		known, err := r.member(s, i+1)
		if err != nil {
			return err
		}
		if known < 0 {
			if err := s.skip(); err != nil {
				return err
			}
			continue
		}
		i = known
		field := &r.fields[i]
		value := v.FieldByIndex(field.index)
		if seen[i] {
			if field.decides {
				return decisive{fmt.Errorf("%s: %w", field.name, ErrDuplicateMember)}
			}
			value.SetZero()
		}
		seen[i] = true
		if err := field.readInto(s, value); err != nil {
			return err
		}
	}
}

// member reads the name of a member, and returns its field or -1. Most members come in the order of
// the fields, so the next one is tried first.
func (r *structReader) member(s *scanner, next int) (field int, err error) {
	s.peek()
	if next < len(r.fields) && bytes.HasPrefix(s.data[s.at:], r.fields[next].quoted) {
		s.at += len(r.fields[next].quoted)
		return next, s.colon()
	}
	quoted, err := s.name()
	switch {
	case err != nil:
		return 0, err
	case !quoted.valid:
		return 0, decisive{errName}
	}
	name := s.bytes(quoted)
	if field, known := r.byName[string(name)]; known {
		return field, nil
	} else if r.folds(name) {
		return 0, decisive{errFolded}
	}
	return -1, nil
}

// folds reports whether an unknown name differs only in case from a member that decides.
func (r *structReader) folds(name []byte) bool {
	for i := range r.fields {
		if field := &r.fields[i]; field.decides && strings.EqualFold(field.name, string(name)) {
			return true
		}
	}
	return false
}

// readInto forgives errors in a member that informs.
func (f *fieldReader) readInto(s *scanner, v reflect.Value) error {
	start, depth := s.at, s.depth
	err := f.read(s, v)
	if err == nil {
		return nil
	}
	if f.decides {
		return decisive{fmt.Errorf("%s: %w", f.name, err)}
	}
	if _, below := errors.AsType[decisive](err); below {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	v.SetZero()
	s.at, s.depth = start, depth
	return s.skip()
}

// unreadable reports whether readInto would forgive an error in this value.
func (f *fieldReader) unreadable(value []byte) bool {
	s := scanner{data: value}
	return !f.decides && f.read(&s, reflect.New(f.model).Elem()) != nil
}
