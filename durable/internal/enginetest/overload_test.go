package enginetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/durable/internal/enginetest/overloaded"
)

// inBubble is a database whose clock is that of a testing/synctest bubble.
type inBubble struct{ durable.Database[*sql.Tx] }

type bubbleTx struct{ database.Tx }

type bubbleQueue struct{ database.Queue }

func timed(query string) string {
	return strings.ReplaceAll(query, database.Now, fmt.Sprintf("CAST(%d AS bigint)", time.Now().UnixMicro()))
}

func (t bubbleTx) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	return t.Tx.Exec(ctx, timed(query), args...)
}

func (t bubbleTx) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	return t.Tx.Query(ctx, timed(query), args...)
}

func (q bubbleQueue) Insert(ctx context.Context, tx database.Tx, jobs []river.InsertManyParams) error {
	return q.Queue.Insert(ctx, inner(tx), jobs)
}

func inner(tx database.Tx) database.Tx { return tx.(bubbleTx).Tx } //nolint:forcetypeassert // there is no other

func (d inBubble) Begin(ctx context.Context) (database.Tx, error) {
	tx, err := d.Database.Begin(ctx)
	return bubbleTx{tx}, err
}

func (d inBubble) Join(tx *sql.Tx) database.Tx  { return bubbleTx{d.Database.Join(tx)} }
func (d inBubble) Leave(tx database.Tx) *sql.Tx { return d.Database.Leave(inner(tx)) }

func (d inBubble) Check(ctx context.Context, tx database.Tx) error {
	return d.Database.Check(ctx, inner(tx))
}

func (d inBubble) History(ctx context.Context, tx database.Tx) (database.Change, error) {
	return d.Database.History(ctx, inner(tx))
}

func (d inBubble) Adopt(ctx context.Context, tx database.Tx) error {
	return d.Database.Adopt(ctx, inner(tx))
}

func (d inBubble) Claim(ctx context.Context, tx database.Tx) (func() error, error) {
	return d.Database.Claim(ctx, inner(tx))
}

func (d inBubble) Queue(config *river.Config) (database.Queue, error) {
	queue, err := d.Database.Queue(config)
	return bubbleQueue{queue}, err
}

// rush is a shop with customers who come at a steady rate, in a bubble.
type rush struct {
	*shop[*sql.Tx]
	service *overloaded.Service
	came    []time.Time
	ended   map[string]time.Time // by order
}

func clientOf(t *testing.T, service *overloaded.Service) *quickstream.Client {
	t.Helper()
	client, err := quickstream.NewClient(quickstream.CustomURL("https://service.invalid/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("secret")},
		quickstream.WithHTTPClient(&http.Client{Transport: service}))
	require.NoError(t, err)
	return client
}

// newRush returns a shop with so many engines and a service.
func newRush(t *testing.T, engines int, service *overloaded.Service, sendWithin time.Duration) *rush {
	t.Helper()
	s := &rush{shop: &shop[*sql.Tx]{T: t, db: onFile(t, filepath.Join(t.TempDir(), "shop.db")), client: clientOf(t, service)}, service: service, ended: map[string]time.Time{}}
	s.db.Database = inBubble{s.db.Database}
	for range engines {
		s.engine = s.start(func(o *durable.Options[*sql.Tx]) {
			o.Clock, o.SweepEvery, o.SendWithin = nil, 0, sendWithin
			o.OnOutcome = func(_ context.Context, _ *sql.Tx, change durable.OutcomeChange) error {
				s.mu.Lock()
				defer s.mu.Unlock()
				if w := change.Write.Common(); s.ended[w.Order].IsZero() {
					s.ended[w.Order] = time.Now()
				}
				return nil
			}
		})
	}
	return s
}

// customersEach is when the next customer comes.
const customersEach = 200 * time.Millisecond

// sells has five customers come in a second, for so long.
func (s *rush) sells(d time.Duration) {
	s.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); <-time.After(customersEach) {
		s.pay(fmt.Sprint(len(s.came)), anotherToken())
		s.came = append(s.came, time.Now())
	}
}

// waits are how long those who came between two times have waited, the shortest first.
func (s *rush) waits(from, until time.Time) (waits []time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, came := range s.came {
		if ended := s.ended[fmt.Sprint(i)]; !came.Before(from) && came.Before(until) {
			if ended.IsZero() {
				ended = time.Now().Add(time.Hour)
			}
			waits = append(waits, ended.Sub(came))
		}
	}
	slices.Sort(waits)
	return waits
}

