package csvreport

import (
	"bytes"
	"iter"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Row is a record of a report. Rows of [Reader.Rows] are borrowed: such a row, and bytes that its
// Bytes returns, are valid until the next one is read. Clone makes a row to keep.
//
// The methods that read a cell return an [*Error] that says where the cell is. A column of another
// [Reader] is a [KindNoColumn]. All but Bytes and Text return [KindEmpty] for an empty cell,
// because an absent amount is not zero.
type Row struct {
	header *header
	data   []byte // the scanned record; nil if text holds it
	text   string
	spans  []span
	record int64
	line   int64
	offset int64
}

// Record returns the number of the record, from 1; the header does not count.
func (row *Row) Record() int64 { return row.record }

// Line returns the line on which the record starts; the header's is 1.
func (row *Row) Line() int64 { return row.line }

// Offset returns the start of the record, in bytes from the start of the report.
func (row *Row) Offset() int64 { return row.offset }

// Clone returns a row that is independent of the [Reader]. It holds the record as one string, and
// each text from it keeps that string in memory. Other goroutines may use the row and its Columns
// while the Reader continues.
func (row *Row) Clone() Row {
	owned := *row
	if row.data != nil {
		end := row.spans[len(row.spans)-1].end
		owned.data, owned.text = nil, string(row.data[:end])
		owned.spans = append(make([]span, 0, len(row.spans)), row.spans...)
	}
	return owned
}

// Bytes returns a cell without copying it. It is valid until the next row is read, and must not be
// changed. On a clone it returns a copy.
func (row *Row) Bytes(c Column) ([]byte, error) {
	if c.header != row.header || c.place == 0 {
		return nil, row.fail(c, KindNoColumn)
	}
	at := row.spans[c.place-1]
	if row.data == nil {
		return []byte(row.text[at.start:at.end]), nil
	}
	return row.data[at.start:at.end:at.end], nil
}

// Text returns a cell as a string.
func (row *Row) Text(c Column) (string, error) {
	if row.data == nil && c.header == row.header && c.place > 0 {
		at := row.spans[c.place-1]
		return row.text[at.start:at.end], nil
	}
	cell, err := row.Bytes(c)
	return string(cell), err
}

// Cells yields the cells in the order of the header, each as Bytes returns it.
func (row *Row) Cells() iter.Seq2[int, []byte] {
	return func(yield func(i int, cell []byte) bool) {
		data := row.data
		if data == nil {
			data = []byte(row.text)
		}
		for i, at := range row.spans {
			if !yield(i, data[at.start:at.end:at.end]) {
				return
			}
		}
	}
}

// Metadata yields the keys and values of the metadata_ columns that are not empty, in the order of
// the header.
func (row *Row) Metadata() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for i, cell := range row.Cells() {
			key, ok := strings.CutPrefix(row.header.names[i], metadataPrefix)
			if ok && len(cell) > 0 && !yield(key, string(cell)) {
				return
			}
		}
	}
}

// value reads a cell with parse, which reports whether the cell was valid.
func value[V any](row *Row, c Column, kind Kind, parse func([]byte) (V, bool)) (V, error) {
	var none V
	cell, err := row.Bytes(c)
	switch {
	case err != nil:
		return none, err
	case len(cell) == 0:
		return none, row.fail(c, KindEmpty)
	}
	v, ok := parse(cell)
	if !ok {
		return none, row.fail(c, kind)
	}
	return v, nil
}

// Decimal returns an amount with all its decimals: an optional minus sign, digits, and optionally a
// point and digits.
func (row *Row) Decimal(c Column) (decimal.Decimal, error) {
	n, err := value(row, c, KindAmount, parseNumber)
	if err != nil || n.fits {
		return decimal.New(n.units, -n.places), err
	}
	text, err := row.Text(c)
	if err != nil {
		return decimal.Decimal{}, err
	}
	return decimal.NewFromString(text)
}

// Cents returns an amount in hundredths, without allocating. An amount that is not a whole number
// of cents is a [KindCents].
func (row *Row) Cents(c Column) (int64, error) {
	n, err := value(row, c, KindAmount, parseNumber)
	switch {
	case err != nil || n.fits && n.places == 2:
		return n.units, err
	case n.fits && n.places == 1:
		return 10 * n.units, nil
	case n.fits && n.places == 0:
		return 100 * n.units, nil
	}
	d, err := row.Decimal(c)
	if err != nil {
		return 0, err
	}
	d = d.Shift(2)
	if !d.IsInteger() || !d.BigInt().IsInt64() {
		return 0, row.fail(c, KindCents)
	}
	return d.IntPart(), nil
}

// Date returns a date written 2024-02-03, or with the day first 03-02-2024,
// 03-Feb-2024 or 03 Feb 2024.
func (row *Row) Date(c Column) (quickstream.Date, error) {
	return value(row, c, KindDate, parseDate)
}

// Timestamp returns a time written 2024-02-03T10:11:12+1100. A blank may replace the T, a fraction
// may follow the seconds, and the offset may be +11:00 or Z. A time without an offset is a
// [KindTimestamp], because the time zone of reports is not public.
func (row *Row) Timestamp(c Column) (quickstream.Timestamp, error) {
	return value(row, c, KindTimestamp, parseTimestamp)
}

// Bool returns a boolean written true, yes or y, or false, no or n, in any case.
func (row *Row) Bool(c Column) (bool, error) { return value(row, c, KindBool, parseBool) }

// fail returns the error of a cell.
func (row *Row) fail(c Column, kind Kind) error {
	e := &Error{Kind: kind, Record: row.record, Line: row.line, Offset: row.offset}
	if c.asked {
		e.Name = c.Name()
	}
	if kind == KindNoColumn {
		return e
	}
	e.Column = c.place
	for i, cell := range row.Cells() {
		if i+1 < c.place {
			e.Line += int64(bytes.Count(cell, []byte{'\n'}))
		}
	}
	return e
}
