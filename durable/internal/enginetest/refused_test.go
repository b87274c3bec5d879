package enginetest

import (
	"database/sql"
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
)

// TestRefusedFollowUps: what may not follow a payment is refused, and nothing is stored.
func TestRefusedFollowUps(t *testing.T) {
	everywhere(t, testRefusedFollowUps[*sql.Tx], testRefusedFollowUps[pgx.Tx])
}

func testRefusedFollowUps[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	for _, order := range []string{"A", "voided"} {
		s.pay(order, s.stored())
		s.Settled(order)
	}
	seen := s.get("A").Version
	s.pay("declined", s.card("4111111111444496"))
	s.Settled("declined")
	_, err := s.follow("V", "voided", s.Engine().Void)
	require.NoError(t, err)
	s.Settled("V")
	s.Advance(48 * time.Hour)
	_, err = s.refund("R", "A", 500)
	require.NoError(t, err)
	s.Settled("R")
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "nothing is sent"))
	s.pay("queued", s.stored())
	stored := s.rows("SELECT id FROM quickstream.write ORDER BY id")
	refund := func(w durable.NewWrite, of string, currency quickstream.Currency) error {
		w.ID = "refused"
		return s.Tx(func(tx TTx) error {
			_, _, err := s.Engine().Refund(ctx, tx, w, of, quickstream.RefundParams{PrincipalAmount: decimal.New(100, -2), Currency: currency})
			return err
		})
	}
	for name, test := range map[string]struct {
		w        durable.NewWrite
		of       string
		currency quickstream.Currency
		want     error
	}{
		"of a version before":     {durable.NewWrite{Version: seen}, "A", quickstream.CurrencyAUD, durable.ErrStale},
		"of another order":        {durable.NewWrite{Order: "B"}, "A", quickstream.CurrencyAUD, durable.ErrNotAllowed},
		"in another currency":     {durable.NewWrite{}, "A", quickstream.CurrencyNZD, durable.ErrNotAllowed},
		"of a refund":             {durable.NewWrite{}, "R", quickstream.CurrencyAUD, durable.ErrNotAllowed},
		"of a declined payment":   {durable.NewWrite{}, "declined", quickstream.CurrencyAUD, durable.ErrNotAllowed},
		"of an unsent payment":    {durable.NewWrite{}, "queued", quickstream.CurrencyAUD, durable.ErrNotAllowed},
		"of money that came back": {durable.NewWrite{}, "voided", quickstream.CurrencyAUD, durable.ErrTooMuch},
		"of nothing":              {durable.NewWrite{}, "none", quickstream.CurrencyAUD, durable.ErrNoWrite},
	} {
		require.ErrorIs(t, refund(test.w, test.of, test.currency), test.want, "a refund "+name)
	}
	_, err = s.follow("refused", "A", s.Engine().Void)
	require.ErrorIs(t, err, durable.ErrTooMuch)
	assert.Equal(t, stored, s.rows("SELECT id FROM quickstream.write ORDER BY id"))
	require.NoError(t, refund(durable.NewWrite{Version: s.get("A").Version}, "A", quickstream.CurrencyAUD))
}

// TestRefusedDecisions: a decision that cannot be true, or is about another state, is refused and changes nothing.
func TestRefusedDecisions(t *testing.T) {
	everywhere(t, testRefusedDecisions[*sql.Tx], testRefusedDecisions[pgx.Tx])
}

func testRefusedDecisions[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.pay("paid", s.stored())
	paid := s.Settled("paid")
	s.pay("declined", s.card("4111111111444496"))
	declined := s.Settled("declined")
	s.notFound("A")
	seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A", "paid")
	require.NoError(t, err)
	decide := func(id string, d durable.Decision) error {
		d.By, d.Note, d.Version = "Kim", "support says so", s.get(id).Version
		return s.Tx(func(tx TTx) error { return s.Engine().Decide(ctx, tx, id, d) })
	}
	require.ErrorContains(t, decide("A", durable.Decision{Verdict: "paid"}), "no verdict")
	require.ErrorContains(t, decide("A", durable.Decision{Verdict: durable.VerdictApproved}), "receipt number")
	require.ErrorContains(t, decide("A", durable.Decision{Verdict: durable.VerdictApproved, ReceiptNumber: "../1"}), "receipt number")
	require.ErrorIs(t, decide("A", durable.Decision{Verdict: durable.VerdictApproved, ReceiptNumber: paid.ReceiptNumber}), durable.ErrNotAllowed)
	require.ErrorIs(t, decide("paid", durable.Decision{Verdict: durable.VerdictDeclined}), durable.ErrNotAllowed)
	require.ErrorIs(t, s.Engine().CheckReceipt(ctx, "A", declined.ReceiptNumber), durable.ErrNotAllowed)
	again := func(w durable.NewWrite, of string) (created bool, err error) {
		w.By, w.Note = "Kim", "support says so"
		err = s.Tx(func(tx TTx) (err error) {
			_, created, err = s.Engine().PayAgain(ctx, tx, w, of, s.stored())
			return err
		})
		return created, err
	}
	_, err = again(durable.NewWrite{ID: "2", Order: "another", Version: seen[0].Version}, "A")
	require.ErrorIs(t, err, durable.ErrNoWrite)
	_, err = again(durable.NewWrite{ID: "2", Order: "paid", Version: seen[1].Version}, "paid")
	require.ErrorIs(t, err, durable.ErrNotAllowed)
	assert.Equal(t, seen[0].Version, s.get("A").Version)
	for _, first := range []bool{true, false} { // the same step again
		created, err := again(durable.NewWrite{ID: "A/2", Order: "A", Version: seen[0].Version}, "A")
		require.NoError(t, err)
		assert.Equal(t, first, created)
	}
	assert.True(t, s.Settled("A/2").Paid())

	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.HangAfterCommit(), Times: 1})
	s.pay("hangs", s.stored())
	eventually(s.T, func() bool { return s.get("hangs").State == durable.StateSending }, "it is being sent")
	_, err = s.Engine().LookUp(ctx, "Kim", "now", "hangs")
	require.ErrorContains(t, err, "may still be on its way, or not be shown yet, until 20")
	require.ErrorIs(t, decide("hangs", durable.Decision{Verdict: durable.VerdictDeclined}), durable.ErrNotAllowed)
	assert.True(t, s.Settled("hangs").Paid())
	s.Judge("paid", "A", "hangs")
}

