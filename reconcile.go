package quickstream

import (
	"context"
	"errors"
	"time"
)

// ReconcileState is what looking for a transaction came to.
type ReconcileState string

// The states. There is none for "failed": a transaction that is not found may be
// found later.
const (
	// ReconcileFound: the transaction exists. Its Outcome says what became of it.
	ReconcileFound ReconcileState = "found"
	// ReconcileNotFoundYet: nothing matches at this time.
	ReconcileNotFoundYet ReconcileState = "not found yet"
	// ReconcileAmbiguous: more than one transaction matches, and a person has to
	// look at them.
	ReconcileAmbiguous ReconcileState = "ambiguous"
)

// Reconciliation is what looking for a transaction came to.
type Reconciliation struct {
	State ReconcileState
	// Transaction is what was found; nil in every other state.
	Transaction *Transaction
	// Candidates are the transactions that match when the state is
	// ReconcileAmbiguous.
	Candidates []*Transaction
}

// reconcileSkew is how far the service's clock may be behind this machine's. A
// transaction from before the intent is not the intent's, even if it carries the
// same reference: taking a payment that was declined a minute ago for the one
// that was lost now would lead to a second charge. A wider difference of clocks
// makes a transaction "not found yet", which is safe.
const reconcileSkew = 30 * time.Second

// Reconcile looks for the transaction of an intent: that of an
// UnknownOutcomeError, or one that was stored before a crash. It never sends
// anything but reads, and never says "failed".
//
// GET /transactions/{receiptNumber} when the receipt number is known, else GET
// /transactions/for-reference-number and, for refunds, GET
// /transactions/{receiptNumber}/refunds, with the secret key. A transaction
// matches when its payment reference, type, amount, currency, business, original
// receipt and end-to-end identifier are the intent's and it is not older. An
// error means that the look-up itself failed, and says nothing.
//
// An approval that is found settles the intent. So does a decline when the intent
// was sent once, by its Attempts; otherwise the service may have carried out two
// requests, and a decline counts only once nothing else can turn up: after the
// settlement cut-off, which package resolve waits for.
func (s *TransactionsService) Reconcile(ctx context.Context, intent PaymentIntent, opts ...CallOption) (*Reconciliation, error) {
	if intent.ReceiptNumber != "" {
		transaction, err := s.Get(ctx, intent.ReceiptNumber, opts...)
		switch {
		case errors.Is(err, ErrNotFound):
			return &Reconciliation{State: ReconcileNotFoundYet}, nil
		case err != nil:
			return nil, err
		}
		return &Reconciliation{State: ReconcileFound, Transaction: transaction}, nil
	}
	if intent.PaymentReferenceNumber == "" {
		return nil, &ValidationError{Operation: "Transactions.Reconcile", Findings: []Finding{{
			Rule: "reconcile.paymentReferenceNumber.required", Path: "paymentReferenceNumber", Message: "is required when the receipt number is not known",
		}}}
	}
	lists := []List[Transaction]{s.ByReference(intent.PaymentReferenceNumber, opts...)}
	if intent.TransactionType == TransactionTypeRefund && intent.OriginalReceiptNumber != "" {
		lists = append(lists, s.Refunds(intent.OriginalReceiptNumber, opts...))
	}
	matches, err := intent.matching(ctx, lists)
	switch {
	case err != nil:
		return nil, err
	case len(matches) == 0:
		return &Reconciliation{State: ReconcileNotFoundYet}, nil
	case len(matches) > 1:
		return &Reconciliation{State: ReconcileAmbiguous, Candidates: matches}, nil
	}
	return &Reconciliation{State: ReconcileFound, Transaction: matches[0]}, nil
}

// matching returns the transactions of the lists that are the intent's, each
// once.
func (i PaymentIntent) matching(ctx context.Context, lists []List[Transaction]) ([]*Transaction, error) {
	var matches []*Transaction
	seen := map[string]bool{}
	for _, list := range lists {
		for transaction, err := range list.All(ctx) {
			if errors.Is(err, ErrNotFound) {
				break // the service may answer so for an empty list
			}
			if err != nil {
				return nil, err
			}
			if i.matches(transaction) && !seen[transaction.ReceiptNumber] {
				seen[transaction.ReceiptNumber] = true
				matches = append(matches, transaction)
			}
		}
	}
	return matches, nil
}

// matches compares a transaction with the intent. Members that the specification
// does not promise in an answer count only when they are there.
func (i PaymentIntent) matches(t *Transaction) bool {
	agrees := func(answered, intended string) bool { return answered == "" || answered == intended }
	switch {
	case t.PaymentReferenceNumber != i.PaymentReferenceNumber, t.TransactionType != i.TransactionType:
		return false
	case !agrees(t.OriginalReceiptNumber, i.OriginalReceiptNumber):
		return false
	case i.SupplierBusinessCode != "" && !agrees(t.SupplierBusinessCode, i.SupplierBusinessCode):
		return false
	case t.PayToData != nil && i.EndToEndID != "" && !agrees(t.PayToData.EndToEndID, i.EndToEndID):
		return false
	case !t.TransactionTime.IsZero() && t.TransactionTime.Before(i.FirstSent.Add(-reconcileSkew)):
		return false
	}
	if i.TransactionType == TransactionTypeAccountVerification {
		return true // has no amount
	}
	return t.PrincipalAmount != nil && t.PrincipalAmount.Amount.Equal(i.PrincipalAmount) && t.PrincipalAmount.Currency == i.Currency
}

// ReconcileVoid tells what became of a void: ReconcileFound when the transaction
// is voided, and ReconcileNotFoundYet when it is not, or cannot be read yet. Do
// not refund the transaction while the void is unknown: both could happen.
//
// GET /transactions/{receiptNumber} with the secret key.
func (s *TransactionsService) ReconcileVoid(ctx context.Context, receiptNumber string, opts ...CallOption) (*Reconciliation, error) {
	transaction, err := s.Get(ctx, receiptNumber, opts...)
	switch {
	case errors.Is(err, ErrNotFound):
		return &Reconciliation{State: ReconcileNotFoundYet}, nil
	case err != nil:
		return nil, err
	case transaction.Outcome() != OutcomeVoided:
		return &Reconciliation{State: ReconcileNotFoundYet}, nil
	}
	return &Reconciliation{State: ReconcileFound, Transaction: transaction}, nil
}
