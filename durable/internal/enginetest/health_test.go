package enginetest

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestHealthUnknown(t *testing.T) {
	everywhere(t, testHealthUnknown[*sql.Tx], testHealthUnknown[pgx.Tx])
}

// How many are unknown and for how long is of the same payments: what is proven not sent
// and what has ended is none of them, however old it is.
func testHealthUnknown[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.engine.Stop(t.Context())) // nothing goes on
	written := func(state durable.State, ago time.Duration, set string) {
		id := s.pay(fmt.Sprint(state, ago), s.card(sandbox.CardAttempted))
		s.corrupt("state = $2, written_at = $3"+set, id, string(state), s.clock.Now().Add(-ago))
	}
	written(durable.StateQueued, 9*time.Hour, "")
	written(durable.StateSettled, 8*time.Hour, ", outcome = 'approved'")
	status := s.status()
	assert.Zero(t, status.Unknown)
	assert.Zero(t, status.UnknownFor)
	for i, state := range []durable.State{durable.StateSending, durable.StateResolving, durable.StateNotFound, durable.StateEscalated} {
		written(state, time.Duration(i+1)*time.Hour, "")
		status = s.status()
		assert.Equal(t, i+1, status.Unknown)
		assert.Equal(t, 1, status.Writes[state])
		assert.InDelta(t, float64(i+1), status.UnknownFor.Hours(), .1, "the oldest is %s", state)
	}
	assert.Less(t, s.clock.Now().Sub(status.At).Abs(), time.Minute)
	written(durable.StateNotFound, 7*time.Hour, ", replaced_by = 'another'") // a person has dealt with it
	assert.Equal(t, 4, s.status().Unknown)
	assert.Less(t, s.status().UnknownFor, 5*time.Hour)
}

func TestHealthWhileEnqueued(t *testing.T) {
	everywhere(t, testHealthWhileEnqueued[*sql.Tx], testHealthWhileEnqueued[pgx.Tx])
}

// What waits is overdue also at the moment at which it is enqueued once more: its lease may begin after Health has
// read the time, in another process or while Health waited for the database.
func testHealthWhileEnqueued[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.engine.Stop(t.Context()))
	id := s.pay("A", s.card(sandbox.CardAttempted))
	now := s.clock.Now()
	s.corrupt(`intent = 'x', next_at = $2, due_at = $3`, id, now.Add(-10*time.Minute), now.Add(time.Minute+500*time.Millisecond))
	h := s.status()
	assert.Greater(t, h.Overdue, 9*time.Minute)
	assert.Equal(t, 1, h.Stuck)
}