// TestForeignReceipt: a transaction that a person has taken for another payment's is not taken for this one's too.
func TestForeignReceipt(t *testing.T) {
	everywhere(t, testForeignReceipt[*sql.Tx], testForeignReceipt[pgx.Tx])
}

func testForeignReceipt[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.notFound("A")
	p := s.stored()
	seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
	require.NoError(t, err)
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.StatusAfterCommit(502, sandbox.HTML)},
		sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(500, sandbox.ServiceError)})
	s.pay("B", p)
	eventually(s.T, func() bool { return s.get("B").State == durable.StateUnknown }, "its answers are lost")
	ledger := s.Sandbox.Ledger()
	require.NoError(t, s.Tx(func(tx TTx) error {
		return s.Engine().Decide(ctx, tx, "A", durable.Decision{
			Verdict: durable.VerdictApproved, ReceiptNumber: ledger[len(ledger)-1].ReceiptNumber, By: "Kim", Note: "a wrong line of the portal", Version: seen[0].Version,
		})
	}))
	s.Sandbox.ClearFaults()
	w := s.Settled("B")
	assert.Equal(t, durable.StateNeedsPerson, w.State, w.Name())
	assert.True(t, s.get("A").Paid() && !w.Paid())
}

// TestRefusedOptions: an engine with options that cannot be meant is not made, and ids that cannot be stored are refused.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	db := onFile(t, t.TempDir()+"/shop.db")
	s := open(t, db)
	for what, edit := range map[string]func(o *durable.Options[*sql.Tx]){
		"Installation":   func(o *durable.Options[*sql.Tx]) { o.Installation = "my shop" },
		"ServiceRetries": func(o *durable.Options[*sql.Tx]) { o.ServiceRetries = nil },
		"OnOutcome":      func(o *durable.Options[*sql.Tx]) { o.OnOutcome = nil },
		"Workers":        func(o *durable.Options[*sql.Tx]) { o.Workers = 1001 },
		"negative times": func(o *durable.Options[*sql.Tx]) { o.SendWithin = -1 },
	} {
		opts := durable.Options[*sql.Tx]{Installation: "shop", ServiceRetries: serviceRetries(), OnOutcome: s.reported}
		edit(&opts)
		_, err := durable.New(t.Context(), db.Database, s.Client, opts)
		require.ErrorContains(t, err, what)
	}
	p := s.card(sandbox.CardAttempted)
	for what, w := range map[string]durable.NewWrite{
		"no id": {Order: "A"}, "no order": {ID: "A"}, "a long id": {ID: strings.Repeat("x", 256), Order: "A"}, "a line break": {ID: "A\n", Order: "A"},
		"a long title": {ID: "A", Order: "A", Title: strings.Repeat("x", 256)}, "a person without a reason": {ID: "A", Order: "A", By: "Kim"},
	} {
		_, err := s.tryPay(w, p)
		require.Error(t, err, what)
	}
	require.Error(t, s.Tx(func(tx *sql.Tx) error {
		_, _, err := s.Engine().Pay(t.Context(), tx, durable.NewWrite{ID: "A", Order: "A"}, quickstream.RefundParams{OriginalReceiptNumber: "R-1", PrincipalAmount: decimal.New(1, 0), Currency: quickstream.CurrencyAUD})
		return err
	}), "a refund is no payment")
	assert.Empty(t, s.rows("SELECT id FROM quickstream.write ORDER BY id"))
}

// TestRefusedTwice: a payment that the service has refused for now, and then for its content, took nothing. It is over after a
// look-up that has to show an earlier send.
func TestRefusedTwice(t *testing.T) {
	everywhere(t, testRefusedTwice[*sql.Tx], testRefusedTwice[pgx.Tx])
}

func testRefusedTwice[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(503, sandbox.ServiceError), Times: 1},
		sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(422, sandbox.ServiceError), Nth: 2, Times: 1})
	s.pay("A", s.stored())
	w := s.Settled("A")
	assert.Equal(t, "declined.refused", w.Name())
	assert.Equal(t, 2, w.Sends)
	assert.Less(t, w.Changed.Sub(w.Written), time.Hour)
	assert.Equal(t, []string{"declined.refused"}, s.names("A"))
}
