package enginetest

import (
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// gateway stands in front of a service that shares no code with the sandbox. The service
// carries every write out, once for each key, and the gateway answers it as it was told to.
type gateway struct {
	mu      sync.Mutex
	refuses bool
	status  int
	body    string
	down    bool // reads are refused too
	hidden  bool // look-ups do not find what was made yet
	forgets bool // each request is carried out, also under the same key
	made    []map[string]any
	keys    map[string]map[string]any
	calls   []string // writes, checks and look-ups in their order
	now     func() time.Time
	sent    []time.Time
}

const ownWords = `{"status":%d,"developerMessage":"no","customerMessage":"no"}`

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	path := strings.TrimPrefix(r.URL.Path, "/rest/v1")
	switch {
	case r.Method == http.MethodPost && path == "/transactions":
		t := g.make(r)
		if !g.refuses {
			answer(http.StatusCreated, t)
			return
		}
		w.WriteHeader(g.status)
		_, _ = w.Write([]byte(g.body))
	case g.down:
		w.WriteHeader(http.StatusBadGateway)
	case path == "/transactions":
		if r.URL.Query().Get("supplierBusinessCode") == "" {
			g.calls = append(g.calls, "check")
		}
		answer(http.StatusOK, map[string]any{"data": []any{}})
	case path == "/transactions/for-reference-number":
		g.calls = append(g.calls, "look-up "+r.URL.Query().Get("referenceNumber"))
		found := []any{}
		for _, t := range g.made {
			if !g.hidden && t["paymentReferenceNumber"] == r.URL.Query().Get("referenceNumber") {
				found = append(found, t)
			}
		}
		answer(http.StatusOK, map[string]any{"data": found})
	default:
		answer(http.StatusNotFound, map[string]any{"developerMessage": "there is no such thing"})
	}
}

// make carries a payment out.
func (g *gateway) make(r *http.Request) map[string]any {
	key := r.Header.Get("Idempotency-Key")
	var t map[string]any
	_ = json.NewDecoder(r.Body).Decode(&t)
	g.calls, g.sent = append(g.calls, fmt.Sprint("write ", t["paymentReferenceNumber"])), append(g.sent, g.now())
	if t := g.keys[key]; t != nil && !g.forgets {
		return t
	}
	t["receiptNumber"], t["status"], t["summaryCode"] = fmt.Sprint(1000+len(g.made)), "Approved", "0"
	t["principalAmount"] = map[string]any{"amount": t["principalAmount"], "currency": t["currency"]}
	g.made = append(g.made, t)
	if g.keys == nil {
		g.keys = map[string]map[string]any{}
	}
	g.keys[key] = t
	return t
}

func (g *gateway) set(change func(*gateway)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
}

// writes is how often a payment was sent.
func (g *gateway) writes() (n int) {
	g.set(func(g *gateway) { n = len(g.sent) })
	return n
}

// charges counts what was made for an order.
func (g *gateway) charges(order string) (n int) {
	g.set(func(g *gateway) {
		for _, t := range g.made {
			if metadata, _ := t["metadata"].(map[string]any); metadata["quickstreamOrder"] == order {
				n++
			}
		}
	})
	return n
}

// behind returns a shop whose client talks to a gateway.
func behind[TTx any](t *testing.T, db store[TTx], g *gateway) *shop[TTx] {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	client, err := quickstream.NewClient(quickstream.CustomURL(server.URL+"/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("secret")})
	require.NoError(t, err)
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t), client: client}
	g.now = s.clock.Now
	s.engine = s.start()
	return s
}

// anotherToken returns the parameters of a payment by a token of its own.
func anotherToken() quickstream.PayParams {
	params := token()
	params.Source = quickstream.FromSingleUseToken(rand.Text())
	return params
}

// comes waits until a write is in a state, while time passes, whatever it waits for.
func (s *shop[TTx]) comes(id, state string, step time.Duration) durable.Record {
	s.Helper()
	s.until(step, func(durable.Health) bool { return s.read(id).Text() == state })
	return s.read(id)
}

func TestRefusedAfterTheCommit(t *testing.T) {
	everywhere(t, testRefusedAfterTheCommit[*sql.Tx], testRefusedAfterTheCommit[pgx.Tx])
}

