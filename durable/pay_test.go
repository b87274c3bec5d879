package durable_test

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

// An order is paid once, however often Pay is called for it, and OnOutcome is told once.
func testPay[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	params := s.card(sandbox.CardAttempted)
	id := s.pay("A", params)
	assert.Equal(t, id, s.pay("A", params))
	p := s.settled(id)
	assert.Equal(t, durable.StateApproved, p.State)
	assert.NotEmpty(t, p.ReceiptNumber)
	assert.Equal(t, id, s.pay("A", params))
	require.Equal(t, 1, s.charged())
	assert.Equal(t, []durable.State{durable.StateApproved}, s.states("A"))
}
