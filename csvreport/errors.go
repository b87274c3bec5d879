package csvreport

import "strconv"

// Kind says what is wrong with a report or a cell. It is an error itself: use errors.Is(err,
// csvreport.KindTooFewFields).
type Kind string

// Damage to the report, which ends the reading.
const (
	// KindRead is a failure of the underlying reader; Unwrap returns its error.
	KindRead Kind = "reading failed"
	// KindNoHeader is a report without a header.
	KindNoHeader Kind = "the report is empty"
	// KindTooFewFields is a record with fewer fields than the header. At the end of a report it
	// usually means that the report was cut off.
	KindTooFewFields Kind = "the record ends before this column"
	// KindTooManyFields is a record with more fields than the header has, or a header
	// with more than 16384.
	KindTooManyFields Kind = "too many fields"
	// KindBareQuote is a double quote inside a field that is not in quotes.
	KindBareQuote Kind = "double quote in a field without quotes"
	// KindTextAfterQuote is text between a closing quote and the next comma.
	KindTextAfterQuote Kind = "text after the closing quote"
	// KindUnterminatedQuote is a field whose closing quote is missing.
	KindUnterminatedQuote Kind = "the closing quote is missing"
	// KindSeparator is a carriage return that no line feed follows or, under
	// [WithStrictSeparators], any other departure from the documented separators.
	KindSeparator Kind = "wrong record separator"
	// KindFieldTooLong is a field of more than 1 MiB, quotes included.
	KindFieldTooLong Kind = "the field is too long"
	// KindRecordTooLong is a record of more than 16 MiB.
	KindRecordTooLong Kind = "the record is too long"
	// KindEncoding is a field that is not UTF-8.
	KindEncoding Kind = "not UTF-8"
)

// Errors of a column or a cell, after which reading can go on.
const (
	// KindNoColumn is a column that the header does not have.
	KindNoColumn Kind = "no such column in the header"
	// KindAmbiguousColumn is a name that the header has more than once.
	KindAmbiguousColumn Kind = "several columns of this name in the header"
	// KindEmpty is an empty cell in place of a required value.
	KindEmpty Kind = "empty"
	// KindDate is a cell that is not a date of any known format.
	KindDate Kind = "not a date"
	// KindTimestamp is a cell that is not a time of a known format with an offset.
	KindTimestamp Kind = "not a time"
	// KindAmount is a cell that is not an amount.
	KindAmount Kind = "not an amount"
	// KindCents is an amount with more than two decimals or outside an int64.
	KindCents Kind = "not a whole number of cents"
	// KindBool is a cell that is neither true nor false.
	KindBool Kind = "neither true nor false"
	// KindValue is a cell that the UnmarshalText of a struct's field refuses.
	KindValue Kind = "refused by the field's UnmarshalText"
)

// Error returns the kind in words.
func (k Kind) Error() string { return string(k) }

// Error says what is wrong and where. Its text shows no cell. That of a [KindNoColumn] lists up to
// 20 names of the header, in which words that are not all letters are "?": a file without a header
// has cells there.
type Error struct {
	Kind Kind

	// Record counts from 1; the header is 0. All records before it were read. It is also 0 for a
	// name that is not in the header.
	Record int64
	// Line is the line of the damage or of the cell, from 1. Line breaks inside quotes count.
	Line int64
	// Column is the field's position in the record, from 1, or 0 if no single field is meant.
	Column int
	// Name is the column name that the caller asked for.
	Name string
	// Offset is the start of the record, in bytes from the start of the report.
	Offset int64
	// Err is the cause of a [KindRead].
	Err error

	header *header // of a KindNoColumn
}

// Error says what is wrong, where, and how many records were read before.
func (e *Error) Error() string {
	text := make([]byte, 0, 128)
	text = append(text, "csv report: "...)
	if e.Record > 0 {
		text = append(text, "record "...)
		text = strconv.AppendInt(text, e.Record, 10)
	} else {
		text = append(text, "header"...)
	}
	if e.Line > 0 {
		text = append(text, ", line "...)
		text = strconv.AppendInt(text, e.Line, 10)
	}
	if e.Column > 0 || e.Name != "" {
		text = append(text, ", column"...)
	}
	if e.Column > 0 {
		text = append(text, ' ')
		text = strconv.AppendInt(text, int64(e.Column), 10)
	}
	if e.Name != "" {
		text = append(text, ' ')
		text = strconv.AppendQuote(text, e.Name)
	}
	text = append(text, ": "...)
	text = append(text, e.Kind...)
	if e.header != nil {
		text = append(text, "; it has "...)
		text = e.header.append(text)
	}
	if e.Err != nil {
		text = append(text, ": "...)
		text = append(text, e.Err.Error()...)
	}
	if e.Record > 0 {
		text = append(text, " ("...)
		text = strconv.AppendInt(text, e.Records(), 10)
		text = append(text, " records read before it)"...)
	}
	return string(text)
}

// Records returns how many records, without the header, were read before this one.
func (e *Error) Records() int64 { return max(e.Record-1, 0) }

// Is reports whether target is the error's kind.
func (e *Error) Is(target error) bool {
	kind, ok := target.(Kind)
	return ok && kind == e.Kind
}

// Unwrap returns the error of the underlying reader, or nil.
func (e *Error) Unwrap() error { return e.Err }
