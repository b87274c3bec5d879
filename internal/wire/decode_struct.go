package wire

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// structReader reads objects into structs of one type.
type structReader struct {
	fields []fieldReader
	byName map[string]int // in fields
}

type fieldReader struct {
	name    string
	index   []int
	model   reflect.Type
	decides bool
	read    reader
}

func newStructReader(t reflect.Type) *structReader {
	r := &structReader{byName: map[string]int{}}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		read, tag := readerOf(field.Type), field.Tag.Get("wire")
		if t := field.Type; tag == "identifies" {
			read = readIdentifier
		} else if tag == "decides" && t.Kind() == reflect.String && !decodesItself(t) && !readsText(t) {
			read = readDecidingText
		}
		r.byName[name] = len(r.fields)
		r.fields = append(r.fields, fieldReader{name, field.Index, field.Type, tag != "", read})
	}
	return r
}

// maxFields limits the fields of a struct, to notice duplicates.
const maxFields = 128

func (r *structReader) read(s *scanner, v reflect.Value) error {
	switch c := s.peek(); {
	case c == 'n':
		return s.literal("null")
	case c != '{':
		return s.nothing()
	}
	if err := s.open(); err != nil {
		return err
	}
	var seen [maxFields]bool
	for n := 0; ; n++ {
		name, more, err := s.member(n)
		if err != nil || !more {
			return err
		}
		i, known := r.byName[string(name)]
		if !known {
			if r.folds(name) {
				return decisive{errFolded}
			}
			if err := s.skip(); err != nil {
				return err
			}
			continue
		}
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
