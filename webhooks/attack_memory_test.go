//go:build !race

// Not with the race detector, under which more is held.

package webhooks_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/quickstream-go/quickstream/internal/heaptest"
	"github.com/quickstream-go/quickstream/webhooks"
)

// held delivers a notification to an endpoint with a store, and returns the most memory that is
// held, and the answer.
func held(t *testing.T, body string) (peak int64, status int) {
	t.Helper()
	r := signed(t, body)
	peak = heaptest.Least(8*webhooks.MaxBody, func() {
		h := webhooks.NewHandler(newVerifier(t), func(_ context.Context, n *webhooks.Notification) error {
			_, err := n.Event()
			return err
		}, webhooks.WithStore(new(webhooks.MemoryStore)))
		r.Body = io.NopCloser(strings.NewReader(body))
		status = post(h, r).Code
	})
	return peak, status
}

// FuzzMemory: whatever bytes a notification repeats up to the largest size, its endpoint holds at
// most eight times that size.
func FuzzMemory(f *testing.F) {
	for _, c := range [][3]string{
		{`{"id":"1","eventType":"x","data":[`, `{},`, `]}`},
		{`{"id":"1","eventType":"payto.payment.approved","data":{"receiptNumber":"1","comment":"`, "\xff", `"}}`},
		{`{"id":"1","eventType":"payto.agreement.confirmed","data":{"agreementToken":"1","new":"`, "\xffa", `"}}`},
	} {
		f.Add(c[0], c[1], c[2])
	}
	f.Fuzz(func(t *testing.T, before, element, after string) {
		const limit = webhooks.MaxBody
		if element == "" || len(before)+len(element)+len(after) > limit {
			return
		}
		if peak, _ := held(t, heaptest.Full(limit, before, element, after)); peak > 8*limit {
			t.Errorf("%d bytes were held", peak)
		}
	})
}
