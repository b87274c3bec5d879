package quickstream

import (
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"strings"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// envelope keeps the body that a response was decoded from, so that unknown members are not lost.
// It is a function, so that printing shows the model only.
type envelope struct {
	source func() (body []byte, model reflect.Type)
}

func (e *envelope) keep(source func() (body []byte, model reflect.Type)) { e.source = source }

// Raw returns the JSON, or nil.
func (e envelope) Raw() json.RawMessage {
	if e.source == nil {
		return nil
	}
	body, _ := e.source()
	return body
}

// Extra returns members without a field.
func (e envelope) Extra() map[string]json.RawMessage {
	if e.source == nil {
		return map[string]json.RawMessage{}
	}
	return wire.Unknown(e.source())
}

var (
	errNotObject    = errors.New("the answer is not a JSON object")
	errNoIdentifier = errors.New("the answer lacks the identifier of what it describes")
	errNotAsked     = errors.New("the answer is about something else than was asked for")
)

// model is a pointer to a response with an identifier, without which an answer proves nothing.
type model[T any] interface {
	*T
	identifier() string
	keep(source func() (body []byte, model reflect.Type))
}

// read decodes an answer that has an identifier, directly or in a member named data.
func read[T any, P model[T]](body []byte, object P) error {
	if err := decode(body, object); err != nil || object.identifier() != "" {
		return err
	}
	var nested struct {
		Data wire.Span `json:"data" wire:"decides"`
	}
	if err := wire.Decode(body, &nested); err != nil {
		return err
	}
	if len(nested.Data) == 0 || decode(nested.Data, object) != nil || object.identifier() == "" {
		return errNoIdentifier
	}
	return nil
}

// about returns a function that decodes an answer and checks with fits that it is about the right
// object.
func about[T any, P model[T]](c *call, object P, fits func(P) error) func(status int, body []byte) error {
	return func(_ int, body []byte) error {
		if err := read(body, object); err != nil {
			return err
		}
		c.config.explain(object)
		return fits(object)
	}
}

func identifiedBy[T any, P model[T]](id string) func(P) error {
	return func(object P) error {
		if !sameText(object.identifier(), id) {
			return errNotAsked
		}
		return nil
	}
}

// decode reads an object, and keeps a copy of the body.
func decode[T any, P model[T]](body []byte, object P) error {
	*object = *new(T)
	if !wire.IsObject(body) {
		return errNotObject
	}
	kept, err := wire.DecodeCopy(body, (*T)(object))
	if err != nil {
		*object = *new(T) // half an answer could read as an approval
		return err
	}
	object.keep(func() ([]byte, reflect.Type) { return []byte(kept), reflect.TypeFor[T]() })
	return nil
}

// encode writes a model with the received members that it does not have.
func encode[T any](plain T, e envelope) ([]byte, error) {
	known, err := wire.Marshal(plain)
	if err != nil || e.source == nil {
		return known, err
	}
	return wire.Graft(known, e.Raw(), reflect.TypeFor[T]())
}

// Link points to a related resource. Its address can contain account numbers: printing omits it,
// Href returns it, and marshalling drops its query, or all of it above 8 KiB.
type Link struct {
	_ wire.Via[linkJSON, Link]

	Rel           string
	RequestMethod string
	href          hidden
}

type linkJSON struct {
	Rel           string `json:"rel,omitempty"`
	Href          string `json:"href,omitempty"`
	RequestMethod string `json:"requestMethod,omitempty"`
}

const maxLinkText = 64

// Href returns the address as the service sent it.
func (l Link) Href() string { return l.href.text() }

// UnmarshalJSON reads a link.
func (l *Link) UnmarshalJSON(data []byte) error {
	var read Link
	err := wire.Decode(data, &read)
	if err == nil {
		*l = read
	}
	return err
}

// Value returns the link.
func (l linkJSON) Value() Link {
	return Link{Rel: wire.Shown(l.Rel, maxLinkText), RequestMethod: wire.Shown(l.RequestMethod, maxLinkText), href: hide(l.Href)}
}

// MarshalJSON writes the link without the query of its address.
func (l Link) MarshalJSON() ([]byte, error) {
	return wire.Marshal(linkJSON{l.Rel, withoutQuery(l.Href()), l.RequestMethod})
}

// withoutQuery cuts the text itself: writing the address anew would escape the braces of a template.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" || len(address) > maxCursor {
		return ""
	}
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	if u.User != nil {
		scheme, rest, _ := strings.Cut(address, "//")
		authority, _, _ := strings.Cut(rest, "/")
		address = scheme + "//" + rest[strings.LastIndex(authority, "@")+1:]
	}
	return address
}

// findLink returns the first link with a relationship. A link may have several, with blanks around
// them.
func findLink(links []Link, rel string) (Link, bool) {
	for _, l := range links {
		for one := range strings.FieldsSeq(l.Rel) {
			if wire.SameFold(one, rel) {
				return l, true
			}
		}
	}
	return Link{}, false
}
