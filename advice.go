package quickstream

import "fmt"

// NextStep is what to do about a transaction.
type NextStep string

// The next steps.
const (
	// NextStepNone: it is approved, or voided as wanted.
	NextStepNone NextStep = "nothing"
	// NextStepPayAgain: it was declined or rejected and took no money. Correct the
	// details or take another account, in a new transaction. Where the service
	// retries soft declines, NextStepReadRetries comes instead.
	NextStepPayAgain NextStep = "pay again, with corrected details or another account"
	// NextStepReadRetries: it was soft-declined and the service may be retrying it
	// or have done so. Read Retries first; pay again only when no retry is
	// approved or to come.
	NextStepReadRetries NextStep = "read the retries first"
	// NextStepResolve: what became of it is not known. Hold it, do not pay again,
	// and give it to the resolve package.
	NextStepResolve NextStep = "hold and resolve"
	// NextStepWait: a PayTo payment that is not settled yet. Wait for its event,
	// or read it again.
	NextStepWait NextStep = "wait"
	// NextStepPortal: fraud screening holds it until someone completes or cancels
	// it in the service's portal.
	NextStepPortal NextStep = "complete or cancel it in the portal"
	// NextStepSupport: the service or the financial institution rejects it for a
	// reason that paying again does not cure, often the facility's configuration.
	NextStepSupport NextStep = "resolve it offline"
)

// NextStep returns what to do about the transaction, from its outcome and its
// response code. It is never to pay again while money may have moved.
func (t *Transaction) NextStep() NextStep {
	switch t.Outcome() {
	case OutcomeApproved, OutcomeVoided:
		return NextStepNone
	case OutcomePending:
		return NextStepWait
	case OutcomeSuspended:
		return NextStepPortal
	case OutcomeRejected:
		return NextStepSupport
	case OutcomeDeclined:
		meaning, known := t.ResponseMeaning()
		switch {
		case known && meaning.SoftDecline:
			return NextStepReadRetries
		case known && meaning.Offline:
			return NextStepSupport
		}
		return NextStepPayAgain
	default:
		return NextStepResolve
	}
}

// DeclinedError is what RequireApproved returns for a transaction that is not
// approved. It prints the outcome and the response code.
type DeclinedError struct {
	// Transaction is the one that is not approved.
	Transaction *Transaction
}

// Error returns the outcome, the response code and the next step.
func (e *DeclinedError) Error() string {
	if e.Transaction == nil {
		return "quickstream: there is no transaction"
	}
	return fmt.Sprintf("quickstream: the transaction is %s (response code %s); next: %s",
		e.Transaction.Outcome(), safeName(e.Transaction.ResponseCode, 4), e.Transaction.NextStep())
}

// RequireApproved turns a transaction that is not approved into an error, for
// callers to whom everything else is the same:
//
//	tx, err := quickstream.RequireApproved(client.Transactions.Pay(ctx, params))
//
// The transaction is returned with the error: an outcome other than declined or
// rejected is no permission to pay again. An error of the call itself is passed
// through.
func RequireApproved(t *Transaction, err error) (*Transaction, error) {
	if err != nil {
		return nil, err
	}
	if t.Outcome() != OutcomeApproved {
		return t, &DeclinedError{Transaction: t}
	}
	return t, nil
}
