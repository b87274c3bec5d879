package webhooks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
)

const confirmTimeout = 5 * time.Second

// ErrUnconfirmed means that the API does not confirm the notification. It does not know the
// agreement or the transaction (the error then matches [quickstream.ErrNotFound] too), or it shows
// a state that precedes the event. Try again later: a look-up can lag behind an event, and an event
// can precede the answer to the request that caused it. If it stays unconfirmed, a person has to
// look at it.
var ErrUnconfirmed = errors.New("webhooks: the API does not confirm the notification")

// ConfirmWith returns a function that reads the agreement or the transaction that a notification
// names (GET /payto-agreements/{agreementToken}, GET /transactions/{receiptNumber}), and calls
// handle with it in place of the notification's data. ID, event type and timestamp stay.
//
// The state may be later than the event, so handle has to check status or outcome. An earlier state
// (an agreement that waits for its payer, a transaction that is pending or unknown) is not
// delivered but returned as [ErrUnconfirmed]. An event of an unknown type becomes a [PaymentEvent]
// if its data has a receiptNumber, or else an [AgreementEvent] if it has an agreementToken, in any
// state; without either it is delivered as an [UnknownEvent].
//
// If the context has ended, nothing is started. After the start its end interrupts nothing, so a
// sender that hangs up stops no effect. The call of the API may take five seconds:
// [quickstream.WithTimeout] changes that. Errors of the API are returned unchanged.
func ConfirmWith(client *quickstream.Client, handle Func, opts ...quickstream.CallOption) Func {
	opts = append([]quickstream.CallOption{quickstream.WithTimeout(confirmTimeout)}, opts...)
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
		return n, nil // with an UnknownEvent
	}
}

// lookupError marks errors about the identifier. Other errors say nothing about the notification.
func lookupError(err error) error {
	if errors.Is(err, quickstream.ErrNotFound) || errors.Is(err, quickstream.ErrInvalid) {
		return fmt.Errorf("%w: %w", ErrUnconfirmed, err)
	}
	return err
}

// answered reports whether an agreement no longer waits for its payer. The case of its status does not count.
func answered(status quickstream.AgreementStatus) bool {
	switch quickstream.AgreementStatus(strings.ToUpper(strings.TrimSpace(string(status)))) {
	case "", quickstream.AgreementStatusCreated, quickstream.AgreementStatusPending:
		return false
	default:
		return true
	}
}

// settled reports whether a transaction is past the event. A transaction that fraud screening holds
// counts.
func settled(t *quickstream.Transaction) bool {
	outcome := t.Outcome()
	return outcome != quickstream.OutcomePending && outcome != quickstream.OutcomeUnknown
}
