package enginetest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
)

// change makes the database look as if its history had changed; copied as if it might be a copy.
func (s *shop[TTx]) change(copied bool) {
	s.T.Helper()
	ctx := s.T.Context()
	switch {
	case s.db.file != "" && copied:
		require.NoError(s.T, s.db.exec(ctx, "UPDATE quickstream.meta SET value = 'elsewhere' WHERE name = 'place'"))
	case s.db.file != "":
		require.NoError(s.T, s.db.exec(ctx, "UPDATE quickstream.meta SET value = 'another' WHERE name = 'history'"))
	case copied:
		require.NoError(s.T, s.db.exec(ctx, "UPDATE quickstream.meta SET value = replace(value, '\"database\":\"', '\"database\":\"9') WHERE name = 'history'"))
	default:
		require.NoError(s.T, s.db.exec(ctx, "UPDATE quickstream.meta SET value = replace(value, '\"timeline\":', '\"timeline\":9') WHERE name = 'history'"))
	}
	eventually(s.T, func() bool { return !s.health().Restoring.IsZero() }, "the change is recognised")
}

// loses makes the database forget a write, as a backup that was made before it.
func (s *shop[TTx]) loses(id string) {
	s.T.Helper()
	for _, statement := range []string{"DELETE FROM quickstream.write WHERE id = '" + id + "'", "DELETE FROM quickstream.event WHERE write_id = '" + id + "'"} {
		require.NoError(s.T, s.db.exec(s.T.Context(), statement))
	}
}

const bySettlement = "GET /transactions/for-settlement-date"

// TestUnreadableLists: while a list cannot be read, for hours and days, nothing is sent. If the order of a lost payment is
// paid again under a new id, it is charged once. When the lists can be read, sales go on.
func TestUnreadableLists(t *testing.T) {
	everywhere(t, testUnreadableLists[*sql.Tx], testUnreadableLists[pgx.Tx])
}

func testUnreadableLists[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.pay("A", s.card(sandbox.CardAttempted))
	s.Settled("A")
	s.pay("B", s.card(sandbox.CardAttempted))
	s.Settled("B")
	s.loses("B")
	s.inject(sandbox.Fault{Operation: bySettlement, Kind: sandbox.Status(500, sandbox.ServiceError)})
	s.change(false)
	again, err := s.tryPay(durable.NewWrite{ID: "B/2", Order: "B"}, s.stored())
	require.NoError(t, err)
	fresh := s.pay("C", s.stored())
	eventually(s.T, func() bool { return s.health().Unreadable != "" }, "a list cannot be read")
	for range 12 {
		s.Advance(5 * time.Minute)
		s.Kit.Work(again)
		s.Kit.Work(fresh)
	}
	assert.Equal(t, "queued", s.get("B/2").Name())
	assert.Equal(t, "queued", s.get("C").Name())
	assert.Equal(t, 1, s.charged("B"))
	assert.False(t, s.health().Read)
	s.Sandbox.ClearFaults()
	s.Advance(10 * time.Minute)
	eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Read }, "the lists are read")
	assert.True(t, s.Settled("B").Paid(), "the lost payment is stored")
	assert.Equal(t, durable.StateNotSent, s.Settled("B/2").State)
	s.Settled("C")
	assert.Equal(t, 1, s.charged("B"))
	eventually(s.T, func() bool { s.Advance(time.Minute); return s.health().Restoring.IsZero() }, "the restoring has ended")
}

// stored returns a payment by a stored account, which does not expire.
func (s *shop[TTx]) stored() quickstream.PayParams {
	s.T.Helper()
	customer, err := s.Client.Customers.GetByNumber(s.T.Context(), "C-1")
	if err != nil {
		customer, err = s.Client.Customers.Create(s.T.Context(), quickstream.CreateCustomerParams{CustomerNumber: "C-1", CustomerName: "Ann Example"})
		require.NoError(s.T, err)
		_, err = s.Client.Accounts.Register(s.T.Context(), customer.CustomerID, quickstream.RegisterAccountParams{SingleUseTokenID: s.Token(sandbox.CardAttempted)})
		require.NoError(s.T, err)
	}
	for account, err := range s.Client.Accounts.List(customer.CustomerID).All(s.T.Context()) {
		require.NoError(s.T, err)
		p := params(quickstream.FromAccount(account.AccountToken))
		p.ECI, p.IPAddress = quickstream.ECIRecurring, params(nil).IPAddress
		p.StoredCredential = &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential, Usage: quickstream.CredentialUsageRecurring}
		return p
	}
	s.T.Fatal("no account")
	return quickstream.PayParams{}
}

// TestLostPayment: a payment that the database lacks is stored under its id, and its order is paid.
func TestLostPayment(t *testing.T) { everywhere(t, testLostPayment[*sql.Tx], testLostPayment[pgx.Tx]) }

