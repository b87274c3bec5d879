package enginetest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// TestUncommittedHook: a hook that succeeds and whose transaction cannot be committed has failed: Health counts it, and Wait says so.
func TestUncommittedHook(t *testing.T) {
	t.Parallel()
	db := onFile(t, t.TempDir()+"/shop.db")
	ctx := t.Context()
	require.NoError(t, db.exec(ctx, "CREATE TABLE orders (id text PRIMARY KEY)"))
	require.NoError(t, db.exec(ctx, "CREATE TABLE shipment (order_id text REFERENCES orders (id) DEFERRABLE INITIALLY DEFERRED)"))
	s := open(t, db, func(o *durable.Options[*sql.Tx]) {
		o.OnOutcome = func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO shipment VALUES ($1)", change.Write.Order)
			return err
		}
	})
	s.pay("A", s.stored())
	w, err := s.Engine().Wait(ctx, "A")
	require.NoError(t, err)
	assert.True(t, w.Paid() && !w.Notified)
	assert.Regexp(t, `OnOutcome could not be committed: .*Error`, w.Problem)
	assert.Equal(t, 1, s.health().HookFailed)
	require.NoError(t, db.exec(ctx, "INSERT INTO orders VALUES ('A')"))
	assert.True(t, s.Settled("A").Notified)
}

// TestDecidingHook: OnOutcome is notified of what it has decided itself.
func TestDecidingHook(t *testing.T) {
	everywhere(t, testDecidingHook[*sql.Tx], testDecidingHook[pgx.Tx])
}

func testDecidingHook[TTx any](t *testing.T, db store[TTx]) {
	var s *shop[TTx]
	s = open(t, db, func(o *durable.Options[TTx]) {
		reported := o.OnOutcome
		o.OnOutcome = func(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
			if change.Write.Reason == durable.ReasonNotFound {
				d := durable.Decision{Verdict: durable.VerdictDeclined, By: "policy", Note: "nothing was found", Version: change.Write.Version}
				if err := s.Engine().Decide(ctx, tx, change.Write.ID, d); err != nil {
					return err
				}
			}
			return reported(ctx, tx, change)
		}
	})
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(502, sandbox.HTML), Times: 1})
	s.pay("A", s.card(sandbox.CardAttempted))
	s.reaches("A", "declined")
	s.Until("A", func(w durable.Write) bool { return w.Notified })
	assert.Equal(t, []string{"needs_person.not_found", "declined"}, s.names("A"))
}
