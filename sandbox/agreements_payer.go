package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The PayIDs of payers who act by themselves. With payIdType EMAL, [ConfirmingPayID] confirms
// an agreement immediately. The contract says that there is such a PayID and does not name it:
// this one is the sandbox's own. [InvalidPayID] is not registered. It is a public test
// address of the service's PayID resource; whether agreements know it is unconfirmed.
const (
	ConfirmingPayID = "confirms@example.com"
	InvalidPayID    = "invalidpayid@example.com"
)

// fate is what the payer or the payer's bank does without [Sandbox.Payer].
type fate int

const (
	fateOpen fate = iota // waits for [Sandbox.Payer]
	fateConfirms
	fateDeclines
	fateSilent
	fateNotEligible
	fateRetried
	fateExpires
	fateDelayed
	fateCancelledAfterPayment
)

// fateOf reads the vendor's public table of payer BSBs. The account number does not matter.
// In the table every other BSB approves: that is [Assumptions.AutoConfirm]. "Expires" is
// taken as an early end, because the table has another payer who does not answer in time.
func fateOf(bsb, payIDType, payID string) fate {
	if payIDType == payIDEmail && strings.EqualFold(payID, ConfirmingPayID) {
		return fateConfirms
	}
	switch bsb {
	case "032001":
		return fateDeclines
	case "032002":
		return fateSilent
	case "032003":
		return fateNotEligible
	case "032004":
		return fateRetried
	case "032005":
		return fateExpires
	case "032006":
		return fateDelayed
	case "032007":
		return fateCancelledAfterPayment
	default:
		return fateOpen
	}
}

const (
	payIDEmail        = "EMAL"
	payIDPhone        = "TELI"
	payIDABN          = "AUBN"
	payIDOrganisation = "ORGN"
)

var (
	emailPattern      = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)
	payIDPhonePattern = regexp.MustCompile(`^(\+[0-9]{1,3}-?|0)[0-9]{6,15}$`)
	payIDABNPattern   = regexp.MustCompile(`^([0-9]{9}|[0-9]{11})$`)
)

// payIDExists reports whether a PayID has the form of its type and is not known to be
// unregistered.
func payIDExists(kind, id string) bool {
	switch kind {
	case payIDEmail:
		return emailPattern.MatchString(id) && !strings.EqualFold(id, InvalidPayID) && !strings.HasPrefix(id, "test_error")
	case payIDPhone:
		return payIDPhonePattern.MatchString(id)
	case payIDABN:
		return payIDABNPattern.MatchString(id)
	default:
		return len(id) <= 256
	}
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

// Payer has the payer act on an agreement. It is an error if there is no such agreement
// or action, or the agreement does not have the status that the action needs.
func (b *Sandbox) Payer(agreementToken string, action PayerAction) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.agreement(agreementToken)
	switch {
	case b.closed:
		return errClosed
	case a == nil:
		return errors.New("sandbox: there is no such agreement")
	}
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
		return b.answerAmendment(a, action == AcceptAmendment)
	default:
		return fmt.Errorf("sandbox: no payer action %q", action)
	}
}

// when acts if the agreement has one of the statuses.
func (a *agreement) when(act func(), statuses ...agreementStatus) error {
	if !slices.Contains(statuses, a.status) {
		return fmt.Errorf("sandbox: the agreement is %s and not %s", a.status, listed(statuses))
	}
	act()
	return nil
}

func (b *Sandbox) answerAmendment(a *agreement, accept bool) error {
	switch {
	case a.amendment == nil:
		return errors.New("sandbox: no amendment is pending")
	case accept:
		b.acceptAmendment(a)
	default:
		b.dropAmendment(a)
	}
	return nil
}

var errClosed = errors.New("sandbox: closed")
