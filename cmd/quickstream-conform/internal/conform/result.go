package conform

import (
	"slices"
	"strings"
	"time"
)

// result is the answer to one question: a value of the assumption, another form, or why it stays
// open. The zero result is no answer yet.
type result struct {
	value, other, open string
}

func is(value string) result   { return result{value: value} }
func other(form string) result { return result{other: form} }
func open(why string) result   { return result{open: why} }

// unusable is why many questions have no answer.
const unusable = "no usable answer came, twice"

// one returns the value if it is listed, and another form if not.
func one(value string, listed ...string) result {
	if slices.Contains(listed, value) {
		return is(value)
	}
	return other(value)
}

// twice is the first result that two of up to three tries have: something on the way may have made
// one of them.
func twice(try func() result) result {
	var seen []result
	for range 3 {
		r := try()
		if r != (result{}) && slices.Contains(seen, r) {
			return r
		}
		seen = append(seen, r)
	}
	return open(unusable)
}

// brief writes a duration as the sandbox does: 24h and not 24h0m0s.
func brief(d time.Duration) string {
	text := d.Round(time.Millisecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
