package enginetest

import (
	"bytes"
	"database/sql"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
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

// reversible answers for every transaction that it is voidable or not, and refundable or not.
type reversible struct {
	http.RoundTripper
	says *atomic.Value
}

var saysReversible = regexp.MustCompile(`"refundable":(true|false),"voidable":(true|false)`)

func (r reversible) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.RoundTripper.RoundTrip(request)
	if says, _ := r.says.Load().(string); err == nil && says != "" && request.Method == http.MethodGet {
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return nil, err
		}
		_ = response.Body.Close()
		body = saysReversible.ReplaceAll(body, []byte(says))
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		response.Header.Del("Content-Length")
	}
	return response, err
}

// reversibleShop is a shop at a service whose transactions are reversible as it says.
func reversibleShop[TTx any](t *testing.T, db store[TTx]) (*shop[TTx], *atomic.Value) {
	t.Helper()
	says := new(atomic.Value)
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, _ = sandboxtest.New(t, sandbox.WithClock(s.clock))
	s.client = sandboxtest.Client(t, s.box, quickstream.WithHTTPClient(&http.Client{Transport: reversible{s.box.HTTPClient().Transport, says}}))
	s.engine = s.start()
	return s, says
}

func TestReturnedWhileRefundsWait(t *testing.T) {
	everywhere(t, testReturnedWhileRefundsWait[*sql.Tx], testReturnedWhileRefundsWait[pgx.Tx])
}

// A bank returns a payment whose refund, and another one whose reversal, waits. Neither is sent any more, and both end at
// once, whatever the service says of the transaction.
func testReturnedWhileRefundsWait[TTx any](t *testing.T, db store[TTx]) {
	s, says := reversibleShop(t, db)
	for order, kind := range map[string]struct {
		says, problem, later string
		ask                  func(of string) string
	}{
		"refund":  {`"refundable":false,"voidable":true`, "is not settled", `"refundable":true,"voidable":false`, func(of string) string { return s.refund(of, 500) }},
		"reverse": {`"refundable":false,"voidable":false`, "neither be voided nor refunded", `"refundable":false,"voidable":false`, s.reverse},
	} {
		says.Store(kind.says)
		p := s.settled(s.pay(order, s.bank()))
		id := kind.ask(p.ID)
		require.Eventually(t, func() bool {
			s.clock.Advance(time.Second)
			return strings.Contains(s.read(id).Problem, kind.problem)
		}, time.Minute, 20*time.Millisecond)
		require.NoError(t, s.engine.Stop(t.Context()))
		s.put("UPDATE quickstream.write SET next_at = $1, due_at = $1 WHERE id = $2", s.clock.Now().Add(time.Hour), id) // it is not due
		s.engine = s.start()
		require.NoError(t, s.box.ReturnPayment(p.ReceiptNumber, "6"))
		says.Store(kind.later)
		require.NoError(t, s.engine.Compare(t.Context(), p.SettlesOn))
		require.Equal(t, returned, s.read(p.ID).Text(), order)
		ended := s.reaches(id, notSent, time.Second)
		assert.Equal(t, 0, ended.Sends, order)
		assert.Contains(t, ended.Problem, "it is returned", order)
		assert.Equal(t, []string{approved, returned, notSent}, s.states(order), order)
	}
}

// held is a pre-authorisation by a new token of a card.
func (s *shop[TTx]) held() quickstream.PreauthoriseParams {
	s.Helper()
	card := s.card(sandbox.CardAttempted)
	token, err := sandboxtest.CardToken(s.Context(), s.client, sandbox.CardAttempted)
	require.NoError(s, err)
	return quickstream.PreauthoriseParams{
		SupplierBusinessCode: card.SupplierBusinessCode, Source: quickstream.FromSingleUseToken(token), PrincipalAmount: card.PrincipalAmount,
		Currency: card.Currency, ECI: card.ECI, IPAddress: card.IPAddress, StoredCredential: card.StoredCredential,
	}
}

func TestHeldIsNotRefunded(t *testing.T) {
	everywhere(t, testHeldIsNotRefunded[*sql.Tx], testHeldIsNotRefunded[pgx.Tx])
}

// No waiting makes a pre-authorisation refundable: a refund of one, and a reversal after its cut-off, end at once, and do not
// hold the capture that waits behind them.
func testHeldIsNotRefunded[TTx any](t *testing.T, db store[TTx]) {
	s, says := reversibleShop(t, db)
	for order, kind := range map[string]struct {
		says string
		ask  func(of string) string
	}{
		"refund":  {`"refundable":false,"voidable":true`, func(of string) string { return s.refund(of, 500) }},
		"reverse": {`"refundable":false,"voidable":false`, s.reverse},
	} {
		says.Store(kind.says)
		p := s.settled(s.pay(order, s.held()))
		ended := s.settled(kind.ask(p.ID))
		assert.Equal(t, notSent, ended.Text(), order)
		assert.Equal(t, 0, ended.Sends, order)
		assert.Contains(t, ended.Problem, "refund its capture", order)
		captured := s.settled(s.pay(order, quickstream.CaptureParams{
			OriginalReceiptNumber: p.ReceiptNumber, PrincipalAmount: decimal.New(500, -2), Currency: quickstream.CurrencyAUD,
			StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		}))
		assert.Equal(t, approved, captured.Text(), order)
	}
}

func TestVoidedRightBeforeAClaim(t *testing.T) {
	everywhere(t, testVoidedRightBeforeAClaim[*sql.Tx], testVoidedRightBeforeAClaim[pgx.Tx])
}

// The engine learns right before a claim that the money is back: what gives it back again, or takes what is held, is not sent.
func testVoidedRightBeforeAClaim[TTx any](t *testing.T, db store[TTx]) {
	var of atomic.Value
	var s *shop[TTx]
	db.step = func(name string) {
		if id, _ := of.Load().(string); name == "before the claim" && id != "" {
			s.put("UPDATE quickstream.write SET reversal = 'voided', version = version + 1 WHERE id = $1", id)
		}
	}
	s, says := reversibleShop(t, db)
	says.Store(`"refundable":true,"voidable":false`)
	card := s.card(sandbox.CardAttempted)
	for name, kind := range map[string]struct {
		params quickstream.TransactionParams
		ask    func(of string) string
	}{
		"refund":  {s.card(sandbox.CardAttempted), func(of string) string { return s.refund(of, 500) }},
		"reverse": {s.card(sandbox.CardAttempted), s.reverse},
		"void": {s.card(sandbox.CardAttempted), func(of string) string {
			id, err := s.tryVoid(of)
			require.NoError(t, err)
			return id
		}},
		"capture": {s.held(), func(of string) string {
			id, err := s.followUp(func(tx TTx, w durable.NewWrite) (durable.FollowUp, bool, error) {
				return s.engine.Capture(t.Context(), tx, w, of, quickstream.CaptureParams{
					PrincipalAmount: decimal.New(500, -2), Currency: quickstream.CurrencyAUD, StoredCredential: card.StoredCredential,
				})
			})
			require.NoError(t, err)
			return id
		}},
	} {
		p := s.settled(s.pay(name, kind.params))
		require.Equal(t, approved, p.Text(), name)
		of.Store(p.ID)
		ended := s.settled(kind.ask(p.ID))
		of.Store("")
		assert.Equal(t, notSent, ended.Text(), name)
		assert.Equal(t, 0, ended.Sends, name)
		assert.Contains(t, ended.Problem, "it is voided", name)
	}
	assert.Len(t, s.box.Ledger(), 4, "nothing but what they follow")
}
