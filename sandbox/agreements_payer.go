package sandbox

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The PayIDs of payers who do something by themselves. Sent with a payIdType of
// EMAL, [ConfirmingPayID] confirms an agreement at once; the contract has such a
// PayID and does not name it, so that this one is the sandbox's own.
// [InvalidPayID] is registered nowhere; it is a public test address of the
// service's PayID resource, and whether agreements know it too is unconfirmed.
const (
	ConfirmingPayID = "confirms@example.com"
	InvalidPayID    = "invalidpayid@example.com"
)

// fate is what the payer, or the payer's bank, will do by itself.
type fate int

const (
	fateOpen fate = iota // somebody has to act
	fateConfirmsAtOnce
	fateDeclines
	fateSilent
	fateNotEligible
	fateRetried
	fateExpires
	fateDelayed
	fateCancelledAfterPayment
)

// fateOf reads the vendor's public table of payer BSBs, in which the account
// number does not matter. It has every other BSB approve, which is
// [Assumptions.AutoConfirm] here. That an agreement "expires", beside a
// payer who does not answer in time, is taken as expiring early.
func fateOf(bsb, payIDType, payID string) fate {
	if payIDType == payIDEmail && strings.EqualFold(payID, ConfirmingPayID) {
		return fateConfirmsAtOnce
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

// payIDExists reports whether a PayID could be one of its type and is not known
// to be unregistered.
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

// Agreement is the payer's side of an agreement: the banking app.
type Agreement struct {
	box   *Sandbox
	token string
}

// Agreement returns the payer's side of the agreement with a token.
func (b *Sandbox) Agreement(token string) Agreement { return Agreement{b, token} }

// Confirm has the payer confirm the agreement. It is an error when there is no
// such agreement, or it is not PENDING.
func (a Agreement) Confirm() error { return a.answer((*Sandbox).confirm, agreementPending) }

// Decline has the payer decline the agreement. It is an error when there is no
// such agreement, or it is not PENDING.
func (a Agreement) Decline() error { return a.answer((*Sandbox).decline, agreementPending) }

// Suspend has the payer suspend the agreement, so that no payments can be taken. It
// is an error when there is no such agreement, or it is not ACTIVE.
func (a Agreement) Suspend() error { return a.turn(agreementSuspended, agreementActive) }

// Reactivate has the payer end the suspension of the agreement. It is an error when
// there is no such agreement, or it is not SUSPENDED.
func (a Agreement) Reactivate() error { return a.turn(agreementActive, agreementSuspended) }

// Cancel has the payer cancel the agreement. It is an error when there is no such
// agreement, or it is neither ACTIVE nor SUSPENDED.
func (a Agreement) Cancel() error {
	return a.turn(agreementCancelled, agreementActive, agreementSuspended)
}

func (a Agreement) turn(to agreementStatus, from ...agreementStatus) error {
	return a.answer(func(b *Sandbox, found *agreement) { b.move(found, to, eventAgreementUnknown) }, from...)
}

// answer does what the payer wants with an agreement in one of the states.
func (a Agreement) answer(with func(*Sandbox, *agreement), states ...agreementStatus) error {
	return a.act(func(found *agreement) error {
		if !slices.Contains(states, found.status) {
			return fmt.Errorf("sandbox: the agreement is %s and not %s", found.status, listed(states))
		}
		with(a.box, found)
		return nil
	})
}

// LetExpire ends the time that the payer has to answer now. It is an error when
// the payer cannot be waited for any longer.
func (a Agreement) LetExpire() error {
	return a.act(func(found *agreement) error {
		if !found.unanswered() {
			return fmt.Errorf("sandbox: the agreement is %s and does not wait for the payer", found.status)
		}
		a.box.expire(found)
		return nil
	})
}

// AnswerAmendment has the payer accept or refuse the bilateral amendment. It is
// an error when none is pending.
func (a Agreement) AnswerAmendment(accept bool) error {
	return a.act(func(found *agreement) error {
		switch {
		case found.amendment == nil:
			return errors.New("sandbox: no amendment is pending")
		case accept:
			a.box.acceptAmendment(found)
		default:
			a.box.dropAmendment(found)
		}
		return nil
	})
}

func (a Agreement) act(do func(*agreement) error) error {
	a.box.mu.Lock()
	defer a.box.mu.Unlock()
	found := a.box.agreement(a.token)
	switch {
	case a.box.closed:
		return errClosed
	case found == nil:
		return errors.New("sandbox: there is no such agreement")
	}
	return do(found)
}

var errClosed = errors.New("sandbox: closed")
