package durable

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrNoWrite means that there is no write of that id.
	ErrNoWrite = errors.New("durable: there is no such write")
	// ErrInProgress means that the outcome is not known yet, so that nothing may be concluded.
	ErrInProgress = errors.New("durable: the outcome is not known yet")
	// ErrIDReused means that the id is that of another request: see [IDReusedError].
	ErrIDReused = errors.New("durable: the id is that of another request")
	// ErrOrderOpen means that the order has another payment, which was taken or may still be. Pay returns that payment
	// with the error. Nothing was stored.
	ErrOrderOpen = errors.New("durable: the order is paid or may be paid")
	// ErrTokenUsed means that another write has the same single-use token and was sent, or may be. Nothing was stored.
	ErrTokenUsed = errors.New("durable: the single-use token is that of another write")
	// ErrFacility means that the database belongs to another installation, or to a facility at another address, such as a
	// copy of production that a test system uses. Nothing is sent. If the change is meant, call [Engine.ConfirmFacility].
	ErrFacility = errors.New("durable: the database belongs to another installation or facility: nothing is sent")
	// ErrTooMuch means that refunds, those of unknown outcome too, would exceed the payment, that its
	// money has come back already, or that a void would follow a refund. Nothing was stored.
	ErrTooMuch = errors.New("durable: refunds would exceed the payment")
	// ErrNotAllowed means that the write is not in a state that allows the step.
	ErrNotAllowed = errors.New("durable: the write's state does not allow it")
	// ErrChanged means that another transaction changed the same writes at that moment. Roll back,
	// and run yours again.
	ErrChanged = errors.New("durable: another transaction changed the write at this moment: run this one again")
	// ErrTooLate means that the write was sent, or may have been: it cannot be cancelled.
	ErrTooLate = errors.New("durable: too late: it was sent, or may have been")
	// ErrStale means that the write has changed since the person saw it, or that no version was given: show it
	// to the person again. Nothing was stored.
	ErrStale = errors.New("durable: the write has changed since it was seen")
	// ErrLookUpFirst means that no look-up of the last minute has succeeded: see [Engine.LookUp]. Nothing
	// was stored.
	ErrLookUpFirst = errors.New("durable: look the write up first")
)

// IDReusedError means that a write of the same id asks for something else. Nothing was stored.
type IDReusedError struct {
	Write Write
	// Differs names what is different: operation, order, amount, currency, business, follows or source.
	Differs []string
}

// Error names what differs.
func (e *IDReusedError) Error() string {
	return ErrIDReused.Error() + ": it differs in " + strings.Join(e.Differs, ", ")
}

// Unwrap returns [ErrIDReused].
func (e *IDReusedError) Unwrap() error { return ErrIDReused }

// TooEarlyError means that a process may still be sending the write, or that look-ups have found nothing and may still miss
// it: see Options.LookupLag. So its outcome cannot be decided. Nothing was stored. Try again after Until.
type TooEarlyError struct{ Until time.Time }

// Error says until when.
func (e *TooEarlyError) Error() string {
	return "durable: it may still be on its way, or not be shown yet, until " + e.Until.UTC().Format(time.RFC3339)
}

// Unwrap returns [ErrNotAllowed].
func (e *TooEarlyError) Unwrap() error { return ErrNotAllowed }

// named adds the name of the package to an error that does not begin with it.
func named(err error) error {
	if err == nil || strings.HasPrefix(err.Error(), "durable: ") {
		return err
	}
	return fmt.Errorf("durable: %w", err)
}
