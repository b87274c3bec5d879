package csvreport_test

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/quickstream-go/quickstream/csvreport"
)

// A customer types a formula into a reference, and somebody opens the export of a report
// in a spreadsheet. The reader leaves a cell as it is; Safe makes a text of it when it
// leaves for such a file.
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

// A NUL in a cell hides what follows it from programs that scan up to it: here it is part
// of the cell, and a value with one is no value.
func TestAttackNULInCells(t *testing.T) {
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
// that the header has.
func TestAttackColumns(t *testing.T) {
	const columns = 300_000
	line := strings.Repeat("a,", columns-1) + "a"
	for name, report := range map[string]string{"header": line, "record": "Receipt,Amount\r\n" + line} {
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

// An endless cell ends at the limit, not with the memory.
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
	}
}
