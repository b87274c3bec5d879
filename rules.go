package quickstream

import (
	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// ruleKind says who can judge a rule.
type ruleKind string

const (
	// local rules are judged before sending, from the request alone.
	local ruleKind = "local"
	// given rules need an object that the caller passes in.
	given ruleKind = "given the object"
	// service rules depend on what only the service knows. They stand in the
	// tables for completeness and are never judged here.
	service ruleKind = "service"
)

// rule is one line of a request type's rule table, which is meant to be read
// next to the specification.
type rule[T any] struct {
	id      string
	kind    ruleKind
	path    string
	message string
	broken  func(T) bool // nil for service rules
}

// check returns a ValidationError with everything that v breaks, or nil.
func check[T any](c *call, v T, tables ...[]rule[T]) error {
	var findings []Finding
	for _, table := range tables {
		for _, r := range table {
			if r.broken != nil && !c.config.disabled[r.id] && r.broken(v) {
				findings = append(findings, Finding{Rule: r.id, Path: r.path, Message: r.message})
			}
		}
	}
	if findings == nil {
		return nil
	}
	return &ValidationError{Operation: c.op.name, Findings: findings}
}

// within applies a table to a part of a request: get returns the part and
// whether it was given. The path is "" for a part whose members stand at the top.
func within[T, P any](path string, table []rule[P], get func(T) (P, bool)) []rule[T] {
	lifted := make([]rule[T], len(table))
	for i, r := range table {
		lifted[i] = rule[T]{id: r.id, kind: r.kind, path: r.path, message: r.message}
		if path != "" {
			lifted[i].path = path + "." + r.path
		}
		if r.broken != nil {
			lifted[i].broken = func(v T) bool {
				part, ok := get(v)
				return ok && r.broken(part)
			}
		}
	}
	return lifted
}

func lengthOutside(text string, shortest, longest int) bool {
	n := 0
	for range text {
		n++
	}
	return n < shortest || n > longest
}

func notMoney(d decimal.Decimal) bool { return !wire.HasTwoDecimals(d) }
