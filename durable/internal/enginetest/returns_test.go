package enginetest

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// bank returns the parameters of a payment by a bank account.
func (s *shop[TTx]) bank() quickstream.PayParams {
	s.Helper()
	token, err := s.client.SingleUseTokens.Create(s.Context(), quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Account:              quickstream.BankAccountDetails{AccountName: "Kim Lee", BSB: "032-002", AccountNumber: quickstream.NewSecret("123465")},
	})
	require.NoError(s, err)
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: quickstream.FromSingleUseToken(token.SingleUseTokenID, quickstream.AccountTypeDirectDebit),
		PrincipalAmount: decimal.New(1234, -2), Currency: quickstream.CurrencyAUD, IPAddress: netip.MustParseAddr("203.0.113.7"),
	}
}

// spoiled puts an item that cannot be read before those of a list.
type spoiled struct {
	http.RoundTripper
	list string
}

func (s spoiled) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err != nil || !strings.HasSuffix(r.URL.Path, s.list) {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	body = bytes.Replace(body, []byte(`"data":[{`), []byte(`"data":[{"receiptNumber":"R-0","status":{}},{`), 1)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
	return response, err
}

func TestReturned(t *testing.T) { everywhere(t, testReturned[*sql.Tx], testReturned[pgx.Tx]) }

// A bank payment that comes back on the third day is told once, however often the list is
// read and whatever else is seen of it, and its order can be paid again.
func testReturned[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, _ = sandboxtest.New(t, sandbox.WithClock(s.clock))
	s.client = sandboxtest.Client(t, s.box, quickstream.WithHTTPClient(&http.Client{Transport: spoiled{s.box.HTTPClient().Transport, "/transactions/returns"}}))
	s.engine = s.start()
	p := s.settled(s.pay("A", s.bank()))
	require.Equal(t, approved, p.Text(), p.Problem)
	kept := s.settled(s.pay("B", s.bank()))
	s.clock.Advance(72 * time.Hour)
	require.NoError(t, s.box.ReturnPayment(p.ReceiptNumber, "6"))
	s.reaches(p.ID, returned, time.Hour)
	s.clock.Advance(24 * time.Hour) // it is in the list for days
	require.NoError(t, s.engine.Compare(t.Context(), p.SettlesOn))
	s.pay("A", s.card(sandbox.CardAttempted))
	require.Eventually(t, func() bool { return len(s.states("A")) == 3 }, 2*time.Minute, 20*time.Millisecond)
	s.clock.Advance(24 * time.Hour)
	require.NoError(t, s.engine.Stop(t.Context()))
	assert.Equal(t, []string{approved, returned, approved}, s.states("A"))
	now := s.read(p.ID)
	assert.Equal(t, returned, now.Text())
	now = s.read(kept.ID)
	assert.Equal(t, approved, now.Text())
}

func TestReturnsAreReadOn(t *testing.T) {
	everywhere(t, testReturnsAreReadOn[*sql.Tx], testReturnsAreReadOn[pgx.Tx])
}

// A return that OnOutcome refuses keeps no other from being told, and is told in the end;
// and when the list cannot be read it is read again on the same day.
func testReturnsAreReadOn[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	first, second := s.settled(s.pay("A", s.bank())), s.settled(s.pay("B", s.bank()))
	s.clock.Advance(72 * time.Hour)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/returns", Kind: sandbox.Status(403, sandbox.ServiceError), Times: 7}))
	for _, p := range []durable.Record{first, second} {
		require.NoError(t, s.box.ReturnPayment(p.ReceiptNumber, "6"))
	}
	s.refuses(errors.New("not now"))
	s.clock.Advance(24 * time.Hour)
	s.until(15*time.Second, func(status durable.Health) bool { return status.Refused == 2 })
	s.refuses(nil)
	for _, p := range []durable.Record{first, second} {
		s.reaches(p.ID, returned, time.Minute)
		assert.Equal(t, []string{approved, returned}, s.states(p.Order))
	}
}
