package sandbox

import (
	"fmt"
)

const portalCancelCode = "17" // customer cancellation

// Transaction is a transaction as people and banks see it outside of this
// interface: in the service's portal, or days later.
type Transaction struct {
	box     *Sandbox
	receipt string
}

// Transaction returns the transaction with a receipt number. Whether there is one
// shows when something is done to it.
func (b *Sandbox) Transaction(receiptNumber string) Transaction {
	return Transaction{box: b, receipt: receiptNumber}
}

// Complete releases a transaction that fraud screening has suspended: it then
// has the outcome of its account. It is an error when there is no such transaction,
// or it is not suspended.
func (t Transaction) Complete() error {
	return t.with(func(tx *transaction) error {
		if tx.result != resultSuspended {
			return t.not("suspended")
		}
		now := t.box.clock.Now()
		tx.settlement = t.box.settlementDate(now)
		t.box.settle(tx, t.box.accountOutcome(tx.source, now))
		return nil
	})
}

// Cancel ends a transaction that fraud screening has suspended. It is declined. It
// is an error when there is no such transaction, or it is not suspended.
func (t Transaction) Cancel() error {
	return t.with(func(tx *transaction) error {
		if tx.result != resultSuspended {
			return t.not("suspended")
		}
		t.box.settle(tx, Declined(portalCancelCode))
		return nil
	})
}

// Return is the customer's bank sending an Australian bank account payment back,
// with a response code such as 6. It is an error when there is no such transaction,
// or it is not an approved payment from an Australian bank account.
func (t Transaction) Return(code string) error {
	return t.with(func(tx *transaction) error {
		if tx.source.bank == nil || tx.result != resultApproved {
			return t.not("an approved bank account payment")
		}
		t.box.settle(tx, Declined(code))
		return nil
	})
}

// Retry has the service try a soft-declined payment again, as a person in the
// portal would, and returns the receipt number of the new payment. Its outcome
// is that of [Sandbox.NextTransaction] or of its account. It is an error when there
// is no such transaction, it is not a soft-declined payment, or it has a retry that
// succeeded or may yet do so.
func (t Transaction) Retry() (receiptNumber string, err error) {
	err = t.with(func(tx *transaction) error {
		if !t.box.retriable(tx) {
			return t.not("a soft-declined payment without a successful retry")
		}
		receiptNumber = t.box.retry(tx, t.box.decide(tx, t.box.clock.Now())).receipt
		return nil
	})
	return receiptNumber, err
}

func (t Transaction) with(do func(*transaction) error) error {
	t.box.mu.Lock()
	defer t.box.mu.Unlock()
	if t.box.closed {
		return errClosed
	}
	tx := t.box.transactions.byReceipt[t.receipt]
	if tx == nil {
		return fmt.Errorf("sandbox: no transaction %q", t.receipt)
	}
	return do(tx)
}

func (t Transaction) not(what string) error {
	return fmt.Errorf("sandbox: transaction %s is not %s", t.receipt, what)
}
