package wire

import (
	"regexp"
	"strings"
	"unicode"
)

const masked = "[redacted]"

// cardLike is what may be a card number: twelve digits and more, also in groups.
var cardLike = regexp.MustCompile(`\p{Nd}(?:[ \p{Pd}._]{0,2}\p{Nd}){11,}`)

// Shown returns what is kept of a text that the service chose: what can be printed of
// its first bytes, and no number that may be a card's.
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

// cut returns the beginning of a text, without the beginning of a number.
func cut(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	return strings.TrimRightFunc(text[:longest], func(r rune) bool { return !unicode.IsLetter(r) })
}

// isHarmless spares most texts the search.
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

// IsIdentifier reports whether a text can name a thing: in the path of a request without
// changing which thing is meant, and in an answer without being a burden to store.
func IsIdentifier(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return strings.Trim(text, " ") != "" && text != "." && text != ".." && len(text) <= 255 && !strings.ContainsAny(text, `/\?#%;`)
}

// SameFold reports whether two texts are the same but for the case of ASCII letters. Of
// other letters some fold to an ASCII one, such as the long s.
func SameFold(a, b string) bool {
	lower := func(c byte) byte {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	for i := range min(len(a), len(b)) {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}
