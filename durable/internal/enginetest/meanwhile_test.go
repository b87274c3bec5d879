package enginetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func TestLookUpOfWhatWaits(t *testing.T) {
	everywhere(t, testLookUpOfWhatWaits[*sql.Tx], testLookUpOfWhatWaits[pgx.Tx])
}

// A person looks up a payment that waits to be sent again. Nothing is found, and it is sent again.
func testLookUpOfWhatWaits[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.Status(429, sandbox.ServiceError), Times: 1}))
	id := s.pay("A", s.stored())
	s.until(0, func(h durable.Health) bool { return s.read(id).Failures == 1 && !h.Paused.IsZero() })
	w, err := s.engine.LookUp(t.Context(), id, "Kim", "the customer asks")
	require.NoError(t, err)
	require.Equal(t, queued, w.Common().Text())
	s.clock.Advance(checkPassed)
	assert.Equal(t, 2, s.comes(id, approved, time.Second).Sends)
	assert.Equal(t, 1, s.charged())
}

func TestLookedUpBeforeTheAnswer(t *testing.T) {
	everywhere(t, testLookedUpBeforeTheAnswer[*sql.Tx], testLookedUpBeforeTheAnswer[pgx.Tx])
}

// A process that starts looks up a payment right before its answer is stored. The client has sent that payment twice, the
// service forgets keys, and look-ups show nothing yet: the second charge is found all the same.
func testLookedUpBeforeTheAnswer[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag, a.KeyLifetime = 0, 20*time.Second, 0
	}))
	answered, looked := make(chan struct{}, 10), make(chan struct{})
	s.db.step = func(name string) {
		if name == "after the answer" {
			answered <- struct{}{}
			<-looked
		}
	}
	s.engine = s.start()
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 1}))
	id := s.pay("A", s.stored())
	<-answered
	s.start()
	require.Eventually(t, func() bool { return s.read(id).Text() == resolving }, 2*time.Minute, 20*time.Millisecond)
	close(looked)
	require.Equal(t, approved, s.settled(id).Text())
	require.Equal(t, 2, s.charged())
	s.reaches(id, doubleCharged, time.Minute)
}

func TestDecideAboutAReversal(t *testing.T) {
	everywhere(t, testDecideAboutAReversal[*sql.Tx], testDecideAboutAReversal[pgx.Tx])
}

// A reversal is sent as a void or a refund: a person decides about it right after a look-up, as about those.
func testDecideAboutAReversal[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetBeforeCommit(), Times: 1}))
	id := s.reverse(p.ID)
	s.reaches(id, resolving, 0)
	require.NoError(t, s.engine.Stop(t.Context())) // or it looks up by itself
	s.clock.Advance(10 * time.Minute)
	decide := func(version int64) error {
		return s.commit(func(tx TTx) error {
			return s.engine.Decide(t.Context(), tx, id, durable.Decision{Verdict: durable.VerdictNotSent, By: "Alex", Note: "support says so", Version: version})
		})
	}
	require.ErrorIs(t, decide(s.read(id).Version), durable.ErrLookUpFirst)
	w, err := s.engine.LookUp(t.Context(), id, "Alex", "a customer asks")
	require.NoError(t, err)
	require.NoError(t, decide(w.Common().Version))
}

func TestWhoseReceiptIsFound(t *testing.T) {
	everywhere(t, testWhoseReceiptIsFound[*sql.Tx], testWhoseReceiptIsFound[pgx.Tx])
}

// Two refunds of a payment are equal, and the service shows neither metadata nor references of refunds. The first is
// stored by another version of the program, and is not taken for the second, whose request was lost: a person decides.
func testWhoseReceiptIsFound[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag, a.Metadata, a.FollowUpReferences = 0, 0, "dropped", "none"
	}))
	s.engine = s.start()
	p := s.settledLongAgo("A")
	first := s.settled(s.refund(p.ID, 500))
	require.Equal(t, approved, first.Text())
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetBeforeCommit(), Times: 1}))
	second := s.refund(p.ID, 500)
	s.reaches(second, resolving, 0)
	s.corrupt(`intent = replace(intent, '"version":1', '"version":9')`, first.ID)
	s.reaches(second, escalated, time.Hour)
}

