package sandbox

import (
	"slices"
	"time"
)

// parameters reads the query of a call as fields reads its body.
type parameters struct {
	c     *call
	asked []string
}

func (c *call) parameters() *parameters { return &parameters{c: c, asked: []string{pageParameter}} }

// text reads an optional parameter. Absent and empty are the same.
func (p *parameters) text(name string, checks ...check) string {
	p.asked = append(p.asked, name)
	s := p.c.query.Get(name)
	if s == "" {
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
func (p *parameters) need(name string, checks ...check) string {
	s := p.text(name, checks...)
	if s == "" {
		p.c.refuse(name, "", "is required")
	}
	return s
}

// valid closes the reading: unknown and repeated parameters are findings too.
func (p *parameters) valid() bool {
	for name, values := range p.c.query {
		switch {
		case p.c.box.assume.RefuseUnknownMembers && !slices.Contains(p.asked, name):
			p.c.refuse(name, "", "is not a parameter of this request")
		case len(values) > 1:
			p.c.refuse(name, "", "is given more than once")
		}
	}
	return len(p.c.findings) == 0
}

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
