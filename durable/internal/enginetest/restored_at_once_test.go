package enginetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// Customers whose payments a backup does not know come at once, while look-ups do not show them yet. Under
// the same id nobody is charged twice. Under another one nothing tells the two apart: the log says how many.
func TestServerRestoredAtOnce(t *testing.T) {
	t.Parallel()
	for name, backup := range backups {
		t.Run(name, func(t *testing.T) {
			sv := newServer(t)
			s := &shop[pgx.Tx]{T: t, db: sv.store(), clock: runningClock(t)}
			s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
				a.TokenQuota, a.LookupLag, a.KeyLifetime = 0, 5*time.Minute, 24*time.Hour
			}))
			s.engine = s.start()
			params, n := s.stored(), times(t, backupVariable, 50)
			s.settled(s.pay("before", params))
			require.NoError(t, s.engine.Stop(t.Context()))
			restore, made := backup.take(sv), s.clock.Now()
			s.engine = s.start()
			lost := make([]durable.NewWrite, n)
			for i := range lost {
				lost[i] = s.newWrite(fmt.Sprint("lost ", i))
				_, _, err := s.asked(lost[i], params)
				require.NoError(t, err)
			}
			for _, w := range lost {
				s.settled(w.ID)
			}
			require.NoError(t, s.engine.Stop(t.Context()))

			restore()
			s.db = sv.store()
			if backup.unseen {
				require.NoError(t, s.engineOf().Restored(t.Context(), made))
			}
			s.engine = s.start()
			s.clock.Advance(2 * time.Second) // what was written within a second may have been there before
			for i, w := range lost {
				if i%2 == 1 {
					w = s.newWrite(w.Order)
				}
				if _, _, err := s.asked(w, params); i%2 == 0 || !errors.Is(err, durable.ErrOrderOpen) {
					require.NoError(t, err)
				}
			}
			s.restored()
			twice := [2]int{}
			for i, w := range lost {
				if s.net(w.Order) > 1234 {
					twice[i%2]++
				}
			}
			assert.Zero(t, twice[0], "under the same id")
			t.Logf("charged twice under another id: %d of %d", twice[1], n/2)
		})
	}
}
