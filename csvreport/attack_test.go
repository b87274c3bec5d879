package csvreport_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/quickstream-go/quickstream/csvreport"
)

// A customer types a formula into a reference, and somebody opens the export of a report
// in a spreadsheet. The reader leaves a cell as it is; Safe makes a text of it when it
// leaves for such a file, which the writer of the standard library does not.
func TestAttack57Formulas(t *testing.T) {
	for cell, want := range map[string]string{
		"":                             "",
		"plain":                        "plain",
		"=1+1":                         "'=1+1",
		"=HYPERLINK(\"x\")":            "'=HYPERLINK(\"x\")",
		"+61 2":                        "'+61 2",
		"@SUM(A1)":                     "'@SUM(A1)",
		"\tx":                          "'\tx",
		"\r=1":                         "'\r=1",
		"\n=1":                         "'\n=1",
		"-1+cmd|' /C calc'!A0":         "'-1+cmd|' /C calc'!A0",
		"-":                            "'-",
		"-12.50":                       "-12.50",
		"-7":                           "-7",
		"-7.":                          "'-7.",
		"-1e5":                         "'-1e5",
		"- 7":                          "'- 7",
		"--7":                          "'--7",
		"\x00=1+1":                     "'\x00=1+1", // which some programs drop
		"\x1b\x00@x":                   "'\x1b\x00@x",
		"\ufeff=1+1":                   "'\ufeff=1+1", // at the start of the file, it is not part of the cell
		"\u0085=1":                     "'\u0085=1",
		"＝1+1":                         "'＝1+1",
		"＋61 2":                        "'＋61 2",
		"－1+cmd":                       "'－1+cmd",
		"－12.50":                       "'－12.50",
		"＠SUM(A1)":                     "'＠SUM(A1)",
		"1＝1":                          "1＝1",
		"\uff1e1":                      "\uff1e1", // full-width too, and no formula
		"\ufffd=1":                     "\ufffd=1",
		"\xef\xbc=1":                   "\xef\xbc=1",
		"1=1":                          "1=1",
		" =1":                          " =1",
		"'=1":                          "'=1",
		"-" + strings.Repeat("9", 100): "'-" + strings.Repeat("9", 100),
	} {
		if got := csvreport.Safe(cell); got != want {
			t.Errorf("%q: got %q, want %q", cell, got, want)
		}
		got := read(strings.NewReader("a,b\r\n" + `"` + strings.ReplaceAll(cell, `"`, `""`) + `",`))
		if utf8.ValidString(cell) && (got.Err != nil || got.Records[1][0] != cell) {
			t.Errorf("%q: the reader returns %+v", cell, got)
		}
		if naive := written(t, cell); executes(cell) && !executes(naive) {
			t.Errorf("%q: the standard writer writes %q", cell, naive)
		}
		if executes(csvreport.Safe(cell)) {
			t.Errorf("%q: still a formula", cell)
		}
	}
}

// executes reports whether a spreadsheet takes a cell for a formula, once it has dropped
// what some drop.
func executes(cell string) bool {
	cell = strings.TrimLeftFunc(cell, func(r rune) bool { return r == '\ufeff' || r != '\t' && r != '\r' && r != '\n' && unicode.IsControl(r) })
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return false
	}
	first, _ := utf8.DecodeRuneInString(cell)
	return cell != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first)
}

// written is what the standard library makes of a cell, as a program reads it.
func written(t *testing.T, cell string) string {
	t.Helper()
	var file bytes.Buffer
	w := csv.NewWriter(&file)
	if err := errors.Join(w.Write([]string{cell, ""}), func() error { w.Flush(); return w.Error() }()); err != nil {
		t.Fatal(err)
	}
	record, err := csv.NewReader(&file).Read()
	if err != nil {
		t.Fatal(err)
	}
	return record[0]
}

// TestAttackRow11FullWidthFormula writes formulas in full-width characters, which
// spreadsheets take for ASCII ones where such an input method is common. A guard
// that knows the ASCII ones only lets them through.
func TestAttackRow11FullWidthFormula(t *testing.T) {
	naive := func(cell string) string {
		if cell != "" && strings.Contains("=+-@\t\r\n", cell[:1]) {
			return "'" + cell
		}
		return cell
	}
	for _, start := range []string{"＝", "＋", "－", "＠"} {
		cell := start + `HYPERLINK("http://example.com/?"&A1,"refund")`
		if !executes(naive(cell)) {
			t.Errorf("%s: the naive guard does not fall for it", start)
		}
		if safe := csvreport.Safe(cell); executes(safe) || safe != "'"+cell {
			t.Errorf("%s: got %q", start, safe)
		}
	}
}

