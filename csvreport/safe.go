package csvreport

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe returns a cell for a file that people open in a spreadsheet. Spreadsheets take a cell that
// begins with = + - @, also full-width, for a formula, and may run what a customer typed into a
// reference; some drop control characters and a byte order mark before it. Safe puts an apostrophe
// before any of these. A plain negative number is kept, so that sums stay right.
//
// Use it only when you write such a file: a changed cell no longer compares equal. The [Reader]
// returns cells unchanged.
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
