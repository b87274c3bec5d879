//go:build !race

// Not with the race detector, under which more is held.

package webhooks_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/internal/heaptest"
	"github.com/quickstream-go/quickstream/webhooks"
)

// padded returns a body of the largest size, which holds a long text where ~ stands.
func padded(body string) string {
	return strings.Replace(body, "~", strings.Repeat("x", max(0, webhooks.DefaultMaxBody-len(body)+1)), 1)
}

// TestAttackMemoryOfNotifications: a notification of the largest size makes an endpoint with a store hold
// no more than eight times that, whatever is in it. Decoding it plainly takes 20 times.
func TestAttackMemoryOfNotifications(t *testing.T) {
	const limit = webhooks.DefaultMaxBody
	for i, body := range []string{
		heaptest.Full(limit, `{"id":"1","eventType":"x","data":[`, `{},`, `]}`),
		heaptest.Full(limit, `{"id":"1","eventType":"x","data":{"a":"`, `\u00e9`, `"}}`),
		padded(`{"id":"1","eventType":"x","data":{"a":"~"}}`),
		heaptest.Full(limit, `{"id":"1","eventType":"x","data":{"a":"`, "\xff", `"}}`),
		heaptest.Full(limit, `{"id":"1","eventType":"x","data":{"`, "\xffa", `":1}}`),
		heaptest.Full(limit, `{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1","comment":"`, "\xff", `"}}`),
		heaptest.Full(limit, `{"id":"1","eventType":"payto.agreement.confirmed","data":{"agreementToken":"1","new":"`, "\xffa", `"}}`),
		padded(`{"id":"1","eventType":"x","data":{"m":"~",` + heaptest.Members(4_900, `{}`) + `"n":1}}`),
		padded(`{"id":"1","eventType":"x","data":{"m":"~","n":[` + strings.Repeat(`{"a":1},`, 2_400) + `1]}}`),
		padded(`{"id":"1","eventType":"x","data":{"m":"~",` + heaptest.Members(80_000, `{}`) + `"n":1}}`),
		padded(`{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1","metadata":{` + heaptest.Members(4_900, `""`) + `"m":"~"}}}`),
		padded(`{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1",` + heaptest.Members(4_900, `{}`) + `"m":"~"}}`),
		padded(`{` + heaptest.Members(4_900, `1`) + `"id":"1","eventType":"payto.agreement.confirmed","data":{"agreementToken":"1","m":"~"}}`),
	} {
		require.Equal(t, limit, len(body), "body %d", i)
		peak, status := held(t, body)
		t.Logf("%4.1f MiB, answered %d: %.60s", float64(peak)/(1<<20), status, body)
		if peak > 8*limit {
			t.Errorf("body %d: %d bytes were held", i, peak)
		}
		if status != http.StatusOK && i != 0 && i != 9 {
			t.Errorf("body %d: answered %d", i, status)
		}
	}
}

// held delivers a notification to an endpoint with a store, and returns the most that is held, and
// the answer.
func held(t *testing.T, body string) (peak int64, status int) {
	t.Helper()
	r := signed(t, body)
	peak = heaptest.Least(8*webhooks.DefaultMaxBody, func() {
		h := webhooks.NewHandler(newVerifier(t), func(_ context.Context, n *webhooks.Notification) error {
			_, err := n.Event()
			return err
		}, webhooks.WithStore(new(webhooks.MemoryStore)))
		r.Body = io.NopCloser(strings.NewReader(body))
		status = post(h, r).Code
	})
	return peak, status
}

// FuzzMemory: whatever bytes a notification repeats until it has the largest size, its endpoint holds
// no more than eight times that.
func FuzzMemory(f *testing.F) {
	for _, c := range [][3]string{
		{`{"id":"1","eventType":"x","data":[`, `{},`, `]}`},
		{`{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1","comment":"`, "\xff", `"}}`},
		{`{"id":"1","eventType":"payto.agreement.confirmed","data":{"agreementToken":"1","new":"`, "\xffa", `"}}`},
	} {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, before, element, after string) {
		const limit = webhooks.DefaultMaxBody
		if element == "" || len(before)+len(element)+len(after) > limit {
			return
		}
		if peak, _ := held(t, heaptest.Full(limit, before, element, after)); peak > 8*limit {
			t.Errorf("%d bytes were held", peak)
		}
	})
}
