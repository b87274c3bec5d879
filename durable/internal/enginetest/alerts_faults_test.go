package enginetest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
)

// newWatched returns a watched shop whose engine works, and in which nothing is wrong.
func newWatched(t *testing.T, edits ...func(*durable.Options[*sql.Tx])) *watched {
	t.Helper()
	w := watch(&shop[*sql.Tx]{T: t, db: onFile(t, filepath.Join(t.TempDir(), "shop.db")), clock: runningClock(t)})
	w.box, _ = sandboxtest.New(t, sandbox.WithClock(w.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 0 }))
	w.client = sandboxtest.Client(t, w.box, quickstream.WithRetryWait(time.Millisecond, time.Millisecond))
	w.engine = w.start(append(edits, w.counts)...)
	return w
}

// compareToday compares what was just paid.
func (w *watched) compareToday() {
	w.Helper()
	w.compare(w.paymentOf("A").SettlesOn)
}

// calm waits until what is due is done, so that nothing of it is overdue by the leap of the test's clock alone.
func (w *watched) calm() {
	w.Helper()
	w.until(0, func(h durable.Health) bool { return h.Overdue < time.Minute })
}

// later moves the clock on in steps, after each of which what is due is done.
func (w *watched) later(d, step time.Duration) {
	w.Helper()
	for ; d > 0; d -= step {
		w.clock.Advance(min(d, step))
		w.calm()
	}
}

// lookedUp has the last answer be one of now, and not of before the clock was moved past the request.
func (w *watched) lookedUp(id string) {
	w.Helper()
	_, err := w.engine.LookUp(w.Context(), id, "Kim", "a customer asks")
	require.NoError(w, err)
}

func (w *watched) inject(faults ...sandbox.Fault) {
	w.Helper()
	require.NoError(w, w.box.Inject(faults...))
}

// away is what a gateway answers that does not reach the service.
func away(operation string) sandbox.Fault {
	return sandbox.Fault{Operation: operation, Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML)}
}

// lostAfter loses the answers to payments that were carried out, and lostBefore those that were not.
func lostAfter() sandbox.Fault {
	return sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit()}
}

func lostBefore() sandbox.Fault {
	return sandbox.Fault{Operation: transactions, Kind: sandbox.ResetBeforeCommit()}
}

const settlements = "GET /transactions/for-settlement-date"

// fault is something that goes wrong, and the alerts that are meant to fire for it.
type fault struct {
	name string
	// held is for how long it stays as it is; an hour if zero.
	held  time.Duration
	fires []string
	// options change those of the shop.
	options func(*durable.Options[*sql.Tx])
	// begins makes the fault, after a scrape of a shop in which all is well. Without it nothing is scraped any more.
	begins func(w *watched)
}

