package sandbox

import (
	"net/http"
	"slices"
	"time"
)

type agreementStatus string

const (
	agreementCreated   agreementStatus = "CREATED"
	agreementRejected  agreementStatus = "REJECTED"
	agreementPending   agreementStatus = "PENDING"
	agreementActive    agreementStatus = "ACTIVE"
	agreementSuspended agreementStatus = "SUSPENDED"
	agreementCancelled agreementStatus = "CANCELLED"
)

// agreement is a PayTo agreement. The payer's account number and PayID are masked before they
// are stored.
type agreement struct {
	token     string
	status    agreementStatus
	customer  *customer
	shop      *business
	reference string // payeeReference
	created   time.Time
	respondBy time.Time
	rejection string
	purpose   agreementPurpose
	terms     agreementTerms
	payer     payer
	fate      fate
	amendment *amendment     // bilateral, not answered by the payer
	payments  []*transaction // oldest first
	opening   *opening       // the payment that came with the agreement, until the payer answers
}

// agreementPurpose is paymentDetails. Dates are texts as YYYY-MM-DD, which compare as dates
// do.
type agreementPurpose struct {
	purpose, description string
	start, end           string
	renews               bool
	information          string
}

// agreementTerms is paymentTerms.
type agreementTerms struct {
	frequency, kind            string
	permitted, pointInTime     *int64
	first, last, each, maximum *cents
	firstDue, lastDue          string
}

type payer struct {
	kind, id, name, ultimateName, reference string
	maskedAccount                           string
	payIDType, maskedPayID                  string
}

func (a *agreement) amendable() bool {
	return a.status == agreementActive || a.status == agreementSuspended
}

func (a *agreement) unanswered() bool {
	return a.status == agreementPending || a.status == agreementCreated
}

func (b *Sandbox) createAgreement(c *call, cust *customer) answer {
	f := c.readBody()
	a := b.readAgreement(f)
	if !c.valid() {
		return c.invalid()
	}
	a.customer = cust
	b.open(a)
	body := b.agreementBody(c, a)
	b.confirmImmediately(a)
	return reply(http.StatusCreated, body)
}

func (b *Sandbox) visibleAgreement(c *call) *agreement {
	if a := b.agreements.byID[c.params["agreementToken"]]; a != nil && b.visible(a.created, c.now) {
		return a
	}
	return nil
}

// listAgreements lists a customer's agreements, newest first. A filter without a match gives
// an empty list.
func (b *Sandbox) listAgreements(c *call, cust *customer) answer {
	code, status := c.query.Get("supplierBusinessCode"), c.query.Get("status")
	var found []*agreement
	for _, a := range slices.Backward(b.agreements.where(func(a *agreement) bool { return a.customer == cust })) {
		if b.visible(a.created, c.now) && (code == "" || a.shop.code == code) && (status == "" || string(a.status) == status) {
			found = append(found, a)
		}
	}
	return list(c, found, b.agreementBody)
}

// AgreementEntry is an agreement in its real state, whatever answers were given.
type AgreementEntry struct {
	AgreementToken       string    `json:"agreementToken"`
	CustomerID           string    `json:"customerId"`
	SupplierBusinessCode string    `json:"supplierBusinessCode"`
	PayeeReference       string    `json:"payeeReference"`
	Status               string    `json:"status"`
	Created              time.Time `json:"created"`
	// PendingAmendment means that the payer has not answered a bilateral amendment.
	PendingAmendment bool `json:"pendingAmendment"`
	// Payments are the receipt numbers of the agreement's payments.
	Payments []string `json:"payments"`
}

// Agreements returns the agreements of the facility, oldest first, as a payer's banking app
// shows them.
func (b *Sandbox) Agreements() []AgreementEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]AgreementEntry, 0, len(b.agreements.ordered))
	for _, a := range b.agreements.ordered {
		e := AgreementEntry{
			AgreementToken: a.token, CustomerID: a.customer.id, SupplierBusinessCode: a.shop.code, PayeeReference: a.reference,
			Status: string(a.status), Created: a.created, PendingAmendment: a.amendment != nil,
		}
		for _, tx := range a.payments {
			e.Payments = append(e.Payments, tx.ReceiptNumber)
		}
		out = append(out, e)
	}
	return out
}

const (
	sandboxABN       = "00000000000"
	sandboxInitiator = "Sandbox Community"
)

