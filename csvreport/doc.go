// Package csvreport reads the CSV reports of QuickStream in constant memory: the transaction report
// in both versions, the PayTo agreements report, and any other in the same form.
//
// Name the columns in the csv tags of a struct of your own:
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
//			return err // the records before it were complete
//		}
//		...
//	}
//
// For speed, [Reader.Rows] yields the records without copying them, and [Reader.Column] binds a
// column by which [Row.Text], [Row.Cents], [Row.Date] and others read cells. Such a [Row] is
// borrowed: it is valid until the next one. [Row.Clone] makes a copy to keep.
//
// Columns are bound by name, once. Their order does not matter, and added columns do no harm. A
// name that the header does not have is an error. [Row.Cells] yields all cells, known or not.
//
// # Names and forms
//
// Only the first few column names of each report are published, such as "Supplier Business Code".
// Take the names from your own reports. The forms of dates, times and booleans are not published
// either. [Row.Date] reads the forms that the vendor publishes for other reports, in
// which the day comes first. A form that [Row.Date], [Row.Timestamp] and [Row.Bool] do not know is
// an error. Read it as text, or into a type with UnmarshalText.
//
// A record can show the amount of a transaction that was declined or voided: add up only those
// whose status is approved.
//
// # Form
//
// A report is UTF-8 text, and its first record is the header. CR LF separates records, and nothing
// follows the last. A field may be in double quotes, in which a double quote is written twice.
// Files vary, so this package decides:
//
//   - Bytes inside quotes are kept: CR LF stays CR LF, while encoding/csv makes it LF.
//   - A byte order mark at the start is skipped.
//   - A line feed alone separates records too, and one separator may follow the last record;
//     [WithStrictSeparators] refuses both. A carriage return without a line feed, outside quotes,
//     is damage.
//   - A blank line is a record with one empty field: damage, unless the report has one column.
//   - Text that is not UTF-8, a field of more than 1 MiB and a record of more than 16 MiB are
//     damage.
//   - Blanks around fields and control characters in them are kept.
//
// Damage ends the reading with an [*Error]. It says what is wrong, in which record, line and
// column, and how many records were read before. Errors never show the content of a cell.
//
// A report that was cut off inside a record is damage. One that was cut off in the last column or
// between two records looks complete: compare [Reader.InputOffset] with the length that the
// download promised, or use [WithStrictSeparators] on files that come straight from the service.
package csvreport
