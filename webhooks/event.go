package webhooks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// EventType is the kind of event that a notification tells about. There are
// more kinds than this package knows; they are delivered like the others.
type EventType string

// The known event types. The first and the last stand in the service's
// contract; the others are known from the vendor's public pages.
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

// The beginnings of the event types about agreements and about payments.
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

// label is the event type as it may be printed: a type that this package does
// not know is text from outside.
func (t EventType) label() string {
	if t.known() {
		return string(t)
	}
	return "unknown"
}

// Event is what a notification is about: an [*AgreementEvent], a [*PaymentEvent]
// or an [*UnknownEvent]. There may be more in later versions, so that a type
// switch should have a default.
//
// Printing an event shows nothing of its data, and it cannot be marshalled: what a
// merchant stores is [Notification.Raw].
type Event interface{ isEvent() }

// sealed is in every event: it makes one of it, and keeps its data out of logs.
type sealed struct{}

func (*sealed) isEvent() {}

// Format writes a placeholder for every verb.
func (sealed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "webhooks.Event") }

// LogValue returns a placeholder.
func (sealed) LogValue() slog.Value { return slog.StringValue("webhooks.Event") }

// MarshalJSON returns an error: what is stored is the notification, as it came.
func (sealed) MarshalJSON() ([]byte, error) { return nil, errMarshal }

// held keeps a value behind a function, which is all that printing, encoders and test
// differences find of it.
type held[T any] func() T

func hold[T any](value T) held[T] { return func() T { return value } }

func (h held[T]) get() (value T) {
	if h != nil {
		value = h()
	}
	return value
}

// AgreementEvent is an event whose type begins with "payto.agreement.", and one of
// any type that this package does not know once [ConfirmWith] has read the
// agreement that it names.
type AgreementEvent struct {
	agreement held[*quickstream.Agreement]

	sealed
}

// Agreement returns the agreement, which has a token. Unless [ConfirmWith] has
// confirmed it, it is what the notification says, at the time that it was made: check
// the token and the status before acting on it.
func (e *AgreementEvent) Agreement() *quickstream.Agreement { return e.agreement.get() }

// PaymentEvent is an event whose type begins with "payto.payment.", and one of any
// type that this package does not know once [ConfirmWith] has read the transaction
// that it names.
type PaymentEvent struct {
	transaction held[*quickstream.Transaction]

	sealed
}

// Transaction returns the transaction, which has a receipt number. Unless
// [ConfirmWith] has confirmed it, it is what the notification says, at the time that
// it was made: check the receipt number and the outcome before acting on it.
func (e *PaymentEvent) Transaction() *quickstream.Transaction { return e.transaction.get() }

// UnknownEvent is an event of any other type, and one of a type that this package
// does not know by its whole name and whose data is not what its beginning lets
// expect. All that is in it is what the notification says, confirmed by nobody.
type UnknownEvent struct {
	data  held[json.RawMessage]
	named held[subject]

	sealed
}

// Data returns the data as it was received, and nil when there was none. It must
// not be changed.
func (e *UnknownEvent) Data() json.RawMessage { return e.data.get() }

// ReceiptNumber returns the receiptNumber of the data, and "" where there is none
// that can be read.
func (e *UnknownEvent) ReceiptNumber() string { return e.named.get().receipt }

// AgreementToken returns the agreementToken of the data, and "" where there is none
// that can be read.
func (e *UnknownEvent) AgreementToken() string { return e.named.get().agreement }

func newUnknown(data json.RawMessage) *UnknownEvent {
	named, _ := subjectOf(data) // what cannot be read stays empty
	return &UnknownEvent{data: hold(data), named: hold(named)}
}

// subject is what the data of a notification names.
type subject struct{ receipt, agreement string }

// subjectOf reads the identifiers, by their exact names. One that is there and cannot
// be read is an error, for it is not the same as none.
func subjectOf(data json.RawMessage) (s subject, err error) {
	var receipt struct {
		Number string `json:"receiptNumber" wire:"decides"`
	}
	var agreement struct {
		Token string `json:"agreementToken" wire:"decides"`
	}
	if !wire.IsObject(data) {
		return s, nil // and names nothing
	}
	noReceipt, noAgreement := wire.Decode(data, &receipt), wire.Decode(data, &agreement)
	if noReceipt == nil {
		s.receipt = receipt.Number
	}
	if noAgreement == nil {
		s.agreement = agreement.Token
	}
	if cause := cmp.Or(noReceipt, noAgreement); cause != nil {
		err = &ParseError{"the data has an identifier that cannot be read", cause}
	}
	return s, err
}

// decodeEvent decodes the data of a notification as its type promises. A type that
// is not known by its whole name promises nothing.
func decodeEvent(kind EventType, data json.RawMessage) (Event, error) {
	var unfit error
	switch {
	case strings.HasPrefix(string(kind), agreements):
		agreement := new(quickstream.Agreement)
		if err := agreement.UnmarshalJSON(data); err != nil {
			unfit = &ParseError{"the data is not an agreement", err}
		} else if agreement.AgreementToken == "" {
			unfit = &ParseError{"the data is an agreement without a token", nil}
		} else {
			return &AgreementEvent{agreement: hold(agreement)}, nil
		}
	case strings.HasPrefix(string(kind), payments):
		transaction := new(quickstream.Transaction)
		if err := transaction.UnmarshalJSON(data); err != nil {
			unfit = &ParseError{"the data is not a transaction", err}
		} else if transaction.ReceiptNumber == "" {
			unfit = &ParseError{"the data is a transaction without a receipt number", nil}
		} else {
			return &PaymentEvent{transaction: hold(transaction)}, nil
		}
	}
	if kind.known() {
		return nil, unfit
	}
	return newUnknown(data), nil
}
