package sandbox

import (
	"html"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEcho: the request comes back in body and headers, whatever became of the payment,
// except numbers of real cards.
func TestEcho(t *testing.T) {
	for _, test := range []struct {
		kind            FaultKind
		status, charges int
	}{
		{Status(422, Echo), 422, 0},
		{Status(502, EchoHTML), 502, 0},
		{StatusAfterCommit(500, Echo), 500, 1},
		{Garbage(Echo), 201, 1},
		{Garbage(EchoHTML), 201, 1},
		{Garbage(EchoLinks), 201, 1},
	} {
		bubble(t, func(c *caller) {
			require.NoError(t, c.box.Inject(Fault{Kind: test.kind}))
			send := func(method, path string, body any) (int, string, string) {
				resp, err := c.client.Do(c.request(method, path, c.keys.Secret, body, "Idempotency-Key", "key-1"))
				require.NoError(t, err)
				defer resp.Body.Close()
				var headers strings.Builder
				require.NoError(t, resp.Header.Write(&headers))
				raw, err := io.ReadAll(resp.Body)
				require.NoError(t, err)
				return resp.StatusCode, html.UnescapeString(string(raw)), headers.String()
			}
			status, body, headers := send("POST", "/transactions", cardPayment("O"))
			assert.Equal(t, test.status, status)
			assert.Len(t, c.box.Ledger().Charged("O"), test.charges)
			for _, sent := range []string{goodCard, testCVN, "key-1", c.keys.Secret, "Basic "} {
				assert.Contains(t, strings.ReplaceAll(body, "+", " "), sent, "%s", test.kind)
				assert.Contains(t, headers, sent, "%s", test.kind)
			}
			_, body, headers = send("GET", "/transactions/for-bank-account?bsb=032-999&accountNumber=999994", nil)
			assert.Contains(t, body, "999994", "%s", test.kind)
			assert.Contains(t, headers, "accountNumber=999994")

			_, body, headers = send("POST", "/customers", `{"customerName":"`+realPAN+`","note":`)
			assert.NotContains(t, body+headers, realPAN)
		})
	}
}

// TestEchoedPage is a gateway's page with a path.
func TestEchoedPage(t *testing.T) {
	bubble(t, func(c *caller) {
		require.NoError(t, c.box.Inject(Fault{Kind: Status(http.StatusBadGateway, EchoHTML)}))
		page := c.get("/customers/<b>")
		assert.Equal(t, 502, page.status)
		assert.Contains(t, string(page.raw), "customerId=&lt;b&gt;")
	})
}
