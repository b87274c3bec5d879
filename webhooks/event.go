package webhooks

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"slices"
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
// Printing an event shows nothing of its data.
type Event interface{ isEvent() }

// sealed is in every event: it makes one of it, and keeps its data out of logs.
type sealed struct{}

func (*sealed) isEvent() {}

// Format writes a placeholder for every verb.
func (sealed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "webhooks.Event") }

// LogValue returns a placeholder.
func (sealed) LogValue() slog.Value { return slog.StringValue("webhooks.Event") }

// AgreementEvent is an event whose type begins with "payto.agreement.", and one of
// any type that this package does not know once [ConfirmWith] has read the
// agreement that it names.
type AgreementEvent struct {
	// Agreement has a token. Unless [ConfirmWith] has confirmed it, it is what the
	// notification says, at the time that it was made: check the token and the
	// status before acting on it.
	Agreement *quickstream.Agreement

	sealed
}

// PaymentEvent is an event whose type begins with "payto.payment.", and one of any
// type that this package does not know once [ConfirmWith] has read the transaction
// that it names.
type PaymentEvent struct {
	// Transaction has a receipt number. Unless [ConfirmWith] has confirmed it, it is
	// what the notification says, at the time that it was made: check the receipt
	// number and the outcome before acting on it.
	Transaction *quickstream.Transaction

	sealed
}

// UnknownEvent is an event of any other type, and one of a type that this package
// does not know by its whole name and whose data is not what its beginning lets
// expect. All that is in it is what the notification says, confirmed by nobody.
type UnknownEvent struct {
	content func() unknown // behind a function, where printing does not find it

	sealed
}

type unknown struct {
	data  json.RawMessage
	named subject
}

// Data returns the data as it was received, and nil when there was none. It must
// not be changed.
func (e *UnknownEvent) Data() json.RawMessage { return e.reveal().data }

// ReceiptNumber returns the receiptNumber of the data, and "" where there is none
// that can be read.
func (e *UnknownEvent) ReceiptNumber() string { return string(e.reveal().named.Receipt) }

// AgreementToken returns the agreementToken of the data, and "" where there is none
// that can be read.
func (e *UnknownEvent) AgreementToken() string { return string(e.reveal().named.Agreement) }

func (e *UnknownEvent) reveal() unknown {
	if e.content == nil {
		return unknown{}
	}
	return e.content()
}

func newUnknown(data json.RawMessage) *UnknownEvent {
	named, _ := subjectOf(data) // what cannot be read stays empty
	return &UnknownEvent{content: func() unknown { return unknown{data, named} }}
}

// subject is what the data of a notification names.
type subject struct{ Receipt, Agreement string }

// subjectOf reads names exactly as they are spelt. An identifier that is there and
// cannot be read is an error, for it is not the same as none.
func subjectOf(data json.RawMessage) (s subject, err error) {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(data, &members) // what is no object names nothing
	for name, into := range map[string]*string{"receiptNumber": &s.Receipt, "agreementToken": &s.Agreement} {
		var read struct {
			ID string `json:"id" wire:"decides"` // a number is taken by its digits
		}
		if value, ok := members[name]; ok && wire.Decode(slices.Concat([]byte(`{"id":`), value, []byte("}")), &read) != nil {
			err = &ParseError{"the data has an identifier that cannot be read", nil}
		}
		*into = read.ID
	}
	return s, err
}

// decodeEvent decodes the data of a notification as its type promises. A type that
// is not known promises nothing.
func decodeEvent(kind EventType, data json.RawMessage) (Event, error) {
	event, err := decodePayTo(kind, data)
	if event == nil && !kind.known() {
		return newUnknown(data), nil
	}
	return event, err
}

// decodePayTo returns nil for an event of another type.
func decodePayTo(kind EventType, data json.RawMessage) (Event, error) {
	switch {
	case strings.HasPrefix(string(kind), agreements):
		agreement := new(quickstream.Agreement)
		if err := agreement.UnmarshalJSON(data); err != nil {
			return nil, &ParseError{"the data is not an agreement", err}
		}
		if agreement.AgreementToken == "" {
			return nil, &ParseError{"the data is an agreement without a token", nil}
		}
		return &AgreementEvent{Agreement: agreement}, nil
	case strings.HasPrefix(string(kind), payments):
		transaction := new(quickstream.Transaction)
		if err := transaction.UnmarshalJSON(data); err != nil {
			return nil, &ParseError{"the data is not a transaction", err}
		}
		if transaction.ReceiptNumber == "" {
			return nil, &ParseError{"the data is a transaction without a receipt number", nil}
		}
		return &PaymentEvent{Transaction: transaction}, nil
	default:
		return nil, nil
	}
}