func TestRefundThatWasMade(t *testing.T) {
	everywhere(t, testRefundThatWasMade[*sql.Tx], testRefundThatWasMade[pgx.Tx])
}

// A file comes back with its mark, so that nothing shows that it is older. A refund that it lacks is asked for again under its
// id, and the service has forgotten the key: the list of the payment's refunds has it, and it is not sent.
func testRefundThatWasMade[TTx any](t *testing.T, db store[TTx]) {
	s := forgetful(t, db)
	p := s.settledLongAgo("A")
	ask := func() durable.Record {
		require.NoError(t, s.commit(func(tx TTx) error {
			_, _, err := s.engine.Refund(t.Context(), tx, durable.NewWrite{ID: "refund"}, p.ID, quickstream.RefundParams{PrincipalAmount: decimal.New(300, -2), Currency: quickstream.CurrencyAUD})
			return err
		}))
		return s.settled("refund")
	}
	made := ask()
	s.put("DELETE FROM quickstream.write WHERE id = 'refund'")
	s.clock.Advance(time.Hour)
	assert.Equal(t, made.ReceiptNumber, ask().ReceiptNumber)
	assert.EqualValues(t, 934, s.net("A"))
}

func TestRefundsDoNotWaitForEachOther(t *testing.T) {
	everywhere(t, testRefundsDoNotWaitForEachOther[*sql.Tx], testRefundsDoNotWaitForEachOther[pgx.Tx])
}

// A refund was sent twice, refused for now each time, and would exceed the payment with an earlier one if both sends were
// executed. The earlier one waits for it, and it waits for none.
func testRefundsDoNotWaitForEachOther[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	require.NoError(t, s.engine.Stop(t.Context()))
	earlier, sent := s.refund(p.ID, 400), s.refund(p.ID, 500)
	s.corrupt("claim = 'an earlier one', sends = 2, failures = 2, permit = 'unavailable_again', first_sent_at = $2, last_sent_at = $2, key_sent_at = $2", sent, s.clock.Now().Add(-time.Hour))
	s.engine = s.start()
	s.ends(sent, approved)
	s.ends(earlier, approved)
	assert.EqualValues(t, 334, s.net("A"))
}

func TestFoundAfterItsTokenWasUsed(t *testing.T) {
	everywhere(t, testFoundAfterItsTokenWasUsed[*sql.Tx], testFoundAfterItsTokenWasUsed[pgx.Tx])
}

// A person says that a payment was not sent, and a program asks again with the same single-use token. The service refuses
// that, because the first payment was made: it is found, and pays the order.
func testFoundAfterItsTokenWasUsed[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	params := s.card(sandbox.CardAttempted)
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit()}))
	s.hides()
	first := s.pay("A", params)
	s.reaches(first, notFound, 6*time.Hour)
	s.box.ClearFaults()
	s.hides() // until the second one is refused
	require.NoError(t, s.commit(func(tx TTx) error {
		return s.engine.Decide(t.Context(), tx, first, durable.Decision{Verdict: durable.VerdictNotSent, By: "Alex", Note: "support says so"})
	}))
	second := s.pay("A", params)
	s.reaches(second, refused, time.Second)
	s.box.ClearFaults()
	assert.Equal(t, approved, s.reaches(first, approved, 6*time.Hour).Text())
	assert.Equal(t, first, s.paymentOf("A").ID)
	assert.Equal(t, 1, s.charged())
}

func TestGivenUpAfterARestore(t *testing.T) {
	everywhere(t, testGivenUpAfterARestore[*sql.Tx], testGivenUpAfterARestore[pgx.Tx])
}

