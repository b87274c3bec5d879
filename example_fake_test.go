package quickstream_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream"
)

// payments is what a checkout needs of a client, in an interface of its own: in
// production it is given client.Transactions.
type payments interface {
	Pay(ctx context.Context, params quickstream.PayParams, opts ...quickstream.CallOption) (*quickstream.Transaction, error)
}

var _ payments = (*quickstream.TransactionsService)(nil)

// tellCustomer is the code under test.
func tellCustomer(ctx context.Context, p payments, order quickstream.PayParams) string {
	_, err := quickstream.RequireApproved(p.Pay(ctx, order))
	switch _, declined := errors.AsType[*quickstream.DeclinedError](err); {
	case err == nil:
		return "thank you"
	case errors.Is(err, quickstream.ErrOutcomeUnknown):
		return "we will write to you" // and nobody pays again until it is known
	case declined:
		return "please use another card"
	case errors.Is(err, quickstream.ErrNotSent), errors.Is(err, quickstream.ErrUnavailable):
		return "please try again"
	default:
		return "sorry, that is our mistake"
	}
}

// fakePayments pays as a test says.
type fakePayments func() (*quickstream.Transaction, error)

func (f fakePayments) Pay(context.Context, quickstream.PayParams, ...quickstream.CallOption) (*quickstream.Transaction, error) {
	return f()
}

// A fake needs nothing but exported fields: errors that are made by hand match what the
// client's own match. An APIError does by its Reason. Where the service's answers
// matter, and not only what is made of them, package sandbox is the better fake.
func Example_fake() {
	answers := func(tx *quickstream.Transaction, err error) fakePayments {
		return func() (*quickstream.Transaction, error) { return tx, err }
	}
	for _, fake := range []fakePayments{
		answers(&quickstream.Transaction{Status: quickstream.TransactionStatusApproved, SummaryCode: quickstream.SummaryCodeApproved}, nil),
		answers(&quickstream.Transaction{Status: quickstream.TransactionStatusDeclined, SummaryCode: quickstream.SummaryCodeDeclined}, nil),
		answers(&quickstream.Transaction{Status: quickstream.TransactionStatusPending}, nil),
		answers(nil, &quickstream.UnknownOutcomeError{Intent: &quickstream.Intent{Reference: "ORDER-1"}}),
		answers(nil, &quickstream.NetworkError{Kind: quickstream.NetworkKindConnectionRefused}),
		answers(nil, &quickstream.APIError{Reason: quickstream.ReasonUnavailable}),
		answers(nil, &quickstream.APIError{Reason: quickstream.ReasonUnauthorized}),
	} {
		fmt.Println(tellCustomer(context.Background(), fake, quickstream.PayParams{}))
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
