package clienttest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// naiveRefusal and naiveClient keep what they hold in fields, as errors and clients
// usually do.
type naiveRefusal struct {
	StatusCode      int
	CustomerMessage string
	Fields          []quickstream.FieldError
}

func (naiveRefusal) Error() string                { return "refused" }
func (naiveRefusal) MarshalText() ([]byte, error) { return []byte("refused"), nil }

type naiveClient struct{ header http.Header }

func (*naiveClient) String() string   { return "client" }
func (*naiveClient) GoString() string { return "client" }

// TestAttackRow07PrintedElsewhere prints what is of no secret type and can hold a
// secret all the same: the service's messages, which repeat what was sent, and the
// values of a merchant's own headers. The methods that fmt and log/slog ask for help
// neither in an unexported field nor against gob, a dump, or a client by value.
func TestAttackRow07PrintedElsewhere(t *testing.T) {
	all := routes(t)
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
	_, undecodable := clientOf(t, says(200, `{"receiptNumber":"R-1","status":[`+string(quoted)+`],"comment":`+string(quoted)+`}`)).Transactions.Get(t.Context(), "R-1")
	require.ErrorContains(t, undecodable, "could not be decoded")

	for name, v := range map[string]any{
		"error": refused, "undecodable": undecodable, "cause": &quickstream.UnknownOutcomeError{Cause: refused}, "end of a call": quickstream.EndInfo{Err: refused},
		"client": client, "service": client.Customers,
		"list": client.Customers.List(quickstream.ListCustomersParams{}, headers),
	} {
		found, _ := leaks(all, v)
		assert.Empty(t, found, name)
	}
	for name, v := range map[string]any{
		"error":  &naiveRefusal{422, secret, refused.Fields()},
		"client": &naiveClient{http.Header{"X-Proxy-Token": {secret}}},
	} {
		found, _ := leaks(all, v)
		assert.NotEmpty(t, found, "the naive %s does not fall for it", name)
	}
}
