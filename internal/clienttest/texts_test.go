package clienttest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// keeping returns a client of a service that keeps the bodies of requests and refuses them.
func keeping(t *testing.T) (client *quickstream.Client, bodies *[]string) {
	t.Helper()
	bodies = new([]string)
	return clientOf(t, func(r *http.Request) (*http.Response, error) {
		if r.Body == nil {
			r.Body = http.NoBody
		}
		body, err := io.ReadAll(r.Body)
		*bodies = append(*bodies, string(body))
		return answer(http.StatusUnprocessableEntity, `{"developerMessage":"No."}`), err
	}), bodies
}

// TestTextsOfRequests: a text that is not valid UTF-8 would arrive as another one. The request is
// refused before anything is sent or stored, and shows nothing of it. U+FFFD is a text like any other.
func TestTextsOfRequests(t *testing.T) {
	ctx := t.Context()
	for text, sent := range map[string]bool{"Ann\xff": false, "Ann\xed\xa0\x80": false, "Ann \ufffd": true} {
		client, bodies := keeping(t)
		byToken := payment()
		byToken.Source, byToken.Metadata = quickstream.FromAccount("A-1", quickstream.AccountTypeCreditCard), map[string]string{text: "a"}
		terms, err := currentAgreement(t).Terms()
		require.NoError(t, err)
		terms.AdditionalInformation = text
		for name, send := range map[string]func() error{
			"a name of metadata": func() error { return second(client.Transactions.Pay(ctx, byToken)) },
			"an extra field": func() error {
				return second(client.Transactions.Pay(ctx, payment(), quickstream.WithExtraField("new", []any{map[string]string{"a": text}})))
			},
			"a change of terms": func() error { return client.PayTo.AmendBilaterally(ctx, terms) },
			"Do": func() error {
				return client.Do(ctx, quickstream.Request{Method: http.MethodPost, Route: "/notes", Body: map[string]any{"a": []any{text}}}, nil)
			},
		} {
			*bodies = nil
			err := send()
			if sent {
				require.ErrorIs(t, err, quickstream.ErrInvalid, name)
				require.Len(t, *bodies, 1, name)
				assert.Contains(t, (*bodies)[0], text, name)
				continue
			}
			require.ErrorIs(t, err, quickstream.ErrNotSent, name)
			require.ErrorContains(t, err, "not valid UTF-8", name)
			assert.NotContains(t, err.Error(), "Ann", name)
			assert.Empty(t, *bodies, name)
		}
		intent, err := client.Transactions.Plan(ctx, byToken)
		assert.Equal(t, sent, err == nil, text)
		assert.Equal(t, sent, strings.Contains(string(intent.Request), text), text)
	}
}