// A backup has a payment as queued that was sent in the lost history. Its token is too old now, and look-ups and lists show it
// ten minutes after it was made: it is not called not sent before.
func testGivenUpAfterARestore[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag = 0, 10*time.Minute
	}))
	s.engine = s.start()
	id := s.settled(s.pay("A", s.card(sandbox.CardAttempted))).ID
	require.NoError(t, s.engine.Stop(t.Context()))
	s.corrupt(isQueued+", next_at = $2, due_at = $2", id, s.clock.Now())
	s.age(id, 11*time.Minute)
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now().Add(-time.Hour)))
	require.NoError(t, s.engineOf().ConfirmHistory(t.Context(), "Kim", "the only copy"))
	s.engine = s.start()
	s.comes(id, approved, 10*time.Second)
	assert.Equal(t, []string{approved, approved}, s.states("A"), "it was never called not sent")
	assert.Equal(t, 1, s.charged())
}

func TestKeyIsNotUsedLater(t *testing.T) {
	everywhere(t, testKeyIsNotUsedLater[*sql.Tx], testKeyIsNotUsedLater[pgx.Tx])
}

// The service executes a payment and refuses it in its own words. The look-up before the next send takes two minutes, in which
// the key is forgotten, and shows nothing: the payment is not sent under that key any more, and found later.
func testKeyIsNotUsedLater[TTx any](t *testing.T, db store[TTx]) {
	g := &gateway{refuses: true, status: 429, body: fmt.Sprintf(ownWords, 429), hidden: true, forgets: true}
	claims, slow, passed := new(atomic.Int32), make(chan struct{}), make(chan struct{})
	db.step = func(name string) {
		if name == "before the claim" && claims.Add(1) == 2 {
			close(slow)
			<-passed
		}
	}
	s := behind(t, db, g)
	id := s.pay("A", anotherToken())
	s.until(0, func(h durable.Health) bool { return s.read(id).Failures == 1 && !h.Paused.IsZero() })
	g.set(func(g *gateway) { g.refuses = false })
	s.clock.Advance(checkPassed)
	<-slow
	s.clock.Advance(2 * time.Minute)
	close(passed)
	require.Eventually(t, func() bool { return s.read(id).Due.After(s.clock.Now()) }, 2*time.Minute, 20*time.Millisecond)
	g.set(func(g *gateway) { g.hidden = false })
	s.comes(id, approved, time.Minute)
	assert.Equal(t, 1, g.charges("A"))
}

func TestHistoryChangesBeforeTheClaim(t *testing.T) {
	everywhere(t, testHistoryChangesBeforeTheClaim[*sql.Tx], testHistoryChangesBeforeTheClaim[pgx.Tx])
}

// Between the look at the history and the claim, another process sends the payment, its commits are lost, and the change is
// adopted. The payment is as it was read, and is looked up before it is claimed.
func testHistoryChangesBeforeTheClaim[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag, a.KeyLifetime = 0, 0, 0
	}))
	claims, claiming, promoted := new(atomic.Int32), make(chan struct{}), make(chan struct{})
	s.db.step = func(name string) {
		if name == "before the claim" && claims.Add(1) == 1 {
			close(claiming)
			<-promoted
		}
	}
	s.engine = s.start()
	id := s.pay("A", s.stored())
	<-claiming
	_, err := s.client.Transactions.Submit(t.Context(), s.intentOf(id), func(context.Context) error { return nil })
	require.NoError(t, err)
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now().Add(-time.Hour)))
	close(promoted)
	s.comes(id, approved, time.Second)
	assert.Equal(t, 1, s.charged())
}

// intentOf is the intent of a write, as it is stored.
func (s *shop[TTx]) intentOf(id string) (intent quickstream.Intent) {
	s.Helper()
	require.NoError(s, json.Unmarshal([]byte(one[string](s, "SELECT intent FROM quickstream.write WHERE id = $1", id)), &intent))
	return intent
}

