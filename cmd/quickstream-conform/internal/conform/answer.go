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

func (a answer) accepted() bool { return a.status >= 200 && a.status < 300 }

// refused reports that the request was refused, and not that something went wrong on the way.
func (a answer) refused() bool {
	return a.status >= 400 && a.status < 500 && !slices.Contains([]int{407, 408, 425, 429, 460, 499}, a.status)
}

// usable reports whether anything can be concluded.
func (a answer) usable() bool { return a.accepted() && !a.broken || a.refused() }

func (a answer) receipt() string { return a.body.get("receiptNumber").text }

// member is a member of the answer, which may be in an object of the name data.
func (a answer) member(name string) string {
	if v := a.body.get(name); !v.empty() {
		return v.text
	}
	return a.body.get("data", name).text
}

// with is an answer that is of no use without a member.
func (a answer) with(name string) answer {
	a.broken = a.broken || a.accepted() && a.member(name) == ""
	return a
}

// reply is what became of a request that may be refused, or of a look-up.
type reply string

const (
	accepts reply = "accepted"
	refuses reply = "refused"
	unclear reply = ""
)

// judge tries a request. A refusal counts if it comes twice: something on the way may have made
// one of them.
func judge(try func() answer) (reply, answer) {
	var first answer
	for range 3 {
		a := try()
		switch {
		case a.accepted() && !a.broken:
			return accepts, a
		case a.refused() && a.status == first.status:
			return refuses, a
		case a.refused():
			first = a
		}
	}
	return unclear, first
}
