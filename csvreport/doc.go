// Package csvreport reads the CSV reports of QuickStream, of any size, in
// constant memory: the transaction report in both of its versions, the PayTo
// agreements report, and any other in the same form.
//
// The columns are yours to name, in the csv tags of a struct of your own:
//
//	type sale struct {
//		Receipt  string            `csv:"Receipt Number"`
//		Total    decimal.Decimal   `csv:"Total Amount"`
//		Metadata map[string]string `csv:"metadata_*"`
//	}
//
//	report, err := csvreport.NewReader(body)
//	if err != nil {
//		return err
//	}
//	for sale, err := range csvreport.Decode[sale](report) {
//		if err != nil {
//			return err // the records before it were whole
//		}
//		...
//	}
//
// Where every nanosecond counts, [Reader.Rows] yields the records without copying
// them, and [Reader.Column] binds a column to read cells by: [Row.Text],
// [Row.Cents], [Row.Date] and others. Such a [Row] is borrowed: the next one takes
// its place. [Row.Clone] makes a copy to keep.
//
// Either way columns are bound by name, once, so that their order does not matter
// and columns that the service adds do no harm. A name that the header does not have
// is an error, and never an empty value. [Row.Cells] yields all cells, whatever their
// columns.
//
// # Names and forms
//
// Of the column names only the first few of each report are published; they are
// the constants of this package. Take all others from your own reports. The forms
// of dates, times and booleans in them are not published either. [Row.Date] reads
// those that the vendor publishes for other reports, in which the day comes first;
// what has another form than [Row.Date], [Row.Timestamp] and [Row.Bool] know is an
// error. Read it as text, or into a type with UnmarshalText.
//
// # Form
//
// A report is UTF-8 text, its first record the header. CR LF separates records,
// and nothing follows the last. A field may be in double quotes, in which a
// double quote is written twice. Where files in the wild differ, this package
// decides as follows.
//
//   - Bytes inside quotes stay as they are: CR LF stays CR LF, where encoding/csv
//     would make it LF.
//   - A byte order mark at the start is skipped.
//   - A line feed alone separates records too, and one separator may follow the
//     last record; [WithStrictSeparators] refuses both. A carriage return without a
//     line feed, outside quotes, is damage.
//   - A blank line is a record with one empty field, so damage unless the report
//     has just one column.
//   - Text that is not UTF-8 is damage, and so are a field of more than 1 MiB and a
//     record of more than 16 MiB.
//   - Blanks around fields, and control characters in them, belong to them.
//
// Damage ends the reading with an [*Error], which says what is wrong, in which
// record, line and column, and how many records were read before. Errors never
// show what a cell holds.
//
// A report that was cut off inside a record is damage as well. One that was cut off
// in the last column, or between two records, looks whole: compare
// [Reader.InputOffset] with the length that the download promised, or use
// [WithStrictSeparators] where the file comes straight from the service.
package csvreport
