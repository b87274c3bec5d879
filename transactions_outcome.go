package quickstream

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

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
	// OutcomeSuspended: fraud screening holds it, until a person completes or cancels it
	// in the service's portal.
	OutcomeSuspended Outcome = "suspended"
	// OutcomeVoided: taken back before settlement.
	OutcomeVoided Outcome = "voided"
)

// Outcome returns how the transaction ended: approved, declined, rejected or voided, with
// a nil error. A decline is an outcome, and never a Go error.
//
// If it has not ended, or its end is unknown, the error is a [NotSettledError], which
// matches [ErrOutcomeUnknown]: money may have moved, or may still. The outcome with the
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

// NextStep is what to do about a transaction.
type NextStep string

// The next steps.
const (
	// NextStepNone: it is approved, or voided as wanted.
	NextStepNone NextStep = "none"
	// NextStepPayAgain: it was declined and took no money, and will not by itself.
	// Correct the details or take another account, in a new transaction.
	NextStepPayAgain NextStep = "pay_again"
	// NextStepCheckRetries: it was declined and took no money, with a code that may pass.
	// If the facility lets the service retry, read Retries first, and pay again only if no
	// retry is approved or to come. If it does not, pay again.
	NextStepCheckRetries NextStep = "check_retries"
	// NextStepResolve: what became of it is not known. Hold it, do not pay again,
	// and give it to the resolve package.
	NextStepResolve NextStep = "resolve"
	// NextStepWait: a PayTo payment that is not settled yet. Wait for its event,
	// or read it again.
	NextStepWait NextStep = "wait"
	// NextStepReviewInPortal: fraud screening holds it until someone completes or cancels
	// it in the service's portal.
	NextStepReviewInPortal NextStep = "review_in_portal"
	// NextStepCorrectRequest: the service rejected it for something in the request, such as
	// an amount or a card that it does not accept. Correct it, and send a new one.
	NextStepCorrectRequest NextStep = "correct_request"
	// NextStepContactSupport: the service or the financial institution rejects it for a
	// reason that paying again does not cure, often the facility's configuration.
	NextStepContactSupport NextStep = "contact_support"
)

// Text says in a sentence what to do, for a person.
func (n NextStep) Text() string {
	switch n {
	case NextStepNone:
		return "nothing"
	case NextStepPayAgain:
		return "pay again, with corrected details or another account"
	case NextStepCheckRetries:
		return "read the retries first"
	case NextStepResolve:
		return "hold and resolve"
	case NextStepWait:
		return "wait"
	case NextStepReviewInPortal:
		return "complete or cancel it in the portal"
	case NextStepCorrectRequest:
		return "correct it and send a new one"
	case NextStepContactSupport:
		return "resolve it offline"
	default:
		return string(n)
	}
}

// NextStep returns what to do about the transaction, from its outcome and its
// response code. It is never to pay again while money may have moved.
func (t *Transaction) NextStep() NextStep {
	switch t.outcome() {
	case OutcomeApproved, OutcomeVoided:
		return NextStepNone
	case OutcomePending:
		return NextStepWait
	case OutcomeSuspended:
		return NextStepReviewInPortal
	case OutcomeRejected:
		switch t.ResponseCode {
		case "QA", "QD", "QQ", "QT", "QW", "QY", "QZ": // about the request, and not the facility or the service
			return NextStepCorrectRequest
		}
		return NextStepContactSupport
	case OutcomeDeclined:
		return t.afterDecline()
	default:
		return NextStepResolve
	}
}

