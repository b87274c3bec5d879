package sandbox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Outcome is the result of a transaction, with its later changes. Functions such as [Approved] return one.
type Outcome struct {
	result result
	code   string // empty: the usual code for the kind of account
	part   cents  // the amount that is approved; 0 is all
	next   *laterOutcome
}

type laterOutcome struct {
	after   time.Duration
	outcome Outcome
}

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

// ApprovedInPart approves a payment for a smaller amount, in cents and before surcharge: response
// code 10. The rest of the order is not paid. A transaction that is not larger is approved in full.
func ApprovedInPart(amount int64) Outcome {
	return Outcome{result: resultApproved, code: "10", part: cents(amount)}
}

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

// ThenAfter returns the outcome with another one that follows d after the last step. After a decline of a
// card payment, the other one is the outcome of a retry by the service, which is a new transaction. The
// service makes that retry only if the code is one of [Assumptions.SoftDeclineCodes].
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

// NextTransaction sets the outcomes of the next transactions, one each, in order. Otherwise
// the test numbers decide. A request that is refused with 422 uses none.
func (b *Sandbox) NextTransaction(outcomes ...Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.script = append(b.script, outcomes...)
}

// NextTransactionFor sets the outcomes of the next transactions of an order, which is a
// customerReferenceNumber. They precede those of [Sandbox.NextTransaction]. Use it with concurrent calls.
func (b *Sandbox) NextTransactionFor(customerReferenceNumber string, outcomes ...Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	order := strings.ToLower(customerReferenceNumber)
	b.orderScripts[order] = append(b.orderScripts[order], outcomes...)
}

// decide returns the outcome of a new transaction. The caller holds mu.
func (b *Sandbox) decide(tx *transaction, now time.Time) Outcome {
	order := strings.ToLower(tx.CustomerReferenceNumber)
	if script := b.orderScripts[order]; len(script) > 0 {
		b.orderScripts[order] = script[1:]
		return script[0]
	}
	outcome := b.accountOutcome(tx.source, now)
	if len(b.script) > 0 {
		outcome, b.script = b.script[0], b.script[1:]
	}
	return outcome
}