// faults are the rows of the matrix. What fires beside the alert that a fault is named for is meant, and
// says why in a comment.
func faults() []fault {
	return []fault{
		{name: "nothing", begins: func(w *watched) { w.settled(w.pay("B", w.stored())) }},
		{name: "a customer on the phone: an answer was lost ten minutes ago", begins: func(w *watched) {
			// Nobody has to be woken: a person looks the order up.
			w.inject(lostAfter(), away(lookUps))
			id := w.reaches(w.pay("B", w.stored()), resolving, 0).ID
			w.later(10*time.Minute, time.Minute)
			w.lookedUp(id)
		}},
		{name: "lost answers in an outage", fires: []string{"QuickstreamUnknownForLong"}, begins: func(w *watched) {
			w.inject(lostAfter(), away(lookUps))
			id := w.reaches(w.pay("B", w.stored()), resolving, 0).ID
			w.later(7*time.Hour, time.Hour)
			w.lookedUp(id)
		}},
		{name: "300 unknown at once", fires: []string{"QuickstreamManyUnknown"}, begins: func(w *watched) {
			w.inject(lostAfter(), away(lookUps))
			params := w.stored()
			for i := range lostAtOnce {
				w.pay(fmt.Sprint("lost ", i), params)
			}
			w.until(0, func(h durable.Health) bool { return h.Writes[durable.StateResolving] == lostAtOnce })
			w.calm()
		}},
		{name: "never carried out, and given up", fires: []string{
			"QuickstreamNotFound", "QuickstreamUnknownForLong", // it has been unknown for days
		}, begins: func(w *watched) {
			w.inject(lostBefore())
			id := w.reaches(w.pay("B", w.stored()), notFound, time.Hour).ID
			w.compareToday()
			w.calm()
			w.lookedUp(id)
		}},
		{name: "the service never answers look-ups", fires: []string{"QuickstreamEscalated", "QuickstreamUnknownForLong"}, begins: func(w *watched) {
			w.inject(lostBefore(), away(lookUps))
			id := w.reaches(w.pay("B", w.stored()), escalated, time.Hour).ID
			w.compareToday()
			w.calm()
			w.lookedUp(id)
		}},
		{name: "a double charge", fires: []string{"QuickstreamDoubleCharged"}, begins: (*watched).chargesTwice},
		{name: "another program's charge", fires: []string{"QuickstreamDifferences"}, begins: func(w *watched) {
			w.lose("B")
			w.compareToday()
		}},
		{name: "a refused OnOutcome", fires: []string{"QuickstreamOutcomeRefused"}, begins: func(w *watched) {
			w.refuses(errors.New("a table is missing"))
			w.pay("B", w.stored())
			w.until(0, func(h durable.Health) bool { return h.Refused == 1 })
		}},
		{name: "held notifications", fires: []string{"QuickstreamHeld"}, options: func(o *durable.Options[*sql.Tx]) {
			o.OnEvent = func(context.Context, *sql.Tx, *webhooks.Notification) error { return errors.New("not now") }
		}, begins: func(w *watched) {
			w.listen()
			w.mandate()
			require.NoError(w, w.box.Flush(w.Context()))
			w.until(0, func(h durable.Health) bool { return h.Held > 0 })
		}},
		{name: "a full disk", fires: []string{"QuickstreamOverdue"}, begins: func(w *watched) {
			w.fills()
			w.clock.Advance(10 * time.Minute)
		}},
		{name: "a program that starts no engine", fires: []string{"QuickstreamOverdue"}, begins: func(w *watched) {
			require.NoError(w, w.engine.Stop(w.Context()))
			w.pay("B", w.stored())
			w.clock.Advance(10 * time.Minute)
		}},
		{name: "a firewall in front of the service", fires: []string{
			"QuickstreamPausedByService", "QuickstreamOverdue", // of what waits
		}, begins: func(w *watched) {
			waiting := w.stored()
			w.inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Status(http.StatusForbidden, sandbox.HTML)}, away("GET /transactions"))
			w.pay("B", waiting)
			w.until(0, func(h durable.Health) bool { return !h.Paused.IsZero() })
			w.pay("C", waiting)
			w.clock.Advance(20 * time.Minute)
		}},
		{name: "a person has forgotten a pause", fires: []string{
			"QuickstreamPausedByPerson", "QuickstreamOverdue", // of what waits
		}, begins: func(w *watched) {
			require.NoError(w, w.engine.Pause(w.Context(), "Kim", "a wrong price"))
			w.pay("B", w.stored())
			w.clock.Advance(30 * time.Minute)
		}},
		{name: "a copy of production beside a test system", fires: []string{"QuickstreamOtherFacility"}, begins: func(w *watched) {
			require.NoError(w, w.engine.Stop(w.Context()))
			w.client = w.elsewhere()
			w.engine = w.engineOf(w.counts)
			require.Error(w, w.engine.Start(w.Context()))
		}},
		{name: "a program that was left running after a deployment", fires: []string{"QuickstreamOutdated"}, begins: func(w *watched) {
			w.put("UPDATE quickstream.meta SET value = '999' WHERE name = 'schema'")
			w.put("UPDATE quickstream.meta SET value = '3' WHERE name = 'safety'")
			w.until(0, func(h durable.Health) bool { return h.Outdated })
		}},
		{name: "a write of another version", fires: []string{
			"QuickstreamStuck", "QuickstreamOverdue", // nothing works on it
		}, begins: func(w *watched) {
			require.NoError(w, w.engine.Stop(w.Context()))
			id := w.pay("B", w.stored())
			w.corrupt(`intent = '{"version":99,' || substr(intent, 1)`, id)
			w.engine = w.start(w.counts)
			w.clock.Advance(10 * time.Minute)
			w.until(0, func(h durable.Health) bool { return h.Stuck == 1 })
		}},
		{name: "a promotion, and the service's lists fail", fires: []string{"QuickstreamRestoring"}, begins: func(w *watched) {
			w.inject(away(settlements))
			w.putsBack()
			w.later(40*time.Minute, time.Minute)
		}},
		{name: "a promotion, and a day cannot be listed", fires: []string{"QuickstreamRestoringUnreadable"}, begins: func(w *watched) {
			w.inject(sandbox.Fault{Operation: settlements, Kind: sandbox.Status(http.StatusForbidden, sandbox.ServiceError)})
			w.putsBack()
			w.until(2*time.Second, func(h durable.Health) bool { return h.RestoringUnreadable > 0 })
			w.calm()
		}},
		{name: "a promotion that goes well", begins: func(w *watched) {
			w.putsBack()
			w.restored()
		}},
		{name: "a copy beside its original", fires: []string{"QuickstreamMaybeCopy"}, begins: func(w *watched) {
			require.NoError(w, w.engine.Stop(w.Context()))
			w.pay("B", w.stored())
			w.put("UPDATE quickstream.meta SET value = 'another' WHERE name = 'history'")
			w.engine = w.start(w.counts)
		}},
		{name: "a clock ahead that nothing confirms", fires: []string{"QuickstreamClockDoubted"}, begins: func(w *watched) {
			require.NoError(w, w.engine.Stop(w.Context()))
			w.inject(sandbox.Fault{Kind: sandbox.ResetBeforeCommit()})
			w.put("UPDATE quickstream.meta SET value = $1 WHERE name = 'clock'", fmt.Sprint(w.clock.Now().Add(-time.Hour).UnixMicro(), " 0"))
			w.engine = w.start(w.counts)
		}},
		{name: "the database's clock ahead of the machine's", fires: []string{"QuickstreamClocksApart"}, begins: func(w *watched) {
			require.NoError(w, w.engine.Stop(w.Context()))
			const ahead = 5 * time.Minute
			w.db.Database = &hooked[*sql.Tx]{Database: w.db.Database, answer: func(query string, rows database.Rows) database.Rows {
				if query != "SELECT "+database.Now {
					return rows
				}
				return shifted{rows, ahead}
			}}
			w.engine = w.start(w.counts, func(o *durable.Options[*sql.Tx]) { // whose time is the service's all the same
				o.Clock = func() time.Time { return w.clock.Now().Add(-ahead) }
			})
		}},
		{name: "a clock ahead of the service's", fires: []string{"QuickstreamClocksApart"}, begins: func(w *watched) {
			require.NoError(w, w.engine.Stop(w.Context()))
			w.engine = w.start(w.counts, func(o *durable.Options[*sql.Tx]) {
				o.Clock = func() time.Time { return w.clock.Now().Add(10 * time.Minute) }
			})
		}},
		{name: "a failing comparison", fires: []string{"QuickstreamComparisonFails"}, begins: func(w *watched) {
			w.inject(away(settlements))
			require.Error(w, w.engine.Compare(w.Context(), w.paymentOf("A").SettlesOn))
			w.later(4*time.Hour, time.Hour)
		}},
		{name: "no comparison any more", fires: []string{"QuickstreamNotCompared"}, begins: func(w *watched) { w.later(50*time.Hour, 10*time.Hour) }},
		{name: "never a comparison", held: 50 * time.Hour, fires: []string{"QuickstreamNeverCompared"}, begins: func(w *watched) {
			w.put("DELETE FROM quickstream.meta WHERE name = 'comparison'")
		}},
		{name: "the database is away", fires: []string{"QuickstreamHealthFails"}, begins: func(w *watched) {
			db, err := sqlite.Open(filepath.Join(w.TempDir(), "shop.db"))
			require.NoError(w, err)
			w.db = store[*sql.Tx]{Database: sqlite.DB(db), anew: func() {}}
			require.NoError(w, durable.MigrateUp(w.Context(), w.db.Database))
			w.engine = w.engineOf()
			require.NoError(w, db.Close())
		}},
		{name: "no program runs", fires: []string{"QuickstreamAbsent"}},
	}
}

