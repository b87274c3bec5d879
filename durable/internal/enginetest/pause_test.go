package enginetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// gateway stands in front of a service that shares no code with the sandbox. The service
// carries every write out, and the gateway answers it as it was told to.
type gateway struct {
	mu      sync.Mutex
	refuses bool
	status  int
	body    string
	down    bool // reads are refused too
	hidden  bool // look-ups do not find what was made yet
	made    []map[string]any
	checks  int
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
		var t map[string]any
		_ = json.NewDecoder(r.Body).Decode(&t)
		t["receiptNumber"], t["status"], t["summaryCode"] = fmt.Sprint(1000+len(g.made)), "Approved", "0"
		t["principalAmount"] = map[string]any{"amount": t["principalAmount"], "currency": t["currency"]}
		g.made = append(g.made, t)
		if !g.refuses {
			answer(http.StatusCreated, t)
			return
		}
		w.WriteHeader(g.status)
		_, _ = w.Write([]byte(g.body))
	case g.down:
		w.WriteHeader(http.StatusBadGateway)
	case path == "/transactions":
		g.checks++
		answer(http.StatusOK, map[string]any{"data": []any{}})
	case path == "/transactions/for-reference-number":
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

func (g *gateway) set(change func(*gateway)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change(g)
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
	s.engine = s.start()
	return s
}

// token returns the parameters of a payment by a token that was never asked for.
func token() quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: "SHOP", Source: quickstream.FromSingleUseToken("token"), PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"), StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
}

func TestRefusedAfterTheCommit(t *testing.T) {
	everywhere(t, testRefusedAfterTheCommit[*sql.Tx], testRefusedAfterTheCommit[pgx.Tx])
}

// A payment that was carried out and answered with a refusal is looked up, and not sent
// again, whoever words the refusal: something in between may have sent it twice.
func testRefusedAfterTheCommit[TTx any](t *testing.T, db store[TTx]) {
	g := &gateway{refuses: true}
	s := behind(t, db, g)
	for _, status := range []int{401, 429, 503} {
		for name, body := range map[string]string{"own words": fmt.Sprintf(ownWords, status), "a page": "<html>", "nothing": ""} {
			g.set(func(g *gateway) { g.status, g.body = status, body })
			order := fmt.Sprint(status, " ", name)
			id := s.pay(order, token())
			s.reaches(id, durable.StateUnknown, checkPassed) // looked up later
			s.clock.Advance(checkPassed)
			s.reaches(id, durable.StateApproved, time.Second)
			assert.Equal(t, 1, g.charges(order), order)
		}
	}
}

// checkPassed is longer than the pause before the service is asked whether it answers.
const checkPassed = 31 * time.Second

func TestNothingIsClaimedAfterARefusal(t *testing.T) {
	everywhere(t, testNothingIsClaimedAfterARefusal[*sql.Tx], testNothingIsClaimedAfterARefusal[pgx.Tx])
}

// After a refusal a process sends nothing more until a check has succeeded, by any way:
// only what was under way has to be looked up.
func testNothingIsClaimedAfterARefusal[TTx any](t *testing.T, db store[TTx]) {
	g := &gateway{refuses: true, status: 429, body: "<html>"}
	s := behind(t, db, g)
	first := s.pay("first", token())
	s.reaches(first, durable.StateUnknown, 0)
	var waiting []string
	for i := range 20 {
		waiting = append(waiting, s.pay(fmt.Sprint("waiting ", i), token()))
	}
	g.set(func(g *gateway) { g.down = true })
	for range 5 { // the check fails
		s.clock.Advance(checkPassed)
		<-time.After(100 * time.Millisecond)
	}
	require.ErrorIs(t, s.sendCard("direct"), quickstream.ErrNotSent)
	g.set(func(g *gateway) { assert.Len(t, g.made, 1); g.down, g.refuses = false, false })
	require.Eventually(t, func() bool {
		s.clock.Advance(time.Second)
		n := 0
		for _, id := range append(waiting, first) {
			if p, err := s.engine.Payment(t.Context(), id); err == nil && p.State == durable.StateApproved {
				n++
			}
		}
		return n == 21
	}, 20*time.Second, 20*time.Millisecond)
	g.set(func(g *gateway) { assert.Len(t, g.made, 21); assert.Positive(t, g.checks) })
}

// A program that only sends by Send, and starts no engine, ends its pause by itself.
func TestPauseWithoutStart(t *testing.T) {
	t.Parallel()
	g := &gateway{refuses: true, status: 429, body: "<html>"}
	s := behind(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")), g)
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
	s.reaches(s.pay("A", s.card(sandbox.CardAttempted)), durable.StateUnknown, 0)
	id := s.pay("B", s.card(sandbox.CardAttempted))
	s.clock.Advance(checkPassed)
	s.reaches(id, durable.StateApproved, 0)
}
