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
	broken    bool // the body is not JSON, or not usable
	sent, got time.Time
}

func (a answer) accepted() bool { return a.status >= 200 && a.status < 300 && !a.broken }

// refused reports whether the service refused the request. Statuses of a proxy or gateway do not count.
func (a answer) refused() bool {
	return a.status >= 400 && a.status < 500 && !slices.Contains([]int{407, 408, 425, 429, 460, 499}, a.status)
}

// usable reports whether the answer allows a conclusion.
func (a answer) usable() bool { return a.accepted() || a.refused() }

// member is the text of a member of the answer, or "".
func (a answer) member(name string) string { return a.body.get(name).text() }

// with marks an accepted answer as broken if it lacks a member.
func (a answer) with(name string) answer {
	a.broken = a.broken || a.accepted() && a.member(name) == ""
	return a
}

// judged tries a request until it is accepted, or refused twice in the same way: one refusal may come from
// a proxy or gateway. After three tries it returns an empty answer.
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

// next returns the query of the link to the next page, or nil. It ignores the path of the link, which could
// lead elsewhere.
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

// items returns the items of a list, and none for anything else.
func (v value) items() (items []value) {
	list, _ := v.any.([]any)
	for _, item := range list {
		items = append(items, value{item})
	}
	return items
}

// text returns a text, a number or a boolean as text, and "" for anything else.
func (v value) text() string {
	switch v.any.(type) {
	case string, json.Number, bool:
		return fmt.Sprint(v.any)
	default:
		return ""
	}
}
