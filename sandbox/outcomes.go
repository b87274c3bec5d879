package sandbox

import (
	"slices"
	"strings"
	"time"
)

// Outcome is what becomes of a transaction. Functions such as [Approved] return one.
type Outcome struct {
	result result
	code   string // empty: the usual code for the kind of account
	next   *laterOutcome
	retry  *laterOutcome
}

type laterOutcome struct {
	after   time.Duration
	outcome Outcome
}

// result is the state of a transaction, as in the ledger.
type result string

const (
	resultApproved  result = "approved"
	resultDeclined  result = "declined"
	resultErred     result = "erred"
	resultRejected  result = "rejected"
	resultSuspended result = "suspended"
	resultPending   result = "pending"
	resultVoided    result = "voided"
)

// Approved succeeds: summaryCode 0.
func Approved() Outcome { return Outcome{result: resultApproved} }

// Declined is refused by the financial institution with a response code such as 51:
// summaryCode 1. The service may retry a card payment by itself after the codes of
// [Assumptions.SoftDeclineCodes], by default 01 only. All other declines are final.
func Declined(code string) Outcome { return Outcome{result: resultDeclined, code: code} }

// Erred has an outcome that the service does not know: summaryCode 2. It does not change
// unless [Outcome.ThenAfter] follows.
func Erred() Outcome { return Outcome{result: resultErred, code: "QI"} }

// Rejected is refused by the service itself with a response code such as QA: summaryCode 3.
func Rejected(code string) Outcome { return Outcome{result: resultRejected, code: code} }

// Suspended is held by fraud screening: response code 34, status Suspended.
func Suspended() Outcome { return Outcome{result: resultSuspended, code: "34"} }

// Pending is a PayTo payment that is not settled: status Pending, response code PDNG. It does
// not change unless [Outcome.ThenAfter] follows.
func Pending() Outcome { return Outcome{result: resultPending, code: codePayToPending} }

// ThenAfter returns the outcome with another one that follows d after the last step.
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

// ThenRetried returns the outcome with a retry by the service after d, which is a new
// transaction with the outcome again. It has no effect unless the payment is by card and
// [Declined] with one of [Assumptions.SoftDeclineCodes].
func (o Outcome) ThenRetried(d time.Duration, again Outcome) Outcome {
	o.retry = &laterOutcome{after: d, outcome: again}
	return o
}

// NextTransaction sets the outcomes of the next transactions, one each, in order. Otherwise
// the test numbers decide. A request that is refused with 422 takes none.
func (b *Sandbox) NextTransaction(outcomes ...Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script = append(b.script, outcomes...)
}

// NextTransactionFor sets the outcomes of the next transactions of an order, which is a
// customerReferenceNumber. It takes precedence over [Sandbox.NextTransaction]. Use it in
// tests with concurrent calls.
func (b *Sandbox) NextTransactionFor(customerReferenceNumber string, outcomes ...Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	order := strings.ToLower(customerReferenceNumber)
	b.orderScripts[order] = append(b.orderScripts[order], outcomes...)
}

// decide returns the outcome of a new transaction. The caller holds mu.
func (b *Sandbox) decide(tx *transaction, now time.Time) Outcome {
	order := strings.ToLower(tx.customerReference)
	if script := b.orderScripts[order]; len(script) > 0 {
		b.orderScripts[order] = script[1:]
		return script[0]
	}
	if len(b.script) > 0 {
		next := b.script[0]
		b.script = slices.Delete(b.script, 0, 1)
		return next
	}
	return b.accountOutcome(tx.source, now)
}

// accountOutcome returns the outcome of the test numbers.
func (b *Sandbox) accountOutcome(source instrument, now time.Time) Outcome {
	switch {
	case source.card != nil:
		return source.card.outcome(now)
	case source.bank != nil:
		return b.bankOutcome(source.bank)
	case source.payTo != nil:
		return b.payToOutcome()
	default:
		return Approved()
	}
}

// settle sets the outcome of a transaction, and a timer for the next one. The caller holds
// mu.
func (b *Sandbox) settle(tx *transaction, o Outcome) {
	if tx.source.bank != nil && tx.result == resultApproved && o.result == resultDeclined {
		tx.returned = b.clock.Now()
	}
	if tx.result != "" && tx.result != o.result {
		was := *tx
		was.outdated = true
		tx.before = &was
	}
	tx.result, tx.code, tx.changed = o.result, o.code, b.clock.Now()
	tx.steps++
	if o.result == resultApproved && o.code == "" {
		tx.code = "08"
		switch {
		case tx.source.payTo != nil:
			tx.code = codePayToApproved
		case tx.source.card == nil:
			tx.code = "G"
		}
	}
	if o.next != nil {
		step := tx.steps
		b.after(o.next.after, func() {
			if tx.steps == step { // unless something else has happened
				b.settle(tx, o.next.outcome)
			}
		})
	}
	b.scheduleRetry(tx, o)
	if tx.source.payTo != nil && tx.kind == typePayment {
		b.payToSettled(tx)
	}
}

