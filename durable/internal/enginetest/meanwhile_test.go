package enginetest

import (
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestLookUpOfWhatWaits(t *testing.T) {
	everywhere(t, testLookUpOfWhatWaits[*sql.Tx], testLookUpOfWhatWaits[pgx.Tx])
}

// A person looks up a payment that waits to be sent again. Nothing is found, and it is sent again.
func testLookUpOfWhatWaits[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Status(429, sandbox.ServiceError), Times: 1}))
	id := s.pay("A", s.stored())
	s.until(0, func(h durable.Health) bool { return s.read(id).Failures == 1 && !h.Paused.IsZero() })
	w, err := s.engine.LookUp(t.Context(), id, "Kim", "the customer asks")
	require.NoError(t, err)
	require.Equal(t, queued, w.Common().Text())
	s.clock.Advance(checkPassed)
	assert.Equal(t, 2, s.comes(id, approved, time.Second).Sends)
	assert.Equal(t, 1, s.charged())
}
