package enginetest

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// meanwhile is a database in which something happens right before a statement.
type meanwhile struct {
	durable.Database[pgx.Tx]
	begins  string
	happens func()
}

func (d *meanwhile) Exec(ctx context.Context, tx pgx.Tx, query string, args ...any) (int64, error) {
	if happens := d.happens; happens != nil && strings.HasPrefix(query, d.begins) {
		d.happens = nil
		happens()
	}
	return d.Database.Exec(ctx, tx, query, args...)
}

// A refund that is asked for while a void of the same payment commits is refused, and does not
// wait for a week.
func TestRefundWhileVoided(t *testing.T) {
	t.Parallel()
	s := open(t, onServer(t, emptyDatabase(t)))
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	db := &meanwhile{Database: s.db.Database, begins: "UPDATE quickstream.payment SET version = version + 1"}
	void := s.engine
	s.db.Database = db
	refund := s.engineOf()
	db.happens = func() {
		tx, err := db.Begin(t.Context())
		require.NoError(t, err)
		id, err := void.Void(t.Context(), tx, "A", p.ReceiptNumber)
		require.NoError(t, err)
		require.NoError(t, db.Commit(t.Context(), tx))
		require.Equal(t, durable.StateVoided, s.settled(id).State)
	}
	err := s.commit(func(tx pgx.Tx) error {
		_, err := refund.GiveBack(t.Context(), tx, "A", p.ReceiptNumber, decimal.New(500, -2), quickstream.CurrencyAUD)
		return err
	})
	require.ErrorIs(t, err, durable.ErrTooMuch)
	assert.Nil(t, db.happens)
}
