package enginetest

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestUnsettledRefund(t *testing.T) {
	everywhere(t, testUnsettledRefund[*sql.Tx], testUnsettledRefund[pgx.Tx])
}

// A refund of a part, asked for on the day of the payment, waits until the payment is settled.
func testUnsettledRefund[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	id := s.pay("A", s.card(sandbox.CardAttempted))
	require.Equal(t, approved, s.settled(id).Text())
	w := durable.NewWrite{ID: "back"}
	require.NoError(t, s.commit(func(tx TTx) error {
		_, _, err := s.engine.Refund(t.Context(), tx, w, id, quickstream.RefundParams{PrincipalAmount: decimal.New(500, -2), Currency: quickstream.CurrencyAUD})
		return err
	}))
	require.Eventually(t, func() bool {
		s.clock.Advance(time.Second)
		return strings.Contains(s.read(w.ID).Problem, "is not settled")
	}, time.Minute, 20*time.Millisecond)
	assert.Equal(t, queued, s.read(w.ID).Text())
	var ids []string
	list, err := s.engine.Writes(t.Context(), "A")
	require.NoError(t, err)
	for _, w := range list {
		ids = append(ids, w.Common().ID)
	}
	assert.Equal(t, []string{w.ID, id}, ids)
	require.Eventually(t, func() bool {
		s.clock.Advance(time.Hour)
		return s.read(w.ID).Text() == approved
	}, time.Minute, 20*time.Millisecond)
}
