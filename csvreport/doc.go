// Package csvreport reads the CSV reports of QuickStream, of any size, in
// constant memory: the transaction report in both of its versions, the PayTo
// agreements report, and any other in the same form.
//
//	report, err := csvreport.NewReader(body)
//	if err != nil {
//		return err
//	}
//	receipt, err := report.Column("Receipt Number")
//	if err != nil {
//		return err
//	}
//	for row, err := range report.Rows() {
//		if err != nil {
//			return err // damage; the rows before it were whole
//		}
//		number, err := row.Text(receipt)
//		...
//	}
//
// A [Row] is borrowed: the next one takes its place. Row.Clone makes a copy to
// keep. Columns are bound by name, once, so that their order does not matter and
// columns that the service adds do no harm; Row.Cells yields all of them.
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
//     last record; WithStrictSeparators refuses both. A carriage return without a
//     line feed, outside quotes, is damage.
//   - A blank line is a record with one empty field, so damage unless the report
//     has just one column.
//   - Text that is not UTF-8 is damage, unless WithAnyBytes is given.
//   - Blanks around fields, and control characters in them, belong to them.
//
// Damage ends the reading with an [*Error], which says what is wrong, in which
// record, line and column, and how many records were read before. Errors never
// show what a cell holds.
//
// A report that was cut off inside a record is damage as well. One that was cut off
// in the last column, or between two records, looks whole: compare
// Reader.InputOffset with the length that the download promised, or use
// WithStrictSeparators where the file comes straight from the service.
//
// # What is not public
//
// Of the column names only the first few of each report can be read publicly, and
// of the formats of dates, times and booleans none. What this package assumes
// about them is one value, [DefaultAssumptions], to be corrected with
// [WithAssumptions]. Row.Text, and columns bound by the names in your own
// reports, depend on none of it.
package csvreport
