package quickstream

import (
	"fmt"
	"io"
	"strconv"
)

// The error structs hold messages and references that may repeat what was sent.
// Every verb, log handler and encoder therefore gets the same text as Error, from
// a pointer and from a value: log/slog asks for MarshalText too.

func formatError(f fmt.State, verb rune, err error) {
	text := err.Error()
	if verb == 'q' {
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(f, text)
}

// Format writes what Error returns, for every verb.
func (e ValidationError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e ValidationError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e APIError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e APIError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e NetworkError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e NetworkError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e UnknownOutcomeError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e UnknownOutcomeError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e DecodeError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e DecodeError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e DeclinedError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e DeclinedError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Format writes what Error returns, for every verb.
func (e NotSettledError) Format(f fmt.State, verb rune) { formatError(f, verb, &e) }

// MarshalText returns what Error returns.
func (e NotSettledError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }
