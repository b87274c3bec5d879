package sandbox

import (
	"slices"
	"time"
)

// Outcome is what becomes of a transaction. The functions that return one list
// the possibilities.
type Outcome struct {
	result result
	code   string // empty: the usual code for the kind of account
	next   *laterOutcome
}

type laterOutcome struct {
	after   time.Duration
	outcome Outcome
}

// result is the state of a transaction, as the ledger names it.
type result string

const (
	resultApproved  result = "approved"
	resultDeclined  result = "declined"
	resultErred     result = "erred"
	resultRejected  result = "rejected"
	resultSuspended result = "suspended"
)

// Approved is a payment that succeeds: summaryCode 0.
func Approved() Outcome { return Outcome{result: resultApproved} }

// Declined is refused by the financial institution with a response code such as
// 51: summaryCode 1.
func Declined(code string) Outcome { return Outcome{result: resultDeclined, code: code} }

// Erred has an outcome that the service does not know: summaryCode 2. It stays so
// for ever unless [Outcome.ThenAfter] follows.
func Erred() Outcome { return Outcome{result: resultErred, code: "QI"} }

// Rejected is refused by the service itself with a response code such as QA:
// summaryCode 3.
func Rejected(code string) Outcome { return Outcome{result: resultRejected, code: code} }

// Suspended is held by fraud screening: response code 34, status Suspended.
func Suspended() Outcome { return Outcome{result: resultSuspended, code: "34"} }

// ThenAfter adds what the transaction turns into when d has passed since the
// step before.
func (o Outcome) ThenAfter(d time.Duration, then Outcome) Outcome {
	if o.next == nil {
		o.next = &laterOutcome{after: d, outcome: then}
		return o
	}
	step := *o.next
	step.outcome = step.outcome.ThenAfter(d, then)
	o.next = &step
	return o
}

// NextTransaction decides the outcomes of the transactions to come, one each, in
// order, in place of what the test numbers say. Requests that are refused with
// 422 use up none.
func (b *Sandbox) NextTransaction(outcomes ...Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script = append(b.script, outcomes...)
}

// decide returns the outcome of a new transaction. The caller holds mu.
func (b *Sandbox) decide(source instrument, now time.Time) Outcome {
	if len(b.script) > 0 {
		next := b.script[0]
		b.script = slices.Delete(b.script, 0, 1)
		return next
	}
	switch {
	case source.card != nil:
		return source.card.outcome(now)
	case source.bank != nil:
		return b.bankOutcome(source.bank)
	default:
		return Approved()
	}
}

// settle gives a transaction its outcome, and a timer for the next. The caller
// holds mu.
func (b *Sandbox) settle(tx *transaction, o Outcome) {
	tx.result, tx.code = o.result, o.code
	if o.result == resultApproved && o.code == "" {
		tx.code = "08"
		if tx.source.card == nil {
			tx.code = "G"
		}
	}
	if o.next != nil {
		b.after(o.next.after, func() { b.settle(tx, o.next.outcome) })
	}
}

// summaryCode is one of the two members that tell the outcome; status is the
// other.
func (b *Sandbox) summaryCode(tx *transaction) string {
	switch tx.result {
	case resultApproved:
		return "0"
	case resultErred:
		return "2"
	case resultRejected:
		return "3"
	case resultSuspended:
		return b.assume.SuspendedSummaryCode
	default:
		return "1"
	}
}

func (b *Sandbox) status(tx *transaction) string {
	switch tx.result {
	case resultApproved:
		if tx.source.bank != nil || tx.source.nz != nil {
			return "Approved*" // may still be returned; public client code knows this form
		}
		return "Approved"
	case resultErred:
		return b.assume.ErredStatus
	case resultSuspended:
		return "Suspended"
	default:
		return "Declined"
	}
}

// describe is the text beside a response code.
func describe(tx *transaction) string {
	if text, known := descriptions[tx.code]; known {
		return text
	}
	return "Response code " + tx.code
}

// descriptions are the texts of the public code tables.
//
//nolint:gochecknoglobals // an immutable table
var descriptions = map[string]string{
	"00": "Approved or completed successfully", "08": "Honour with identification",
	"01": "Refer to card issuer", "02": "Refer to card issuer, special conditions", "03": "Invalid merchant",
	"04": "Pick up card", "05": "Do not honour", "06": "Error", "07": "Pick up card, special conditions",
	"12": "Invalid transaction", "14": "Invalid card number", "17": "Customer cancellation",
	"22": "Suspected malfunction", "30": "Format error", "34": "Suspected fraud", "41": "Lost card",
	"42": "No universal account", "43": "Stolen card", "51": "Not sufficient funds", "54": "Expired card",
	"57": "Transaction not permitted to cardholder", "59": "Suspected fraud", "61": "Exceeds withdrawal amount limit",
	"62": "Restricted card", "65": "Exceeds withdrawal frequency limit", "91": "Issuer or switch is inoperative",
	"92": "Financial institution cannot be reached",
	"Q0": "Scheme tokenisation error", "Q3": "Payment gateway unavailable", "QA": "Invalid parameters",
	"QI": "Transaction incomplete", "QQ": "Invalid card", "QY": "Card type not accepted",
	"G": "Processed successfully", "R": "Exception processing error", "1": "Invalid BSB number",
	"2": "Payment stopped", "3": "Account closed", "4": "Customer deceased",
	"5": "No account or incorrect account number", "6": "Refer to customer", "7": "No form PDC held",
	"8": "Invalid user id number", "9": "Other",
}
