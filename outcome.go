package quickstream

// responseSuspended is the response code of a transaction that fraud screening
// holds back.
const responseSuspended = "34"

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

// Outcome returns what became of the transaction, from its summary code and its
// status together. Where the two disagree or either is not known to this
// package, the outcome is unknown, and so is that of a zero Transaction. A
// decline is an outcome and never a Go error.
func (t *Transaction) Outcome() Outcome {
	if t == nil {
		return OutcomeUnknown
	}
	approved := t.SummaryCode == SummaryCodeApproved
	if t.Status == TransactionStatusSuspended || t.ResponseCode == responseSuspended {
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
	return t.Outcome() == OutcomeApproved && (t.Status == TransactionStatusApprovedReturnable ||
		t.BankAccount != nil || t.NZBankAccount != nil || t.DirectEntryAccount != nil || t.NZDirectEntryAccount != nil)
}
