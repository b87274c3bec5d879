package webhooks

import "github.com/quickstream-go/quickstream"

// printing is how a Secret prints and refuses to be marshalled.
type printing = quickstream.Secret

// Secret is the secret of a webhook subscription, or the password that
// notifications come with. Like a [quickstream.Secret] it shows a placeholder by
// every route of printing, and cannot be marshalled; it is a type of its own, so
// that an API key cannot be taken for it.
type Secret struct {
	printing
	reveal func() string
}

// NewSecret returns value as a [Secret]. An empty value is the zero Secret, which
// means "not given".
func NewSecret(value string) Secret {
	return Secret{quickstream.NewSecret(value), func() string { return value }}
}

// Equal reports in constant time whether both hold the same value.
func (s Secret) Equal(other Secret) bool { return s.printing.Equal(other.printing) }

func (s Secret) text() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}
