package enginetest

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// onSQLite returns a shop on a file: what people do is the same in each database.
func onSQLite(t *testing.T, edits ...func(*durable.Options[*sql.Tx])) *shop[*sql.Tx] {
	t.Helper()
	return open(t, onFile(t, filepath.Join(t.TempDir(), "shop.db")), edits...)
}

func (s *shop[TTx]) details(id string) durable.Details {
	s.Helper()
	d, err := s.engine.Details(s.Context(), id)
	require.NoError(s, err)
	return d
}

// What can be done to a payment is read with it, and who has asked for a follow-up is in its history.
func TestDetails(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	id := s.settled(s.pay("A", s.card(sandbox.CardAttempted))).ID
	d := s.details(id)
	assert.Equal(t, "12.34", d.Left.String())
	require.ErrorIs(t, d.NotDecidable, durable.ErrNotAllowed)
	assert.WithinDuration(t, s.clock.Now(), d.At, time.Minute)
	refund := quickstream.RefundParams{PrincipalAmount: decimal.New(400, -2), Currency: quickstream.CurrencyAUD}
	ask := func(w durable.NewWrite) error {
		return s.commit(func(tx *sql.Tx) error {
			_, _, err := s.engine.Refund(t.Context(), tx, w, id, refund)
			return err
		})
	}
	require.Error(t, ask(durable.NewWrite{ID: "r", By: "Jo"}), "there is no reason")
	w := durable.NewWrite{ID: "r", By: "Jo", Note: "a torn page", Version: d.Write.Common().Version}
	require.NoError(t, ask(w))
	require.NoError(t, ask(w), "the same again")
	w.ID = "another"
	require.ErrorIs(t, ask(w), durable.ErrStale)
	d = s.details(id)
	assert.Equal(t, "8.34", d.Left.String())
	require.Len(t, d.FollowUps, 1)
	events := s.details("r").Events
	require.Greater(t, len(events), 1)
	assert.Equal(t, durable.EventAsked, events[1].Kind)
	assert.Equal(t, "Jo", events[1].By)
	assert.Equal(t, "a torn page", events[1].Note)
}

// What OnOutcome has refused is in a list of its own, and counted.
func TestRefusedOutcomes(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	s.settled(s.pay("taken", s.card(sandbox.CardAttempted)))
	s.mu.Lock()
	s.refuse = assert.AnError
	s.mu.Unlock()
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.until(0, func(h durable.Health) bool { return h.Refused == 1 })
	page, err := s.engine.List(t.Context(), durable.Filter{Refused: true})
	require.NoError(t, err)
	require.Len(t, page.Writes, 1)
	assert.Equal(t, id, page.Writes[0].Common().ID)
	assert.Equal(t, 1, s.details(id).Refused)
}

// A person decides after a look-up of the last minute, and about the receipt of a transaction that can be it.
func TestDecidable(t *testing.T) {
	t.Parallel()
	s := onSQLite(t)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetBeforeCommit(), Times: 4}))
	lost := s.reaches(s.pay("A", s.card(sandbox.CardAttempted)), notFound, time.Hour)
	require.NoError(t, s.engine.Stop(t.Context())) // or it looks up by itself
	s.clock.Advance(10 * time.Minute)
	require.ErrorIs(t, s.details(lost.ID).NotDecidable, durable.ErrLookUpFirst)
	_, err := s.engine.LookUp(t.Context(), lost.ID, "Jo", "the customer asks")
	require.NoError(t, err)
	require.NoError(t, s.details(lost.ID).NotDecidable)
	s.engine = s.start()
	other := s.settled(s.pay("B", s.card(sandbox.CardAttempted)))
	s.clock.Advance(time.Hour) // until transactions can be read
	require.NoError(t, s.engine.CheckReceipt(t.Context(), lost.ID, other.ReceiptNumber), "it can be: Decide knows that it is another write's")
	larger := s.card(sandbox.CardAttempted)
	larger.PrincipalAmount = decimal.New(1300, -2)
	more := s.settled(s.pay("D", larger))
	declined := s.settled(s.pay("C", s.card("4111111111444496")))
	s.clock.Advance(time.Hour)
	for _, receipt := range []string{more.ReceiptNumber, declined.ReceiptNumber} {
		require.ErrorIs(t, s.engine.CheckReceipt(t.Context(), lost.ID, receipt), durable.ErrNotAllowed)
	}
	require.ErrorIs(t, s.engine.CheckReceipt(t.Context(), lost.ID, "1234567"), quickstream.ErrNotFound)
}