func testLostPayment[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	for _, order := range []string{"A", "B"} {
		s.pay(order, s.card(sandbox.CardAttempted))
		s.Settled(order)
	}
	s.loses("B")
	s.change(false)
	eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Read }, "the lists are read")
	assert.True(t, s.Settled("B").Paid())
	assert.Contains(t, s.names("B"), "approved")
	_, err := s.tryPay(durable.NewWrite{ID: "B/2", Order: "B"}, s.card(sandbox.CardAttempted))
	require.ErrorIs(t, err, durable.ErrOrderOpen)
	s.Judge("A", "B")
}

// TestQueuedBefore: a queued payment waits until look-ups must show it, and is looked up. One that was sent in the lost history
// is found and not sent, and the other one is sent once. After a list or a look-up has failed a person decides.
func TestQueuedBefore(t *testing.T) {
	everywhere(t, testQueuedBefore[*sql.Tx], testQueuedBefore[pgx.Tx])
}

func testQueuedBefore[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	back := func(id string) { // as in a backup from before the send
		require.NoError(t, s.db.exec(ctx, "UPDATE quickstream.write SET state = 'queued', reason = '', claim = '', sends = 0, first_sent_at = NULL, last_sent_at = NULL, key_sent_at = NULL, receipt = '', changes = 0, notified = 0, settles_on = '', next_at = written_at WHERE id = '"+id+"'"))
	}
	s.pay("sent", s.stored())
	s.Settled("sent")
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "a backup is put back"))
	s.pay("not sent", s.stored())
	back("sent")
	s.change(false)
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "it is back"))
	eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Read }, "the lists are read")
	assert.Equal(t, "queued", s.get("not sent").Name(), "it waits for the look-up lag")
	w := s.Settled("sent")
	assert.True(t, w.Paid())
	assert.Equal(t, 1, s.charged("sent"))
	assert.True(t, s.Settled("not sent").Paid())
	assert.Equal(t, 1, s.charged("not sent"))
}

// TestRestoredByAPerson: if a list has failed meanwhile, a person decides about the payments that were queued before.
func TestRestoredByAPerson(t *testing.T) {
	everywhere(t, testRestoredByAPerson[*sql.Tx], testRestoredByAPerson[pgx.Tx])
}

func testRestoredByAPerson[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.paid("B")
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "a backup is put back"))
	s.pay("A", s.stored())
	_, err := s.follow("reversal", "B", s.Engine().Reverse)
	require.NoError(t, err)
	s.inject(sandbox.Fault{Operation: bySettlement, Kind: sandbox.Status(500, sandbox.ServiceError)})
	s.change(false)
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "it is back"))
	eventually(s.T, func() bool { return s.health().Unreadable != "" }, "a list cannot be read")
	s.Sandbox.ClearFaults()
	eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Read }, "the lists are read")
	w := s.Settled("A")
	assert.Equal(t, "needs_person.restored", w.Name())
	assert.Equal(t, 0, s.charged("A"))
	seen, err := s.Engine().LookUp(ctx, "Kim", "before I decide", "A")
	require.NoError(t, err)
	assert.Equal(t, "needs_person.restored", seen[0].Name(), "nothing was found")
	assert.True(t, s.Settled("reversal").Done(), "the refunds of its payment are read before it is sent")
}

// TestMaybeCopy: payments that were queued before wait for a person, however long, and new ones go on.
func TestMaybeCopy(t *testing.T) { everywhere(t, testMaybeCopy[*sql.Tx], testMaybeCopy[pgx.Tx]) }

func testMaybeCopy[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "the server moves"))
	before := s.pay("A", s.stored())
	s.change(true)
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "it has moved"))
	eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Read }, "the lists are read")
	s.pay("B", s.stored())
	s.Settled("B")
	for range 10 {
		s.Advance(4 * time.Minute)
		s.Kit.Work(before)
	}
	assert.Equal(t, "queued", s.get("A").Name())
	require.ErrorIs(t, s.Engine().EndRestoring(ctx, "Kim", "it takes too long"), durable.ErrNotAllowed)
	assert.True(t, s.health().MaybeCopy)
	require.NoError(t, s.Engine().ConfirmHistory(ctx, "Kim", "the original is down"))
	assert.True(t, s.Settled("A").Paid())
	s.Judge("A", "B")
}

// TestRestoredByHand: a person's BeginRestoring and EndRestoring are in the installation's history.
func TestRestoredByHand(t *testing.T) {
	everywhere(t, testRestoredByHand[*sql.Tx], testRestoredByHand[pgx.Tx])
}

