package quickstream

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Outcome says what became of a transaction.
type Outcome string

// The outcomes.
const (
	// OutcomeUnknown: the service does not know, or contradicts itself. Hold the order and read the
	// transaction later.
	OutcomeUnknown Outcome = "unknown"
	// OutcomeApproved: the money was taken.
	OutcomeApproved Outcome = "approved"
	// OutcomeDeclined: the financial institution declined.
	OutcomeDeclined Outcome = "declined"
	// OutcomeRejected: the service rejected it, often because of its configuration.
	OutcomeRejected Outcome = "rejected"
	// OutcomePending: not settled yet; a PayTo payment waits for its event, even with summary code 2.
	OutcomePending Outcome = "pending"
	// OutcomeSuspended: held by fraud screening until it is completed or cancelled in the service's
	// portal.
	OutcomeSuspended Outcome = "suspended"
	// OutcomeVoided: voided before settlement.
	OutcomeVoided Outcome = "voided"
)

// Outcome returns what became of the transaction. Approved, declined, rejected and voided are
// final: see [Outcome.Final]. With any other outcome, money may have moved or may still move.
//
// Statuses are compared without regard to case. If the status is absent or unknown to this package,
// summary codes 1 and 3 decide, and 0 only with [WithStatusOutcome]. The outcome is unknown if
// summary code and status disagree, and for a nil or zero Transaction.
func (t *Transaction) Outcome() Outcome {
	if t == nil {
		return OutcomeUnknown
	}
	status, approved := t.Status.listed(), t.SummaryCode == SummaryCodeApproved
	if status == TransactionStatusSuspended || t.ResponseCode == "34" { // held by fraud screening
		// A declined transaction with this code is held too: it can still be completed.
		if approved || status == TransactionStatusApproved || status == TransactionStatusApprovedReturnable || status == TransactionStatusVoided {
			return OutcomeUnknown
		}
		return OutcomeSuspended
	}
	switch status {
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
		// A PayTo payment whose payer has not answered can have code 2.
		if approved || t.SummaryCode == "" || t.SummaryCode == SummaryCodeErred && t.PayToData != nil {
			return OutcomePending
		}
	case TransactionStatusVoided:
		if approved || t.SummaryCode == SummaryCodeRejected {
			return OutcomeVoided
		}
	default:
		switch t.SummaryCode {
		case SummaryCodeDeclined:
			return OutcomeDeclined
		case SummaryCodeRejected:
			return OutcomeRejected
		case SummaryCodeApproved: // a pending or voided transaction can have this code too
			return cmp.Or(t.meaning, OutcomeUnknown)
		default:
		}
	}
	return OutcomeUnknown
}

// listed returns the known status that differs from s at most in case, or "".
func (s TransactionStatus) listed() TransactionStatus {
	for _, known := range [...]TransactionStatus{
		TransactionStatusApproved, TransactionStatusApprovedReturnable, TransactionStatusPending,
		TransactionStatusDeclined, TransactionStatusVoided, TransactionStatusSuspended,
	} {
		if strings.EqualFold(string(s), string(known)) {
			return known
		}
	}
	return ""
}

// Final reports whether the outcome is approved, declined, rejected or voided. That is no permission to
// pay again: banks return payments, and the service may retry a decline. Ask [Transaction.NextStep].
func (o Outcome) Final() bool { return o == OutcomeApproved || o.tookNoMoney() }

// statuses maps statuses in lower case to their outcomes, from [WithStatusOutcome].
type statuses map[string]Outcome

// explain tells a transaction what the client knows of its facility.
func (c *callConfig) explain(object any) {
	if t, ok := object.(*Transaction); ok {
		t.meaning, t.finalDeclines, t.environment = c.statuses[strings.ToLower(string(t.Status))], c.finalDeclines, c.environment
	}
}

// MayBeReturned reports whether an approved payment came from a bank account and may still be
// returned: up to three banking days, by the vendor's public pages.
func (t *Transaction) MayBeReturned() bool {
	return t.Outcome() == OutcomeApproved && (t.Status.listed() == TransactionStatusApprovedReturnable ||
		t.BankAccount != nil || t.NZBankAccount != nil || t.DirectEntryAccount != nil || t.NZDirectEntryAccount != nil)
}

// NextStep says what to do about a transaction.
type NextStep string

