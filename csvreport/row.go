package csvreport

import (
	"iter"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Row is a record of a report. The rows of Reader.Rows are borrowed: such a row,
// and what Bytes returns, is good until the next one is read. Clone makes a row
// that stays.
//
// The methods that read a cell return an *Error which says where the cell is.
// For a column that the report does not have, or one that belongs to another
// Reader, it is a KindNoColumn. All but Bytes and Text return a KindEmpty for an
// empty cell: no amount is not an amount of zero.
type Row struct {
	table  *table
	data   []byte // the record as it was scanned; nil when text holds it
	text   string
	spans  []span
	record int64
	line   int64
	offset int64
}

// Record returns the number of the record, from 1 for the first behind the header.
func (row *Row) Record() int64 { return row.record }

// Line returns the line of the report on which the record starts, from 1 for the
// header's.
func (row *Row) Line() int64 { return row.line }

// Offset returns where the record starts, in bytes from the start of the report.
func (row *Row) Offset() int64 { return row.offset }

// Clone returns a row that is independent of the Reader. It holds the record as one
// string: every text from it is a part of that string, and keeps all of it in
// memory. Other goroutines may use it, and Columns, while the Reader goes on; a
// function in the Assumptions is then called concurrently.
func (row *Row) Clone() Row {
	owned := *row
	if row.data != nil {
		end := row.spans[len(row.spans)-1].end
		owned.data, owned.text = nil, string(row.data[:end])
		owned.spans = append(make([]span, 0, len(row.spans)), row.spans...)
	}
	return owned
}

// at returns where a column's cell is in the record.
func (row *Row) at(c Column) (at span, ok bool) {
	if c.table != row.table || c.place == 0 {
		return span{}, false
	}
	return row.spans[c.place-1], true
}

// field returns the column of a field; Row{} has none.
func (row *Row) field(f Field) Column {
	if row.table == nil {
		return Column{field: f}
	}
	return row.table.field(f)
}

// scratch is room for a cell of an owned row, whose text is copied there for
// parsing; what has a meaning beyond text is no longer than that.
type scratch [maxAmount]byte

// cell returns what is to be parsed.
func (row *Row) cell(c Column, room *scratch) ([]byte, error) {
	at, ok := row.at(c)
	if !ok {
		return nil, row.absent(c)
	}
	if at.start == at.end {
		return nil, row.fail(c, KindEmpty)
	}
	if row.data == nil {
		return append(room[:0], row.text[at.start:at.end]...), nil
	}
	return row.data[at.start:at.end], nil
}

// IsEmpty reports whether the cell is empty or the report has no such column.
func (row *Row) IsEmpty(c Column) bool {
	at, ok := row.at(c)
	return !ok || at.start == at.end
}

// Bytes returns a cell without copying it. It is good until the next row is read
// and must not be changed. Of an owned row it is a copy.
func (row *Row) Bytes(c Column) ([]byte, error) {
	at, ok := row.at(c)
	if !ok {
		return nil, row.absent(c)
	}
	if row.data == nil {
		return []byte(row.text[at.start:at.end]), nil
	}
	return row.data[at.start:at.end:at.end], nil
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

// Text returns a cell as it is, to keep.
func (row *Row) Text(c Column) (string, error) {
	at, ok := row.at(c)
	if !ok {
		return "", row.absent(c)
	}
	return row.string(at), nil
}

func (row *Row) string(at span) string {
	if row.data == nil {
		return row.text[at.start:at.end]
	}
	return string(row.data[at.start:at.end])
}

// Decimal returns an amount, with all the decimals that it is written with.
func (row *Row) Decimal(c Column) (decimal.Decimal, error) {
	var room scratch
	b, err := row.cell(c, &room)
	if err != nil {
		return decimal.Decimal{}, err
	}
	d, ok := row.table.formats.decimal(b)
	if !ok {
		return decimal.Decimal{}, row.fail(c, KindAmount)
	}
	return d, nil
}

// Cents returns an amount in hundredths, without allocating. It is exact: what is
// no whole number of cents is an error, a KindCents.
func (row *Row) Cents(c Column) (int64, error) {
	var room scratch
	b, err := row.cell(c, &room)
	if err != nil {
		return 0, err
	}
	cents, kind := row.table.formats.cents(b)
	if kind != "" {
		return 0, row.fail(c, kind)
	}
	return cents, nil
}

// Date returns a date.
func (row *Row) Date(c Column) (quickstream.Date, error) {
	var room scratch
	b, err := row.cell(c, &room)
	if err != nil {
		return quickstream.Date{}, err
	}
	d, ok := row.table.formats.date(b)
	if !ok {
		return quickstream.Date{}, row.fail(c, KindDate)
	}
	return d, nil
}

// Timestamp returns a point in time. One that is written without an offset is an
// error unless the Assumptions name a location.
func (row *Row) Timestamp(c Column) (quickstream.Timestamp, error) {
	var room scratch
	b, err := row.cell(c, &room)
	if err != nil {
		return quickstream.Timestamp{}, err
	}
	t, ok := row.table.formats.time(b)
	if !ok {
		return quickstream.Timestamp{}, row.fail(c, KindTimestamp)
	}
	return t, nil
}

// Bool returns a boolean.
func (row *Row) Bool(c Column) (bool, error) {
	var room scratch
	b, err := row.cell(c, &room)
	if err != nil {
		return false, err
	}
	value, ok := row.table.formats.bool(b)
	if !ok {
		return false, row.fail(c, KindBool)
	}
	return value, nil
}

// Metadata yields the keys and values of the metadata_ columns in the order of the
// header, without those that are empty.
func (row *Row) Metadata() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		if row.table == nil {
			return
		}
		for _, c := range row.table.metadata {
			at := row.spans[c.place-1]
			if at.start < at.end && !yield(c.Name()[len(metadataPrefix):], row.string(at)) {
				return
			}
		}
	}
}

// absent is the error of a column that the row does not have.
func (row *Row) absent(c Column) error {
	e := &Error{Kind: KindNoColumn, Record: row.record, Line: row.line, Offset: row.offset}
	if c.asked {
		e.Name = c.Name()
		if c.table == row.table {
			e.Kind = c.table.absent(e.Name)
		}
	}
	return e
}

// fail is the error of a cell that cannot be read as what was asked for.
func (row *Row) fail(c Column, kind Kind) error {
	e := &Error{Kind: kind, Record: row.record, Line: row.line, Column: c.place, Offset: row.offset}
	if c.asked {
		e.Name = c.Name()
	}
	for _, at := range row.spans[:c.place-1] {
		e.Line += int64(strings.Count(row.string(at), "\n"))
	}
	return e
}