func testRestoredByHand[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.pay("A", s.card(sandbox.CardAttempted))
	s.Settled("A")
	s.loses("A")
	s.inject(sandbox.Fault{Operation: bySettlement, Kind: sandbox.Status(503, sandbox.HTML)})
	require.NoError(t, s.Engine().BeginRestoring(ctx, s.Now().Add(-time.Hour), "Kim", "rows were put back"))
	eventually(s.T, func() bool { return s.health().Unreadable != "" }, "a list cannot be read")
	require.Error(t, s.Engine().EndRestoring(ctx, "", ""))
	require.NoError(t, s.Engine().EndRestoring(ctx, "Kim", "compared by hand"))
	assert.True(t, s.health().Restoring.IsZero())
	events, err := s.Engine().Events(ctx, "")
	require.NoError(t, err)
	require.Len(t, events, 2)
	assert.Equal(t, []durable.EventKind{durable.EventRestored, durable.EventRestoringEnded}, []durable.EventKind{events[0].Kind, events[1].Kind})
}

// TestListsThatEnd: a 404 of the service and an empty list are a day without transactions, unless the database has some of
// that day. A gateway's 404, and one on a later page, are not.
func TestListsThatEnd(t *testing.T) {
	everywhere(t, testListsThatEnd[*sql.Tx], testListsThatEnd[pgx.Tx])
}

func testListsThatEnd[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.pay("A", s.card(sandbox.CardAttempted))
	w := s.Settled("A")
	for name, kind := range map[string]sandbox.FaultKind{
		"the service's 404": sandbox.Status(404, sandbox.ServiceError), // the database has a payment of that day
		"a gateway's 404":   sandbox.Status(404, sandbox.HTML),
	} {
		s.Sandbox.ClearFaults()
		s.inject(sandbox.Fault{Operation: bySettlement, Kind: kind})
		require.NoError(t, s.Engine().BeginRestoring(ctx, w.Written, "Kim", name))
		eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Unreadable != "" }, name)
		require.NoError(t, s.Engine().EndRestoring(ctx, "Kim", name))
	}
	s.Sandbox.ClearFaults()
	require.NoError(t, s.Engine().BeginRestoring(ctx, w.Written, "Kim", "all lists can be read"))
	eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Read }, "the lists are read")
}

// TestNotStored: if a lost payment cannot be stored, its list counts as unread, and nothing is sent.
func TestNotStored(t *testing.T) { everywhere(t, testNotStored[*sql.Tx], testNotStored[pgx.Tx]) }

func testNotStored[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.pay("A", s.card(sandbox.CardAttempted))
	lost := s.Settled("A")
	s.loses("A")
	// Its id and the other one that it could have belong to other orders.
	for _, id := range []string{"A", "lost " + lost.ReceiptNumber} {
		_, err := s.tryPay(durable.NewWrite{ID: id, Order: "another " + id}, s.card(sandbox.CardAttempted))
		require.NoError(t, err)
		s.Settled(id)
	}
	require.NoError(t, s.Engine().BeginRestoring(ctx, lost.Written, "Kim", "rows were put back"))
	defer func() {
		if t.Failed() {
			t.Log(s.health().Unreadable, s.history("A"))
		}
	}()
	eventually(s.T, func() bool { return strings.Contains(s.health().Unreadable, "could not be stored") }, "the list counts as unreadable")
	w := s.pay("B", s.card(sandbox.CardAttempted))
	s.Kit.Work(w)
	assert.Equal(t, "queued", s.get("B").Name())
}

// TestSequences: payments are accepted after a load of data alone, which leaves sequences behind: MigrateUp and a change of
// the history set them.
func TestSequences(t *testing.T) {
	t.Parallel()
	db := onServer(t, emptyDatabase(t))
	s := open(t, db)
	ctx := t.Context()
	for _, order := range []string{"A", "B", "C"} {
		s.pay(order, s.card(sandbox.CardAttempted))
		s.Settled(order)
	}
	reset := func() {
		require.NoError(t, db.exec(ctx, "SELECT setval('quickstream.river_job_id_seq', 1, false)"))
	}
	reset()
	require.NoError(t, durable.MigrateUp(ctx, db.Database))
	s.pay("D", s.card(sandbox.CardAttempted))
	s.Settled("D")
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "nothing inserts jobs meanwhile"))
	reset()
	s.change(true)
	s.pay("E", s.card(sandbox.CardAttempted))
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "go on"))
	eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Read }, "the lists are read")
	s.Settled("E")
}

