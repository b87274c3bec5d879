package enginetest

import (
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestPay(t *testing.T) { everywhere(t, testPay[*sql.Tx], testPay[pgx.Tx]) }

// A write is sent once, however often Pay is called for its id, and OnOutcome is notified once.
func testPay[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	w, params := durable.NewWrite{ID: "attempt-7", Order: "A"}, s.card(sandbox.CardAttempted)
	pay := func() (payment durable.Payment, created bool) {
		require.NoError(t, s.commit(func(tx TTx) (err error) {
			payment, created, err = s.engine.Pay(t.Context(), tx, w, params)
			return err
		}))
		return payment, created
	}
	_, created := pay()
	require.True(t, created)
	_, created = pay()
	require.False(t, created)
	p := s.settled(w.ID)
	assert.Equal(t, approved, p.Text(), p.Problem)
	assert.NotEmpty(t, p.ReceiptNumber)
	again, created := pay()
	require.False(t, created)
	assert.True(t, again.Paid())
	require.Equal(t, 1, s.charged())
	assert.Equal(t, []string{approved}, s.states("A"))
	events, err := s.engine.Events(t.Context(), w.ID)
	require.NoError(t, err)
	var kinds []durable.EventKind
	for _, event := range events {
		kinds = append(kinds, event.Kind)
	}
	assert.Equal(t, []durable.EventKind{durable.EventQueued, durable.EventClaimed, durable.EventAnswered, durable.EventNotified}, kinds)
}
