package enginetest

import (
	"errors"
	"fmt"
	"strings"
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

// Customers of a SQLite file that was put back come under new ids: half at once, which is charged twice where
// look-ups do not show the lost payment yet, and becomes double charged; and half when the search has found it.
func TestFileRestoredAtOnce(t *testing.T) {
	t.Parallel()
	for service, m := range memories {
		if m.fails != "" {
			continue
		}
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			begun, f, n := time.Now(), newFileShop(t, m), times(t, backupVariable, 20)
			f.sells(f.orders("before", 1))
			require.NoError(t, f.engine.Stop(t.Context())) // a copy of a file that is written to is none
			fileBackups["file and wal"].take(f, f.backup)
			f.engine = f.start()
			lost := f.orders("lost", n)
			f.sells(lost)
			f.putsBack(fileBackups["file and wal"])
			f.engine = f.start()
			f.clock.Advance(2 * time.Second) // what was written within a second may have been there before
			again := func(lost []durable.NewWrite) (open int) {
				for _, w := range lost {
					_, _, err := f.asked(f.newWrite(w.Order), f.params)
					if errors.Is(err, durable.ErrOrderOpen) {
						open++
					} else {
						require.NoError(t, err)
					}
				}
				return open
			}
			adopted := f.clock.Now()
			again(lost[:n/2])
			require.Eventually(t, func() bool {
				return strings.Contains(f.text("SELECT value FROM quickstream.meta WHERE name = 'change of history'"), `"searched":true`) && len(f.status().Writes) == 0
			}, 3*time.Minute, 50*time.Millisecond) // time does not leap: payments wait for the lists three minutes at most
			searched := f.clock.Now().Sub(adopted)
			require.Eventually(t, func() bool {
				f.clock.Advance(5 * time.Second)
				return f.count("SELECT count(DISTINCT order_id) FROM quickstream.write WHERE order_id LIKE 'lost %'") == n
			}, 4*time.Minute, 20*time.Millisecond)
			found := f.clock.Now().Sub(adopted)
			open := again(lost[n/2:])
			f.ends(true)
			atOnce, later := f.bill(lost[:n/2], nil), f.bill(lost[n/2:], nil)
			if m.lag == 0 {
				assert.Equal(t, bill{}, atOnce)
			}
			assert.Equal(t, bill{twice: atOnce.twice}, atOnce)
			assert.Equal(t, atOnce.twice, f.count("SELECT count(DISTINCT order_id) FROM quickstream.write WHERE state = 'double_charged'"))
			assert.Equal(t, bill{}, later)
			t.Logf("searched after %s; of %d at once %+v; of %d after %s, %d of them refused as paid, %+v; in %s",
				searched.Round(time.Second), n/2, atOnce, n-n/2, found.Round(time.Second), open, later, time.Since(begun).Round(time.Second))
		})
	}
}
