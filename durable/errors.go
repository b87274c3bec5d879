package durable

import (
	"errors"
	"fmt"
)

var (
	// ErrNoPayment means that there is no payment of that id.
	ErrNoPayment = errors.New("durable: there is no such payment")
	// ErrOpen means that the outcome is not known yet, so that nothing may be concluded.
	ErrOpen = errors.New("durable: the outcome is not known yet")
	// ErrOtherRequest means that the order has a payment already, of another amount,
	// currency or kind than the one that was asked for. Nothing was written.
	ErrOtherRequest = errors.New("durable: the order has another payment already")
	// ErrFollowUpOpen means that another follow-up of the transaction is open, whose id is
	// returned. Nothing was written. Of a refund do not repeat the job on this error: the
	// open one may be the same refund, and after it the job would refund again.
	ErrFollowUpOpen = errors.New("durable: a follow-up of the transaction is open")
	// ErrTooMuch means that refunds, those of an unknown outcome too, would exceed the
	// payment, that its money has come back already, or that a void would follow a refund.
	ErrTooMuch = errors.New("durable: refunds would exceed the payment")
	// ErrNotAllowed means that the payment is not in a state that allows the step.
	ErrNotAllowed = errors.New("durable: the payment's state does not allow it")
)

// VersionError is a payment that this version of the program cannot read in full. It is
// left as it is, for a version that can.
type VersionError struct {
	PaymentID string
	Err       error
}

// Error says which payment it is.
func (e *VersionError) Error() string {
	return fmt.Sprintf("durable: payment %s is of another version: %v", e.PaymentID, e.Err)
}

// Unwrap returns why.
func (e *VersionError) Unwrap() error { return e.Err }
