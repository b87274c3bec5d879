package csvreport

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe returns a cell as it should be written into a file that people open in a
// spreadsheet. Such a program takes a cell that begins with = + - @, also in their
// full-width forms, for a formula, and may run what a customer typed into a reference;
// some drop control characters and a byte order mark in front of it. Safe puts an
// apostrophe before any of them. A plain negative number stays as it is, because as a
// text it would be missing from the spreadsheet's sums.
//
// Use it where cells leave for such a file. The [Reader] returns all cells as they
// are, and a cell that went through Safe no longer compares equal.
func Safe(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	if cell == "" || !strings.ContainsRune("=+-@＝＋－＠\ufeff", first) && !unicode.IsControl(first) {
		return cell
	}
	if _, negative := parseNumber([]byte(cell)); negative {
		return cell
	}
	return "'" + cell
}
