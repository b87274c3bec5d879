package quickstream

import (
	"context"
	"net/http"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// Void takes a transaction back before it is settled, so that it appears neither
// on the customer's statement nor in the settlement. It is possible when the
// transaction's Voidable is true.
//
// POST /transactions/{receiptNumber}/void with the secret key. After an
// UnknownOutcomeError read the transaction with Get: its status shows whether it
// was voided. Do not refund it while that is unknown.
func (s *TransactionsService) Void(ctx context.Context, receiptNumber string, opts ...CallOption) (*Transaction, error) {
	call, err := s.client.begin(operation{
		name: "Transactions.Void", method: http.MethodPost, route: "/transactions/{receiptNumber}/void", class: transport.Post, movesMoney: true,
		findOut: "read the transaction with Transactions.Get: its status shows whether it was voided; do not refund it before that is known",
	}, opts, receiptNumber)
	if err != nil {
		return nil, err
	}
	call.reference = receiptNumber
	return send[Transaction](ctx, call)
}