// A payment that was carried out and answered with a refusal is looked up, and not sent
// again, whoever words the refusal.
func testRefusedAfterTheCommit[TTx any](t *testing.T, db store[TTx]) {
	g := &gateway{refuses: true, forgets: true}
	s := behind(t, db, g)
	for _, status := range []int{401, 429, 503} {
		for name, body := range map[string]string{"own words": fmt.Sprintf(ownWords, status), "a page": "<html>", "nothing": ""} {
			g.set(func(g *gateway) { g.status, g.body = status, body })
			order := fmt.Sprint(status, " ", name)
			s.comes(s.pay(order, anotherToken()), approved, time.Minute)
			assert.Equal(t, 1, g.charges(order), order)
		}
	}
	assert.Equal(t, 9, g.writes())
}

func TestSentOnceMoreAfterALookUp(t *testing.T) {
	everywhere(t, testSentOnceMoreAfterALookUp[*sql.Tx], testSentOnceMoreAfterALookUp[pgx.Tx])
}

// After a refusal in the service's own words a payment is sent once more, right after a look-up and
// under the same key: also if the first was carried out all the same, and cannot be seen yet.
func testSentOnceMoreAfterALookUp[TTx any](t *testing.T, db store[TTx]) {
	g := &gateway{hidden: true}
	s := behind(t, db, g)
	for _, status := range []int{401, 429, 503} {
		g.set(func(g *gateway) {
			g.refuses, g.status, g.body = true, status, fmt.Sprintf(ownWords, status)
			g.made, g.keys, g.calls = nil, nil, nil
		})
		id := s.pay(fmt.Sprint("order ", status), anotherToken())
		s.until(0, func(h durable.Health) bool { return s.read(id).Failures == 1 && !h.Paused.IsZero() })
		assert.Equal(t, queued, s.read(id).Text())
		g.set(func(g *gateway) { g.refuses = false })
		s.clock.Advance(checkPassed) // the key is kept for as long again
		p := s.comes(id, approved, 0)
		assert.Equal(t, 2, p.Sends)
		g.set(func(g *gateway) {
			assert.Len(t, g.made, 1)
			assert.Len(t, g.keys, 1)
			calls := slices.DeleteFunc(g.calls, func(call string) bool { return call != "check" && !strings.HasSuffix(call, p.Reference) })
			write := "write " + p.Reference
			require.Equal(t, write, calls[0])
			second := slices.Index(calls[1:], write)
			require.Positive(t, second)
			assert.Contains(t, calls[1:][:second], "check")
			assert.Equal(t, "look-up "+p.Reference, calls[second])
			assert.NotContains(t, calls[second+2:], write)
		})
		var kinds []durable.EventKind
		events, err := s.engine.Events(t.Context(), id)
		require.NoError(t, err)
		for _, event := range events[:5] {
			kinds = append(kinds, event.Kind)
		}
		assert.Equal(t, []durable.EventKind{durable.EventQueued, durable.EventClaimed, durable.EventNotExecuted, durable.EventClaimed, durable.EventAnswered}, kinds)
	}
}

func TestUnavailableTwice(t *testing.T) {
	everywhere(t, testUnavailableTwice[*sql.Tx], testUnavailableTwice[pgx.Tx])
}

// After a second 503 in the service's own words its key may remember that: the payment is sent under
// the next key, after 15 minutes and a look-up. All sends have one reference.
func testUnavailableTwice[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock))
	s.engine = s.start()
	params := s.stored()
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Status(503, sandbox.ServiceError), Times: 1}))
	s.box.ResetRequests()
	id := s.pay("A", params)
	s.until(0, func(h durable.Health) bool { return s.read(id).Failures == 1 && !h.Paused.IsZero() })
	s.clock.Advance(checkPassed)
	s.until(0, func(durable.Health) bool { return s.read(id).Failures == 2 })
	s.comes(id, approved, 10*time.Second)
	var keys []string
	var at []time.Time
	references, looked := map[string]bool{}, 0
	for _, r := range s.box.Requests() {
		switch r.Operation {
		case lookUps:
			looked++
		case transactions:
			assert.Equal(t, len(keys) > 0, looked > 0, "it is looked up before it is sent again")
			looked = 0
			var body struct{ PaymentReferenceNumber string }
			require.NoError(t, json.Unmarshal(r.Body, &body))
			keys, at, references[body.PaymentReferenceNumber] = append(keys, r.IdempotencyKey), append(at, r.Time), true
		}
	}
	require.Len(t, keys, 3)
	assert.Equal(t, keys[0], keys[1])
	assert.NotEqual(t, keys[0], keys[2])
	assert.GreaterOrEqual(t, at[1].Sub(at[0]), 20*time.Second)
	assert.GreaterOrEqual(t, at[2].Sub(at[1]), 15*time.Minute)
	assert.Len(t, references, 1)
	assert.Equal(t, 1, s.charged())
}

