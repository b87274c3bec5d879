package quickstream

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// envelope keeps the body that a response was decoded from, so that members
// which this package does not model are not lost. It is held behind a function,
// like a secret, because printing a response should print what it models.
type envelope struct {
	source func() (body []byte, model reflect.Type)
}

// keep makes body, which nothing changes any more, the source of a model.
func (e *envelope) keep(body []byte, model reflect.Type) {
	e.source = func() ([]byte, reflect.Type) { return body, model }
}

// Raw returns the JSON that the value was decoded from, or nil when it was not
// decoded by this package. It must not be changed.
func (e envelope) Raw() json.RawMessage {
	if e.source == nil {
		return nil
	}
	body, _ := e.source()
	return body
}

// Extra returns the members of the response that this package does not model, and
// those that it could not read and that decide nothing, such as a time in a form of its
// own: their fields are zero. They are keyed by path, such as "creditCard.newMember".
// Those of links, which can carry account numbers, are left out.
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

// model is a pointer to a response: it keeps its source, and knows the identifier
// without which an answer says nothing.
type model[T any] interface {
	*T
	identifier() string
	keep(body []byte, model reflect.Type)
}

// read decodes an answer into a response, which has to name what it describes: itself, or
// in a member named data, as the items of lists do.
func read[T any, P model[T]](body []byte, object P) error {
	if err := decode(body, object); err != nil || object.identifier() != "" {
		return err
	}
	var nested struct {
		Data json.RawMessage `json:"data" wire:"decides"`
	}
	if err := wire.Decode(body, &nested); err != nil {
		return err
	}
	if len(nested.Data) == 0 || decode(nested.Data, object) != nil || object.identifier() == "" {
		return errNoIdentifier
	}
	return nil
}

// about returns the function that reads an answer, which must be about what was asked:
// fits knows.
func about[T any, P model[T]](object P, fits func(P) error) func(status int, body []byte) error {
	return func(_ int, body []byte) error {
		if err := read(body, object); err != nil {
			return err
		}
		return fits(object)
	}
}

// identifiedBy fits an answer about the object with an identifier.
func identifiedBy[T any, P model[T]](id string) func(P) error {
	return func(object P) error {
		if !sameText(object.identifier(), id) {
			return errNotAsked
		}
		return nil
	}
}

// decode reads a response from a body, which it keeps.
func decode[T any, P model[T]](body []byte, object P) error {
	*object = *new(T)
	if !wire.IsObject(body) {
		return errNotObject
	}
	if err := wire.Decode(body, (*T)(object)); err != nil {
		*object = *new(T) // half of an answer may say that it is an approval
		return err
	}
	object.keep(body, reflect.TypeFor[T]())
	return nil
}

// encode writes the plain form of such a model (the same struct without methods)
// with the members that were received and are not modelled.
func encode[T any](plain T, e envelope) ([]byte, error) {
	known, err := wire.Marshal(plain)
	if err != nil || e.source == nil {
		return known, err
	}
	return wire.Graft(known, e.Raw(), reflect.TypeFor[T]())
}
