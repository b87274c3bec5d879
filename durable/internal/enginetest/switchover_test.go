package enginetest

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
)

// A primary is stopped and its standby promoted while payments come in: no order is charged twice, and
// nothing waits for what look-ups may miss.
func TestSwitchover(t *testing.T) {
	t.Parallel()
	primary := newServer(t)
	require.NoError(t, durable.MigrateUp(t.Context(), primary.store().Database))
	follower := primary.standby()
	quietly := func(o *durable.Options[pgx.Tx]) { o.Logger = nil } // all fails that is asked of a server that is down
	s := open(t, either(primary, follower), quietly)
	var sales []time.Time
	s.hook = func(_ context.Context, _ pgx.Tx, change durable.OutcomeChange) error {
		if change.Write.Common().Text() == approved {
			sales = append(sales, time.Now())
		}
		return nil
	}
	sold := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(sales)
	}
	params, n, ended := s.stored(), times(t, lostVariable, 20), make(chan struct{})
	var customers sync.WaitGroup
	orders := make([][]durable.NewWrite, 4)
	for c := range orders {
		customers.Go(func() {
			for tick := time.NewTicker(20 * time.Millisecond); ; {
				w := s.newWrite("order " + strconv.Itoa(c) + "." + strconv.Itoa(len(orders[c])))
				orders[c] = append(orders[c], w)
				for done := false; !done; { // a form is posted until it is answered
					select {
					case <-tick.C:
					case <-ended:
						return
					}
					_, _, err := s.asked(w, params)
					done = err == nil
				}
			}
		})
	}
	wait := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool { return sold() >= n }, time.Minute, 20*time.Millisecond)
	}
	wait(n)
	begun, stopped := s.clock.Now(), time.Now()
	primary.stop("fast") // when the standby has everything
	follower.run("pg_ctl", "-D", follower.data, "-w", "promote")
	promoted := time.Since(stopped)
	second := &shop[pgx.Tx]{T: t, box: s.box, clock: s.clock, client: s.client, db: follower.store()}
	second.hook = func(ctx context.Context, tx pgx.Tx, change durable.OutcomeChange) error {
		return s.told(ctx, tx, change)
	}
	second.engine = second.start(quietly)
	s.box.ResetRequests()
	before := sold()
	wait(before + 2*n)
	close(ended)
	customers.Wait()
	for last := -1; sold() > last; <-time.After(2 * time.Second) { // what is not stuck is sold before the clock moves
		last = sold()
	}
	lookedUp, asked := 0, 0
	for _, request := range s.box.Requests() {
		if request.Operation == lookUps {
			lookedUp++
		}
	}
	for _, of := range orders {
		asked += len(of)
		for _, w := range of[:len(of)-1] { // the last one may not have been stored
			if s.read(w.ID).Text() != approved {
				s.comes(w.ID, approved, time.Second) // its job was lost, or its answer
			}
		}
	}
	assert.Less(t, s.clock.Now().Sub(begun), 10*time.Minute, "a payment waits for what look-ups may miss")
	charged := map[string]int{}
	for _, entry := range s.box.Ledger() {
		charged[entry.Metadata["quickstreamOrder"]]++
		assert.Equal(t, 1, charged[entry.Metadata["quickstreamOrder"]])
	}
	longest := time.Duration(0)
	for i, at := range sales[1:] {
		longest = max(longest, at.Sub(sales[i]))
	}
	t.Logf("%d orders, promoted after %s, %s without a sale at the longest, %.2f look-ups for each payment after it",
		asked, promoted.Round(time.Millisecond), longest.Round(time.Millisecond), float64(lookedUp)/float64(max(1, s.sent())))
}
