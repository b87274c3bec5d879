package conform

import (
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// result is the answer to one question: a value of the assumption, another form, or why it stays
// open. The zero result is no answer yet.
type result = sandbox.FacilityFinding

func is(value string) result   { return result{Value: value} }
func other(form string) result { return result{Other: form} }
func open(why string) result   { return result{Open: why} }

// unusable is why many questions have no answer.
const unusable = "no usable answer came"

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
