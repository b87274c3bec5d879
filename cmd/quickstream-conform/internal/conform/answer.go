package conform

import (
	"net/http"
	"slices"
	"time"
)

// answer is the answer to a request. Without one, status is 0.
type answer struct {
	status    int
	header    http.Header
	raw       []byte
	body      value
	broken    bool // the body is not JSON, or not of use
	sent, got time.Time
}

func (a answer) accepted() bool { return a.status >= 200 && a.status < 300 && !a.broken }

// refused reports that the request was refused, and not that something went wrong on the way.
func (a answer) refused() bool {
	return a.status >= 400 && a.status < 500 && !slices.Contains([]int{407, 408, 425, 429, 460, 499}, a.status)
}

// usable reports whether anything can be concluded.
func (a answer) usable() bool { return a.accepted() || a.refused() }

// member is the text of a member of the answer, or "".
func (a answer) member(name string) string { return a.body.get(name).text() }

// with is an answer that is of no use without a member.
func (a answer) with(name string) answer {
	a.broken = a.broken || a.accepted() && a.member(name) == ""
	return a
}

// judged tries a request until it is accepted, or refused twice in the same way: something on the way
// may have made one refusal. Otherwise it returns an answer that says nothing.
func judged(try func() answer) answer {
	var first answer
	for range 3 {
		a := try()
		if a.accepted() || a.refused() && a.status == first.status && formOfError(a) == formOfError(first) {
			return a
		}
		if a.refused() {
			first = a
		}
	}
	return answer{}
}
