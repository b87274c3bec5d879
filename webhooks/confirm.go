package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream"
)

// ErrUnconfirmed means that the API was asked and does not say what the
// notification says: it does not know the agreement or the transaction, which
// then matches [quickstream.ErrNotFound] too, or shows a state that comes before
// the event. A look-up can lag behind an event, so that the notification should
// be delivered again; one that stays unconfirmed is for a human to look at.
var ErrUnconfirmed = errors.New("webhooks: the API does not confirm the notification")

// ConfirmWith returns a function that asks the API for the agreement or the
// transaction that a notification is about, and calls handle with what the API
// says in place of the notification's own data.
//
// That is the present state, which may be later than the event: an agreement
// whose payer confirmed it may be suspended by now, so that handle has to look at
// the status or the outcome. A state before the event is not delivered, because
// handle would then ignore an event that is not repeated: an agreement that still
// waits for its payer and a transaction that is pending or unknown are
// [ErrUnconfirmed].
//
// The ID, event type and timestamp remain what the notification says. An event of
// a type that this package does not know is delivered without data, since there
// is nothing to ask the API for.
//
// Give the calls a limit that fits the sender's patience, such as
// quickstream.WithTimeout(5 * time.Second). Errors of the API are returned as they
// are.
func ConfirmWith(client *quickstream.Client, handle Func, opts ...quickstream.CallOption) Func {
	return func(ctx context.Context, n *Notification) error {
		confirmed, err := confirm(ctx, client, n, opts)
		if err != nil {
			return err
		}
		return handle(ctx, confirmed)
	}
}

func confirm(ctx context.Context, client *quickstream.Client, n *Notification, opts []quickstream.CallOption) (*Notification, error) {
	event, err := n.Event()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	switch claimed := event.(type) {
	case *AgreementEvent:
		agreement, err := client.PayTo.Get(ctx, claimed.Agreement.AgreementToken, opts...)
		if err != nil {
			return nil, lookupError(err)
		}
		if agreement.AgreementToken != claimed.Agreement.AgreementToken || !answered(agreement.Status) {
			return nil, ErrUnconfirmed
		}
		return n.confirmed(&AgreementEvent{Agreement: agreement}, agreement.Raw())
	case *PaymentEvent:
		transaction, err := client.Transactions.Get(ctx, claimed.Transaction.ReceiptNumber, opts...)
		if err != nil {
			return nil, lookupError(err)
		}
		if transaction.ReceiptNumber != claimed.Transaction.ReceiptNumber || !settled(transaction) {
			return nil, ErrUnconfirmed
		}
		return n.confirmed(&PaymentEvent{Transaction: transaction}, transaction.Raw())
	default:
		return n.confirmed(new(UnknownEvent), nil)
	}
}

// lookupError marks the errors that are about the identifier: it is unknown, or
// not one at all. Anything else says nothing about the notification.
func lookupError(err error) error {
	if errors.Is(err, quickstream.ErrNotFound) || errors.Is(err, quickstream.ErrInvalid) {
		return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	return err
}

// answered reports whether an agreement is past waiting for its payer.
func answered(status quickstream.AgreementStatus) bool {
	switch status {
	case "", quickstream.AgreementStatusCreated, quickstream.AgreementStatusPending:
		return false
	default:
		return true
	}
}

// settled reports whether a transaction is past the event. One that fraud screening
// holds is: the error does not tell it from one that is pending.
func settled(t *quickstream.Transaction) bool {
	outcome, _ := t.Outcome()
	return outcome != quickstream.OutcomePending && outcome != quickstream.OutcomeUnknown
}
