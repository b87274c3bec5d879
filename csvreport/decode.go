package csvreport

import (
	"encoding"
	"fmt"
	"iter"
	"maps"
	"reflect"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Decode yields the records as values of T, a struct whose fields name their columns in csv tags.
//
// A field is a string or of a type made from one, a decimal.Decimal, a quickstream.Date or
// Timestamp, a bool, or of a type with UnmarshalText. They are read as the methods of [Row] read
// them. A pointer to one of these is nil for an empty cell. A map[string]string named metadata_*
// takes the pairs of [Row.Metadata]. Fields without a tag are left alone. Embedded structs count as
// their fields.
//
// Every name has to be in the header: otherwise one error is yielded. A cell that cannot be read
// yields an [*Error] in place of its record, and reading goes on. Damage ends the iteration, as in
// [Reader.Rows].
func Decode[T any](r *Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero, record T
		fields, err := bind(r, reflect.ValueOf(&record).Elem())
		if err != nil {
			yield(zero, err)
			return
		}
		for row, err := range r.Rows() {
			record = zero
			for i := 0; err == nil && i < len(fields); i++ {
				err = fields[i](row)
			}
			if err != nil {
				record = zero
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// field reads a row's cell into a struct.
type field func(row *Row) error

// bind returns the functions that fill a struct.
func bind(r *Reader, record reflect.Value) ([]field, error) {
	if record.Kind() != reflect.Struct {
		return nil, fmt.Errorf("csv report: %s is not a struct", record.Type())
	}
	var fields []field
	for _, f := range reflect.VisibleFields(record.Type()) {
		name, tagged := f.Tag.Lookup("csv")
		if !tagged {
			continue
		}
		value, err := record.FieldByIndexErr(f.Index)
		if err != nil || !f.IsExported() {
			return nil, fmt.Errorf("csv report: the field %s of %s cannot be reached", f.Name, record.Type())
		}
		if all, ok := value.Addr().Interface().(*map[string]string); ok && name == metadataPrefix+"*" {
			fields = append(fields, func(row *Row) error {
				*all = maps.Collect(row.Metadata())
				return nil
			})
			continue
		}
		c, err := r.Column(name)
		if err != nil {
			return nil, err
		}
		read := reading(c, value)
		if read == nil {
			return nil, fmt.Errorf("csv report: the field %s of %s has a type that no cell is read into", f.Name, record.Type())
		}
		fields = append(fields, read)
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("csv report: no field of %s has a csv tag", record.Type())
	}
	return fields, nil
}

// reading returns a function that reads a column's cells into a variable, or nil if its type cannot
// hold a cell.
func reading(c Column, value reflect.Value) field {
	switch p := value.Addr().Interface().(type) {
	case *decimal.Decimal:
		return func(row *Row) (err error) { *p, err = row.Decimal(c); return err }
	case *quickstream.Date:
		return func(row *Row) (err error) { *p, err = row.Date(c); return err }
	case *quickstream.Timestamp:
		return func(row *Row) (err error) { *p, err = row.Timestamp(c); return err }
	case *bool:
		return func(row *Row) (err error) { *p, err = row.Bool(c); return err }
	case encoding.TextUnmarshaler:
		return func(row *Row) error {
			cell, err := row.Bytes(c)
			if err == nil && p.UnmarshalText(cell) != nil {
				err = row.fail(c, KindValue) // without the cause, which may show the cell
			}
			return err
		}
	}
	switch value.Kind() {
	case reflect.String:
		return func(row *Row) error {
			text, err := row.Text(c)
			value.SetString(text)
			return err
		}
	case reflect.Pointer:
		pointee := value.Type().Elem()
		if reading(c, reflect.New(pointee).Elem()) == nil {
			return nil
		}
		return func(row *Row) error {
			cell, err := row.Bytes(c)
			if err != nil || len(cell) == 0 {
				return err // an empty cell leaves the pointer nil
			}
			p := reflect.New(pointee)
			value.Set(p)
			return reading(c, p.Elem())(row)
		}
	default:
		return nil
	}
}
