package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/sandbox"
)

var errConnection = errors.New("the connection is gone")

// shaky returns a database whose next commit, if it is told how, ends with an error: after it has
// happened, or instead of it.
func shaky[TTx any](db durable.Database[TTx], next *atomic.Pointer[string]) durable.Database[TTx] {
	return &hooked[TTx]{Database: db, commit: func(ctx context.Context, tx database.Tx) error {
		switch how := next.Swap(nil); {
		case how == nil:
			return tx.Commit(ctx)
		case *how == "committed":
			return errors.Join(errConnection, tx.Commit(ctx))
		default:
			return errors.Join(errConnection, tx.Rollback(ctx))
		}
	}}
}

func TestUnsureClaim(t *testing.T) {
	everywhere(t, testUnsureClaim[*sql.Tx], testUnsureClaim[pgx.Tx])
}

// Under a claim whose commit answers with an error nothing is sent, whether it was committed or not: a
// standby may not have it. It is made anew, and nothing has to be looked up.
func testUnsureClaim[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.engine.Stop(t.Context()))
	var next atomic.Pointer[string]
	s.db.Database = shaky(db.Database, &next)
	for _, how := range []string{"committed", "rolled back"} {
		met := 0
		s.db.step = func(name string) {
			if name != "before the claim's commit" {
				return
			}
			if met++; met == 1 {
				next.Store(&how)
			}
		}
		s.engine = s.start()
		id := s.pay(how, s.card(sandbox.CardAttempted))
		p := s.reaches(id, approved, time.Second)
		assert.Empty(t, p.Evidence[1:], "it was not looked up")
		assert.Equal(t, 2, met)
		require.NoError(t, s.engine.Stop(t.Context()))
	}
	assert.Equal(t, 2, s.charged())
}