// useToken uses up the token of a transaction. One that may still take the money has used it, too.
func (b *Sandbox) useToken(src *source, o Outcome) {
	if src.token != nil {
		src.token.used = o.result != resultDeclined && o.result != resultRejected || b.assume.DeclineConsumesToken
	}
}

// payToOutcome returns the outcome of a payment against an agreement.
func (b *Sandbox) payToOutcome() Outcome {
	if b.assume.PayToSynchronous {
		return Approved()
	}
	return Pending().ThenAfter(b.assume.PayToApprovedAfter, Approved())
}

// bankOutcome returns the outcome of the public test BSBs. The account number does not
// matter, because the public tables disagree on some. The codes are those of sister products.
// A payment is declined after it was approved, except for one test BSB.
func (b *Sandbox) bankOutcome(a *bankAccount) Outcome {
	last, isTest := strings.CutPrefix(a.bsb, "03205")
	switch {
	case !isTest:
		return Approved()
	case last == "0":
		return Rejected("R")
	case b.assume.BankReturnAfter <= 0:
		return Declined(last)
	default:
		return Approved().ThenAfter(b.assume.BankReturnAfter, Declined(last))
	}
}

// softDeclined reports a decline that may succeed later.
func (b *Sandbox) softDeclined(tx *transaction) bool {
	return tx.kind == typePayment && tx.source.card != nil && tx.result == resultDeclined && slices.Contains(b.assume.SoftDeclineCodes, tx.code)
}

func (b *Sandbox) retriable(tx *transaction) bool {
	return b.softDeclined(tx) && tx.retries == nil && !slices.ContainsFunc(tx.attempts, (*transaction).counts)
}

// retry makes the service's own next attempt at a payment. The caller holds mu.
func (b *Sandbox) retry(first *transaction, o Outcome) *transaction {
	parent, n := first, len(first.attempts)
	if n > 0 && b.assume.RetriesOf == "previous" {
		parent = first.attempts[n-1]
	}
	again := *first
	again.receipt, again.steps, again.followUps, again.attempts, again.returned = "", 0, nil, nil, time.Time{}
	again.retries, again.originalReceipt, again.idempotencyKey = first, parent.receipt, ""
	again.result, again.before = "", nil
	again.created = b.clock.Now()
	first.attempts = append(first.attempts, &again)
	parent.followUps = append(parent.followUps, &again)
	b.commit(&again, o)
	return &again
}

// scheduleRetry plans the retry of a soft-declined payment. Scripted retries come before the
// facility's schedule. The caller holds mu.
func (b *Sandbox) scheduleRetry(tx *transaction, o Outcome) {
	if !b.softDeclined(tx) {
		return
	}
	first := tx
	if tx.retries != nil {
		first = tx.retries
	}
	switch {
	case o.retry != nil:
		b.retryAfter(o.retry.after, first, func() Outcome { return o.retry.outcome })
	case len(first.attempts) < len(b.assume.RetrySchedule):
		b.retryAfter(b.assume.RetrySchedule[len(first.attempts)], first, func() Outcome {
			return b.accountOutcome(first.source, b.clock.Now())
		})
	}
}

func (b *Sandbox) retryAfter(d time.Duration, first *transaction, outcome func() Outcome) {
	b.after(d, func() {
		if b.retriable(first) {
			b.retry(first, outcome())
		}
	})
}

// inAnswers are the status and the summaryCode of each result. Only both together give the outcome.
//
//nolint:gochecknoglobals // an immutable table
var inAnswers = map[result]struct{ status, summaryCode string }{
	resultApproved:  {"Approved", "0"},
	resultDeclined:  {"Declined", "1"},
	resultErred:     {"Declined", "2"}, // the status alone reports as failed what may yet succeed
	resultRejected:  {"Declined", "3"},
	resultSuspended: {"Suspended", "1"},  // the code alone reports as declined what may still be completed
	resultPending:   {status: "Pending"}, // see PendingSummaryCode
	resultVoided:    {status: "Voided"},  // see VoidedSummaryCode
}

func (b *Sandbox) summaryCode(tx *transaction) string {
	switch tx.result {
	case resultPending:
		return b.assume.PendingSummaryCode
	case resultVoided:
		return b.assume.VoidedSummaryCode
	default:
		return inAnswers[tx.result].summaryCode
	}
}

func (b *Sandbox) status(tx *transaction) string {
	if tx.result == resultApproved && (tx.source.bank != nil || tx.source.nz != nil) {
		return "Approved*" // may still be returned; public client code knows this form
	}
	return inAnswers[tx.result].status
}

// describe returns the text of a response code.
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
	"PDNG": "Pending", "PATC": "Partially accepted", "ACSC": "Accepted, settlement completed",
	"RJCT": "Rejected before a payment was attempted", "BLCK": "Blocked before a payment was attempted",
	"AB01": "Clearing timed out", "AB02": "Clearing failed", "AB03": "Settlement timed out", "AB04": "Settlement failed",
	"AC02": "Invalid payer account number", "AC05": "Payer account closed", "AC06": "Payer account blocked",
	"AG07": "Unsuccessful direct debit", "AM04": "Insufficient funds", "FF10": "Bank system processing error",
}