// The next steps.
const (
	// NextStepNone: it is approved, or voided as requested.
	NextStepNone NextStep = "none"
	// NextStepPayAgain: declined, and will take no money. Pay again with corrected details or
	// another account.
	NextStepPayAgain NextStep = "pay_again"
	// NextStepCheckRetries: declined with a code that the service may retry, such as 05, 51 or 91,
	// without [WithFinalDeclines]. Read Retries: pay again only if none is approved or still to come.
	NextStepCheckRetries NextStep = "check_retries"
	// NextStepResolve: unknown. Hold the order and use package resolve.
	NextStepResolve NextStep = "resolve"
	// NextStepWait: a pending PayTo payment. Wait for its event, or read it again.
	NextStepWait NextStep = "wait"
	// NextStepReviewInPortal: held by fraud screening until it is completed or cancelled in the
	// service's portal.
	NextStepReviewInPortal NextStep = "review_in_portal"
	// NextStepCorrectRequest: something in the request was rejected, such as an amount or a card.
	// Correct it and make a new one.
	NextStepCorrectRequest NextStep = "correct_request"
	// NextStepContactSupport: rejected for a reason that paying again does not solve, often the
	// facility's configuration.
	NextStepContactSupport NextStep = "contact_support"
)

// NextStep returns what to do about the transaction. It never says "pay again" while money may have
// moved.
func (t *Transaction) NextStep() NextStep {
	switch t.Outcome() {
	case OutcomeApproved, OutcomeVoided:
		return NextStepNone
	case OutcomePending:
		return NextStepWait
	case OutcomeSuspended:
		return NextStepReviewInPortal
	case OutcomeRejected:
		switch t.ResponseCode {
		case "QA", "QD", "QQ", "QT", "QW", "QY", "QZ": // about the request
			return NextStepCorrectRequest
		}
		return NextStepContactSupport
	case OutcomeDeclined:
		return t.afterDecline()
	default:
		return NextStepResolve
	}
}

// afterDecline decides by response code. Cards, bank accounts and PayTo have different code sets.
// The meanings of a few codes are published; the others are from third parties. The service
// publishes only that it retries 01. So an unlisted code of a card, and QR ("retry") and QS
// ("successful"), count as retried.
func (t *Transaction) afterDecline() NextStep {
	code, card := t.ResponseCode, t.CreditCard != nil // whatever other accounts an answer shows beside it
	switch {
	case !card && t.PayToData != nil:
		return NextStepPayAgain
	case !card && (t.BankAccount != nil || t.DirectEntryAccount != nil):
		if code == "4" || code == "8" { // customer deceased, invalid user identifier
			return NextStepContactSupport
		}
		return NextStepPayAgain
	case len(code) == 1: // two digits, sent as a number
		code = "0" + code
	}
	switch code {
	case "03", "04", "07", "41", "43": // invalid merchant; a card to be kept, lost or stolen
		return NextStepContactSupport
	case "00", "08", "12", "13", "14", "17", "30", "36", "42", "54", "57", "59", "62", "94": // such as an expired card
		return NextStepPayAgain
	}
	if of, ok := strings.CutPrefix(code, "Q"); ok && len(of) == 1 && strings.Contains("0123456ABCDEFGHIJKLMNOPQTUVWXYZ", of) { // codes of the gateway
		return NextStepPayAgain
	}
	if t.finalDeclines {
		return NextStepPayAgain
	}
	return NextStepCheckRetries
}

// DeclinedError is a transaction that was declined by the financial institution or rejected by the
// service: it took no money. It matches [ErrDeclined]. Transaction.NextStep says what to do.
type DeclinedError struct {
	CallInfo
	Transaction *Transaction `json:"-"`
}

// Error returns the outcome, the response code and the next step.
func (e *DeclinedError) Error() string {
	return "quickstream: " + e.text() + ": " + e.Transaction.describe()
}

// Is matches [ErrDeclined].
func (e *DeclinedError) Is(target error) bool { return target == ErrDeclined }

// PendingError is a transaction that is pending, or suspended by fraud screening: it may still take
// the money. It matches [ErrPending]. Store the receipt number, and wait for the event or give the
// error to After of package resolve.
type PendingError struct {
	CallInfo
	Transaction *Transaction `json:"-"`
}

// Error returns the outcome, the response code and the next step.
func (e *PendingError) Error() string {
	return doNotCallAgain + "quickstream: " + e.text() + ": " + e.Transaction.describe()
}

// Is matches [ErrPending].
func (e *PendingError) Is(target error) bool { return target == ErrPending }

