package sandbox

import "time"

const (
	payerAnswersAfter  = time.Second // before the agreement can be read
	delayedCreation    = 30 * time.Minute
	creationRetryAfter = time.Minute
)

// open stores an agreement and sends it to the payer. The caller holds mu.
func (b *Sandbox) open(a *agreement) {
	a.token = b.newHandle()
	a.status = agreementPending
	b.agreements.byToken[a.token] = a
	b.agreements.byCustomer[a.customer.ID] = append(b.agreements.byCustomer[a.customer.ID], a)
	b.agreements.ordered = append(b.agreements.ordered, a)
	b.after(a.respondBy.Sub(b.clock.Now()), func() { b.catchUp(a) })
	switch a.fate {
	case fateNotEligible:
		a.status = agreementCreated
		b.after(payerAnswersAfter, func() { b.reject(a) })
	case fateDelayed:
		a.status = agreementCreated
		b.after(delayedCreation, func() { b.sendToPayer(a) })
	case fateRetried:
		a.status = agreementCreated
		b.after(creationRetryAfter, func() { b.sendToPayer(a) })
	default:
		b.awaitPayer(a)
	}
}

func (b *Sandbox) sendToPayer(a *agreement) {
	if b.catchUp(a); a.status != agreementCreated {
		return
	}
	a.status = agreementPending
	b.awaitPayer(a)
}

// awaitPayer plans what the payers of the test numbers do. All others wait for
// [Sandbox.Payer].
func (b *Sandbox) awaitPayer(a *agreement) {
	var act func(*agreement)
	switch a.fate {
	case fateDeclines:
		act = b.decline
	case fateExpires:
		act = b.expire
	case fateRetried, fateCancelledAfterPayment:
		act = b.confirm
	case fateOpen, fateDelayed:
		if !b.assume.AutoConfirm {
			return
		}
		act = b.confirm
	default:
		return
	}
	b.after(payerAnswersAfter, func() {
		if b.catchUp(a); a.status == agreementPending {
			act(a)
		}
	})
}

// confirmImmediately confirms the agreement for a payer who does so immediately: after the answer
// was made and before the caller has it.
func (b *Sandbox) confirmImmediately(a *agreement) {
	if a.fate == fateConfirms && a.status == agreementPending {
		b.confirm(a)
	}
}

// catchUp applies the time limits that have passed.
func (b *Sandbox) catchUp(a *agreement) {
	now := b.clock.Now()
	if a.unanswered() && !now.Before(a.respondBy) {
		b.expire(a)
	}
	if a.amendment != nil && !now.Before(a.amendment.respondBy) {
		b.dropAmendment(a)
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

func (b *Sandbox) reject(a *agreement) {
	if b.catchUp(a); a.status != agreementCreated {
		return
	}
	a.rejection = "The account is not eligible for PayTo."
	b.move(a, agreementRejected, eventAgreementUnknown)
}

// move changes the status and notifies the subscribers. An agreement that ends takes its
// pending amendment and its payment with it. The caller holds mu.
func (b *Sandbox) move(a *agreement, to agreementStatus, event string) {
	a.status = to
	ended := to == agreementCancelled || to == agreementRejected
	if ended {
		a.amendment = nil
	}
	b.emit(event, b.agreementBody(b.background(), a))
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

// propose asks the payer to accept an amendment.
func (b *Sandbox) propose(a *agreement, m *amendment) {
	a.amendment = m
	b.after(m.respondBy.Sub(b.clock.Now()), func() { b.catchUp(a) })
	if b.assume.AutoConfirm {
		b.after(payerAnswersAfter, func() {
			if b.catchUp(a); a.amendment == m {
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
	b.emit(eventAgreementUnknown, b.agreementBody(b.background(), a))
}

func (b *Sandbox) dropAmendment(a *agreement) {
	a.amendment = nil
	b.emit(eventAgreementUnknown, b.agreementBody(b.background(), a))
}
