package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
)

// DefaultConfirmTimeout is how long [ConfirmWith] asks the API, unless a
// [quickstream.WithTimeout] says otherwise.
const DefaultConfirmTimeout = 5 * time.Second

// ErrUnconfirmed means that the API was asked and does not say what the
// notification says: it does not know the agreement or the transaction, which
// then matches [quickstream.ErrNotFound] too, or shows a state that comes before
// the event. A look-up can lag behind an event, and an event can come before the
// answer to the request that caused it, so that it should be asked again; one that
// stays unconfirmed is for a human to look at.
var ErrUnconfirmed = errors.New("webhooks: the API does not confirm the notification")

// ConfirmWith returns a function that asks the API for the agreement or the
// transaction that a notification names, and calls handle with what the API says
// in place of the notification's own data.
//
// That is the present state, which may be later than the event: an agreement
// whose payer confirmed it may be suspended by now, so that handle has to look at
// the status or the outcome. A state before the event is not delivered, because
// handle would then ignore an event that is not repeated: an agreement that still
// waits for its payer and a transaction that is pending or unknown are
// [ErrUnconfirmed].
//
// An event of a type that this package does not know becomes a [PaymentEvent] by
// the receiptNumber in its data, or else an [AgreementEvent] by the agreementToken,
// in whatever state. One that names neither is delivered as it came, as an
// [UnknownEvent]. The ID, event type and timestamp remain what the notification
// says.
//
// Asking takes no longer than [DefaultConfirmTimeout], or a
// [quickstream.WithTimeout] in opts. It does not end with the context, and neither
// does the context of handle: a sender that hangs up does not leave an effect half
// done. A context that has ended before starts nothing. Errors of the API are
// returned as they are.
func ConfirmWith(client *quickstream.Client, handle Func, opts ...quickstream.CallOption) Func {
	opts = append([]quickstream.CallOption{quickstream.WithTimeout(DefaultConfirmTimeout)}, opts...)
	return func(ctx context.Context, n *Notification) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ctx = context.WithoutCancel(ctx)
		confirmed, err := confirm(ctx, client, n, opts)
		if err != nil {
			return err
		}
		return handle(ctx, confirmed)
	}
}

func confirm(ctx context.Context, client *quickstream.Client, n *Notification, opts []quickstream.CallOption) (*Notification, error) {
	named, err := subjectOf(n.data.get())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	known := n.EventType.known()
	switch {
	case strings.HasPrefix(string(n.EventType), agreements) && (known || named.agreement != ""):
		named.receipt = ""
	case known: // about a payment
		named.agreement = ""
	}
	switch {
	case named.receipt != "":
		transaction, err := client.Transactions.Get(ctx, named.receipt, opts...)
		if err != nil {
			return nil, lookupError(err)
		}
		if transaction.ReceiptNumber != named.receipt || known && !settled(transaction) {
			return nil, ErrUnconfirmed
		}
		return n.confirmed(&PaymentEvent{transaction: hold(transaction)}, transaction.Raw())
	case named.agreement != "":
		agreement, err := client.PayTo.Get(ctx, named.agreement, opts...)
		if err != nil {
			return nil, lookupError(err)
		}
		if agreement.AgreementToken != named.agreement || known && !answered(agreement.Status) {
			return nil, ErrUnconfirmed
		}
		return n.confirmed(&AgreementEvent{agreement: hold(agreement)}, agreement.Raw())
	case known:
		return nil, fmt.Errorf("%w: it names nothing to ask for", ErrUnconfirmed)
	default:
		return n.unconfirmed(), nil
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