func TestTrialWithoutAnAnswer(t *testing.T) {
	everywhere(t, testTrialWithoutAnAnswer[*sql.Tx], testTrialWithoutAnAnswer[pgx.Tx])
}

// After a refusal one write goes alone, and its answer is lost. That is no success: nothing else is sent before another trial.
func testTrialWithoutAnAnswer[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	params := s.stored()
	require.NoError(t, s.box.Inject(
		sandbox.Fault{Operation: transactions, Kind: sandbox.Status(429, sandbox.HTML), Times: 1},
		sandbox.Fault{Operation: transactions, Kind: sandbox.ResetBeforeCommit()},
	))
	s.pay("first", params)
	require.Eventually(t, func() bool { return !s.status().Paused.IsZero() }, 2*time.Minute, 20*time.Millisecond)
	for i := range 5 {
		s.pay(fmt.Sprint("waiting ", i), params)
	}
	s.clock.Advance(checkPassed)
	const sent = "SELECT count(*) FROM quickstream.write WHERE sends > 0"
	require.Eventually(t, func() bool {
		return s.count(sent) == 2 && s.count(sent+" AND state = 'sending'") == 0
	}, 2*time.Minute, 20*time.Millisecond)
	assert.NotZero(t, s.status().Paused)
	assert.Equal(t, 2, s.count(sent))
	s.box.ClearFaults()
	s.clock.Advance(checkPassed)
	s.until(time.Second, func(durable.Health) bool { return s.count(sent+" AND state = 'settled'") == 4 })
	assert.Zero(t, s.status().Paused)
}

func TestNothingFollowsAVoid(t *testing.T) {
	everywhere(t, testNothingFollowsAVoid[*sql.Tx], testNothingFollowsAVoid[pgx.Tx])
}

// What waits to be done to a pre-authorisation is not sent after that was voided, whatever it is.
func testNothingFollowsAVoid[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settled(s.pay("A", s.held()))
	require.NoError(t, s.engine.Stop(t.Context()))
	more := s.pay("A", quickstream.TopUpParams{OriginalReceiptNumber: p.ReceiptNumber, PrincipalAmount: decimal.New(100, -2), Currency: quickstream.CurrencyAUD})
	s.corrupt("reversal = 'voided'", p.ID)
	s.box.ResetRequests()
	s.engine = s.start()
	assert.Contains(t, s.reaches(more, notSent, time.Second).Problem, "it is voided")
	assert.Zero(t, s.sent())
}

func TestVoidOneOfTwo(t *testing.T) {
	everywhere(t, testVoidOneOfTwo[*sql.Tx], testVoidOneOfTwo[pgx.Tx])
}

// A service that forgets keys has charged a payment twice, and a person voids it. One transaction is left: the order is not to
// be paid again.
func testVoidOneOfTwo[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag, a.KeyLifetime = 0, 0, 0
	}))
	s.engine = s.start()
	s.morning()
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit(), Times: 1}))
	params := s.stored()
	id := s.pay("A", params)
	s.reaches(id, doubleCharged, time.Second)
	void, err := s.tryVoid(id)
	require.NoError(t, err)
	s.reaches(void, approved, time.Second)
	assert.Equal(t, id, s.blocked("A", params))
	assert.Equal(t, 1, s.charged(), "one of them was voided")
}

// restarting is a database whose server restarts once when restarts is set.
type restarting[TTx any] struct {
	durable.Database[TTx]
	restarts *atomic.Bool
}

// History says once that the server has started again.
func (d restarting[TTx]) History(ctx context.Context, tx database.Tx) (database.Change, error) {
	if d.restarts.Load() {
		return database.Restarted, nil
	}
	return d.Database.History(ctx, tx)
}

// Adopt takes the server as it is.
func (d restarting[TTx]) Adopt(ctx context.Context, tx database.Tx) error {
	d.restarts.Store(false)
	return d.Database.Adopt(ctx, tx)
}

