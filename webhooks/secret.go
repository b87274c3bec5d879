package webhooks

import "github.com/quickstream-go/quickstream"

// printing prints a placeholder and refuses to be marshalled.
type printing = quickstream.Secret

// Secret is the secret of a webhook subscription, or the password of its Basic credentials. Like a
// [quickstream.Secret] it prints a placeholder and cannot be marshalled. It is a type of its own,
// so that no API key can take its place.
type Secret struct {
	printing
	reveal func() string
}

// NewSecret returns value as a [Secret]. An empty value is the zero Secret, which means "not
// given".
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
