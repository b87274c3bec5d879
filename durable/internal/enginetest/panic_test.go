package enginetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
)

// TestPanicsShowNoValues: what the merchant's functions panic with is in no error, log or row, and
// what they were told is told again.
func TestPanicsShowNoValues(t *testing.T) {
	const canary = "4242424242424242"
	var log bytes.Buffer // written by the handler under its lock, and read when the engine has stopped
	var outcomes, events, resumed atomic.Int64
	s := open(t, onFile(t, t.TempDir()+"/shop.db"), func(o *durable.Options[*sql.Tx]) {
		told := o.OnOutcome
		o.OnOutcome = func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
			if outcomes.Add(1) == 1 {
				panic(errors.New(canary))
			}
			return told(ctx, tx, change)
		}
		o.OnEvent = func(context.Context, *sql.Tx, *webhooks.Notification) error {
			if events.Add(1) == 1 {
				panic(canary)
			}
			return nil
		}
		o.OnDifference = func(context.Context, durable.Difference) error { panic(canary) }
		o.Carrier = func(context.Context) string { return "carrier" }
		o.Continue = func(ctx context.Context, _ string) context.Context {
			if resumed.Add(1) == 1 {
				panic(canary)
			}
			return ctx
		}
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.until(time.Second, func(status durable.Health) bool { return status.Refused == 1 })
	assert.Contains(t, s.read(id).Problem, "OnOutcome panicked with a *errors.errorString at panic_test.go:")
	s.until(time.Second, func(durable.Health) bool { return s.read(id).Text() == approved }) // after a lease

	s.listen()
	s.mandate()
	require.NoError(t, s.box.Flush(t.Context()))
	const told = "SELECT count(*) FROM quickstream.notification WHERE problem LIKE '%OnEvent panicked with a string at panic_test.go:%'"
	s.until(time.Second, func(durable.Health) bool { return s.count(told) != 0 }) // what cannot be seen yet is a problem before it
	s.until(time.Second, func(status durable.Health) bool { return status.Received == 0 })

	s.corrupt("amount = $2", id, decimal.New(1, 0))
	err := s.engine.Compare(t.Context(), s.read(id).SettlesOn)
	require.ErrorContains(t, err, "OnDifference panicked with a string at panic_test.go:")
	assert.NotContains(t, err.Error(), canary)
	require.NoError(t, s.engine.Stop(t.Context()))
	assert.NotContains(t, log.String(), canary)
	for column, table := range map[string]string{"problem": "quickstream.write", "problem ": "quickstream.notification", "errors": s.db.Dialect().Jobs} {
		assert.Zero(t, s.count("SELECT count(*) FROM "+table+" WHERE CAST("+column+" AS TEXT) LIKE '%"+canary+"%'"), table)
	}
	assert.NotZero(t, s.count("SELECT count(*) FROM "+s.db.Dialect().Jobs+" WHERE CAST(errors AS TEXT) LIKE '%the job panicked with a string at panic_test.go:%'"))
}
