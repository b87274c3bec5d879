package webhooks

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// maxIDLength bounds what a notification is remembered by. The service's
// identifiers are UUIDs in all that has been seen.
const maxIDLength = 255

// Notification is what the service posts when something happened.
//
// Printing one shows its ID and event type only, because its data names people.
type Notification struct {
	// ID identifies the notification: all its deliveries carry the same. It has 1
	// to 255 printable ASCII characters without blanks.
	ID string
	// Timestamp is the time that the service gives. It is zero when it is missing
	// or has a form that this package does not know: a payment is not lost for
	// want of it.
	Timestamp quickstream.Timestamp
	// EventType is the kind of event. It is never empty, and may be one that this
	// package does not know.
	EventType EventType
	// Data is the payload as it was received, and nil when there was none. Read it
	// with Agreement or Transaction.
	Data json.RawMessage

	raw      json.RawMessage
	received *Notification // that this one was confirmed from
}

type notificationJSON struct {
	ID        string          `json:"id"`
	Timestamp json.RawMessage `json:"timestamp,omitempty"`
	EventType EventType       `json:"eventType"`
	Data      json.RawMessage `json:"data,omitempty"`
}

// ParseError is a notification, or the data of one, that cannot be understood.
type ParseError struct {
	reason string
	err    error
}

// Error says what is wrong, and never repeats what was received.
func (e *ParseError) Error() string { return "webhooks: " + e.reason }

// Unwrap returns the cause, or nil. Its text may repeat what was received.
func (e *ParseError) Unwrap() error { return e.err }

// Format writes what Error returns, for every verb.
func (e *ParseError) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, e.Error()) }

// Parse decodes the body of a notification that has been verified. The body
// must not be changed afterwards.
//
// A body that is not exactly one JSON object, names a member of any object
// twice, or lacks the id or the event type is a [ParseError]. An unknown event
// type, unknown members and data of any shape are not.
func Parse(body []byte) (*Notification, error) {
	var members notificationJSON
	err := wire.Decode(body, &members)
	switch {
	case errors.Is(err, wire.ErrDuplicateMember):
		return nil, &ParseError{"the body names a member twice", err}
	case err != nil:
		return nil, &ParseError{"the body is not a notification in JSON", err}
	case !wire.IsObject(body):
		return nil, &ParseError{"the body is not a JSON object", nil}
	case !isID(members.ID):
		return nil, &ParseError{"the id is missing or not 1 to 255 printable ASCII characters without blanks", nil}
	case members.EventType == "":
		return nil, &ParseError{"the event type is missing", nil}
	}
	n := &Notification{ID: members.ID, EventType: members.EventType, Data: members.Data, raw: body}
	if n.Timestamp.UnmarshalJSON(members.Timestamp) != nil {
		n.Timestamp = quickstream.Timestamp{}
	}
	if wire.IsNull(n.Data) {
		n.Data = nil
	}
	return n, nil
}

func isID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxIDLength
}

// NewNotification returns a notification with a new ID and the present time, for
// tests of what receives it: see [Signer]. Data is anything that encoding/json
// can write, such as a [quickstream.Agreement].
func NewNotification(eventType EventType, data any) (*Notification, error) {
	encoded, err := wire.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("webhooks: data: %w", err)
	}
	if eventType == "" {
		return nil, fmt.Errorf("webhooks: no event type given")
	}
	now := quickstream.Timestamp{Time: time.Now().Truncate(time.Second)}
	return &Notification{ID: rand.Text(), Timestamp: now, EventType: eventType, Data: encoded}, nil
}

// Raw returns the JSON that the notification was parsed from, or nil when it was
// not parsed. It must not be changed. For a notification that [ConfirmWith]
// delivers, it is a notification with the data that the API gave.
func (n *Notification) Raw() json.RawMessage { return n.raw }

// Agreement decodes the data as a PayTo agreement. It is a [ParseError] when the
// event type is known to carry something else, and when the data is not an
// agreement with a token.
//
// Unless ConfirmWith has confirmed it, this is what the notification says, at the
// time it was made: check the agreement's token and status before acting on it.
func (n *Notification) Agreement() (*quickstream.Agreement, error) {
	if p := n.EventType.payload(); p != payloadAgreement && p != payloadUnknown {
		return nil, &ParseError{"this type of event does not carry an agreement", nil}
	}
	agreement := new(quickstream.Agreement)
	if err := agreement.UnmarshalJSON(n.Data); err != nil {
		return nil, &ParseError{"the data is not an agreement", err}
	}
	if agreement.AgreementToken == "" {
		return nil, &ParseError{"the data is an agreement without a token", nil}
	}
	return agreement, nil
}

