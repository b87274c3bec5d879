package conform

import (
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
)

// result is the answer to one question: a value of the assumption, another form, or why it stays
// open. The zero result is no answer yet.
type result struct {
	value, other, open string
	again              bool // a later run, which may do more, asks again
}

func is(value string) result   { return result{value: value} }
func other(form string) result { return result{other: form} }
func open(why string) result   { return result{open: why} }

// needs is open until a run has more time or a flag.
func needs(what string) result { return result{open: what, again: true} }

// unusable is why many questions have no answer.
const unusable = "no usable answer came, twice"

// one returns the value if it is listed, and another form if not.
func one(value string, listed ...string) result {
	if slices.Contains(listed, value) {
		return is(value)
	}
	return other(value)
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

// described is the form of a value in words, without what it says.
func described(v shape.Value) string {
	switch v.Kind {
	case shape.Text, shape.Number:
		return string(v.Kind) + " " + shape.Pattern(v.Text)
	default:
		return string(v.Kind)
	}
}
