package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

// The codes of PayTo payments are those of ISO 20022. The contract shows ACSC. The others are
// those of sister products.
const (
	codePayToApproved = "ACSC"
	codePayToPending  = "PDNG"
	codePayToRejected = "RJCT"

	typePayTo = "PAYTO"
)

// payToDetails is payToData without the amount and the account.
type payToDetails struct {
	endToEndID, remittance string
	final                  bool
	opens                  bool // the agreement comes with the payment
}

// opening is a payment that waits until the payer answers its agreement.
type opening struct {
	payment *transaction
	outcome Outcome
}

// payToSource reads payToData, which names an agreement or contains a new one.
func (b *Sandbox) payToSource(f *fields) *source {
	inner := f.object(sourcePayTo)
	if inner == nil {
		return nil
	}
	details := &payToDetails{
		endToEndID: inner.text("endToEndId"),
		remittance: inner.text("remittanceInformation1"),
	}
	details.final, _ = inner.flag("finalPayment")
	out := &source{payTo: details}
	switch byToken, withPayment := inner.has("agreementToken"), inner.has("payToAgreement"); {
	case byToken == withPayment:
		inner.refuse("agreementToken", "", "exactly one of agreementToken, payToAgreement must be given")
	case byToken:
		token := inner.need("agreementToken")
		out.instrument.payTo = b.agreements.byID[token]
		if out.instrument.payTo == nil && token != "" {
			inner.refuse("agreementToken", token, "is not an agreement")
		}
	default:
		details.opens = true
		out.instrument.payTo = b.readOnceOff(inner.object("payToAgreement"))
	}
	if out.instrument.payTo == nil {
		return nil
	}
	return out
}

// readOnceOff reads an agreement for one payment. The payment sets its terms, and its business if
// the agreement names none.
func (b *Sandbox) readOnceOff(f *fields) *agreement {
	if f == nil {
		return nil
	}
	before := len(f.c.findings)
	a := &agreement{created: f.c.now, shop: b.business(f.text("supplierBusinessCode", b.knownBusiness))}
	a.respondBy = a.created.Add(mostRespondByMinutes * time.Minute)
	if inner := f.object("paymentDetails"); inner != nil {
		a.purpose = agreementPurpose{purpose: b.readPurposeCode(inner), description: inner.text("description", atMost(140))}
	}
	if inner := f.object("payerDetails"); inner != nil {
		a.payer, a.fate = b.readPayer(inner)
	}
	if len(f.c.findings) > before {
		return nil
	}
	return a
}

// checkPayTo applies the rules between a payment and its agreement.
func (b *Sandbox) checkPayTo(f *fields, tx *transaction, src *source) {
	if src == nil || src.instrument.payTo == nil {
		return
	}
	a := src.instrument.payTo
	switch {
	case a.shop == nil:
		a.shop = tx.shop
	case tx.shop != nil && tx.shop != a.shop && b.assume.TermsEnforced:
		f.refuse("supplierBusinessCode", tx.shop.code, "must be the agreement's")
	}
	if tx.Currency != "AUD" {
		f.refuse("currency", tx.Currency, "must be the agreement's AUD")
	}
	if src.payTo.opens {
		return
	}
	if a.status != agreementActive {
		f.refuse(sourcePayTo+".agreementToken", "", fmt.Sprintf("the agreement is %s and not ACTIVE", a.status))
		return
	}
	if a.attemptsLeft(f.c.now) <= 0 {
		f.refuse(sourcePayTo+".agreementToken", "", "five payments failed for insufficient funds in the last 24 hours")
		return
	}
	if b.assume.TermsEnforced {
		b.checkTerms(f, tx.principal, a, src.payTo.final)
	}
}

