// Package fake_test is the unit test of docs/testing.md.
package fake_test

import (
	"context"
	"errors"
	"testing"

	"github.com/quickstream-go/quickstream"
)

// payer is the part of client.Transactions that the code under test needs.
type payer interface {
	Pay(ctx context.Context, params quickstream.PayParams, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
}

var _ payer = (*quickstream.TransactionsService)(nil)

// message is the code under test.
func message(ctx context.Context, p payer, params quickstream.PayParams) string {
	switch _, err := p.Pay(ctx, params); {
	case err == nil:
		return "thank you"
	case errors.Is(err, quickstream.ErrDeclined):
		return "use another card"
	case errors.Is(err, quickstream.ErrPending), errors.Is(err, quickstream.ErrOutcomeUnknown):
		return "we are checking"
	default:
		return "try again"
	}
}

// fake ends every payment with the error of the test; nil is approved.
type fake struct{ err error }

func (f fake) Pay(context.Context, quickstream.PayParams, ...quickstream.CallOption) (*quickstream.Transaction, error) {
	return new(quickstream.Transaction), f.err
}

func TestMessage(t *testing.T) {
	for want, err := range map[string]error{
		"thank you": nil, "use another card": &quickstream.DeclinedError{}, "we are checking": &quickstream.UnknownOutcomeError{},
		"try again": &quickstream.APIError{Reason: quickstream.ReasonUnauthorized},
	} {
		if got := message(t.Context(), fake{err}, quickstream.PayParams{}); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