// afterDecline goes by the response code. Cards, bank accounts and PayTo have code sets
// of their own, and one code can mean different things. The meaning of a few codes is
// published, that of the others is known from third parties. Only of 01 it is published
// that the service retries, so a card's unlisted code counts as retried, and so do QR
// ("retry") and QS ("successful").
func (t *Transaction) afterDecline() NextStep {
	code := t.ResponseCode
	switch {
	case t.PayToData != nil:
		return NextStepPayAgain
	case t.BankAccount != nil, t.DirectEntryAccount != nil:
		if code == "4" || code == "8" { // customer deceased, invalid user identifier
			return NextStepContactSupport
		}
		return NextStepPayAgain
	case len(code) == 1: // two digits that came as a number
		code = "0" + code
	}
	switch code {
	case "03", "04", "07", "41", "43": // invalid merchant; a card to be kept, lost or stolen
		return NextStepContactSupport
	case "00", "08", "12", "13", "14", "17", "30", "36", "42", "54", "57", "59", "62", "94": // such as an expired card
		return NextStepPayAgain
	}
	if of, ok := strings.CutPrefix(code, "Q"); ok && len(of) == 1 && strings.Contains("0123456ABCDEFGHIJKLMNOPQTUVWXYZ", of) { // the gateway's
		return NextStepPayAgain
	}
	return NextStepCheckRetries
}

// DeclinedError is the error of [RequireApproved] for a transaction that was declined or
// rejected, and took no money. It is the only one of its errors that permits another
// payment. It prints the outcome and the response code.
type DeclinedError struct{ Transaction *Transaction }

// Error returns the outcome, the response code and the next step.
func (e *DeclinedError) Error() string { return e.Transaction.says() }

// NotSettledError is the error of [Transaction.Outcome] and [RequireApproved] for a
// transaction that is unknown, pending or suspended, and may still take money. It matches
// [ErrOutcomeUnknown]: do not pay again. Read the transaction with Get, not before
// NextLook, or give it to package resolve. It unwraps to an [UnknownOutcomeError], whose
// [Intent] Resume takes, so that a program needs to handle only that type.
type NotSettledError struct {
	Transaction *Transaction
	// NextLook is the earliest time at which another reading can show more.
	NextLook time.Time
}

// Error returns the outcome, the response code and the next step.
func (e *NotSettledError) Error() string { return e.Transaction.says() }

// Is matches [ErrOutcomeUnknown].
func (e *NotSettledError) Is(target error) bool { return target == ErrOutcomeUnknown }

// Unwrap returns the [UnknownOutcomeError], or nil without a transaction.
func (e *NotSettledError) Unwrap() error {
	t := e.Transaction
	if t == nil {
		return nil
	}
	intent := Intent{
		Version: IntentVersion, Operation: operationOf(transactionJSON{TransactionType: t.TransactionType}), Reference: t.PaymentReferenceNumber,
		ReceiptNumber: t.ReceiptNumber, NotBefore: t.TransactionTime.Time,
	}
	candidate := Candidate{Transaction: t, Matches: true, Reasons: []string{"it is " + string(t.outcome())}}
	open := intent.open(CallInfo{intent.Operation, http.MethodPost, "/transactions"}, nil, []Candidate{candidate})
	open.NextLook = e.NextLook
	return open
}

func (t *Transaction) says() string {
	if t == nil {
		return "quickstream: there is no transaction"
	}
	return fmt.Sprintf("quickstream: the transaction is %s (response code %s); next: %s", t.outcome(), safeName(t.ResponseCode, 4), t.NextStep().Text())
}

// RequireApproved turns every transaction that is not approved into an error:
//
//	tx, err := quickstream.RequireApproved(client.Transactions.Pay(ctx, params))
//
// The error is a [DeclinedError] if the transaction was declined or rejected, and a
// [NotSettledError], which matches [ErrOutcomeUnknown], if it has not ended. A voided
// transaction gives an error that is neither. The transaction is returned with the error.
// An error of the call itself is passed through, without a transaction.
func RequireApproved(t *Transaction, err error) (*Transaction, error) {
	if err != nil {
		return nil, err
	}
	switch outcome, err := t.Outcome(); outcome {
	case OutcomeDeclined, OutcomeRejected:
		return t, &DeclinedError{Transaction: t}
	case OutcomeVoided:
		return t, errors.New(t.says())
	default:
		return t, err
	}
}
