package quickstream

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// extraField is a member of WithExtraField.
type extraField struct {
	path  []string
	value json.RawMessage
	other bool // of OtherAccount, which may have any name that is not sent
}

// WithExtraField adds a member to the request that its parameters do not have. Name is its path, such as
// "creditCard.newMember". What this package sends cannot be replaced, nor set in another case.
//
// An intent holds the name of the member, and not its value: give the option to Submit as well.
func WithExtraField(name string, value any) CallOption {
	return callOption(func(c *callConfig) error {
		path := strings.Split(name, ".")
		for _, part := range path {
			if part == "" {
				return errors.New("WithExtraField: the name is empty or has an empty part")
			}
		}
		encoded, err := wire.Encode(value)
		if err = cmp.Or(wire.CheckText(name), err); err != nil {
			return fmt.Errorf("WithExtraField: %w", err)
		}
		c.extra = append(c.extra[:len(c.extra):len(c.extra)], extraField{path: path, value: encoded})
		return nil
	})
}

// extraNames returns the names of the members of WithExtraField.
func (c *callConfig) extraNames() (names []string) {
	for _, field := range c.extra {
		names = append(names, strings.Join(field.path, "."))
	}
	slices.Sort(names)
	return names
}

// withExtra returns the body with the members of WithExtraField.
func (c *call) withExtra(body []byte) []byte {
	for _, field := range c.config.extra {
		model := reflect.TypeOf(c.body)
		if field.other {
			model = nil
		}
		longer, err := wire.SetMember(body, field.path, field.value, model)
		if err != nil {
			c.refuse(fmt.Errorf("option WithExtraField: %w", err))
			return body
		}
		body = longer
	}
	return body
}
