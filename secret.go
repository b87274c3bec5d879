package quickstream

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/quickstream-go/quickstream/internal/wire"
)

var errSecret = errors.New("quickstream: a secret cannot be marshalled")

// hidden keeps a text in a function, because nothing that prints calls functions: fmt shows the
// content of unexported fields, and encoders and test diffs follow pointers.
type hidden struct{ reveal func() string }

func hide(text string) hidden {
	if text == "" {
		return hidden{}
	}
	return hidden{reveal: func() string { return text }}
}

func (h hidden) text() string {
	if h.reveal == nil {
		return ""
	}
	return h.reveal()
}

// IsZero reports whether there is no value.
func (h hidden) IsZero() bool { return h.reveal == nil }

// placeholder is all that printing shows.
func (h hidden) placeholder() string {
	if h.IsZero() {
		return ""
	}
	return "[redacted]"
}

// Format writes a placeholder.
func (h hidden) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, h.placeholder()) }

// LogValue returns a placeholder.
func (h hidden) LogValue() slog.Value { return slog.StringValue(h.placeholder()) }

// MarshalJSON returns an error.
func (h hidden) MarshalJSON() ([]byte, error) { return nil, errSecret }

// MarshalText returns an error.
func (h hidden) MarshalText() ([]byte, error) { return nil, errSecret }

// Secret is a card number, CVN, account number, PayID or cryptogram. Printing shows a placeholder,
// and marshalling fails. Compare with Equal; == does not compile.
type Secret struct{ hidden }

// NewSecret returns value as a [Secret]. An empty value is the zero Secret, which means "not
// given".
func NewSecret(value string) Secret { return Secret{hide(value)} }

// Equal reports in constant time whether both hold the same value.
func (s Secret) Equal(other Secret) bool {
	return subtle.ConstantTimeCompare([]byte(s.text()), []byte(other.text())) == 1
}

// SecretKey is the secret API key, for servers only. Every operation needs it unless its
// documentation names the publishable key.
type SecretKey struct{ hidden }

// NewSecretKey returns key as a [SecretKey].
func NewSecretKey(key string) SecretKey { return SecretKey{hide(key)} }

// PublishableKey is the publishable API key, which browsers may see. It creates single-use tokens
// and reads the cards that a business accepts.
type PublishableKey struct{ hidden }

// NewPublishableKey returns key as a [PublishableKey].
func NewPublishableKey(key string) PublishableKey { return PublishableKey{hide(key)} }

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

// withoutQuery returns an address without query and fragment, or "" if it is too long or has credentials.
func withoutQuery(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	if len(address) > maxCursor || strings.Contains(address, "@") {
		return ""
	}
	return address
}

// findLink returns the first link with a relationship. A link may have several, with blanks around
// them.
func findLink(links []Link, rel string) (Link, bool) {
	for _, l := range links {
		for one := range strings.FieldsSeq(l.Rel) {
			if strings.EqualFold(one, rel) {
				return l, true
			}
		}
	}
	return Link{}, false
}