// agreementBody is the PayTo Agreement Model.
func (b *Sandbox) agreementBody(c *call, a *agreement) object {
	return object{
		"links":          c.links(get("self", c.href("payto-agreements", a.token))),
		"agreementToken": a.token, "status": string(a.status), "priority": "UNAT", // the one value that the contract shows
		"respondByTime": b.timestamp(a.respondBy), "payeeReference": optional(a.reference),
		"hasPendingBilateralAmendment": a.amendment != nil, "rejectionReason": optional(a.rejection),
		"paymentDetails": object{
			"purpose": a.purpose.purpose, "description": a.purpose.description,
			"startDate": a.purpose.start, "endDate": optional(a.purpose.end), "automaticRenewal": a.purpose.renews,
			"additionalInformation": optional(a.purpose.information),
		},
		"paymentTerms": object{
			"frequency": a.terms.frequency, "numberOfPaymentsPermitted": a.terms.permitted, "pointInTime": a.terms.pointInTime,
			"agreementType":      a.terms.kind,
			"firstPaymentAmount": amountOrNull(a.terms.first), "lastPaymentAmount": amountOrNull(a.terms.last),
			"paymentAmount": amountOrNull(a.terms.each), "maximumPaymentAmount": amountOrNull(a.terms.maximum),
			"firstPaymentDue": optional(a.terms.firstDue), "lastPaymentDue": optional(a.terms.lastDue),
		},
		"payerDetails": object{
			"customerId": a.customer.id, "payerType": a.payer.kind, "payerId": a.payer.id, "payerName": a.payer.name,
			"ultimatePayerName": a.payer.ultimateName, "paymentReference": optional(a.payer.reference),
			"maskedAccountNumber": optional(a.payer.maskedAccount),
			"payIdType":           optional(a.payer.payIDType), "maskedPayId": optional(a.payer.maskedPayID),
		},
		"payeeDetails": object{
			"supplierBusinessCode": a.shop.code, "payeeName": a.shop.name, "ultimatePayeeName": a.shop.name, "payeeAbn": sandboxABN,
			"maskedAccountNumber": maskedAccount(merchantBSB, merchantAccount),
			"initiatorName":       sandboxInitiator, "initiatorLegalName": sandboxInitiator, "initiatorAbn": sandboxABN,
		},
	}
}

func amountOrNull(c *cents) object {
	if c == nil {
		return nil
	}
	return amountOf("AUD", *c)
}

const payerAnswersAfter = time.Second // with a LookupLag, before the agreement can be read

// open stores an agreement and sends it to the payer. The caller holds mu.
func (b *Sandbox) open(a *agreement) {
	a.token = b.newHandle()
	a.status = agreementPending
	b.agreements.add(a.token, a)
	b.after(a.respondBy.Sub(b.clock.Now()), func() {
		if a.unanswered() {
			b.expire(a)
		}
	})
	if a.fate.created > 0 {
		a.status = agreementCreated
		b.after(a.fate.created, func() { b.ask(a) })
		return
	}
	b.ask(a)
}

// ask sends an agreement to its payer, and plans what the payers of the test numbers do. All others wait
// for [Sandbox.Payer].
func (b *Sandbox) ask(a *agreement) {
	answer := a.fate.answer
	switch {
	case !a.unanswered():
		return
	case a.fate.notEligible:
		a.rejection = "The account is not eligible for PayTo."
		b.move(a, agreementRejected, eventAgreementUnknown)
		return
	case answer == "" && b.assume.AutoConfirm && !a.fate.silent:
		answer = ConfirmAgreement
	}
	a.status = agreementPending
	if answer != "" {
		b.after(payerAnswersAfter, func() { _ = b.act(a, answer) }) // the payer may have acted before
	}
}

// confirmImmediately confirms the agreement for a payer who does so immediately: after the answer
// was made and before the caller has it.
func (b *Sandbox) confirmImmediately(a *agreement) {
	if a.fate.atOnce && a.status == agreementPending {
		b.confirm(a)
	}
}

func (b *Sandbox) confirm(a *agreement) {
	b.move(a, agreementActive, eventAgreementConfirmed)
	if o := a.opening; o != nil {
		a.opening = nil
		b.settle(o.payment, o.outcome)
	}
}

func (b *Sandbox) decline(a *agreement) { b.move(a, agreementCancelled, eventAgreementDeclined) }
func (b *Sandbox) expire(a *agreement)  { b.move(a, agreementCancelled, eventAgreementExpired) }
func (b *Sandbox) recall(a *agreement)  { b.move(a, agreementCancelled, eventAgreementRecalled) }

// move changes the status and notifies the subscribers. If the agreement ends, its pending
// amendment is dropped, and the payment that came with it is declined. The caller holds mu.
func (b *Sandbox) move(a *agreement, to agreementStatus, event string) {
	a.status = to
	ended := to == agreementCancelled || to == agreementRejected
	if ended {
		a.amendment = nil
	}
	b.emitAgreement(event, a)
	if o := a.opening; ended && o != nil {
		a.opening = nil
		b.settle(o.payment, Declined(codePayToRejected))
	}
}

// amendment is a bilateral amendment that waits for the payer. A nil part stays as it is.
type amendment struct {
	respondBy time.Time
	purpose   *agreementPurpose
	terms     *agreementTerms
}

func (b *Sandbox) propose(a *agreement, m *amendment) {
	a.amendment = m
	b.after(m.respondBy.Sub(b.clock.Now()), func() {
		if a.amendment == m {
			b.dropAmendment(a)
		}
	})
	if b.assume.AutoConfirm {
		b.after(payerAnswersAfter, func() {
			if a.amendment == m {
				b.acceptAmendment(a)
			}
		})
	}
}

func (b *Sandbox) acceptAmendment(a *agreement) {
	m := a.amendment
	a.amendment = nil
	if p := m.purpose; p != nil {
		a.purpose.end, a.purpose.renews, a.purpose.information = p.end, p.renews, p.information
	}
	if m.terms != nil {
		a.terms = *m.terms
	}
	b.emitAgreement(eventAgreementUnknown, a)
}

func (b *Sandbox) dropAmendment(a *agreement) {
	a.amendment = nil
	b.emitAgreement(eventAgreementUnknown, a)
}
