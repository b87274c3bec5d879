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

// maxIDLength bounds what a notification is remembered by. The service's
// identifiers are UUIDs in all that has been seen.
const maxIDLength = 255

// Notification is what the service posts when something happened.
//
// Printing one shows its ID and event type only, because its data names people, and
// it cannot be marshalled: store what Raw returns.
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

	raw, data held[json.RawMessage]
	event     func() (Event, error) // nil in a notification that was not parsed

	received *Notification // that this one was confirmed from

	// Of a notification that a Verifier has verified: when it was signed, and when it
	// arrived, by the verifier's clock.
	signed, arrived time.Time
}

// members is a notification in JSON.
type members struct {
	ID        string                `json:"id" wire:"decides"`
	Timestamp quickstream.Timestamp `json:"timestamp,omitzero"`
	EventType EventType             `json:"eventType" wire:"decides"`
	Data      wire.Span             `json:"data,omitempty" wire:"decides"`
}

// maxValues bounds what a body can cost in memory, where two bytes can cost hundreds. A
// notification has about a hundred values.
const maxValues = 5_000

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

// Parse decodes the body of a notification that has been verified, now or when it
// was stored. The body must not be changed afterwards.
//
// A body that is not exactly one JSON object, or lacks the id or the event type, is a
// [ParseError]. So is one in which id, eventType or data stands twice, or under a name
// that differs in case alone, and one of more than 5,000 values. An unknown event type, unknown members of whatever names,
// and data of any shape are not: see [Notification.Event].
func Parse(body []byte) (*Notification, error) {
	var m members
	err := wire.Decode(body, &m)
	switch {
	case len(body) > maxValues && err == nil && !wire.HasAtMost(body, maxValues): // in a shorter one they have no room
		return nil, &ParseError{"the body holds too many values", nil}
	case errors.Is(err, wire.ErrDuplicateMember):
		return nil, &ParseError{"the body names a member twice", err}
	case err != nil:
		return nil, &ParseError{"the body is not a notification in JSON", err}
	case !isID(m.ID):
		return nil, &ParseError{"the id is missing or not 1 to 255 printable ASCII characters without blanks", nil}
	case m.EventType == "":
		return nil, &ParseError{"the event type is missing", nil}
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

// NewNotification returns a notification with a new ID and the present time, for
// tests of what receives it: see [Signer]. Data is anything that encoding/json
// can write, such as a [quickstream.Agreement].
func NewNotification(eventType EventType, data any) (*Notification, error) {
	encoded, err := wire.Marshal(data)
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

// Raw returns the body as it was received, or nil when the notification was not
// parsed. It must not be changed. For a notification that [ConfirmWith] delivers,
// it is a notification with the data that the API gave.
func (n *Notification) Raw() json.RawMessage { return n.raw.get() }

// Event returns what the notification is about. The data is decoded when Event is
// called first; every call returns the same event, which must not be changed.
//
// Data that is not what the event type promises is a [ParseError]. That comes as
// late as here, so that such a notification is delivered and can be stored. An
// event type that this package does not know is not an error.
func (n *Notification) Event() (Event, error) {
	if n.event == nil {
		return decodeEvent(n.EventType, nil)
	}
	return n.event()
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
	body, _ := n.body() // cannot fail: it is there, or is made of nothing but texts
	return hex.EncodeToString(meaning(body))
}

// meaning returns the sum of what counts of a body in one form, or of the body if it is
// not an object.
func meaning(body []byte) []byte {
	sum := sha256.New()
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var tree map[string]any
	if decoder.Decode(&tree) != nil {
		_, _ = sum.Write(body) // never fails
		return sum.Sum(nil)
	}
	maps.DeleteFunc(tree, func(name string, _ any) bool { return strings.EqualFold(name, "timestamp") })
	encoder := json.NewEncoder(oneLine{sum})
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(tree) // what was decoded can be encoded
	return sum.Sum(nil)
}

// oneLine leaves out the line feed at the end of what a json.Encoder writes at once.
type oneLine struct{ io.Writer }

func (l oneLine) Write(text []byte) (int, error) {
	_, err := l.Writer.Write(bytes.TrimSuffix(text, []byte("\n")))
	return len(text), err
}

// unconfirmed returns the notification with an event that promises nothing.
func (n *Notification) unconfirmed() *Notification {
	plain, event := *n, newUnknown(n.data.get())
	plain.event = func() (Event, error) { return event, nil }
	return &plain
}

// confirmed returns the notification with another event in the place of its own,
// and the data of that.
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

// UnmarshalJSON reads a notification as Parse does.
func (n *Notification) UnmarshalJSON(data []byte) error {
	parsed, err := Parse(bytes.Clone(data))
	if err != nil {
		return err
	}
	*n = *parsed
	return nil
}

// body returns what Raw does, or for a notification that was not parsed what it would
// be without data.
func (n *Notification) body() ([]byte, error) {
	if raw := n.Raw(); raw != nil {
		return raw, nil
	}
	return wire.Marshal(members{ID: n.ID, Timestamp: n.Timestamp, EventType: n.EventType})
}

var errMarshal = errors.New("webhooks: a notification cannot be marshalled: store what Raw returns, and read it with Parse")

// MarshalJSON returns an error, because logs are written in JSON too. Store what Raw
// returns.
func (n Notification) MarshalJSON() ([]byte, error) { return nil, errMarshal }

// String returns the ID, and the event type if it is a known one.
func (n Notification) String() string {
	return fmt.Sprintf("webhooks.Notification(%q, %s)", n.ID, n.EventType.label())
}

// Format writes what String returns, for every verb.
func (n Notification) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, n.String()) }

// LogValue returns what String returns.
func (n Notification) LogValue() slog.Value { return slog.StringValue(n.String()) }