// TestFiles: a file that comes back from a backup is older than its mark; one that was copied, or has no mark, may be a
// copy.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.db")
	db := onFile(t, file)
	s := open(t, db)
	s.pay("A", s.stored())
	s.Settled("A")
	backup := filepath.Join(dir, "backup.db")
	require.NoError(t, db.exec(t.Context(), "VACUUM INTO '"+backup+"'"))
	s.pay("B", s.stored())
	s.Settled("B")
	require.NoError(t, s.Engine().Stop(t.Context()))
	require.NoError(t, db.close())
	copyOf := func(from, to string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(to, text, 0o600))
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(file + suffix)
	}
	copyOf(backup, file)
	returned, err := sqlite.Open(file)
	require.NoError(t, err)
	defer returned.Close()
	engine, err := durable.New(t.Context(), sqlite.DB(returned), s.Client, durable.Options[*sql.Tx]{Installation: "shop", ServiceRetries: serviceRetries(), OnOutcome: s.reported})
	require.NoError(t, err)
	require.NoError(t, engine.Start(t.Context()))
	defer func() { _ = engine.Stop(context.Background()) }()
	eventually(t, func() bool { return !healthOf(t, engine).Restoring.IsZero() }, "it is recognised")
	eventually(t, func() bool {
		w, err := engine.Get(t.Context(), "B")
		return err == nil && w.Paid()
	}, "the lost payment is stored")
	assert.Equal(t, 1, s.charged("B"))
}

// TestNewWhileRestoring: until look-ups must show what a lost history has sent, a refusal of a new payment says nothing of
// an earlier send under its id, and a cancellation waits.
func TestNewWhileRestoring(t *testing.T) {
	everywhere(t, testNewWhileRestoring[*sql.Tx], testNewWhileRestoring[pgx.Tx])
}

func testNewWhileRestoring[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.card(sandbox.CardAttempted)
	s.pay("A", p)
	s.Settled("A")
	s.loses("A")
	hidden := sandbox.Status(404, sandbox.ServiceError)
	s.inject(sandbox.Fault{Operation: bySettlement, Kind: hidden}, sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: hidden},
		sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(422, sandbox.ServiceError), Times: 1}) // as for a used token
	s.change(false)
	eventually(s.T, func() bool { s.Advance(time.Second); return s.health().Read }, "the lists are read, and do not show it yet")
	s.pay("A", p)
	assert.Equal(t, "queued", s.Until("A", func(w durable.Write) bool { return w.Sends > 0 && w.State != durable.StateSending }).Name())
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.Status(422, sandbox.ServiceError), Times: 1})
	s.pay("new", s.stored())
	refused := s.Until("new", func(w durable.Write) bool { return w.Sends > 0 && w.State != durable.StateSending })
	assert.Equal(t, "queued", refused.Name())
	require.NoError(t, s.Engine().Pause(t.Context(), "Kim", "to cancel"))
	s.pay("B", s.stored())
	require.NoError(t, s.Engine().Cancel(t.Context(), "B", "Kim", "the customer has left"))
	assert.Equal(t, "queued", s.get("B").Name())
	require.NoError(t, s.Engine().Unpause(t.Context(), "Kim", "done"))
	s.Sandbox.ClearFaults()
	assert.True(t, s.Settled("A").Paid())
	assert.Equal(t, "not_sent.cancelled", s.Settled("B").Name())
	ended := s.Settled("new")
	assert.Equal(t, "declined.refused", ended.Name())
	assert.Less(t, ended.Changed.Sub(refused.Changed), time.Hour)
	assert.Equal(t, []int{1, 0}, []int{s.charged("A"), s.charged("new")})
}

// TestMoved: after a person has said that the installation has moved, its open payments are looked up and sent at the new address.
func TestMoved(t *testing.T) { everywhere(t, testMoved[*sql.Tx], testMoved[pgx.Tx]) }

func testMoved[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	ctx := t.Context()
	s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.StatusAfterCommit(502, sandbox.HTML), Times: 3},
		sandbox.Fault{Operation: "GET /transactions/for-reference-number", Kind: sandbox.Status(500, sandbox.ServiceError)})
	s.pay("lost", s.stored())
	s.reaches("lost", "unknown")
	require.NoError(t, s.Engine().Pause(ctx, "Kim", "the service moves"))
	s.pay("queued", s.stored())
	for _, statement := range []string{ // they were made for another address
		`UPDATE quickstream.write SET intent = replace(intent, '"environment":"', '"environment":"before.'), lookups = replace(lookups, '"environment":"', '"environment":"before.')`,
		`UPDATE quickstream.meta SET value = replace(value, '"address":"', '"address":"before.') WHERE name = 'facility'`,
	} {
		require.NoError(t, db.exec(ctx, statement))
	}
	s.Sandbox.ClearFaults()
	require.ErrorIs(t, s.Engine().Ready(ctx), durable.ErrFacility)
	require.NoError(t, s.Engine().ConfirmFacility(ctx, "Kim", "it has moved"))
	require.NoError(t, s.Engine().Unpause(ctx, "Kim", "go on"))
	assert.True(t, s.Settled("lost").Paid())
	assert.True(t, s.Settled("queued").Paid())
	s.Judge("lost", "queued")
}
