package enginetest

import (
	"context"
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
		if happened || !strings.Contains(query, "AS related FROM quickstream.write") {
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

func TestReverseWaits(t *testing.T) {
	everywhere(t, testReverseWaits[*sql.Tx], testReverseWaits[pgx.Tx])
}

// A reversal is stored beside a refund that is declined later: it waits for it, and reverses all that
// is left then.
func testReverseWaits[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.clock.Advance(48 * time.Hour)
	s.box.NextTransaction(sandbox.Declined("51"))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.DelayBeforeCommit(300 * time.Millisecond), Times: 1}))
	var reversal durable.FollowUp
	require.NoError(t, s.commit(func(tx TTx) error {
		_, _, err := s.engine.Refund(t.Context(), tx, durable.NewWrite{ID: "first"}, p.ID, quickstream.RefundParams{PrincipalAmount: decimal.New(300, -2), Currency: quickstream.CurrencyAUD})
		if err == nil {
			reversal, _, err = s.engine.Reverse(t.Context(), tx, durable.NewWrite{ID: "second"}, p.ID)
		}
		return err
	}))
	assert.Equal(t, "9.34", reversal.Amount.StringFixed(2), "what is left beside the refund")
	assert.Equal(t, declined, s.settled("first").Text())
	all := s.reaches("second", approved, time.Minute)
	assert.True(t, all.Amount.Equal(p.Amount), all.Amount)
}

func TestReverseAfterRestore(t *testing.T) {
	everywhere(t, testReverseAfterRestore[*sql.Tx], testReverseAfterRestore[pgx.Tx])
}

// A reversal that a restored backup has as queued is sent, unless its refund was made in the lost history: then it is found.
func testReverseAfterRestore[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	done, waiting := s.settledLongAgo("A"), s.settledLongAgo("B")
	reversal := s.reverse(done.ID)
	refunded := s.settled(reversal)
	require.Equal(t, approved, refunded.Text())
	s.clock.Advance(30 * time.Hour)
	require.NoError(t, s.engine.Stop(t.Context()))
	var stored string
	require.NoError(t, s.commit(func(tx TTx) error {
		w, _, err := s.engine.Reverse(t.Context(), tx, s.newWrite(""), waiting.ID)
		stored = w.ID
		return err
	}))
	s.put("DELETE FROM quickstream.write WHERE id = $1", reversal)
	require.NoError(t, s.commit(func(tx TTx) error {
		_, _, err := s.engine.Reverse(t.Context(), tx, durable.NewWrite{ID: reversal}, done.ID)
		return err
	}))
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now()))
	require.NoError(t, s.engineOf().ConfirmHistory(t.Context(), "Kim", "the only copy"))
	s.engine = s.start()
	assert.Equal(t, approved, s.reaches(stored, approved, time.Minute).Text())
	assert.Equal(t, refunded.ReceiptNumber, s.reaches(reversal, approved, time.Minute).ReceiptNumber)
	assert.Zero(t, s.net("A"))
	assert.Zero(t, s.net("B"))
}