func (b *Sandbox) checkTerms(f *fields, amount cents, a *agreement, final bool) {
	today := calendar.Sydney(f.c.now).Format(time.DateOnly)
	if today < a.purpose.start || a.purpose.end != "" && today > a.purpose.end {
		f.refuse(sourcePayTo+".agreementToken", "", "the agreement permits no payments on this day")
	}
	made := a.paymentsMade()
	if n := a.terms.permitted; n != nil && a.terms.frequency == frequencyAdhoc && int64(made) >= *n {
		f.refuse(sourcePayTo+".agreementToken", "", "the permitted number of payments has been made")
	}
	if amount < 0 {
		return // already refused
	}
	exact, least := (*cents)(nil), a.terms.each
	switch {
	case final && a.terms.last != nil:
		exact = a.terms.last
	case made == 0 && a.terms.first != nil:
		exact = a.terms.first
	case a.terms.kind == kindFixed:
		exact = a.terms.each
	}
	switch {
	case exact != nil && amount != *exact:
		f.refuse("principalAmount", amount.String(), "must be the agreement's "+exact.String())
	case exact == nil && least != nil && amount < *least:
		f.refuse("principalAmount", amount.String(), "must be at least the agreement's "+least.String())
	case a.terms.maximum != nil && amount > *a.terms.maximum:
		f.refuse("principalAmount", amount.String(), "must be at most the agreement's "+a.terms.maximum.String())
	}
}

// attemptsLeft returns how many more payments may be tried: five may fail for insufficient funds in
// 24 hours, as other providers of PayTo publish.
func (a *agreement) attemptsLeft(now time.Time) int {
	left := 5
	for _, tx := range a.payments {
		if tx.result == resultDeclined && tx.code == "AM04" && now.Sub(tx.Time) < 24*time.Hour {
			left--
		}
	}
	return left
}

// paymentsMade counts the payments that took money or may still do so.
func (a *agreement) paymentsMade() int {
	n := 0
	for _, tx := range a.payments {
		if tx.counts() {
			n++
		}
	}
	return n
}

// payByAgreement makes a PayTo payment. A payment with a new agreement waits for the payer.
func (b *Sandbox) payByAgreement(c *call, tx *transaction, details *payToDetails, o Outcome) answer {
	tx.EndToEndID, tx.remittance = details.endToEndID, details.remittance
	a := tx.source.payTo
	a.payments = append(a.payments, tx)
	if details.opens {
		b.openForPayment(a, tx, o)
		o = Pending()
	}
	b.commit(tx, o)
	made := b.written(c, http.StatusCreated, tx)
	b.confirmImmediately(a)
	return made
}

// openForPayment opens the agreement of a payment. The payment gets the outcome after the
// payer has confirmed.
func (b *Sandbox) openForPayment(a *agreement, tx *transaction, o Outcome) {
	one, today := int64(1), calendar.Sydney(tx.Time).Format(time.DateOnly)
	amount := tx.principal
	a.purpose.start, a.purpose.end = today, calendar.Sydney(a.respondBy).Format(time.DateOnly)
	a.terms = agreementTerms{frequency: frequencyAdhoc, kind: kindFixed, permitted: &one, each: &amount}
	a.customer = b.customerForPayer(a.payer)
	a.opening = &opening{payment: tx, outcome: o}
	b.open(a)
}

// customerForPayer returns the customer whose number is the payer's id. The service creates
// one if there is none.
func (b *Sandbox) customerForPayer(p payer) *customer {
	if known := b.customerNumbered(p.id); known != nil && p.id != "" {
		return known
	}
	cust := &customer{id: newID(b.ids, b.customers.byID, 9), number: p.id, name: p.name}
	b.customers.add(cust.id, cust)
	return cust
}

// payToSettled raises the event of a PayTo payment that has an outcome. The caller holds mu.
func (b *Sandbox) payToSettled(tx *transaction) {
	a := tx.source.payTo
	switch tx.result {
	case resultApproved:
		b.emitPayment(eventPaymentApproved, tx)
		if a.fate.onePayment && a.amendable() {
			b.move(a, agreementCancelled, eventAgreementUnknown)
		}
	case resultDeclined, resultRejected:
		b.emitPayment(eventPaymentUnknown, tx)
	default: // not settled yet
	}
}

func (b *Sandbox) addPayTo(tx *transaction, body object) {
	a := tx.source.payTo
	body["payToData"] = object{
		"agreementToken": a.token, "endToEndId": b.echoed(tx.EndToEndID), "priority": "NORM",
		"remittanceInformation1": optional(tx.remittance), "remittanceInformation2": nil,
	}
	body["payToPayeeAccount"] = object{"displayName": maskedAccount(merchantBSB, merchantAccount), "currency": tx.Currency}
	body["payToPayerAccount"] = object{
		"accountType": typePayTo, "customerId": a.customer.id, "payerType": a.payer.kind, "payerId": a.payer.id,
		"payerName": a.payer.name, "ultimatePayerName": a.payer.ultimateName,
		"maskedAccountNumber": optional(a.payer.maskedAccount), "payIdType": optional(a.payer.payIDType), "payId": optional(a.payer.maskedPayID),
	}
}