// fastest is the most payments that were sent in a second between two times.
func (s *rush) fastest(from, until time.Time) (most int) {
	seconds := map[int]int{}
	for _, at := range s.service.Begun() {
		if !at.Before(from) && at.Before(until) {
			second := int(at.Sub(from) / time.Second)
			seconds[second]++
			most = max(most, seconds[second])
		}
	}
	return most
}

// drained is when the last of those who came before has got an outcome.
func (s *rush) drained(before time.Time) (last time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, came := range s.came {
		if ended := s.ended[fmt.Sprint(i)]; came.Before(before) && ended.After(last) {
			last = ended
		}
	}
	return last
}

// quantile returns one of sorted times.
func quantile(times []time.Duration, q float64) time.Duration {
	return times[int(q*float64(len(times)-1))]
}

// A service that bears eight requests hangs for a minute, and customers come all the while. Their backlog would keep
// it above its capacity for ever. At most as many payments become unknown as were under way, whoever comes
// a little later is served at once, and the backlog ends in a minute or so.
func TestOverload(t *testing.T) {
	takesLong(t)
	for _, engines := range []int{1, 2} {
		t.Run(fmt.Sprint(engines), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newRush(t, engines, &overloaded.Service{Capacity: 8, Takes: 150 * time.Millisecond}, 0)
				s.sells(5 * time.Second)
				s.service.Hang(true)
				s.sells(time.Minute)
				s.service.Hang(false)
				s.service.Most()
				healed := time.Now()
				s.sells(90 * time.Second)
				unknown := s.count("SELECT count(DISTINCT write_id) FROM quickstream.event WHERE state = 'resolving'")
				newest, drained := s.waits(healed.Add(15*time.Second), healed.Add(85*time.Second)), s.drained(healed).Sub(healed)
				ramp, fastest, most := s.fastest(healed, healed.Add(5*time.Second)), s.fastest(healed, time.Now()), s.service.Most()
				t.Logf("%d unknown outcomes; the newest customers waited %s, %s at most; drained after %s; in a second %d and later %d were sent, %d were under way at once",
					unknown, quantile(newest, 0.5), quantile(newest, 1), drained, ramp, fastest, most)
				assert.LessOrEqual(t, unknown, engines*20) // both queues of each
				assert.LessOrEqual(t, quantile(newest, 1), 5*time.Second)
				assert.LessOrEqual(t, drained, 80*time.Second)
				assert.LessOrEqual(t, ramp, 30) // of 53 that it bears
			})
		})
	}
}

// takesLong leaves a test to .ci/long, which sets DURABLE_LONG.
func takesLong(t *testing.T) {
	t.Helper()
	if os.Getenv("DURABLE_LONG") == "" {
		t.Skip("computes for a minute: .ci/long runs it")
	}
}

// After an outage in which nothing was sent the service gets twice what comes, until the backlog has
// ended. It answers so fast that a few requests under way would be hundreds a second.
func TestRamp(t *testing.T) {
	takesLong(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newRush(t, 2, &overloaded.Service{Capacity: 100, Takes: 5 * time.Millisecond}, 0)
		s.sells(5 * time.Second)
		s.service.Refuse(true)
		s.sells(75 * time.Second)
		require.NotZero(t, s.status().Paused)
		s.service.Refuse(false)
		healed := time.Now()
		s.sells(100 * time.Second)
		newest, drained := s.waits(healed.Add(20*time.Second), time.Now().Add(-5*time.Second)), s.drained(healed).Sub(healed)
		fastest := s.fastest(healed, time.Now())
		t.Logf("at most %d were sent in a second; the newest customers waited %s, %s at most; drained after %s", fastest, quantile(newest, 0.5), quantile(newest, 1), drained)
		// What is enqueued in two seconds may be sent in one.
		assert.LessOrEqual(t, fastest, 3*int(time.Second/customersEach))
		assert.LessOrEqual(t, quantile(newest, 1), 5*time.Second)
		assert.LessOrEqual(t, drained, 100*time.Second)
	})
}

// A lost answer now and then is no matter of capacity: nobody waits longer for it.
func TestLostNowAndThen(t *testing.T) {
	takesLong(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newRush(t, 1, &overloaded.Service{Capacity: 100, Takes: 700 * time.Millisecond, Loses: 50}, 0)
		s.sells(time.Minute)
		waits := s.waits(s.came[0], time.Now().Add(-10*time.Second))
		t.Logf("of %d customers half have waited %s, and the others %s at most", len(waits), quantile(waits, 0.5), quantile(waits, 1))
		assert.LessOrEqual(t, quantile(waits, 0.5), time.Second)
		assert.LessOrEqual(t, quantile(waits, 1), 5*time.Second)
	})
}

