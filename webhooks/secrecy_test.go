package webhooks_test

import (
	"log/slog"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/internal/printtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const password = "canary-password"

func TestSecretsAreNeverPrinted(t *testing.T) {
	t.Parallel()
	signer := webhooks.Signer{Scheme: signature.AssumedHMAC{}, Secret: currentSecret, User: "canary-user", Password: password, Now: fixed}
	verifier := newVerifier(t)
	handler := webhooks.NewHandler(verifier, new(calls).handle, webhooks.WithBasicAuth(signer.User, signer.Password), webhooks.WithLogger(slog.New(slog.DiscardHandler)))
	// Used once, so that whatever they keep is there.
	assert.Equal(t, 200, post(handler, signedBy(t, signer, confirmedBody)).Code)

	for name, v := range map[string]any{
		"verifier": verifier, "handler": handler, "verifier by value": reflect.ValueOf(verifier).Elem().Interface(),
	} {
		for _, v := range []any{v, &v, struct{ V any }{v}, struct{ v any }{v}, []any{v}, map[string]any{"v": v}} {
			assert.False(t, shows(printtest.Printed(v)), "%s as %T", name, v)
		}
		assert.False(t, printtest.Reachable(v, secrets()...), name)
	}
}

// shows reports whether text holds one of the secrets of these tests.
func shows(text string) bool { return printtest.Shows(text, secrets()...) }

func secrets() []string { return []string{currentSecret, previousSecret, password, "canary-user"} }
