package sandbox

import (
	"fmt"
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
		endToEndID: inner.text("endToEndId", b.endToEndID()...),
		remittance: inner.text("remittanceInformation1"),
	}
	details.final, _ = inner.flag("finalPayment")
	out := &source{payTo: details}
	switch byToken, withPayment := inner.has("agreementToken"), inner.has("payToAgreement"); {
	case byToken == withPayment:
		inner.refuse("agreementToken", "", "exactly one of agreementToken, payToAgreement must be given")
	case byToken:
		token := inner.need("agreementToken")
		out.instrument.payTo = b.agreement(token)
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

// readOnceOff reads an agreement for one payment, which gives its terms, and its business unless
// the agreement names one.
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
	payerDetails := f.object
	if b.assume.PayerRouteRequired {
		payerDetails = f.needObject
	}
	if inner := payerDetails("payerDetails"); inner != nil {
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
	if src.payTo.opens {
		return
	}
	if a.status != agreementActive {
		f.refuse(sourcePayTo+".agreementToken", "", fmt.Sprintf("the agreement is %s and not ACTIVE", a.status))
		return
	}
	if b.assume.TermsEnforced {
		b.checkTerms(f, tx.principal, a, src.payTo.final)
	}
}

// checkTerms compares a payment with the terms of its agreement.
func (b *Sandbox) checkTerms(f *fields, amount cents, a *agreement, final bool) {
	today := calendar.Sydney(f.c.now).Format(time.DateOnly)
	if today < a.purpose.start || a.purpose.end != "" && today > a.purpose.end {
		f.refuse(sourcePayTo+".agreementToken", "", "the agreement permits no payments on this day")
	}
	made := a.paymentsMade()
	if n := a.terms.permitted; n != nil && a.terms.frequency == frequencyAdhoc && int64(made) >= *n {
		f.refuse(sourcePayTo+".agreementToken", "", "the permitted number of payments has been made")
	}
	if amount <= 0 {
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
	tx.endToEndID, tx.remittance = details.endToEndID, details.remittance
	a := tx.source.payTo
	a.payments = append(a.payments, tx)
	if details.opens {
		b.openForPayment(a, tx, o)
		o = Pending()
	}
	b.commit(tx, o)
	made := b.created(c, tx)
	b.confirmImmediately(a)
	return made
}

// openForPayment opens the agreement of a payment. The payment gets the outcome after the
// payer has confirmed.
func (b *Sandbox) openForPayment(a *agreement, tx *transaction, o Outcome) {
	one, today := int64(1), calendar.Sydney(tx.created).Format(time.DateOnly)
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
	if known := b.customers.byNumber[p.id]; known != nil && p.id != "" {
		return known
	}
	cust := &customer{ID: newID(b.ids, b.customers.byID, 9), Number: p.id, Name: p.name, Status: customerEnabled}
	b.customers.add(cust)
	return cust
}

// payToSettled raises the event of a PayTo payment with an outcome. The caller holds mu.
func (b *Sandbox) payToSettled(tx *transaction) {
	a := tx.source.payTo
	switch tx.result {
	case resultApproved:
		b.emit(eventPaymentApproved, b.transactionBody(b.background(), tx))
		if a.fate == fateCancelledAfterPayment && a.amendable() {
			b.move(a, agreementCancelled, eventAgreementUnknown)
		}
	case resultDeclined, resultRejected:
		b.emit(eventPaymentUnknown, b.transactionBody(b.background(), tx))
	default: // not settled yet
	}
}

type payToDataBody struct {
	AgreementToken         string  `json:"agreementToken"`
	EndToEndID             *string `json:"endToEndId"`
	Priority               string  `json:"priority"`
	RemittanceInformation1 *string `json:"remittanceInformation1"`
	RemittanceInformation2 *string `json:"remittanceInformation2"`
}

type payToPayeeBody struct {
	DisplayName string `json:"displayName"`
	Currency    string `json:"currency"`
}

type payToPayerBody struct {
	AccountType         string  `json:"accountType"`
	CustomerID          string  `json:"customerId"`
	PayerType           string  `json:"payerType"`
	PayerID             string  `json:"payerId"`
	PayerName           string  `json:"payerName"`
	UltimatePayerName   string  `json:"ultimatePayerName"`
	MaskedAccountNumber *string `json:"maskedAccountNumber"`
	PayIDType           *string `json:"payIdType"`
	PayID               *string `json:"payId"`
}

// addPayTo sets the accounts of the payer and the payee of a PayTo payment.
func (b *Sandbox) addPayTo(tx *transaction, body *transactionBody) {
	a := tx.source.payTo
	body.PayToData = &payToDataBody{
		AgreementToken: a.token, EndToEndID: optional(tx.endToEndID), Priority: "NORM",
		RemittanceInformation1: optional(tx.remittance),
	}
	body.PayToPayeeAccount = &payToPayeeBody{DisplayName: maskedAccount(merchantBSB, merchantAccount), Currency: tx.currency}
	body.PayToPayerAccount = &payToPayerBody{
		AccountType: typePayTo, CustomerID: a.customer.ID, PayerType: a.payer.kind, PayerID: a.payer.id,
		PayerName: a.payer.name, UltimatePayerName: a.payer.ultimateName,
		MaskedAccountNumber: optional(a.payer.maskedAccount), PayIDType: optional(a.payer.payIDType), PayID: optional(a.payer.maskedPayID),
	}
}