// Transaction decodes the data as a transaction. It is a [ParseError] when the
// event type is known to carry something else, and when the data is not a
// transaction with a receipt number.
//
// Unless ConfirmWith has confirmed it, this is what the notification says, at the
// time it was made: check the receipt number and the outcome before acting on it.
func (n *Notification) Transaction() (*quickstream.Transaction, error) {
	if p := n.EventType.payload(); p != payloadTransaction && p != payloadUnknown {
		return nil, &ParseError{"this type of event does not carry a transaction", nil}
	}
	transaction := new(quickstream.Transaction)
	if err := transaction.UnmarshalJSON(n.Data); err != nil {
		return nil, &ParseError{"the data is not a transaction", err}
	}
	if transaction.ReceiptNumber == "" {
		return nil, &ParseError{"the data is a transaction without a receipt number", nil}
	}
	return transaction, nil
}

// Digest identifies the content of the notification as it was received: the
// SHA-256, in hexadecimal digits, of what its JSON means. The order of members,
// white space and the way that texts are escaped do not count. Numbers count as
// they are written, so that 1.0 is not 1.00. The timestamp does not count, since a
// sender could renew it with each delivery.
//
// Two deliveries of one notification have the same digest, and so has one that was
// stored and read again by Parse. A member more, or another value, gives another.
// For a notification that [ConfirmWith] delivers it remains what it was before.
func (n *Notification) Digest() string {
	if n.received != nil {
		return n.received.Digest()
	}
	body := n.raw
	if body == nil {
		body, _ = n.MarshalJSON()
	}
	sum := sha256.Sum256(meaning(body))
	return hex.EncodeToString(sum[:])
}

// meaning returns what counts of a body in one form, or the body if it is not an
// object.
func meaning(body []byte) []byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var tree map[string]any
	if decoder.Decode(&tree) != nil {
		return body
	}
	maps.DeleteFunc(tree, func(name string, _ any) bool { return strings.EqualFold(name, "timestamp") })
	sorted, err := wire.Marshal(tree)
	if err != nil {
		return body
	}
	return sorted
}

// confirmed returns the notification with other data in the place of its own;
// nil for none.
func (n *Notification) confirmed(data json.RawMessage) (*Notification, error) {
	c := &Notification{ID: n.ID, Timestamp: n.Timestamp, EventType: n.EventType, Data: data, received: n}
	raw, err := c.MarshalJSON()
	c.raw = raw
	return c, err
}

// UnmarshalJSON reads a notification as Parse does.
func (n *Notification) UnmarshalJSON(data []byte) error {
	parsed, err := Parse(bytes.Clone(data))
	if err != nil {
		return err
	}
	*n = *parsed
	return nil
}

// MarshalJSON writes the notification with the members that this package does
// not model, so that it can be stored.
func (n Notification) MarshalJSON() ([]byte, error) {
	known := notificationJSON{ID: n.ID, EventType: n.EventType, Data: n.Data}
	if !n.Timestamp.IsZero() {
		known.Timestamp = json.RawMessage(`"` + n.Timestamp.String() + `"`)
	}
	body, err := wire.Marshal(known)
	if err != nil || n.raw == nil {
		return body, err
	}
	var received, members map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(n.raw, &received), json.Unmarshal(body, &members)); err != nil {
		return nil, err
	}
	for name, value := range received {
		if !isModelled(name) {
			members[name] = value
		}
	}
	return wire.Marshal(members)
}

// isModelled reports whether decoding takes name for a member of a notification,
// which it does in any case of letters.
func isModelled(name string) bool {
	for _, member := range [...]string{"id", "timestamp", "eventType", "data"} {
		if strings.EqualFold(name, member) {
			return true
		}
	}
	return false
}

// String returns the ID, and the event type if it is a known one.
func (n Notification) String() string {
	return fmt.Sprintf("webhooks.Notification(%q, %s)", n.ID, n.EventType.label())
}

// Format writes what String returns, for every verb.
func (n Notification) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, n.String()) }

// LogValue returns what String returns.
func (n Notification) LogValue() slog.Value { return slog.StringValue(n.String()) }
