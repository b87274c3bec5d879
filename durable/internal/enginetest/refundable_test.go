package enginetest

import (
	"bytes"
	"database/sql"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// between shows transactions as between the cut-off and their settlement: they can neither be voided nor refunded.
type between struct {
	next http.RoundTripper
	on   *atomic.Bool
}

func (b between) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.next.RoundTrip(r)
	if err != nil || !b.on.Load() || r.Method != http.MethodGet {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	for _, member := range []string{"voidable", "refundable"} {
		body = bytes.ReplaceAll(body, []byte(`"`+member+`":true`), []byte(`"`+member+`":false`))
	}
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Del("Content-Length")
	return answer, err
}

// TestRefundWhenRefundable: until the day after the settlement a refund is not sent while the service shows its payment as one that
// cannot be refunded. Later the service decides. A refund of a payment whose money is back already ends at once.
func TestRefundWhenRefundable(t *testing.T) {
	t.Parallel()
	db := onFile(t, t.TempDir()+"/shop.db")
	s := open(t, db)
	p := s.paid("A")
	s.paid("B")
	s.Advance(24 * time.Hour)
	voided := s.paid("C")
	_, err := s.Client.Transactions.Void(t.Context(), voided.ReceiptNumber)
	require.NoError(t, err)
	require.NoError(t, s.Engine().Stop(t.Context()))
	on := new(atomic.Bool)
	on.Store(true)
	inner := *s.Sandbox.HTTPClient()
	inner.Transport = between{inner.Transport, on}
	s.Client = sandboxtest.Client(t, s.Sandbox, quickstream.WithHTTPClient(&inner))
	engine := s.beside(db)
	refund := func(of string) {
		require.NoError(t, s.Tx(func(tx *sql.Tx) error {
			_, _, err := engine.Refund(t.Context(), tx, durable.NewWrite{ID: "R" + of}, of, quickstream.RefundParams{PrincipalAmount: p.Amount, Currency: quickstream.CurrencyAUD})
			return err
		}))
	}
	refund("A")
	eventually(t, func() bool { return s.get("RA").Failures > 0 }, "it waits")
	assert.Equal(t, "the payment cannot be refunded yet", s.get("RA").Problem)
	refund("C")
	eventually(t, func() bool { return s.get("RC").Name() == "not_sent.money_back" }, "it is voided")
	on.Store(false)
	eventually(t, func() bool { return s.get("RA").Done() }, "it is made")
	on.Store(true)
	s.Advance(48 * time.Hour)
	refund("B")
	eventually(t, func() bool { return s.get("RB").Done() }, "it is asked for")
	assert.Equal(t, int64(2468), s.refunded())
}
