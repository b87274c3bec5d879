package enginetest

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// charges has a payment charged, and not found until the faults are cleared. No other is carried out.
func (s *shop[TTx]) charges(pay func() string) string {
	s.Helper()
	s.box.ClearFaults()
	require.NoError(s, s.box.Inject(
		sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 1},
		sandbox.Fault{Operation: transactions, Kind: sandbox.ResetBeforeCommit()},
	))
	s.hides()
	id := pay()
	s.reaches(id, notFound, 6*time.Hour)
	return id
}

// again replaces a payment of order A.
func (s *shop[TTx]) again(absent string) string {
	s.Helper()
	id, err := s.payAgain("A", absent, s.stored())
	require.NoError(s, err)
	return id
}

func TestThirdPaymentIsOpen(t *testing.T) {
	everywhere(t, testThirdPaymentIsOpen[*sql.Tx], testThirdPaymentIsOpen[pgx.Tx])
}

// An order has a payment that was replaced, one that a person called not sent, and one of unknown outcome. The first two are
// found, and the second of them is a double charge.
func testThirdPaymentIsOpen[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	first := s.charges(func() string { return s.pay("A", s.stored()) })
	second := s.charges(func() string { return s.again(first) })
	require.NoError(t, s.commit(func(tx TTx) error {
		return s.engine.Decide(t.Context(), tx, second, durable.Decision{Verdict: durable.VerdictNotSent, By: "Alex", Note: "support says so"})
	}))
	third := s.pay("A", s.stored())
	s.reaches(third, resolving, 0)
	s.corrupt("next_at = $2, due_at = $2", second, s.clock.Now().Add(12*time.Hour)) // the first one is found first
	s.corrupt("next_at = $2, due_at = $2", first, s.clock.Now())
	s.box.ClearFaults()
	s.reaches(first, approved, 0)
	s.reaches(second, doubleCharged, time.Hour)
	assert.Equal(t, 2, s.charged())
}

// Two payments of an order that others have replaced are found at the same moment: one of them is a double charge.
func TestTwoReplacedAreFoundAtOnce(t *testing.T) {
	t.Parallel()
	s := open(t, onServer(t, emptyDatabase(t)))
	first := s.charges(func() string { return s.pay("A", s.stored()) })
	second := s.charges(func() string { return s.again(first) })
	s.box.ClearFaults()
	s.hides()
	s.box.NextTransaction(sandbox.Declined(""))
	s.reaches(s.again(second), declined, time.Second)
	require.NoError(t, s.engine.Stop(t.Context()))
	s.box.ClearFaults()
	s.corrupt("next_at = $2, due_at = $2", first, s.clock.Now())
	s.corrupt("next_at = $2, due_at = $2", second, s.clock.Now())
	s.put("DELETE FROM quickstream.meta WHERE name = 'limit'") // or one is looked up after the other
	met := make(chan struct{}, 2)
	s.hook = func(context.Context, pgx.Tx, durable.OutcomeChange) error {
		met <- struct{}{}
		if len(met) == 1 { // the other one comes to here, or waits for this one
			<-time.After(time.Second)
		}
		return nil
	}
	s.engine = s.start(func(o *durable.Options[pgx.Tx]) {
		o.OnOutcome = func(ctx context.Context, tx pgx.Tx, change durable.OutcomeChange) error {
			return s.hook(ctx, tx, change)
		}
	})
	require.Eventually(t, func() bool {
		return s.count("SELECT count(*) FROM quickstream.write WHERE state = 'double_charged'") == 1 && s.count("SELECT count(*) FROM quickstream.write WHERE outcome = 'approved'") == 1
	}, 2*time.Minute, 20*time.Millisecond)
}