func TestRestartAfterARestore(t *testing.T) {
	everywhere(t, testRestartAfterARestore[*sql.Tx], testRestartAfterARestore[pgx.Tx])
}

// A day after a restore the server restarts. A capture that the backup lacks is asked for again under its id another day later:
// within a week of the restore it is looked up first, and not refused as a second one.
func testRestartAfterARestore[TTx any](t *testing.T, db store[TTx]) {
	restarts := new(atomic.Bool)
	db.Database = restarting[TTx]{db.Database, restarts}
	s := forgetful(t, db)
	p := s.settled(s.pay("A", s.held()))
	capture := func() durable.Record {
		require.NoError(t, s.commit(func(tx TTx) error {
			_, _, err := s.engine.Capture(t.Context(), tx, durable.NewWrite{ID: "capture"}, p.ID, quickstream.CaptureParams{
				PrincipalAmount: p.Amount, Currency: p.Currency, StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
			})
			return err
		}))
		return s.settled("capture")
	}
	made := capture()
	require.Equal(t, approved, made.Text())
	require.NoError(t, s.engine.Stop(t.Context()))
	s.put("DELETE FROM quickstream.write WHERE id = 'capture'")
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now().Add(-time.Hour)))
	s.engine = s.start()
	s.restored()
	s.clock.Advance(24 * time.Hour)
	restarts.Store(true)
	s.comes(s.pay("B", s.stored()), approved, time.Second)
	require.False(t, restarts.Load())
	s.restored()
	s.clock.Advance(24 * time.Hour)
	s.box.ResetRequests()
	assert.Equal(t, made.ReceiptNumber, capture().ReceiptNumber)
	assert.Zero(t, s.sent())
}

func TestTwoChargesWhileRefused(t *testing.T) {
	everywhere(t, testTwoChargesWhileRefused[*sql.Tx], testTwoChargesWhileRefused[pgx.Tx])
}

// A payment was executed twice, and OnOutcome refuses what the comparison says of both. When it has taken the first it is
// notified of the second.
func testTwoChargesWhileRefused[TTx any](t *testing.T, db store[TTx]) {
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag, a.KeyLifetime = 0, 0, 0
	}))
	s.engine = s.start()
	params := s.stored()
	s.hides()
	require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: sandbox.ResetAfterCommit()}))
	id := s.pay("A", params)
	s.reaches(id, resolving, 0)
	require.Greater(t, s.charged(), 1)
	s.refuses(errors.New("the merchant's tables are locked"))
	for day := range 4 {
		require.NoError(t, s.engine.Compare(t.Context(), quickstream.DateOf(s.clock.Now()).AddDays(day)))
	}
	require.Positive(t, s.details(id).Refused)
	s.refuses(nil)
	s.reaches(id, doubleCharged, time.Minute)
}

func TestDeclinedReversalAfterARestore(t *testing.T) {
	everywhere(t, testDeclinedReversalAfterARestore[*sql.Tx], testDeclinedReversalAfterARestore[pgx.Tx])
}

// A reversal that a restored backup has as queued was declined in the lost history. Its refund is found and looked up until it is
// final.
func testDeclinedReversalAfterARestore[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	p := s.settledLongAgo("A")
	s.box.NextTransaction(sandbox.Declined("51"))
	id := s.reverse(p.ID)
	require.Equal(t, declined, s.settled(id).Text())
	require.NoError(t, s.engine.Stop(t.Context()))
	s.put("DELETE FROM quickstream.write WHERE id = $1", id)
	require.NoError(t, s.commit(func(tx TTx) error {
		_, _, err := s.engine.Reverse(t.Context(), tx, durable.NewWrite{ID: id}, p.ID)
		return err
	}))
	s.clock.Advance(time.Minute)
	require.NoError(t, s.engineOf().Restored(t.Context(), s.clock.Now()))
	require.NoError(t, s.engineOf().ConfirmHistory(t.Context(), "Kim", "the only copy"))
	s.engine = s.start()
	s.comes(id, declined, 10*time.Minute)
}