// The PayIDs of payers who act by themselves. With payIdType EMAL, [ConfirmingPayID] confirms an agreement
// immediately: the contract does not name its own. The other is a public test address that is not
// registered; whether agreements know it is unconfirmed.
const (
	ConfirmingPayID = "confirms@example.com"
	invalidPayID    = "invalidpayid@example.com"
)

// fate is what the payer or the payer's bank does without [Sandbox.Payer].
type fate struct {
	created     time.Duration // how long the agreement is CREATED before the payer is asked
	notEligible bool          // the agreement is then rejected
	answer      PayerAction   // of the payer, after a second; empty: waits for [Sandbox.Payer]
	atOnce      bool          // the payer confirms before the caller has the answer
	silent      bool          // [Assumptions.AutoConfirm] has no effect
	onePayment  bool          // the agreement is cancelled after a payment
}

// fates are those of the vendor's public table of payer BSBs. The account number does not matter.
// In the table every other BSB approves: that is [Assumptions.AutoConfirm]. "Expires" is
// taken as an early end, because the table has another payer who does not answer in time.
var fates = map[string]fate{ //nolint:gochecknoglobals // an immutable table
	"032001": {answer: DeclineAgreement}, "032002": {silent: true}, "032003": {created: time.Second, notEligible: true},
	"032004": {created: time.Minute, answer: ConfirmAgreement}, "032005": {answer: ExpireAgreement},
	"032006": {created: 30 * time.Minute}, "032007": {answer: ConfirmAgreement, onePayment: true},
}

// PayerAction is what a payer does to a PayTo agreement in their banking app.
type PayerAction string

// The payer's actions, with the status that the agreement must have.
const (
	ConfirmAgreement    PayerAction = "confirm"          // PENDING
	DeclineAgreement    PayerAction = "decline"          // PENDING
	ExpireAgreement     PayerAction = "expire"           // PENDING or CREATED: ends the payer's time to answer
	SuspendAgreement    PayerAction = "suspend"          // ACTIVE: the agreement takes no payments
	ReactivateAgreement PayerAction = "reactivate"       // SUSPENDED
	CancelAgreement     PayerAction = "cancel"           // ACTIVE or SUSPENDED
	AcceptAmendment     PayerAction = "accept-amendment" // a bilateral amendment is pending
	RefuseAmendment     PayerAction = "refuse-amendment" // a bilateral amendment is pending
)

// Payer makes the payer act on an agreement. It is an error if there is no such agreement
// or action, or the agreement does not have the status that the action needs.
func (b *Sandbox) Payer(agreementToken string, action PayerAction) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if a := b.agreements.byID[agreementToken]; a != nil {
		return b.act(a, action)
	}
	return errors.New("sandbox: there is no such agreement")
}

// act does what a payer does. The caller holds mu.
func (b *Sandbox) act(a *agreement, action PayerAction) error {
	move := func(to agreementStatus) { b.move(a, to, eventAgreementUnknown) }
	switch action {
	case ConfirmAgreement:
		return a.when(func() { b.confirm(a) }, agreementPending)
	case DeclineAgreement:
		return a.when(func() { b.decline(a) }, agreementPending)
	case ExpireAgreement:
		return a.when(func() { b.expire(a) }, agreementPending, agreementCreated)
	case SuspendAgreement:
		return a.when(func() { move(agreementSuspended) }, agreementActive)
	case ReactivateAgreement:
		return a.when(func() { move(agreementActive) }, agreementSuspended)
	case CancelAgreement:
		return a.when(func() { move(agreementCancelled) }, agreementActive, agreementSuspended)
	case AcceptAmendment, RefuseAmendment:
		if a.amendment == nil {
			return errors.New("sandbox: no amendment is pending")
		}
		if action == AcceptAmendment {
			b.acceptAmendment(a)
		} else {
			b.dropAmendment(a)
		}
		return nil
	default:
		return fmt.Errorf("sandbox: no payer action %q", action)
	}
}

func (a *agreement) when(act func(), statuses ...agreementStatus) error {
	if !slices.Contains(statuses, a.status) {
		return fmt.Errorf("sandbox: the agreement is %s and not one of %v", a.status, statuses)
	}
	act()
	return nil
}
