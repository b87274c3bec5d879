package enginetest

import (
	"database/sql"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// facility is a service that says which businesses it has, and approves every payment.
type facility struct {
	mu         sync.Mutex
	businesses []string
	away       bool
	paid       int
}

func (f *facility) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	status, body := http.StatusOK, map[string]any{"data": []any{}}
	switch path := strings.TrimPrefix(r.URL.Path, "/rest/v1"); {
	case f.away:
		status = http.StatusBadGateway
	case r.Method == http.MethodPost:
		_ = json.NewDecoder(r.Body).Decode(&body)
		f.paid++
		body["receiptNumber"], body["status"], body["summaryCode"], status = "R1", "Approved", "0", http.StatusCreated
		body["principalAmount"] = map[string]any{"amount": body["principalAmount"], "currency": body["currency"]}
	case path == "/businesses":
		items := []any{}
		for _, code := range f.businesses {
			items = append(items, map[string]any{"supplierBusinessCode": code})
		}
		body["data"] = items
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (f *facility) set(change func(*facility)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

// of returns a client of a facility, at an address of its own.
func (f *facility) client(t *testing.T) *quickstream.Client {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	client, err := quickstream.NewClient(quickstream.CustomURL(server.URL+"/rest/v1"), quickstream.Keys{Secret: quickstream.NewSecretKey("secret")})
	require.NoError(t, err)
	return client
}

// otherFacility requires that an error says in what a facility differs.
func otherFacility(t *testing.T, err error, differs string) {
	t.Helper()
	var other *durable.FacilityError
	require.ErrorAs(t, err, &other)
	assert.Equal(t, differs, other.Differs)
}

func TestAnotherFacility(t *testing.T) {
	everywhere(t, testAnotherFacility[*sql.Tx], testAnotherFacility[pgx.Tx])
}

// A database belongs to one installation at one address with its businesses. A copy of it that meets
// another facility sends nothing, also if an engine was started before. A new business goes on, and a
// person may confirm that the facility has moved.
func testAnotherFacility[TTx any](t *testing.T, db store[TTx]) {
	ours := &facility{businesses: []string{"SHOP"}}
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t), client: ours.client(t)}
	s.engine = s.start()
	s.settled(s.pay("A", anotherToken()))
	require.NoError(t, s.engine.Stop(t.Context()))
	home := s.client

	_, err := durable.New(t.Context(), db.Database, home, durable.Options[TTx]{Installation: "copy", OnOutcome: s.told, ServiceRetries: serviceRetries()})
	otherFacility(t, err, "installation")

	theirs := &facility{businesses: []string{"SHOP"}}
	s.client = theirs.client(t)
	moved := s.engineOf()
	otherFacility(t, moved.Start(t.Context()), "address")
	otherFacility(t, healthOf(t, moved).Facility, "address")
	s.client = home
	ours.set(func(f *facility) { f.businesses = []string{"OTHER"} })
	otherFacility(t, s.engineOf().Start(t.Context()), "businesses")

	ours.set(func(f *facility) { f.businesses = []string{"NEW", "SHOP"} })
	s.engine = s.start()
	assert.NoError(t, s.status().Facility)
	s.settled(s.pay("B", anotherToken()))
	require.NoError(t, s.engine.Stop(t.Context()))

	require.Error(t, moved.ConfirmFacility(t.Context(), "Alex", "two\nlines"))
	require.NoError(t, moved.ConfirmFacility(t.Context(), "Alex", "the service has moved"))
	otherFacility(t, s.engineOf().Start(t.Context()), "address")
	s.client = theirs.client(t) // another address again
	otherFacility(t, s.engineOf().Start(t.Context()), "address")
	ours.set(func(f *facility) { assert.Equal(t, 2, f.paid) })
	theirs.set(func(f *facility) { assert.Zero(t, f.paid) })
}

func healthOf[TTx any](t *testing.T, engine *durable.Engine[TTx]) durable.Health {
	t.Helper()
	h, err := engine.Health(t.Context())
	require.NoError(t, err)
	return h
}

func TestFacilityIsReadLater(t *testing.T) {
	everywhere(t, testFacilityIsReadLater[*sql.Tx], testFacilityIsReadLater[pgx.Tx])
}

// Pay works while the service is away, and nothing is claimed before it has said who it is: not at
// another facility, and at once at that of the installation.
func testFacilityIsReadLater[TTx any](t *testing.T, db store[TTx]) {
	ours, theirs := &facility{businesses: []string{"SHOP"}}, &facility{businesses: []string{"SHOP"}, away: true}
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t), client: ours.client(t)}
	s.engine = s.start()
	s.settled(s.pay("A", anotherToken()))
	require.NoError(t, s.engine.Stop(t.Context()))
	home := s.client

	s.client = theirs.client(t)
	s.engine = s.start()
	id := s.pay("B", anotherToken())
	require.Eventually(t, func() bool { return s.read(id).Failures > 0 }, 2*time.Minute, 20*time.Millisecond)
	theirs.set(func(f *facility) { f.away = false })
	s.until(time.Second, func(h durable.Health) bool { return h.Facility != nil })
	assert.Equal(t, queued, s.read(id).Text())
	theirs.set(func(f *facility) { assert.Zero(t, f.paid) })
	require.NoError(t, s.engine.Stop(t.Context()))

	ours.set(func(f *facility) { f.away = true })
	s.client = home
	s.engine = s.start()
	id = s.pay("C", anotherToken())
	require.Eventually(t, func() bool { return s.read(id).Failures > 0 }, 2*time.Minute, 20*time.Millisecond)
	ours.set(func(f *facility) { f.away = false })
	s.comes(id, approved, time.Second)
}