// A report that is damaged, by its way here or by somebody who wants a payment out of
// it, is an error; one whose form is merely odd is read without a change. The standard
// reader changes the first, refuses or misreads the others, or takes what is left for all.
func TestAttack58Damage(t *testing.T) {
	const head = "Receipt,Amount\r\n"
	for name, test := range map[string]struct {
		report string
		kind   csvreport.Kind // "" where the report is read
		first  string         // its first cell then
		naive  string         // what the standard reader does
	}{
		"line break in quotes": {head + "\"R\r\n1\",5.00", "", "R\r\n1", "reads R\n1"},
		"byte order mark":      {"\ufeffReceipt,Amount\r\nR1,5.00", "", "R1", "has no Receipt"},
		"mark, then quotes":    {"\ufeff\"Receipt\",Amount\r\nR1,5.00", "", "R1", "fails"},
		"blank line":           {head + "\r\nR1,5.00", csvreport.KindShortRecord, "", "reads R1"},
		"lone CR":              {head + "R1,5.00\rR2,6.00", csvreport.KindSeparator, "", "fails"},
		"lone CR at the end":   {head + "R1,5.00\r", csvreport.KindSeparator, "", "reads R1"},
		"lone CR in a cell":    {head + "R\r1,5.00", csvreport.KindSeparator, "", "reads R\r1"},
		"bare quote":           {head + "R\"1,5.00", csvreport.KindBareQuote, "", "fails"},
		"short record":         {head + "R1", csvreport.KindShortRecord, "", "fails"},
		"quote left open":      {head + "\"R1,5.00\r\nR2,6.00", csvreport.KindUnterminatedQuote, "", "fails"},
		"not UTF-8":            {head + "R\xff1,5.00", csvreport.KindEncoding, "", "reads R\xff1"},
	} {
		got := everywhere(t, test.report)
		if test.kind != "" && !errors.Is(got.Err, test.kind) || test.kind == "" && (got.Err != nil || got.Records[0][0] != "Receipt" || got.Records[1][0] != test.first) {
			t.Errorf("%s: got %+v", name, got)
		}
		naive := "fails"
		if records, err := csv.NewReader(strings.NewReader(test.report)).ReadAll(); err == nil && records[0][0] != "Receipt" {
			naive = "has no Receipt"
		} else if err == nil {
			naive = "reads " + records[1][0]
		}
		if naive != test.naive {
			t.Errorf("%s: the standard reader %q", name, naive)
		}
	}
}

// A report of eleven records is cut off behind the tenth: what is left is a whole report.
// Its length gives it away, and so does the separator that nothing follows. To the
// standard reader both are the same.
func TestAttack58CutOff(t *testing.T) {
	var whole strings.Builder
	whole.WriteString("Receipt,Amount")
	for i := range 11 {
		fmt.Fprintf(&whole, "\r\nR%d,5.00", i)
	}
	cut := whole.String()[:strings.LastIndex(whole.String(), "R10")]
	if naive, err := csv.NewReader(strings.NewReader(cut)).ReadAll(); err != nil || len(naive) != 11 {
		t.Errorf("the standard reader does not fall for it: %v", err)
	}
	if got := everywhere(t, cut); got.Err != nil || got.Offset >= int64(whole.Len()) {
		t.Errorf("%d bytes of %d, %v", got.Offset, whole.Len(), got.Err)
	}
	if got := everywhere(t, cut, csvreport.WithStrictSeparators()); !errors.Is(got.Err, csvreport.KindSeparator) || len(got.Records) != 11 {
		t.Errorf("got %+v", got)
	}
	if got := everywhere(t, whole.String(), csvreport.WithStrictSeparators()); got.Err != nil || got.Offset != int64(whole.Len()) {
		t.Errorf("the whole report: %+v", got)
	}
}

