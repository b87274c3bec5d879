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
	// DifferenceMissingThere: approved here, and not among what the service settled on its day.
	// What the service says of it, and of its day, is in Transaction; nil where it knows
	// nothing.
	DifferenceMissingThere DifferenceKind = "missing_there"
	// DifferenceAmount: the amount or its currency.
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
	// DifferenceNotOurs: made by something else of the merchant's, such as a refund in the portal. Write is
	// the one that it follows, where that is the engine's.
	DifferenceNotOurs DifferenceKind = "not_ours"
	// DifferenceUnreadable: the service's word could not be read, for the reason in Err.
	DifferenceUnreadable DifferenceKind = "unreadable"
)

// Difference is what the service and the database say differently about a payment.
type Difference struct {
	Kind DifferenceKind
	Date quickstream.Date
	// Write is the write as it stood here; its ID is empty if there is none.
	Write Write
	// Transaction is what the service has; nil if it has nothing.
	Transaction *quickstream.Transaction
	// Err is why the service's word could not be read; nil otherwise.
	Err error
}

// differences are what a transaction says differently.
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
	case approved != r.approved():
		kinds = append(kinds, DifferenceState)
	}
	return kinds
}

// differsInAmount compares what was sent. Changes of a pre-authorisation may be shown
// with what is held after them, and voided ones with nothing.
func (r *row) differsInAmount(t *quickstream.Transaction) bool {
	if t.PrincipalAmount == nil || r.Amount.IsZero() || r.Operation == quickstream.OperationCancelPreauthorisation ||
		t.Outcome() == quickstream.OutcomeVoided && t.PrincipalAmount.Amount.IsZero() {
		return false
	}
	return !t.PrincipalAmount.Amount.Equal(r.Amount) || t.PrincipalAmount.Currency != "" && t.PrincipalAmount.Currency != r.Currency
}

// differ notifies OnDifference, and counts.
func (c *comparison) differ(ctx context.Context, d Difference) error {
	c.differences++
	if c.restoring {
		return d.Err // a row of another version may hide what was sent
	}
	if len(c.found) < mostFound {
		found := Found{d.Kind, d.Write.ID, d.Write.Order, d.Write.ReceiptNumber, d.Write.Amount}
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