// chargesTwice has a payment that a person has called declined carried out after the next one.
func (w *watched) chargesTwice() {
	w.inject(sandbox.Fault{Operation: transactions, Kind: sandbox.CommitLate(5 * time.Minute), Times: 3}, away(lookUps)) // or it is found before the next is sent
	id := w.pay("B", w.stored())
	w.reaches(id, resolving, time.Second)
	w.clock.Advance(10*time.Minute + time.Second)
	require.NoError(w, w.commit(func(tx *sql.Tx) error {
		return w.engine.Decide(w.Context(), tx, id, durable.Decision{Verdict: durable.VerdictDeclined, By: "Alex", Note: "wrongly"})
	}))
	require.Equal(w, approved, w.settled(w.pay("B", w.stored())).Text())
	w.box.ClearFaults()
	w.until(time.Minute, func(h durable.Health) bool { return h.Writes[durable.StateDoubleCharged] == 1 })
	w.calm()
	w.lookedUp(id)
}

// elsewhere returns a client of a service at another address, at the same time.
func (w *watched) elsewhere() *quickstream.Client {
	w.Helper()
	other := &facility{businesses: []string{sandbox.DefaultBusiness}}
	server := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		answer.Header().Set("Date", w.clock.Now().UTC().Format(http.TimeFormat))
		other.ServeHTTP(answer, r)
	}))
	w.Cleanup(server.Close)
	client, err := quickstream.NewClient(quickstream.CustomURL(server.URL+"/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("secret")})
	require.NoError(w, err)
	return client
}

// shifted are rows whose times are ahead.
type shifted struct {
	database.Rows
	by time.Duration
}

// Scan scans a row.
func (s shifted) Scan(dest ...any) error {
	err := s.Rows.Scan(dest...)
	for _, value := range dest {
		if at, ok := value.(*time.Time); ok {
			*at = at.Add(s.by)
		}
	}
	return err
}

// putsBack puts an older file beside the mark of the newer one: a standby that was promoted may lack what was sent
// last, too. A person says that it is no copy.
func (w *watched) putsBack() {
	w.older(func() { w.settled(w.pay("B", w.stored())) })
	require.NoError(w, w.engine.ConfirmHistory(w.Context(), "Kim", "it was promoted"))
}

// older puts an older file beside the mark of the newer one, which alone has what was done since.
func (w *watched) older(since func()) {
	require.NoError(w, w.engine.Stop(w.Context()))
	dir := w.TempDir()
	older, newer := filepath.Join(dir, "older.db"), w.text("SELECT file FROM pragma_database_list WHERE name = 'main'")
	copyDatabase(w.T, newer, older)
	w.engine = w.start(w.counts)
	since()
	require.NoError(w, w.engine.Stop(w.Context()))
	mark, err := os.ReadFile(newer + ".mark")
	require.NoError(w, err)
	require.NoError(w, os.WriteFile(older+".mark", mark, 0o600))
	w.db = onFile(w.T, older)
	w.engine = w.start(w.counts)
}

// fills leaves no room for anything more on the disk, until room is called.
func (w *watched) fills() {
	require.NoError(w, w.engine.Stop(w.Context()))
	params := w.stored()
	for i := range 10 {
		w.pay(fmt.Sprint("waits ", i), params)
	}
	var pages atomic.Int64
	pages.Store(1) // or what it has
	w.db.Database = &hooked[*sql.Tx]{Database: w.db.Database, before: func(ctx context.Context, tx database.Tx, _ string, _ []any) {
		_, _ = tx.Exec(ctx, fmt.Sprint("PRAGMA max_page_count = ", pages.Load())) // of this connection
	}}
	w.engine = w.start(w.counts)
	w.room = func() { pages.Store(1e6) }
	w.Cleanup(w.room) // before the engine is stopped
	w.until(time.Second, func(h durable.Health) bool { return h.Overdue > time.Minute })
}

// TestAlerts makes each fault with an engine and a sandbox, and compares the alerts that fire with those that are meant.
func TestAlerts(t *testing.T) {
	promtool(t)
	var tested []string
	t.Run("faults", func(t *testing.T) {
		for _, f := range faults() {
			tested = append(tested, f.fires...)
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				var edits []func(*durable.Options[*sql.Tx])
				if f.options != nil {
					edits = append(edits, f.options)
				}
				w := newWatched(t, edits...)
				w.settled(w.pay("A", w.stored()))
				w.compareToday()
				before, after := w.scrape(), scrape{}
				if f.begins != nil {
					f.begins(w)
					after = w.scrape()
				}
				fires(t, before, after, cmp.Or(f.held, faultyFor), f.fires)
			})
		}
	})
	var alerts []string
	for _, r := range rules(t) {
		alerts = append(alerts, r.Alert)
	}
	slices.Sort(alerts)
	slices.Sort(tested)
	assert.Equal(t, alerts, slices.Compact(tested), "each alert has a fault")
}
