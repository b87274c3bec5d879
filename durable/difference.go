package durable

import (
	"context"

	"github.com/quickstream-go/quickstream"
)

// DifferenceKind is what the comparison found.
type DifferenceKind string

// The differences.
const (
	// DifferenceMissingHere: a payment of an order that the database lacked. It is stored now, and its order is paid.
	DifferenceMissingHere DifferenceKind = "missing_here"
	// DifferenceMissingThere: approved here, and missing in the service's list of its settlement date.
	// Transaction is what the service says of it, with the date that it has there; nil if the service
	// does not know it.
	DifferenceMissingThere DifferenceKind = "missing_there"
	// DifferenceAmount: the amount or its currency differs.
	DifferenceAmount DifferenceKind = "amount"
	// DifferenceState: one is approved and the other is not.
	DifferenceState DifferenceKind = "state"
	// DifferenceLate: ended there, and still open here.
	DifferenceLate DifferenceKind = "late"
	// DifferenceDoubleCharged: another transaction of the payment, or another payment of its order,
	// is approved too.
	DifferenceDoubleCharged DifferenceKind = "double_charged"
	// DifferenceNotFoundCharged: given up as absent here, and approved there.
	DifferenceNotFoundCharged DifferenceKind = "not_found_but_charged"
	// DifferenceNotOurs: made by another program of the merchant, or in the portal, such as a refund. Write is
	// the payment that it follows, if that is the engine's.
	DifferenceNotOurs DifferenceKind = "not_ours"
	// DifferenceUnreadable: the service's list, or the write here, could not be read. Err says why.
	DifferenceUnreadable DifferenceKind = "unreadable"
)

// Difference is a difference between the service and the database about a payment.
type Difference struct {
	Kind DifferenceKind
	Date quickstream.Date
	// Write is the write as it stood here; its ID is empty if there is none.
	Write Write
	// Transaction is what the service has; nil if it has nothing.
	Transaction *quickstream.Transaction
	// Err is why a DifferenceUnreadable could not be read; nil otherwise.
	Err error
}

// differences returns in what a transaction differs from its write.
func (r *row) differences(t *quickstream.Transaction) []DifferenceKind {
	var kinds []DifferenceKind
	if r.differsInAmount(t) {
		kinds = append(kinds, DifferenceAmount)
	}
	outcome := t.Outcome()
	approved := outcome == quickstream.OutcomeApproved
	switch {
	case approved && r.Reason == ReasonDoubleCharged,
		approved && r.Paid() && r.ReceiptNumber != "" && r.ReceiptNumber != t.ReceiptNumber:
		kinds = append(kinds, DifferenceDoubleCharged)
	case approved && r.Reason == ReasonNotFound:
		kinds = append(kinds, DifferenceNotFoundCharged)
	case outcome.Final() && r.State.InProgress():
		kinds = append(kinds, DifferenceLate)
	case approved && !r.approved(), !approved && r.approved() && r.ReceiptNumber == t.ReceiptNumber: // a declined one that was retried has another receipt
		kinds = append(kinds, DifferenceState)
	}
	return kinds
}

// differsInAmount compares the amount that was sent. The service may show a cancelled
// pre-authorisation with the amount still held, and a voided transaction with zero.
func (r *row) differsInAmount(t *quickstream.Transaction) bool {
	if t.PrincipalAmount == nil || r.Amount.IsZero() || r.Operation == quickstream.OperationCancelPreauthorisation ||
		t.Outcome() == quickstream.OutcomeVoided && t.PrincipalAmount.Amount.IsZero() {
		return false
	}
	return !t.PrincipalAmount.Amount.Equal(r.Amount) || t.PrincipalAmount.Currency != "" && t.PrincipalAmount.Currency != r.Currency
}

// differ counts a difference, and notifies OnDifference of it.
func (c *comparison) differ(ctx context.Context, d Difference) error {
	c.differences++
	if c.restoring {
		return d.Err // a row of another version may hide a send
	}
	if len(c.found) < mostFound {
		found := Found{d.Kind, d.Write.ID, d.Write.Order, d.Write.Operation, d.Write.ReceiptNumber, d.Write.Amount, d.Date}
		if t := d.Transaction; t != nil {
			found.ReceiptNumber = t.ReceiptNumber
			if t.PrincipalAmount != nil {
				found.Amount = t.PrincipalAmount.Amount
			}
		}
		c.found = append(c.found, found)
	}
	if c.onDifference == nil {
		return nil
	}
	return guard("durable: OnDifference", func() error { return c.onDifference(ctx, d) })
}
