package quickstream

import (
	"bytes"
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

func wrap[T any](body []byte) envelope {
	return envelope{func() ([]byte, reflect.Type) { return body, reflect.TypeFor[T]() }}
}

// Raw returns the JSON that the value was decoded from, or nil when it was not
// decoded. It must not be changed.
func (e envelope) Raw() json.RawMessage {
	if e.source == nil {
		return nil
	}
	body, _ := e.source()
	return body
}

// Extra returns the members of the response that this package does not model,
// keyed by path, such as "creditCard.newMember". Those of links, which can carry
// account numbers, are left out.
func (e envelope) Extra() map[string]json.RawMessage {
	if e.source == nil {
		return map[string]json.RawMessage{}
	}
	return wire.Unknown(e.source())
}

var (
	errNotObject    = errors.New("the answer is not a JSON object")
	errNoIdentifier = errors.New("the answer lacks the identifier of what it describes")
)

// decode fills the plain form of a model (the same struct without methods) and its
// envelope from a response. Duplicated members are refused rather than resolved.
func decode[T any](data []byte, plain *T, e *envelope) error {
	*plain = *new(T)
	if !wire.IsObject(data) {
		return errNotObject
	}
	if err := wire.Decode(data, plain); err != nil {
		return err
	}
	*e = wrap[T](bytes.Clone(data))
	return nil
}

// encode writes the plain form of a model with the members that were received
// and are not modelled.
func encode[T any](plain T, e envelope) ([]byte, error) {
	known, err := wire.Marshal(plain)
	if err != nil || e.source == nil {
		return known, err
	}
	body, _ := e.source()
	return wire.Graft(known, body, reflect.TypeFor[T]())
}

// model is a pointer to a response: it decodes itself, and knows whether it
// holds the identifier without which an answer says nothing.
type model[T any] interface {
	*T
	json.Unmarshaler
	identified() bool
}

// into returns the function that decodes an answer into a response.
func into[T any, P model[T]](object P) func(status int, body []byte) error {
	return func(_ int, body []byte) error {
		if err := object.UnmarshalJSON(body); err != nil {
			return err
		}
		if !object.identified() {
			return errNoIdentifier
		}
		return nil
	}
}
