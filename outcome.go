package quickstream

import "time"

// Outcome is what became of a transaction.
type Outcome string

// The outcomes.
const (
	// OutcomeUnknown: the service does not know, or says two different things.
	// Hold the transaction, do not make another, and read it again later.
	OutcomeUnknown Outcome = "unknown"
	// OutcomeApproved: the payment was taken.
	OutcomeApproved Outcome = "approved"
	// OutcomeDeclined: the financial institution declined.
	OutcomeDeclined Outcome = "declined"
	// OutcomeRejected: the service rejected it, often for its configuration.
	OutcomeRejected Outcome = "rejected"
	// OutcomePending: not settled yet; a PayTo payment waits for its event.
	OutcomePending Outcome = "pending"
	// OutcomeSuspended: held by fraud screening, to be completed or cancelled in
	// the service's portal.
	OutcomeSuspended Outcome = "suspended"
	// OutcomeVoided: taken back before settlement.
	OutcomeVoided Outcome = "voided"
)

// Outcome returns how the transaction ended: approved, declined, rejected or voided, with
// a nil error. A decline is an outcome, and never a Go error.
//
// If it has not ended, or its end is unknown, the error is a [NotSettledError], which
// matches [ErrOutcomeUnknown]: money may have moved, or may still. The outcome beside the
// error is unknown, pending or suspended, and is for display. Only declined or rejected
// with a nil error permits another payment. [NextStep] says whether the service may be
// retrying first.
//
// The outcome follows from the summary code and the status together. It is unknown if they
// disagree, if this package does not know one of them, and for a nil or zero Transaction.
func (t *Transaction) Outcome() (Outcome, error) {
	switch outcome := t.outcome(); outcome {
	case OutcomeApproved, OutcomeDeclined, OutcomeRejected, OutcomeVoided:
		return outcome, nil
	default:
		return outcome, &NotSettledError{Transaction: t, NextLook: time.Now().Add(resumePause)}
	}
}

func (t *Transaction) outcome() Outcome {
	if t == nil {
		return OutcomeUnknown
	}
	approved := t.SummaryCode == SummaryCodeApproved
	if t.Status == TransactionStatusSuspended || t.ResponseCode == "34" { // held by fraud screening
		// Declined with this code is held all the same: it can still be completed.
		if approved || t.Status == TransactionStatusApproved || t.Status == TransactionStatusApprovedReturnable || t.Status == TransactionStatusVoided {
			return OutcomeUnknown
		}
		return OutcomeSuspended
	}
	switch t.Status {
	case TransactionStatusApproved, TransactionStatusApprovedReturnable:
		if approved {
			return OutcomeApproved
		}
	case TransactionStatusDeclined:
		if t.SummaryCode == SummaryCodeDeclined {
			return OutcomeDeclined
		}
		if t.SummaryCode == SummaryCodeRejected {
			return OutcomeRejected
		}
	case TransactionStatusPending:
		if approved || t.SummaryCode == "" {
			return OutcomePending
		}
	case TransactionStatusVoided:
		if approved || t.SummaryCode == SummaryCodeRejected {
			return OutcomeVoided
		}
	default: // a status that this package does not know
	}
	return OutcomeUnknown
}

// MayBeReturned reports whether an approved payment came from a bank account and
// can still be returned by the customer's bank, which takes up to three banking
// days by the vendor's public pages.
func (t *Transaction) MayBeReturned() bool {
	return t.outcome() == OutcomeApproved && (t.Status == TransactionStatusApprovedReturnable ||
		t.BankAccount != nil || t.NZBankAccount != nil || t.DirectEntryAccount != nil || t.NZDirectEntryAccount != nil)
}
