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

func TestSecondChargeStands(t *testing.T) {
	everywhere(t, testSecondChargeStands[*sql.Tx], testSecondChargeStands[pgx.Tx])
}

// When an order was charged twice and one of the two is voided, it is still paid.
func testSecondChargeStands[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	first := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.corrupt("state = 'voided'", first.ID)
	second := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.corrupt("state = 'charged twice', passed_by = '"+first.ID+"'", second.ID)
	assert.Equal(t, second.ID, s.pay("A", s.card(sandbox.CardAttempted)))
	assert.Equal(t, 2, s.charged())
}
