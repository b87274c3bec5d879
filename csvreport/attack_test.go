package csvreport_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/csvreport"
)

// A customer types a formula into a reference, and somebody opens the export of a report
// in a spreadsheet. The reader leaves a cell as it is; EscapeFormulas makes a text of it when it
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
		"\r=1":                         "'\r'=1",
		"\n=1":                         "'\n'=1",
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
		"\u0085=1":                     "'\u0085'=1",
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
		" =1":                          "' =1",
		"\u00a0=1":                     "'\u00a0=1",
		"\u200b=1":                     "'\u200b=1",
		"\u2060\u00ad\x01 =1":          "'\u2060\u00ad\x01 =1",
		"\ufe0f\u3164@x":               "'\ufe0f\u3164@x",
		" -12.50":                      " -12.50",
		"\u200b5":                      "\u200b5",
		"a;=1":                         "a;'=1",
		"a,+61":                        "a,'+61",
		"a\t=1;\u200b=2\r\n@x;b":       "a\t'=1;'\u200b=2\r\n'@x;b",
		"a\v=1\u2028=2":                "a\v'=1\u2028'=2",
		`a;"=1"`:                       `a;'"=1"`,
		"a;-5":                         "a;-5",
		"a;-5;b":                       "a;'-5;b",
		"-1;2+cmd|' /C calc'!A0":       "'-1;2+cmd|' /C calc'!A0",
		"2024-02-03; a=b":              "2024-02-03; a=b",
		"'=1":                          "'=1",
		"-" + strings.Repeat("9", 100): "'-" + strings.Repeat("9", 100),
	} {
		assert.Equal(t, want, csvreport.EscapeFormulas(cell), cell)
		got := read(strings.NewReader("a,b\r\n" + `"` + strings.ReplaceAll(cell, `"`, `""`) + `",`))
		if utf8.ValidString(cell) && (got.Err != nil || got.Records[1][0] != cell) {
			t.Errorf("%q: the reader returns %+v", cell, got)
		}
		assert.False(t, executes(csvreport.EscapeFormulas(cell)), cell)
	}
}

// executes reports whether a spreadsheet takes a cell for a formula, once it has dropped what some
// drop, and split it where some do.
func executes(cell string) bool {
	for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return strings.ContainsRune(",;\t\r\n\v\f\u0085\u2028\u2029", r) }) {
		part = strings.TrimLeftFunc(part, func(r rune) bool { return unicode.In(r, unicode.White_Space, unicode.Cc, unicode.Cf) })
		first, _ := utf8.DecodeRuneInString(part)
		if _, err := strconv.ParseFloat(part, 64); err != nil && part != "" && strings.ContainsRune("=+-@＝＋－＠", first) {
			return true
		}
	}
	return cell != "" && strings.Contains("\t\r\n", cell[:1])
}
