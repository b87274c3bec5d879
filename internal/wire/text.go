package wire

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const masked = "[redacted]"

// cardLike matches a possible card number: twelve or more digits, also in groups.
var cardLike = regexp.MustCompile(`\p{Nd}(?:[ \p{Pd}._]{0,2}\p{Nd}){11,}`)

// notUTF8 is a control character, which texts do not have.
const notUTF8 = "\x7f"

// ValidUTF8 returns data with one control character for each run of bytes that are not UTF-8. A
// decoder would put three bytes in the place of each.
func ValidUTF8(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	return bytes.ToValidUTF8(data, []byte(notUTF8))
}

// Shown returns the part of a service's text that is kept: the printable part of its beginning,
// without possible card numbers.
func Shown(text string, longest int) string {
	if len(text) <= longest && isHarmless(text) {
		return text
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, cut(text, longest))
	return cardLike.ReplaceAllLiteralString(text, masked)
}

// cut returns the beginning of a text, without part of a number at its end.
func cut(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return strings.TrimRightFunc(text[:longest], func(r rune) bool { return !unicode.IsLetter(r) })
}

// isHarmless spares most texts the regular expression.
func isHarmless(text string) bool {
	digits := 0
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
		if isDigit(text[i]) {
			digits++
		}
	}
	return digits < 12
}

// IsIdentifier reports whether a text is an identifier: safe in the path of a request, and short
// enough to store from an answer.
func IsIdentifier(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return strings.Trim(text, " ") != "" && text != "." && text != ".." && len(text) <= 255 && !strings.ContainsAny(text, `/\?#%;`)
}