// UnknownOutcomeError is a write that may have been executed: the connection broke after sending,
// the context ended, the answer cannot be relied on, or it says that the service does not know. Do
// not make the call again; find out first, as FindOut says. Check for it before the context's error.
//
// It matches [ErrOutcomeUnknown] only, and does not unwrap to its cause, so that no check for
// another error takes it for "not processed".
type UnknownOutcomeError struct {
	CallInfo
	// Intent is the argument of a Resume method; nil for writes without one.
	Intent *Intent
	// Transaction is the service's answer, if it does not say how the write ended; nil otherwise.
	Transaction *Transaction
	// IdempotencyKey is the key of every attempt; "" without one.
	IdempotencyKey string
	// Reference is the value to look up: a payment reference, the receipt of a void, a customer
	// number, a payee reference, an agreement token, or a payment file's name.
	Reference string
	// ReceiptNumber is set if the answer had a receipt number. Look it up first.
	ReceiptNumber string
	// FirstSent is the start of the first attempt, by this machine's clock; after a Resume it is the intent's MadeAt, which can be zero.
	FirstSent time.Time
	Attempts  int
	// Candidates are the objects that a Resume found and that settle nothing. None means "not found
	// yet", not "pay again".
	Candidates []Candidate
	// NextLook is when another Resume is useful; zero without a look-up.
	NextLook time.Time
	// FindOut says how to find out what happened.
	FindOut string
	// Cause is the last event, which proves nothing about earlier attempts: a [NetworkError], an
	// [APIError] with the answer's status, or another error. After a 401 call [Client.Check]. For a
	// Resume it is the reason why the look-up failed, or nil.
	Cause error
}

// Candidate is an object that a look-up found and that settles nothing. One pointer is set.
type Candidate struct {
	Transaction *Transaction
	Agreement   *Agreement
	// Matches means that it is the intent's, or one of several that may be. Even then it settles nothing.
	Matches bool
	// Reasons say why it settles nothing.
	Reasons []string
}

// Error returns the operation and how to find out.
func (e *UnknownOutcomeError) Error() string {
	attempts := strconv.Itoa(e.Attempts) + " attempt(s)"
	if e.Attempts == 0 {
		attempts = "an unknown number of attempts"
	}
	text := "quickstream: " + e.text() + ": outcome unknown after " + attempts
	switch e.FindOut {
	case newToken, authenticateAgain, newAccount: // they take no money, and may be called again
	default:
		text = doNotCallAgain + text
	}
	if e.FindOut != "" {
		text += "; " + e.FindOut
	}
	if api, ok := errors.AsType[*APIError](e.Cause); ok {
		answer := *api
		answer.Reason = "" // "not processed" holds for the last attempt only
		text += " (last seen: " + answer.describe() + ")"
	} else if seen, ok := errors.AsType[described](e.Cause); ok {
		text += " (last seen: " + seen.describe() + ")"
	} else if errors.Is(e.Cause, ErrNotSent) {
		text += " (" + strings.TrimPrefix(e.Cause.Error(), "quickstream: ") + ")"
	}
	return text
}

// described is an error that can be printed without its call.
type described interface {
	error
	describe() string
}

// doNotCallAgain begins the text of every error after which another call could take the money twice.
const doNotCallAgain = "do not call again: "

// Is matches [ErrOutcomeUnknown].
func (e *UnknownOutcomeError) Is(target error) bool { return target == ErrOutcomeUnknown }

// Format writes the text of Error for every verb, for a pointer and for a value, because the fields
// repeat values of the request. The fields of other errors do not.
func (e UnknownOutcomeError) Format(f fmt.State, verb rune) {
	text := e.Error()
	if verb == 'q' {
		text = strconv.Quote(text)
	}
	_, _ = io.WriteString(f, text)
}

// MarshalText returns Error's text, for log handlers and encoders.
func (e UnknownOutcomeError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

func (t *Transaction) describe() string {
	if t == nil {
		return "there is no transaction"
	}
	text := fmt.Sprintf("the transaction is %s (response code %s); next: %s", t.Outcome(), safeName(t.ResponseCode, 4), strings.ReplaceAll(string(t.NextStep()), "_", " "))
	if t.NextStep() == NextStepCheckRetries {
		text += "; ask the bank whether the service retries the declined payments of your facility, and if it retries none use WithFinalDeclines(true)"
	}
	return text
}

// settles turns the answer to a write into its error: nil if the outcome is the one that the write
// asks for.
func (c *call) settles(t *Transaction) error {
	outcome := t.Outcome()
	voids, collects := c.op.name == OperationVoid, c.op.name == OperationCollect
	switch {
	case voids && outcome == OutcomeVoided, !voids && outcome == OutcomeApproved, collects && outcome == OutcomePending && c.planned == nil:
		return nil
	case voids:
	case outcome == OutcomeDeclined, outcome == OutcomeRejected:
		return &DeclinedError{c.info(), t}
	case outcome == OutcomePending, outcome == OutcomeSuspended:
		return &PendingError{c.info(), t}
	}
	lost := c.lost(c.result)
	lost.Transaction, lost.ReceiptNumber, lost.Intent = t, t.ReceiptNumber, t.intent
	lost.Cause = errors.New("quickstream: " + t.describe())
	return lost
}