func (b *Sandbox) accountOutcome(source instrument, now time.Time) Outcome {
	switch {
	case source.card != nil:
		return source.card.outcome(now)
	case source.bank != nil:
		return b.bankOutcome(source.bank)
	case source.payTo != nil && b.assume.PayToApprovedAfter > 0:
		return Pending().ThenAfter(b.assume.PayToApprovedAfter, Approved())
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
	if o.part > 0 && o.part < tx.principal {
		tx.principal = o.part
		tx.addSurcharge()
	}
	tx.result, tx.code = o.result, o.code
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
	if cardDeclined(tx) {
		b.scheduleRetry(tx, o.next)
	} else if o.next != nil {
		step := tx.steps
		b.after(o.next.after, func() {
			if tx.steps == step { // unless something else has happened
				b.settle(tx, o.next.outcome)
			}
		})
	}
	if tx.source.payTo != nil && tx.Type == typePayment {
		b.payToSettled(tx)
	}
}

// bankOutcome returns the outcome of the public test BSBs, with the codes of sister products. The account
// number does not matter: the public tables disagree on some.
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

func cardDeclined(tx *transaction) bool {
	return tx.Type == typePayment && tx.source.card != nil && tx.result == resultDeclined
}

func (b *Sandbox) softDeclined(tx *transaction) bool {
	return cardDeclined(tx) && slices.Contains(b.assume.SoftDeclineCodes, tx.code)
}

func (b *Sandbox) retriable(tx *transaction) bool {
	return b.softDeclined(tx) && tx.retries == nil && !slices.ContainsFunc(tx.attempts, (*transaction).counts)
}

// retry makes the service's own next attempt at a payment. The caller holds mu.
func (b *Sandbox) retry(first *transaction, o Outcome) *transaction {
	again := *first
	again.ReceiptNumber, again.steps, again.followUps, again.attempts, again.returned = "", 0, nil, nil, time.Time{}
	again.retries, again.OriginalReceiptNumber, again.IdempotencyKey = first, first.ReceiptNumber, ""
	again.result, again.answered = "", false
	again.Time = b.clock.Now()
	first.attempts = append(first.attempts, &again)
	first.followUps = append(first.followUps, &again)
	b.commit(&again, o)
	return &again
}

// scheduleRetry plans the retry of a soft-declined payment. Scripted retries come before the
// facility's schedule. The caller holds mu.
func (b *Sandbox) scheduleRetry(tx *transaction, later *laterOutcome) {
	if !b.softDeclined(tx) {
		return
	}
	first := cmp.Or(tx.retries, tx)
	if n := len(first.attempts); later == nil && n < len(b.assume.RetrySchedule) {
		later = &laterOutcome{after: b.assume.RetrySchedule[n]} // with the outcome of the account
	}
	if later == nil {
		return
	}
	b.after(later.after, func() {
		if !b.retriable(first) {
			return
		}
		again := later.outcome
		if again.result == "" {
			again = b.accountOutcome(first.source, b.clock.Now())
		}
		b.retry(first, again)
	})
}

// inAnswers are the status and the summaryCode of each result. Only both together give the outcome.
var inAnswers = map[result]struct{ status, summaryCode string }{ //nolint:gochecknoglobals // an immutable table
	resultApproved:  {"Approved", "0"},
	resultDeclined:  {"Declined", "1"},
	resultErred:     {"Declined", "2"}, // the status alone reports a failure, but the transaction may still succeed
	resultRejected:  {"Declined", "3"},
	resultSuspended: {"Suspended", "1"}, // the code alone reports a decline, but the transaction may still be completed
	resultPending:   {"Pending", "0"},   // none of the four codes is for a payment whose payer has not answered
	resultVoided:    {"Voided", "0"},    // the code alone reports a voided payment as approved
}

func (b *Sandbox) summaryCode(tx *transaction) string { return inAnswers[tx.result].summaryCode }

func (b *Sandbox) status(tx *transaction) string {
	if tx.result == resultApproved && (tx.source.bank != nil || tx.source.nz != nil) {
		return "Approved*" // may still be returned; public client code knows this form
	}
	return inAnswers[tx.result].status
}

func describe(tx *transaction) string {
	if text, known := descriptions[tx.code]; known {
		return text
	}
	return "Response code " + tx.code
}

// descriptions are the texts of the public code tables for the codes of the test numbers.
var descriptions = map[string]string{ //nolint:gochecknoglobals // an immutable table
	"08": "Honour with identification", "10": "Approved for partial amount", "17": "Customer cancellation", "34": "Suspected fraud",
	"01": "Refer to card issuer", "04": "Pick up card", "05": "Do not honour", "42": "No universal account", "43": "Stolen card",
	"51": "Not sufficient funds", "54": "Expired card", "62": "Restricted card", "91": "Issuer or switch is inoperative",
	"QA": "Invalid parameters", "QI": "Transaction incomplete",
	"G": "Processed successfully", "R": "Exception processing error", "1": "Invalid BSB number",
	"2": "Payment stopped", "3": "Account closed", "4": "Customer deceased",
	"5": "No account or incorrect account number", "6": "Refer to customer", "7": "No form PDC held",
	"8": "Invalid user id number", "9": "Other",
	"PDNG": "Pending", "ACSC": "Accepted, settlement completed", "RJCT": "Rejected before a payment was attempted", "AM04": "Insufficient funds",
}

// Entry is a transaction in its real state, whatever answers were given. Amounts are in
// cents.
type Entry struct {
	ReceiptNumber           string            `json:"receiptNumber"`
	OriginalReceiptNumber   string            `json:"originalReceiptNumber"` // of refunds, captures, retries and changes
	Type                    string            `json:"transactionType"`       // transactionType
	AuthorisationType       string            `json:"authorisationType"`     // of changes to a pre-authorisation
	CancellationType        string            `json:"cancellationType"`      // of cancellations of a pre-authorisation
	Outcome                 string            `json:"outcome"`               // approved, declined, erred, rejected, suspended, pending or voided
	Amount                  int64             `json:"amount"`                // before surcharge
	Surcharge               int64             `json:"surcharge"`
	Currency                string            `json:"currency"`
	CustomerReferenceNumber string            `json:"customerReferenceNumber"`
	PaymentReferenceNumber  string            `json:"paymentReferenceNumber"`
	AgreementToken          string            `json:"agreementToken"` // of PayTo payments
	EndToEndID              string            `json:"endToEndId"`     // of PayTo payments
	Metadata                map[string]string `json:"metadata"`
	IdempotencyKey          string            `json:"idempotencyKey"` // of the request that made it
	Time                    time.Time         `json:"time"`
}

// Ledger is a list of transactions, oldest first.
type Ledger []Entry

// Ledger returns the transactions of the facility in their current state.
func (b *Sandbox) Ledger() Ledger {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(Ledger, 0, len(b.transactions.ordered))
	for _, tx := range b.transactions.ordered {
		e := tx.Entry
		e.Outcome, e.Amount, e.Surcharge, e.Metadata = string(tx.result), int64(tx.principal), int64(tx.surcharge), maps.Clone(tx.Metadata)
		if a := tx.source.payTo; a != nil {
			e.AgreementToken = a.token
		}
		out = append(out, e)
	}
	return out
}

// Order returns the transactions of an order, which is a customerReferenceNumber in any case,
// and those that refer to them: refunds, captures, retries.
func (l Ledger) Order(ref string) Ledger {
	receipts := make(map[string]bool)
	return l.filter(func(e Entry) bool {
		belongs := strings.EqualFold(e.CustomerReferenceNumber, ref) || receipts[e.OriginalReceiptNumber]
		if belongs {
			receipts[e.ReceiptNumber] = true
		}
		return belongs
	})
}

// Charged returns the approved payments and captures of an order, refunded or not. Voided
// ones are not among them. More than one means that the payer has paid twice.
func (l Ledger) Charged(ref string) Ledger {
	return l.Order(ref).filter(func(e Entry) bool {
		return (e.Type == typePayment || e.Type == typeCapture) && e.Outcome == string(resultApproved)
	})
}

// Net returns what the payer has paid for an order, in cents: charges with their surcharges,
// less refunds.
func (l Ledger) Net(ref string) int64 {
	var sum int64
	for _, e := range l.Order(ref) {
		switch {
		case e.Outcome != string(resultApproved):
		case e.Type == typePayment || e.Type == typeCapture:
			sum += e.Amount + e.Surcharge
		case e.Type == typeRefund:
			sum -= e.Amount
		}
	}
	return sum
}

func (l Ledger) filter(want func(Entry) bool) Ledger {
	return slices.DeleteFunc(slices.Clone(l), func(e Entry) bool { return !want(e) })
}

// cents is an amount of money. As JSON it is a number with two decimals.
type cents int64

// parseCents reads a decimal without an exponent, and returns what is wrong with it. It never rounds.
func parseCents(s string) (value cents, wrong string) {
	unsigned, negative := strings.CutPrefix(s, "-")
	whole, fraction, dotted := strings.Cut(unsigned, ".")
	switch {
	case !allDigits(whole) || dotted && !allDigits(fraction) || len(fraction) > 2:
		return 0, "must be an amount with at most two decimals"
	case len(whole) > 12:
		return 0, "is too large"
	}
	n, _ := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64) // 14 digits
	if negative {
		n = -n
	}
	return cents(n), ""
}

// String is the amount with two decimals.
func (c cents) String() string {
	sign := ""
	if c < 0 {
		sign, c = "-", -c
	}
	return fmt.Sprintf("%s%d.%02d", sign, c/100, c%100)
}

// MarshalJSON implements json.Marshaler.
func (c cents) MarshalJSON() ([]byte, error) { return []byte(c.String()), nil }

// display returns the amount as people write it, such as $1,234.50.
func (c cents) display() string {
	whole, fraction, _ := strings.Cut(c.String(), ".")
	sign := ""
	if rest, negative := strings.CutPrefix(whole, "-"); negative {
		sign, whole = "-", rest
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + "$" + whole + "." + fraction
}

// share returns the part of the amount for a rate in basis points, rounded half up.
func (c cents) share(basisPoints int) cents { return (c*cents(basisPoints) + 5000) / 10000 }

func amountOf(currency string, c cents) object {
	return object{"currency": currency, "amount": c, "displayAmount": c.display()}
}
