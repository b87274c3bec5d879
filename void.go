package quickstream

import (
	"context"
	"errors"
)

// Void takes a transaction back before it is settled, so that it appears neither
// on the customer's statement nor in the settlement. It is possible when the
// transaction's Voidable is true.
//
// POST /transactions/{receiptNumber}/void. An answer that shows the transaction itself
// is a success only when its outcome is [OutcomeVoided]; with any other outcome the
// error is an [UnknownOutcomeError], as it is when the answer is lost. Give its [Intent]
// to Resume, and do not refund the transaction while that is unknown: both could
// happen.
func (s *TransactionsService) Void(ctx context.Context, receiptNumber string, opts ...CallOption) (*Transaction, error) {
	return s.sendVoid(ctx, s.void(receiptNumber, opts), receiptNumber)
}

// errNotVoided is of an answer that shows the transaction as it stood.
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
