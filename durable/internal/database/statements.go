package database

import (
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Statements writes statements in a database's dialect.
type Statements struct {
	// Replacer translates a statement, and Time is the expression of [Now].
	Replacer *strings.Replacer
	Time     string
	// Stored returns an argument as it is stored; nil if all are stored unchanged.
	Stored func(arg any) any

	test func(now string) string
}

// SetNow implements [Database].
func (s *Statements) SetNow(expression func(now string) string) { s.test = expression }

// Text returns a statement in the dialect.
func (s *Statements) Text(query string) string {
	text := s.Replacer.Replace(query)
	if !strings.Contains(text, Now) {
		return text
	}
	expression := s.Time
	if s.test != nil {
		expression = s.test(expression)
	}
	return strings.ReplaceAll(text, Now, expression)
}

// Arguments returns the arguments of a statement as they are stored: a zero time and a zero amount are null.
func (s *Statements) Arguments(args []any) []any {
	values := make([]any, len(args))
	for i, arg := range args {
		zero, can := arg.(interface{ IsZero() bool })
		switch {
		case can && zero.IsZero():
		case s.Stored != nil:
			values[i] = s.Stored(arg)
		default:
			values[i] = arg
		}
	}
	return values
}

// Converted are rows whose times and amounts may be null or numbers, and whose times may be in any zone.
type Converted struct{ Rows }

// Scan reads a row: times are in UTC, and null is the zero time and the zero amount.
func (r Converted) Scan(into ...any) error {
	targets := make([]any, len(into))
	for i, target := range into {
		switch target := target.(type) {
		case *time.Time:
			targets[i] = timeTarget{target}
		case *decimal.Decimal:
			targets[i] = amountTarget{target}
		default:
			targets[i] = target
		}
	}
	return r.Rows.Scan(targets...)
}

type timeTarget struct{ into *time.Time }

// Scan implements [sql.Scanner]. A number counts microseconds since 1970.
func (t timeTarget) Scan(stored any) error {
	switch stored := stored.(type) {
	case nil:
		*t.into = time.Time{}
	case int64:
		*t.into = time.UnixMicro(stored).UTC()
	case time.Time:
		*t.into = stored.UTC()
	default:
		return fmt.Errorf("a time is stored as %T", stored)
	}
	return nil
}

type amountTarget struct{ into *decimal.Decimal }

// Scan implements [sql.Scanner]. A whole number counts cents.
func (t amountTarget) Scan(stored any) error {
	switch stored := stored.(type) {
	case nil:
		*t.into = decimal.Zero
	case int64:
		*t.into = decimal.New(stored, -CentPlaces)
	default:
		return t.into.Scan(stored)
	}
	return nil
}

// CentPlaces are the decimal places of a cent.
const CentPlaces = 2
