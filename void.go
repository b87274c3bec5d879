package quickstream

import (
	"context"
	"errors"
)

// Void takes a transaction back before it is settled, if the transaction's Voidable is
// true. Neither the customer's statement nor the settlement shows it then.
//
// POST /transactions/{receiptNumber}/void, and errors as for Pay. An answer that shows the
// transaction itself is a success only if its outcome is [OutcomeVoided], and otherwise an
// [UnknownOutcomeError], like a lost answer. Give its [Intent] to Resume, and do not refund
// the transaction before the outcome is known: both could happen.
func (s *TransactionsService) Void(ctx context.Context, receiptNumber string, opts ...CallOption) (*Transaction, error) {
	return s.sendVoid(ctx, s.void(receiptNumber, opts), receiptNumber)
}

// errNotVoided is for an answer that shows the transaction unchanged.
var errNotVoided = errors.New("the answer shows the transaction, and not as voided")

// sendVoid sends a void, whose answer is the voided transaction or one that follows it.
func (s *TransactionsService) sendVoid(ctx context.Context, call *call, receiptNumber string) (*Transaction, error) {
	return sendAbout(ctx, call, func(t *Transaction) error {
		switch {
		case sameText(t.ReceiptNumber, receiptNumber):
			if t.outcome() != OutcomeVoided {
				return errNotVoided
			}
		case !sameText(t.OriginalReceiptNumber, receiptNumber):
			return errNotAsked
		}
		return nil
	})
}

func (s *TransactionsService) void(receiptNumber string, opts []CallOption) *call {
	call := s.client.begin(OperationVoid, opts, receiptNumber)
	call.reference = receiptNumber
	call.intent = &Intent{Target: receiptNumber, Complete: true}
	return call
}
