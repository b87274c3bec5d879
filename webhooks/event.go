package webhooks

import (
	"encoding/json"
	"strings"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// EventType is the kind of event of a notification. Unknown kinds are delivered like the others.
type EventType string

// The known event types. The first and the last are in the service's contract; the others are from
// the vendor's public pages.
const (
	// EventTypePayToAgreementConfirmed: the payer confirmed.
	EventTypePayToAgreementConfirmed EventType = "payto.agreement.confirmed"
	// EventTypePayToAgreementDeclined: the payer declined.
	EventTypePayToAgreementDeclined EventType = "payto.agreement.declined"
	// EventTypePayToAgreementExpired: the payer did not answer in time.
	EventTypePayToAgreementExpired EventType = "payto.agreement.expired"
	// EventTypePayToAgreementRecalled: the merchant recalled the agreement before
	// the payer answered.
	EventTypePayToAgreementRecalled EventType = "payto.agreement.recalled"
	// EventTypePayToPaymentApproved: a payment was approved.
	EventTypePayToPaymentApproved EventType = "payto.payment.approved"
)

// The prefixes of the event types.
const (
	agreements = "payto.agreement."
	payments   = "payto.payment."
)

func (t EventType) known() bool {
	switch t {
	case EventTypePayToAgreementConfirmed, EventTypePayToAgreementDeclined, EventTypePayToAgreementExpired,
		EventTypePayToAgreementRecalled, EventTypePayToPaymentApproved:
		return true
	default:
		return false
	}
}

// label returns the event type for printing. An unknown type is text from outside, and is not
// shown.
func (t EventType) label() string {
	if t.known() {
		return string(t)
	}
	return "unknown"
}

// Event is an [*AgreementEvent], a [*PaymentEvent] or an [*UnknownEvent]. Later versions may add
// more: give a type switch a default. Printing an event shows none of its data, and it cannot be
// marshalled: store [Notification.Raw].
type Event interface{ isEvent() }

// sealed makes a type an Event.
type sealed struct{}

func (*sealed) isEvent() {}

// MarshalJSON returns an error: store [Notification.Raw].
func (sealed) MarshalJSON() ([]byte, error) { return nil, errMarshal }

// held keeps a value in a function, where printing, encoders and test differences do not find it.
type held[T any] func() T

func hold[T any](value T) held[T] { return func() T { return value } }

func (h held[T]) get() (value T) {
	if h != nil {
		value = h()
	}
	return value
}

// AgreementEvent is an event whose type begins with "payto.agreement.", or an event of unknown type
// for which [ConfirmWith] has read an agreement.
type AgreementEvent struct {
	agreement held[*quickstream.Agreement]

	sealed
}

// Agreement returns the agreement, which has a token. Unless it comes from [ConfirmWith], it is the
// notification's claim about a past moment: check token and status before you act on it.
func (e *AgreementEvent) Agreement() *quickstream.Agreement { return e.agreement.get() }

// PaymentEvent is an event whose type begins with "payto.payment.", or an event of unknown type for
// which [ConfirmWith] has read a transaction.
type PaymentEvent struct {
	transaction held[*quickstream.Transaction]

	sealed
}

// Transaction returns the transaction, which has a receipt number. Unless it comes from
// [ConfirmWith], it is the notification's claim about a past moment: check receipt number and
// outcome before you act on it. A client's [quickstream.WithStatusOutcome] does not apply to it.
func (e *PaymentEvent) Transaction() *quickstream.Transaction { return e.transaction.get() }

// UnknownEvent is an event of any other type, or of an unknown type whose data does not fit its
// prefix. Its content is unconfirmed.
type UnknownEvent struct {
	data held[json.RawMessage]

	sealed
}

// Data returns the data as it was received, or nil if there was none. Do not change it.
func (e *UnknownEvent) Data() json.RawMessage { return e.data.get() }

// subject holds the identifiers in the data of a notification.
type subject struct{ receipt, agreement string }

// subjectOf reads the identifiers by their exact names. An unreadable identifier is an error,
// because it is not the same as a missing one.
func subjectOf(data json.RawMessage) (s subject, err error) {
	var receipt struct {
		Number string `json:"receiptNumber" wire:"decides"`
	}
	var agreement struct {
		Token string `json:"agreementToken" wire:"decides"`
	}
	if !wire.IsObject(data) {
		return s, nil
	}
	noReceipt, noAgreement := wire.Decode(data, &receipt), wire.Decode(data, &agreement)
	if noReceipt == nil {
		s.receipt = receipt.Number
	}
	if noAgreement == nil {
		s.agreement = agreement.Token
	}
	if noReceipt != nil || noAgreement != nil {
		err = &ParseError{"the data has an identifier that cannot be read"}
	}
	return s, err
}

// decodeEvent decodes the data of a notification by its type. Data that does not fit an unknown
// type makes an UnknownEvent.
func decodeEvent(kind EventType, data json.RawMessage) (Event, error) {
	var unfit error
	switch {
	case strings.HasPrefix(string(kind), agreements):
		agreement := new(quickstream.Agreement)
		if err := agreement.UnmarshalJSON(data); err != nil {
			unfit = &ParseError{"the data is not an agreement"}
		} else if agreement.AgreementToken == "" {
			unfit = &ParseError{"the data is an agreement without a token"}
		} else {
			return &AgreementEvent{agreement: hold(agreement)}, nil
		}
	case strings.HasPrefix(string(kind), payments):
		transaction := new(quickstream.Transaction)
		if err := transaction.UnmarshalJSON(data); err != nil {
			unfit = &ParseError{"the data is not a transaction"}
		} else if transaction.ReceiptNumber == "" {
			unfit = &ParseError{"the data is a transaction without a receipt number"}
		} else {
			return &PaymentEvent{transaction: hold(transaction)}, nil
		}
	}
	if kind.known() {
		return nil, unfit
	}
	return &UnknownEvent{data: hold(data)}, nil
}
