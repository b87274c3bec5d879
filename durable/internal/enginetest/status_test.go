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

func TestStatusUnknown(t *testing.T) {
	everywhere(t, testStatusUnknown[*sql.Tx], testStatusUnknown[pgx.Tx])
}

// How many are unknown and for how long is of the same payments: what is proven not sent
// and what has ended is none of them, however old it is.
func testStatusUnknown[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.engine.Stop(t.Context())) // nothing goes on
	written := func(state durable.State, ago time.Duration) {
		id := s.pay(fmt.Sprint(state, ago), s.card(sandbox.CardAttempted))
		s.corrupt(fmt.Sprintf("state = '%s', written_at = %d", state, s.clock.Now().Add(-ago).UnixMicro()), id)
	}
	written(durable.StatePrepared, 9*time.Hour)
	written(durable.StateApproved, 8*time.Hour)
	status := s.status()
	assert.Zero(t, status.Unknown)
	assert.Zero(t, status.UnknownFor)
	for i, state := range []durable.State{durable.StateSending, durable.StateUnknown, durable.StateAbsent, durable.StateEscalated} {
		written(state, time.Duration(i+1)*time.Hour)
		status = s.status()
		assert.Equal(t, i+1, status.Unknown)
		assert.InDelta(t, float64(i+1), status.UnknownFor.Hours(), .1, "the oldest is %s", state)
	}
}
