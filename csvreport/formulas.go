package csvreport

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	formulaStarts = "=+-@＝＋－＠"
	// separators begin another cell or line for a program that splits the file its own way.
	separators = ",;\t\r\n\v\f\u0085\u2028\u2029"
)

// EscapeFormulas returns a cell for a file that people open in a spreadsheet. Spreadsheets take a cell that
// begins with = + - @, also full-width, for a formula, and may run what a customer typed into a
// reference. Some drop blanks, control characters and invisible characters before it, and some
// split cells at a semicolon, a tab or a line break. EscapeFormulas puts an apostrophe before each formula:
// at the beginning of the cell, and after a comma, semicolon, tab or line break in it; also before
// a control character or a byte order mark that begins the cell. A plain negative number is kept,
// so that sums stay right.
//
// Use it only when you write such a file: a changed cell no longer compares equal. The [Reader]
// returns cells unchanged.
func EscapeFormulas(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	guarded := unicode.IsControl(first) || first == '\ufeff'
	if !guarded && !strings.ContainsAny(cell, formulaStarts) {
		return cell
	}
	var safe strings.Builder
	for rest := cell; ; guarded = false {
		if guarded || isFormula(rest) {
			safe.WriteByte('\'')
		}
		end := strings.IndexAny(rest, separators)
		if end < 0 {
			safe.WriteString(rest)
			return safe.String()
		}
		_, size := utf8.DecodeRuneInString(rest[end:])
		safe.WriteString(rest[:end+size])
		rest = rest[end+size:]
	}
}

// isFormula reports whether a text is a formula after the characters that programs may drop.
func isFormula(text string) bool {
	text = strings.TrimLeftFunc(text, func(r rune) bool {
		return r == '"' || !strings.ContainsRune(separators, r) && unicode.In(r, unicode.White_Space, unicode.Cc,
			unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
	first, _ := utf8.DecodeRuneInString(text)
	if text == "" || !strings.ContainsRune(formulaStarts, first) {
		return false
	}
	_, negative := parseNumber([]byte(text))
	return !negative
}
