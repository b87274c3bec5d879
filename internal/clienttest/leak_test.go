package clienttest_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/printtest"
)

// canaries are what no printing route may show: a public test card number, and
// texts that stand for a CVN, an account number, a PayID and two keys.
func canaries() []string {
	return []string{"4111111111111111", "CANARY-CVN-9137", "CANARY-ACCOUNT-999994", "canary-payid@example.com", "CANARY_SECRET_KEY", "CANARY_PUBLISHABLE_KEY"}
}

// leaks reports whether a value shows a canary, however it is printed: by its own methods or those of
// what holds it, or by what reflection finds behind it.
func leaks(v any) bool {
	forms := []any{v, []any{v}, struct{ V any }{v}}
	if p := reflect.ValueOf(v); p.Kind() != reflect.Pointer {
		pointer := reflect.New(p.Type())
		pointer.Elem().Set(p)
		forms = append(forms, pointer.Interface())
	} else if !p.IsNil() && p.Elem().CanInterface() {
		forms = append(forms, p.Elem().Interface())
	}
	return slices.ContainsFunc(forms, func(form any) bool {
		return printtest.Shows(printtest.Printed(form), canaries()...) || printtest.Reachable(form, canaries()...)
	})
}

// TestAttack59PrintedValues prints every kind of value that can hold a secret, and every answer with
// one in its addresses. No secret is shown, alone or within another value.
func TestAttack59PrintedValues(t *testing.T) {
	for of, values := range variants() {
		for _, value := range values {
			assert.False(t, leaks(value), "%s", of)
		}
	}
	for _, m := range models(t) {
		answered, err := m.read(strings.ReplaceAll(sample(m.of, "x"), "https://api.invalid/rest/v1/x", secretAddress()))
		require.NoError(t, err, m.of)
		assert.False(t, leaks(answered), "%s", m.of)
	}
	assert.True(t, leaks(struct{ number *string }{new(canaries()[0])}), "what is not kept well is found")
}

// TestAttackRow07PrintedElsewhere prints what is of no secret type and can hold a
// secret all the same: the service's messages, which repeat what was sent, and the
// values of a merchant's own headers. The methods that fmt and log/slog ask for help
// neither in an unexported field nor against gob, a dump, or a client by value.
func TestAttackRow07PrintedElsewhere(t *testing.T) {
	secret := strings.Join(canaries(), " ")
	refused := refusalThatSays(t, secret)
	headers := quickstream.WithHeader("X-Proxy-Token", secret)
	sent := ""
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		sent = r.Header.Get("X-Proxy-Token")
		return answer(200, `{"data":[],"links":[]}`), nil
	}, headers)
	assert.NoError(t, client.Check(t.Context()))
	assert.Equal(t, secret, sent)

	quoted, err := json.Marshal(secret)
	require.NoError(t, err)
	_, undecodable := clientOf(t, says(200, `{"receiptNumber":"R-1","status":[`+string(quoted)+`],"comment":`+string(quoted)+`}`)).Transactions.Get(t.Context(), "R-1", quickstream.WithMaxAttempts(1))
	require.ErrorContains(t, undecodable, "could not be decoded")

	for name, v := range map[string]any{
		"error": refused, "undecodable": undecodable, "cause": &quickstream.UnknownOutcomeError{Cause: refused}, "end of a call": quickstream.EndInfo{Err: refused},
		"client": client, "service": client.Customers,
		"list": client.Customers.List(quickstream.ListCustomersParams{}, headers),
	} {
		assert.False(t, leaks(v), name)
	}
}
