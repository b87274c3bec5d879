package quickstream_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream"
)

// payments is the part of a client that a checkout needs. In production it is client.Transactions.
type payments interface {
	Pay(ctx context.Context, params quickstream.PayParams, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
}

var _ payments = (*quickstream.TransactionsService)(nil)

// messageFor is the code under test.
func messageFor(ctx context.Context, p payments, order quickstream.PayParams) string {
	_, err := p.Pay(ctx, order)
	switch {
	case err == nil:
		return "thank you"
	case errors.Is(err, quickstream.ErrPending), errors.Is(err, quickstream.ErrOutcomeUnknown):
		return "we will write to you" // do not pay again until it is known
	case errors.Is(err, quickstream.ErrDeclined):
		return "please use another card"
	case errors.Is(err, quickstream.ErrNotSent), errors.Is(err, quickstream.ErrUnavailable):
		return "please try again"
	default:
		return "sorry, that is our mistake"
	}
}

// fakePayments returns the error that a test sets; nil means approved.
type fakePayments struct{ err error }

func (f fakePayments) Pay(context.Context, quickstream.PayParams, ...quickstream.CallOption) (*quickstream.Transaction, error) {
	return new(quickstream.Transaction), f.err
}

// A fake needs exported fields only: errors made by hand match the same sentinels, an APIError by
// its Reason. If the service's behaviour matters, use package sandbox.
func Example_fake() {
	for _, fake := range []fakePayments{
		{err: nil},
		{err: &quickstream.DeclinedError{}},
		{err: &quickstream.PendingError{}},
		{err: &quickstream.UnknownOutcomeError{Intent: &quickstream.Intent{Reference: "ORDER-1"}}},
		{err: &quickstream.NetworkError{Kind: quickstream.NetworkKindConnectionRefused}},
		{err: &quickstream.APIError{Reason: quickstream.ReasonUnavailable}},
		{err: &quickstream.APIError{Reason: quickstream.ReasonUnauthorized}},
	} {
		fmt.Println(messageFor(context.Background(), fake, quickstream.PayParams{}))
	}
	// Output:
	// thank you
	// please use another card
	// we will write to you
	// we will write to you
	// please try again
	// please try again
	// sorry, that is our mistake
}
