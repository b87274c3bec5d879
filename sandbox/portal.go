package sandbox

import (
	"errors"
	"fmt"
)

const portalCancelCode = "17" // customer cancellation

// PortalAction is what the merchant's staff do in the service's portal.
type PortalAction string

// The actions in the portal, each with what its id names.
const (
	// CompleteTransaction releases a transaction, by receipt number, that fraud screening
	// has suspended: it gets the outcome of its account.
	CompleteTransaction PortalAction = "complete-transaction"
	// CancelTransaction declines a transaction that fraud screening has suspended.
	CancelTransaction PortalAction = "cancel-transaction"
	// EnableAccount lets a disabled account, by account token, be used again.
	EnableAccount PortalAction = "enable-account"
	// DisableAccount keeps an account from being used and listed.
	DisableAccount PortalAction = "disable-account"
	// MakeAccountDefault makes an account the one that is used if a payment names only the
	// customer.
	MakeAccountDefault PortalAction = "make-account-default"
	// StopSchedule ends an active recurring payment, by paymentScheduleId. The payments
	// that it has made stay.
	StopSchedule PortalAction = "stop-schedule"
)

// Portal does something in the service's portal. It is an error if there is no such
// action or object, or the object is not in a state for the action.
func (b *Sandbox) Portal(id string, action PortalAction) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed
	}
	switch action {
	case CompleteTransaction, CancelTransaction:
		return b.release(id, action == CompleteTransaction)
	case EnableAccount, DisableAccount, MakeAccountDefault:
		return b.changeAccount(id, action)
	case StopSchedule:
		return b.stopSchedule(id)
	default:
		return fmt.Errorf("sandbox: no portal action %q", action)
	}
}

// release ends the suspension of a transaction.
func (b *Sandbox) release(receipt string, complete bool) error {
	tx := b.transactions.byReceipt[receipt]
	if tx == nil || tx.result != resultSuspended {
		return b.notSuch(receipt, "suspended")
	}
	if !complete {
		b.settle(tx, Declined(portalCancelCode))
		return nil
	}
	now := b.clock.Now()
	tx.settlement = b.settlementDate(now)
	b.settle(tx, b.accountOutcome(tx.source, now))
	return nil
}

func (b *Sandbox) changeAccount(token string, action PortalAction) error {
	a := b.accounts.byToken[token]
	if a == nil {
		return errors.New("sandbox: no such account")
	}
	switch action {
	case EnableAccount:
		a.enabled = true
	case DisableAccount:
		a.enabled = false
	default:
		for _, other := range b.accounts.byCustomer[a.customer.ID] {
			other.isDefault = other == a
		}
	}
	return nil
}

func (b *Sandbox) stopSchedule(id string) error {
	sc := b.schedules.byID[id]
	if sc == nil || sc.status != scheduleActive {
		return fmt.Errorf("sandbox: no active schedule %q", id)
	}
	sc.status = scheduleStopped
	return nil
}

// ReturnPayment has the customer's bank return an approved payment from an Australian
// bank account, with a response code such as 6. It is an error if there is no such
// payment.
func (b *Sandbox) ReturnPayment(receiptNumber, code string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosed
	}
	tx := b.transactions.byReceipt[receiptNumber]
	if tx == nil || tx.source.bank == nil || tx.result != resultApproved {
		return b.notSuch(receiptNumber, "an approved bank account payment")
	}
	b.settle(tx, Declined(code))
	return nil
}

// RetryPayment has the service try a soft-declined payment again, as from its portal, and
// returns the receipt number of the new payment. [Sandbox.NextTransaction] or the account
// decides its outcome. It is an error if there is no such payment, it is not
// soft-declined, or a retry of it has succeeded or may still succeed.
func (b *Sandbox) RetryPayment(receiptNumber string) (newReceiptNumber string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return "", errClosed
	}
	tx := b.transactions.byReceipt[receiptNumber]
	if tx == nil || !b.retriable(tx) {
		return "", b.notSuch(receiptNumber, "a soft-declined payment without a successful retry")
	}
	return b.retry(tx, b.decide(tx, b.clock.Now())).receipt, nil
}

func (b *Sandbox) notSuch(receipt, what string) error {
	if b.transactions.byReceipt[receipt] == nil {
		return fmt.Errorf("sandbox: no transaction %q", receipt)
	}
	return fmt.Errorf("sandbox: transaction %s is not %s", receipt, what)
}