// A header names one column twice, so that a program which looks up a name reads the
// column of the attacker's choice: the last one. Neither of them is bound by name.
func TestAttackColumnNamedTwice(t *testing.T) {
	const report = "Receipt,Amount,Amount\r\nR1,5.00,5000.00"
	places := map[string]int{}
	records, err := csv.NewReader(strings.NewReader(report)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range records[0] {
		places[name] = i
	}
	if naive := records[1][places["Amount"]]; naive != "5000.00" {
		t.Errorf("the naive look-up reads %s", naive)
	}
	r := open(t, report)
	if _, err := r.Column("Amount"); !errors.Is(err, csvreport.KindAmbiguousColumn) {
		t.Errorf("got %v", err)
	}
	type sale struct {
		Amount string `csv:"Amount"`
	}
	for sale, err := range csvreport.Decode[sale](r) {
		if !errors.Is(err, csvreport.KindAmbiguousColumn) {
			t.Errorf("got %v, %v", sale, err)
		}
	}
}

// A NUL in a cell hides what follows it from programs that scan up to it: here it is part
// of the cell, and a value with one is no value.
func TestAttackNULInCells(t *testing.T) {
	var naive int
	if _, err := fmt.Sscan("5\x0000", &naive); err != nil || naive != 5 {
		t.Errorf("the naive scan does not fall for it: %d, %v", naive, err)
	}
	r := open(t, "Amount,Date,Time,Refundable,Amount\x00\r\n5\x0000,2024-02-03\x00,2024-02-03T10:11:12Z\x00,yes\x00,R\x00")
	columns, row := r.Columns(), only(t, r)
	_, amount := row.Decimal(columns[0])
	_, cents := row.Cents(columns[0])
	_, date := row.Date(columns[1])
	_, at := row.Timestamp(columns[2])
	_, is := row.Bool(columns[3])
	for i, err := range []error{amount, cents, date, at, is} {
		want := []csvreport.Kind{csvreport.KindAmount, csvreport.KindAmount, csvreport.KindDate, csvreport.KindTimestamp, csvreport.KindBool}[i]
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
	c, err := r.Column("Amount")
	if err != nil {
		t.Fatal(err)
	}
	for c, want := range map[csvreport.Column]string{c: "5\x0000", columns[4]: "R\x00"} {
		if text, err := row.Text(c); text != want || err != nil {
			t.Errorf("got %q, %v", text, err)
		}
	}
}

// A line of 300,000 columns ends at the limit of a header, and in a record at the columns
// that the header has. The standard reader takes both, where nobody counts for it.
func TestAttackColumns(t *testing.T) {
	const columns = 300_000
	line := strings.Repeat("a,", columns-1) + "a"
	for name, report := range map[string]string{"header": line, "record": "Receipt,Amount\r\n" + line} {
		naive := csv.NewReader(strings.NewReader(report))
		naive.FieldsPerRecord = -1
		records, err := naive.ReadAll()
		if err != nil || len(slices.Concat(records...)) < columns {
			t.Errorf("%s: the standard reader does not fall for it: %v", name, err)
		}
		source := &counted{Reader: strings.NewReader(report)}
		if got := read(source); !errors.Is(got.Err, csvreport.KindLongRecord) || source.n > 2*csvreport.BufferSize {
			t.Errorf("%s: got %v after %d bytes", name, got.Err, source.n)
		}
	}
}

// counted counts what is read.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// An endless cell ends at the limit, not with the memory. The standard reader holds as
// much of it as the source has.
func TestAttack58EndlessCell(t *testing.T) {
	for name, start := range map[string]string{
		"header": "", "cell": "a\r\n", "quotes": "a\r\n\"", "commas in quotes": "a\r\n\"",
		"quotes in quotes": "a\r\n\"",
	} {
		fill := map[string]string{"commas in quotes": ",", "quotes in quotes": `""`}[name]
		if fill == "" {
			fill = "x"
		}
		read := 0
		endless := readerFunc(func(p []byte) (int, error) {
			for i := range p {
				p[i] = fill[read%len(fill)]
				read++
			}
			return len(p), nil
		})
		r, err := csvreport.NewReader(io.MultiReader(strings.NewReader(start), endless), csvreport.WithMaxField(1<<16))
		if err == nil {
			for _, err = range r.Rows() {
			}
		}
		if !errors.Is(err, csvreport.KindFieldTooLong) {
			t.Errorf("%s: got %v", name, err)
		}
		if read > 1<<18 {
			t.Errorf("%s: %d bytes read for a limit of %d", name, read, 1<<16)
		}
		read = 0
		_, _ = csv.NewReader(io.MultiReader(strings.NewReader(start), io.LimitReader(endless, 4<<20))).ReadAll()
		if read < 4<<20 {
			t.Errorf("%s: the standard reader stops after %d bytes", name, read)
		}
	}
}
