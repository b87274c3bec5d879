package enginetest

import (
	"database/sql"
	"net/http"
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

// sendCardAs pays an order by the details of a card under an id.
func (s *shop[TTx]) sendCardAs(w durable.NewWrite, edits ...func(*quickstream.PayParams)) error {
	s.Helper()
	params := token()
	params.SupplierBusinessCode, params.Source = sandbox.DefaultBusiness, quickstream.FromCard(sandboxtest.Card(sandbox.CardAttempted))
	for _, edit := range edits {
		edit(&params)
	}
	_, err := durable.Send(s.Context(), s.engine, w, func(stored quickstream.CallOption) (*quickstream.Transaction, error) {
		return s.client.Transactions.Pay(s.Context(), params, stored)
	})
	return err
}

// loses puts a backup from before all writes back and starts an engine on it.
func (s *shop[TTx]) loses() {
	s.Helper()
	require.NoError(s, s.engine.Stop(s.Context()))
	s.put("DELETE FROM quickstream.write")
	require.NoError(s, s.engineOf().Restored(s.Context(), s.clock.Now().Add(-time.Hour)))
	s.clock.Advance(2 * time.Second)
	s.engine = s.start()
}

func TestSendIsNamed(t *testing.T) { everywhere(t, testSendIsNamed[*sql.Tx], testSendIsNamed[pgx.Tx]) }

// What Send sends carries what a payment of Pay carries, and its reference and intent id follow from its id.
func testSendIsNamed[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	w := s.newWrite("A")
	require.NoError(t, s.sendCardAs(w, func(p *quickstream.PayParams) { p.Metadata = map[string]string{"table": "7"} }))
	first := s.read(w.ID)
	s.clock.Advance(time.Minute)
	made, err := s.client.Transactions.Get(t.Context(), first.ReceiptNumber)
	require.NoError(t, err)
	for name, value := range map[string]string{"quickstreamInstallation": "shop", "quickstreamOrder": "A", "quickstreamWrite": w.ID, "table": "7"} {
		assert.Equal(t, value, made.Metadata[name], name)
	}
	s.put("DELETE FROM quickstream.write")
	require.NoError(t, s.sendCardAs(w, func(p *quickstream.PayParams) { p.Metadata = map[string]string{"table": "7"} }))
	s.clock.Advance(time.Minute)
	again, err := s.client.Transactions.Get(t.Context(), s.read(w.ID).ReceiptNumber)
	require.NoError(t, err)
	assert.NotEqual(t, made.ReceiptNumber, again.ReceiptNumber)
	assert.Equal(t, made.PaymentReferenceNumber, again.PaymentReferenceNumber)
	assert.Equal(t, made.Metadata, again.Metadata, "the id of the intent too")
}

func TestSendAfterARestore(t *testing.T) {
	everywhere(t, testSendAfterARestore[*sql.Tx], testSendAfterARestore[pgx.Tx])
}

// A payment by card details that a backup does not know is found in the lists: its order is paid, and the same id is
// not charged again.
func testSendAfterARestore[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	w := s.newWrite("A")
	require.NoError(t, s.sendCardAs(w))
	s.loses()
	s.restored()
	found := s.read(w.ID)
	assert.Equal(t, approved, found.Text())
	assert.Equal(t, "A", found.Order)
	err := s.sendCardAs(w)
	require.ErrorIs(t, err, durable.ErrIDReused)
	require.ErrorIs(t, err, quickstream.ErrNotSent)
	require.ErrorIs(t, s.sendCardAs(s.newWrite("A")), durable.ErrOrderOpen)
	require.NoError(t, s.sendCardAs(s.newWrite("B")))
	assert.Equal(t, 2, s.charged())
}

func TestSendRepeatedAfterARestore(t *testing.T) {
	everywhere(t, testSendRepeatedAfterARestore[*sql.Tx], testSendRepeatedAfterARestore[pgx.Tx])
}

// In the quarter of an hour a repeat is looked up. What is found is stored, also if the lists do not show it. What is not found
// is not sent.
func testSendRepeatedAfterARestore[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	w := s.newWrite("A")
	require.NoError(t, s.sendCardAs(w))
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: "GET /transactions/for-settlement-date", Kind: sandbox.Status(http.StatusBadGateway, sandbox.HTML)}))
	s.loses()
	err := s.sendCardAs(w)
	require.ErrorIs(t, err, durable.ErrIDReused)
	require.ErrorIs(t, err, quickstream.ErrNotSent)
	found := s.read(w.ID)
	assert.Equal(t, approved, found.Text())
	assert.NotEmpty(t, found.ReceiptNumber)
	other := s.newWrite("B")
	require.ErrorIs(t, s.sendCardAs(other), quickstream.ErrNotSent)
	_, err = s.engine.Write(t.Context(), other.ID)
	require.ErrorIs(t, err, durable.ErrNoWrite)
	s.box.ClearFaults()
	s.restored()
	assert.Equal(t, approved, s.read(w.ID).Text(), "and no second one is found")
	require.NoError(t, s.sendCardAs(other))
	assert.Equal(t, 2, s.charged())
}
