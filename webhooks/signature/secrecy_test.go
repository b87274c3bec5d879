package signature_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/printtest"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// openScheme makes keys that would show their secret to anyone who prints them.
type openScheme struct{}

type openKey struct {
	Text  string
	Bytes []byte
}

func (openScheme) Key(secret string) (signature.Key, error) {
	return openKey{secret, []byte(secret)}, nil
}

func (openKey) Sign(string, []byte) (string, error)  { return "x", nil }
func (openKey) Verify(string, []byte, []string) bool { return true }

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	for _, scheme := range []signature.Scheme{signature.AssumedHMAC{}, openScheme{}} {
		t.Run(fmt.Sprintf("%T", scheme), func(t *testing.T) {
			t.Parallel()
			v, err := signature.NewVerifier(scheme, []string{current}, clock(signedAt))
			require.NoError(t, err)
			// Used once, so that the pools hold something.
			require.NoError(t, v.Verify([]string{"t=" + stamp + ",v1=" + hexCurrent}, []byte(body)))
			checkSecrecy(t, v)
		})
	}
}

// checkSecrecy sees that no way of printing a value, nor a walk through it, finds its secret.
func checkSecrecy(t *testing.T, v any) {
	t.Helper()
	for _, shown := range []any{v, struct{ V any }{v}, []any{v}, map[string]any{"v": v}} {
		assert.False(t, printtest.Shows(printtest.Printed(shown), current))
	}
	assert.False(t, printtest.Reachable(v, current))
}
