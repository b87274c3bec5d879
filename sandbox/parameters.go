package sandbox

import (
	"maps"
	"slices"
	"time"
)

// checkQuery refuses parameters that the operation does not have, and those that
// are given twice.
func (c *call) checkQuery() (refusal answer, ok bool) {
	for _, name := range slices.Sorted(maps.Keys(c.query)) {
		switch known := slices.Contains(c.op.query, name); {
		case !known && !c.box.assume.IgnoreUnknownQuery:
			c.refuse(name, "", "is not a parameter of this request")
		case known && len(c.query[name]) > 1:
			c.refuse(name, "", "is given more than once")
		}
	}
	if len(c.findings) > 0 {
		return c.invalid(), false
	}
	return answer{}, true
}

// parameters reads the query of a call as fields reads its body.
type parameters struct{ c *call }

func (c *call) parameters() parameters { return parameters{c} }

// text reads an optional parameter.
func (p parameters) text(name string, checks ...check) string {
	s := p.c.query.Get(name)
	if !p.c.query.Has(name) {
		return ""
	}
	for _, wrong := range checks {
		if message := wrong(s); message != "" {
			p.c.refuse(name, s, message)
			break
		}
	}
	return s
}

// need reads a required parameter.
func (p parameters) need(name string, checks ...check) string {
	if p.c.query.Get(name) == "" {
		p.c.refuse(name, "", "is required")
		return ""
	}
	return p.text(name, checks...)
}

func (p parameters) valid() bool { return len(p.c.findings) == 0 }

func dateForm(s string) string {
	if _, err := time.Parse(time.DateOnly, s); err != nil {
		return "must be a date in the form YYYY-MM-DD"
	}
	return ""
}

const monthLayout = "2006-01"

func monthForm(s string) string {
	if _, err := time.Parse(monthLayout, s); err != nil {
		return "must be a month in the form YYYY-MM"
	}
	return ""
}
