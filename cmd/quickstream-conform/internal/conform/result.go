package conform

import "slices"

// result is the answer to one question: a value of the assumption, another form, or why it stays
// open. The zero result is no answer yet.
type result = Finding

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
