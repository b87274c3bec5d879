package database

import (
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Statements writes statements in a database's dialect.
type Statements struct {
	// Replacer replaces what stands in them, and Time is the expression of [Now].
	Replacer *strings.Replacer
	Time     string

	test func(now string) string
}

// SetNow implements [Database].
func (s *Statements) SetNow(expression func(now string) string) { s.test = expression }

// Text is how a statement is written.
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

// Stored are arguments as they are stored. A zero time and a zero amount are null.
func Stored(args []any, timeOf func(time.Time) any, amountOf func(decimal.Decimal) (any, error)) ([]any, error) {
	values := make([]any, len(args))
	for i, arg := range args {
		switch value := arg.(type) {
		case time.Time:
			if !value.IsZero() {
				values[i] = timeOf(value)
			}
		case decimal.Decimal:
			amount, err := amountOf(value)
			if err != nil {
				return nil, err
			}
			if !value.IsZero() {
				values[i] = amount
			}
		default:
			values[i] = arg
		}
	}
	return values, nil
}

// Scan reads a row in which a time is stored as a T, and an amount as an A.
func Scan[T, A any](scan func(into ...any) error, into []any, timeOf func(T) time.Time, amountOf func(A) decimal.Decimal) error {
	targets, times, amounts := make([]any, len(into)), make([]T, len(into)), make([]A, len(into))
	for i, target := range into {
		switch target.(type) {
		case *time.Time:
			targets[i] = &times[i]
		case *decimal.Decimal:
			targets[i] = &amounts[i]
		default:
			targets[i] = target
		}
	}
	if err := scan(targets...); err != nil {
		return err
	}
	for i, target := range into {
		switch value := target.(type) {
		case *time.Time:
			*value = timeOf(times[i])
		case *decimal.Decimal:
			*value = amountOf(amounts[i])
		}
	}
	return nil
}