// checkPassed is longer than the pause before the service is asked whether it answers.
const checkPassed = 31 * time.Second

func TestBreaker(t *testing.T) { everywhere(t, testBreaker[*sql.Tx], testBreaker[pgx.Tx]) }

// After a refusal no process of the installation sends anything until a check has succeeded, by any
// way. Then one write goes alone, and each further refusal doubles the pause. Only what went has to
// be looked up.
func testBreaker[TTx any](t *testing.T, db store[TTx]) {
	g := &gateway{refuses: true, status: 429, body: "<html>"}
	s := behind(t, db, g)
	s.start()
	first := s.pay("first", anotherToken())
	s.reaches(first, resolving, 0)
	assert.NotZero(t, s.status().Paused)
	var waiting []string
	for i := range 20 {
		waiting = append(waiting, s.pay(fmt.Sprint("waiting ", i), anotherToken()))
	}
	g.set(func(g *gateway) { g.down = true })
	for range 5 { // the check fails
		s.clock.Advance(checkPassed)
		<-time.After(100 * time.Millisecond)
	}
	require.ErrorIs(t, s.sendCard("direct"), quickstream.ErrNotSent)
	assert.Equal(t, 1, g.writes())
	g.set(func(g *gateway) { g.down = false })
	require.Eventually(t, func() bool { // one write for each trial
		s.clock.Advance(time.Second)
		return g.writes() == 4
	}, time.Minute, 20*time.Millisecond)
	g.set(func(g *gateway) {
		assert.GreaterOrEqual(t, g.sent[2].Sub(g.sent[1]), time.Minute)
		assert.GreaterOrEqual(t, g.sent[3].Sub(g.sent[2]), 2*time.Minute)
		g.refuses = false
	})
	s.until(time.Second, func(durable.Health) bool { return s.over() == 21 })
	assert.Zero(t, s.status().Paused)
	for _, id := range append(waiting, first) {
		assert.Equal(t, approved, s.read(id).Text())
	}
	g.set(func(g *gateway) { assert.Len(t, g.made, 21) })
	assert.Equal(t, 21, g.writes())
}

// A program that only sends by Send, and starts no engine, ends its pause by itself.
func TestPauseWithoutStart(t *testing.T) {
	t.Parallel()
	g := &gateway{refuses: true, status: 429, body: "<html>"}
	s := behind(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")), g)
	require.NoError(t, s.engine.Stop(t.Context()))
	s.engine = s.engineOf()
	require.ErrorIs(t, s.sendCard("A"), quickstream.ErrOutcomeUnknown)
	g.set(func(g *gateway) { g.refuses = false })
	require.ErrorIs(t, s.sendCard("B"), quickstream.ErrNotSent)
	s.clock.Advance(checkPassed)
	require.NoError(t, s.sendCard("C"))
}

// A key that may pay and may not list transactions ends the pause, by the service's own
// words.
func TestCheckIsForbidden(t *testing.T) {
	t.Parallel()
	s := open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions", Kind: sandbox.Status(403, sandbox.ServiceError)}))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Status(429, sandbox.ServiceError), Times: 1}))
	first := s.pay("A", s.card(sandbox.CardAttempted))
	require.Eventually(t, func() bool { return !s.status().Paused.IsZero() }, 2*time.Minute, 20*time.Millisecond)
	id := s.pay("B", s.card(sandbox.CardAttempted))
	s.clock.Advance(checkPassed)
	s.reaches(id, approved, 0)
	s.comes(first, approved, time.Second)
	assert.Equal(t, 2, s.charged())
}
