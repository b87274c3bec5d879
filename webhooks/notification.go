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
	"sync"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// maxIDLength bounds an ID. All IDs that were seen are UUIDs.
const maxIDLength = 255

// Notification is the message that the service posts after an event. Printing it shows ID and event
// type only, because its data names people. It cannot be marshalled: store [Notification.Raw].
type Notification struct {
	// ID is the same in all deliveries of a notification: 1 to 255 printable ASCII characters
	// without blanks.
	ID string
	// Timestamp is the service's time. It is zero if it is missing or has an unknown form.
	Timestamp quickstream.Timestamp
	// EventType is the kind of event, never empty, possibly unknown to this package.
	EventType EventType

	raw, data held[json.RawMessage]
	event     func() (Event, error) // nil in a notification that was not parsed

	received *Notification // the unconfirmed notification, if this one was confirmed

	// When a verified notification was signed and arrived, by the verifier's clock.
	signed, arrived time.Time
}

// members is the JSON form of a notification.
type members struct {
	ID        string                `json:"id" wire:"decides"`
	Timestamp quickstream.Timestamp `json:"timestamp,omitzero"`
	EventType EventType             `json:"eventType" wire:"decides"`
	Data      wire.Span             `json:"data,omitempty" wire:"decides"`
}

// maxValues bounds the memory of a body: two bytes of JSON can take hundreds. A notification has
// about a hundred values.
const maxValues = 5_000

// ParseError means that a notification or its data cannot be decoded.
type ParseError struct{ reason string }

// Error says what is wrong, and never repeats what was received.
func (e *ParseError) Error() string { return "webhooks: " + e.reason }

// Parse decodes the body of a verified notification, also of one that was stored. Do not change the
// body afterwards.
//
// It returns a [ParseError] for a body that is not exactly one JSON object, has no id or event
// type, has more than 5,000 values, or has id, eventType or data twice or under a name in another
// case. Unknown event types, unknown members and data of any shape are accepted: see
// [Notification.Event].
func Parse(body []byte) (*Notification, error) {
	var m members
	err := wire.Decode(body, &m)
	switch {
	case len(body) > maxValues && err == nil && !wire.HasAtMost(body, maxValues): // a shorter body cannot hold more
		return nil, &ParseError{"the body holds too many values"}
	case errors.Is(err, wire.ErrDuplicateMember):
		return nil, &ParseError{"the body names a member twice"}
	case err != nil:
		return nil, &ParseError{"the body is not a notification in JSON"}
	case !isID(m.ID):
		return nil, &ParseError{"the id is missing or not 1 to 255 printable ASCII characters without blanks"}
	case m.EventType == "":
		return nil, &ParseError{"the event type is missing"}
	}
	return &Notification{
		ID: m.ID, Timestamp: m.Timestamp, EventType: m.EventType,
		raw: hold(json.RawMessage(body)), data: hold(json.RawMessage(m.Data)),
		event: sync.OnceValues(func() (Event, error) { return decodeEvent(m.EventType, json.RawMessage(m.Data)) }),
	}, nil
}

func isID(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return id != "" && len(id) <= maxIDLength
}

// NewNotification returns a notification with a new ID and the present time, for tests with a
// [Signer]. Data is anything that encoding/json can write, such as a [quickstream.Agreement].
func NewNotification(eventType EventType, data any) (*Notification, error) {
	encoded, err := wire.Encode(data)
	if err != nil {
		return nil, fmt.Errorf("webhooks: data: %w", err)
	}
	now := quickstream.Timestamp{Time: time.Now().Truncate(time.Second)}
	body, err := wire.Marshal(members{rand.Text(), now, eventType, encoded})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	return Parse(body)
}

// Raw returns the body as it was received, or nil if the notification was not parsed. Do not change
// it. After [ConfirmWith] it is a notification with the data of the API.
func (n *Notification) Raw() json.RawMessage { return n.raw.get() }

// Event returns the event of the notification. It decodes the data on the first call; every call
// returns the same event. Do not change it. Data that does not fit a known event type is a
// [ParseError], here and not in [Parse], so that the notification can be stored. An unknown event
// type is not an error.
func (n *Notification) Event() (Event, error) {
	if n.event == nil {
		return decodeEvent(n.EventType, nil)
	}
	return n.event()
}

// Digest identifies the content as it was received: a SHA-256 of the JSON, in hexadecimal. Order of
// members, white space, escapes of texts and the timestamp do not count. Numbers count as they are
// written: 1.0 differs from 1.00. All deliveries of a notification have the same digest, also after
// it was stored and parsed. [ConfirmWith] keeps it.
func (n *Notification) Digest() string {
	if n.received != nil {
		return n.received.Digest()
	}
	body, _ := n.body() // cannot fail: it exists, or is made of texts
	return hex.EncodeToString(meaning(body))
}

// meaning returns the sum of an object in a normal form, or of the body if it is not an object.
func meaning(body []byte) []byte {
	sum := sha256.New()
	decoder := json.NewDecoder(bytes.NewReader(wire.ValidUTF8(body)))
	decoder.UseNumber()
	var tree map[string]any
	if decoder.Decode(&tree) != nil {
		_, _ = sum.Write(body) // never fails
		return sum.Sum(nil)
	}
	maps.DeleteFunc(tree, func(name string, _ any) bool { return strings.EqualFold(name, "timestamp") })
	normal, _ := wire.Marshal(tree) // what was decoded can be encoded
	_, _ = sum.Write(normal)
	return sum.Sum(nil)
}

// confirmed returns the notification with another event and its data.
func (n *Notification) confirmed(event Event, data json.RawMessage) (*Notification, error) {
	raw, err := wire.Marshal(members{n.ID, n.Timestamp, n.EventType, wire.Span(data)})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	confirmed := *n
	confirmed.raw, confirmed.data = hold(json.RawMessage(raw)), hold(data)
	confirmed.event = func() (Event, error) { return event, nil }
	confirmed.received = n
	return &confirmed, nil
}

// UnmarshalJSON reads a notification as [Parse] does.
func (n *Notification) UnmarshalJSON(data []byte) error {
	parsed, err := Parse(bytes.Clone(data))
	if err != nil {
		return err
	}
	*n = *parsed
	return nil
}

// body returns Raw, or for a notification that was not parsed its JSON without data.
func (n *Notification) body() ([]byte, error) {
	if raw := n.Raw(); raw != nil {
		return raw, nil
	}
	return wire.Marshal(members{ID: n.ID, Timestamp: n.Timestamp, EventType: n.EventType})
}

var errMarshal = errors.New("webhooks: a notification cannot be marshalled: store what Raw returns, and read it with Parse")

// MarshalJSON returns an error, because logs are written in JSON too. Store [Notification.Raw].
func (n Notification) MarshalJSON() ([]byte, error) { return nil, errMarshal }

// String returns the ID, and the event type if it is known.
func (n Notification) String() string {
	return fmt.Sprintf("webhooks.Notification(%q, %s)", n.ID, n.EventType.label())
}

// Format writes the text of String, for every verb.
func (n Notification) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, n.String()) }

// LogValue returns the text of String.
func (n Notification) LogValue() slog.Value { return slog.StringValue(n.String()) }
