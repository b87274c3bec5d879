package conform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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

// next is the query of the link to the next page, or nil. The path of the link is not taken, so that no
// form of it leads elsewhere.
func (a answer) next() (url.Values, error) {
	for _, link := range a.body.get("links").items() {
		if link.get("rel").text() == "next" {
			at, err := url.Parse(link.get("href").text())
			if err != nil {
				return nil, err
			}
			return at.Query(), nil
		}
	}
	return nil, nil
}

// value is a JSON value. One that is absent, or null, is nil.
type value struct{ any }

// parse keeps numbers as they were written.
func parse(doc []byte) (v value, err error) {
	decoder := json.NewDecoder(bytes.NewReader(doc))
	decoder.UseNumber()
	if err = decoder.Decode(&v.any); err != nil {
		return value{}, fmt.Errorf("conform: %w", err)
	}
	return v, nil
}

func (v value) members() map[string]any {
	members, _ := v.any.(map[string]any)
	return members
}

// get returns the value at a path of members.
func (v value) get(path ...string) value {
	for _, name := range path {
		v = value{v.members()[name]}
	}
	return v
}

// items are those of a list, or none.
func (v value) items() (items []value) {
	list, _ := v.any.([]any)
	for _, item := range list {
		items = append(items, value{item})
	}
	return items
}

// text is that of a text, a number or a boolean, or "".
func (v value) text() string {
	switch v.any.(type) {
	case string, json.Number, bool:
		return fmt.Sprint(v.any)
	default:
		return ""
	}
}
