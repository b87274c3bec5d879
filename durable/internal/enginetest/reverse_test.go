package enginetest

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/sandbox"
)

// A refund that is asked for while a void of the same payment commits, right before it waits for
// that payment's lock, is refused, and does not wait for a week.
func TestRefundWhileVoided(t *testing.T) {
	t.Parallel()
	s := open(t, onServer(t, emptyDatabase(t)))
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	works, db, happened := s.engine, s.db.Database, false
	s.db.Database = &hooked[pgx.Tx]{Database: db, before: func(_ context.Context, _ database.Tx, query string, _ []any) {
		if happened || !strings.HasPrefix(query, "SELECT FROM quickstream.write") {
			return
		}
		happened = true
		require.NoError(t, inTx(t.Context(), db, func(tx pgx.Tx) error {
			_, _, err := works.Void(t.Context(), tx, durable.NewWrite{ID: "void"}, p.ID)
			return err
		}))
		require.Equal(t, approved, s.settled("void").Text())
	}}
	s.engine = s.engineOf()
	_, err := s.tryReverse(p.ID)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	assert.True(t, happened)
}