// What could not be sent in time while the service hung is not sent afterwards.
func TestOverloadedTooLong(t *testing.T) {
	takesLong(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const within = 100 * time.Second
		s := newRush(t, 1, &overloaded.Service{Capacity: 8, Takes: 150 * time.Millisecond}, within)
		s.service.Hang(true)
		s.sells(20 * time.Second)
		<-time.After(2 * time.Minute)
		s.service.Hang(false)
		<-time.After(5 * time.Minute)
		gaveUp := s.count("SELECT count(*) FROM quickstream.write WHERE state = 'not_sent'")
		assert.Equal(t, len(s.came), gaveUp+s.over())
		assert.GreaterOrEqual(t, gaveUp, len(s.came)/2)
		waited := time.Duration(s.count("SELECT max(first_sent_at - written_at) FROM quickstream.write")) * time.Microsecond
		assert.LessOrEqual(t, waited, within+5*time.Second)
	})
}

// limited has a limit stored, as if answers had been lost, and waits until so many engines have seen it.
func (s *shop[TTx]) limited(most, engines int) {
	s.Helper()
	var l struct {
		Most    int
		Engines map[string]time.Time
	}
	stands := func(now time.Time) bool {
		require.NoError(s, json.Unmarshal([]byte(one[string](s, "SELECT value FROM quickstream.meta WHERE name = 'limit'")), &l))
		for _, until := range l.Engines {
			if until.Before(now) {
				return false
			}
		}
		return len(l.Engines) == engines
	}
	wait := func(until time.Time) {
		for deadline := time.Now().Add(20 * time.Second); !stands(until); <-time.After(20 * time.Millisecond) {
			require.Less(s, time.Now(), deadline, "%+v", l)
		}
	}
	wait(time.Time{})
	now := time.Now
	if s.clock != nil {
		now = s.clock.Now
	}
	stored := fmt.Sprintf(`{"most":%d,"safe":1,"rest":%d,"tried":%q,"engines"`, most, time.Hour, now().UTC().Format(time.RFC3339))
	s.put("UPDATE quickstream.meta SET value = replace(value, '{\"engines\"', $1) WHERE name = 'limit'", stored)
	if s.clock == nil { // in a bubble
		<-time.After(2 * time.Second)
		stands(time.Time{})
	} else {
		s.clock.Advance(20 * time.Second)
		wait(s.clock.Now().Add(15 * time.Second)) // each says again that it works
	}
	require.Equal(s, most, l.Most)
}

func TestOneLimit(t *testing.T) { everywhere(t, testOneLimit[*sql.Tx], testOneLimit[pgx.Tx]) }

// Two engines on one database have no more under way together than their limit.
func testOneLimit[TTx any](t *testing.T, db store[TTx]) {
	service := &overloaded.Service{Capacity: 1000, Takes: time.Millisecond}
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t), client: clientOf(t, service)}
	s.start()
	s.engine = s.start()
	s.limited(6, 2)
	service.Hang(true)
	for i := range 40 {
		s.pay(fmt.Sprint(i), anotherToken())
	}
	require.Eventually(t, func() bool { return service.UnderWay() == 6 }, 2*time.Minute, 20*time.Millisecond)
	service.Hang(false)
	s.until(200*time.Millisecond, func(durable.Health) bool { return s.over() == 40 })
	assert.Equal(t, 6, service.Most())
}

// A call of Send waits for its turn too, and sends nothing if there is none in time.
func TestSendInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newRush(t, 1, &overloaded.Service{Capacity: 8, Takes: 150 * time.Millisecond}, 0)
		s.limited(1, 1)
		s.service.Hang(true)
		s.pay("under way", anotherToken())
		s.pay("under way too", anotherToken())
		<-time.After(time.Second)
		begun := time.Now()
		require.ErrorIs(t, s.sendCard("full"), quickstream.ErrNotSent)
		assert.Equal(t, 5*time.Second, time.Since(begun))
		time.AfterFunc(2*time.Second, func() { s.service.Hang(false) })
		require.NoError(t, s.sendCard("in turn"))
		assert.Len(t, s.service.Begun(), 3)
		assert.Equal(t, 2, s.service.Most())
	})
}
