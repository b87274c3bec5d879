package enginetest

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	modernc "modernc.org/sqlite"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// fileBackup is a way to a copy of a SQLite file and back.
type fileBackup struct {
	take  func(f *fileShop, to string)
	parts []string      // what is put back, by what stands after the name of the file
	age   time.Duration // of the backup when it is put back
	// The mark is removed, or is the backup's and tells nothing; or a program without a worker takes orders first.
	noMark, unseen, web bool
}

var fileBackups = map[string]fileBackup{
	"file and wal":          {take: (*fileShop).copyParts, parts: []string{"", "-wal"}, age: 10 * time.Minute},
	"VACUUM INTO, no mark":  {take: func(f *fileShop, to string) { copyDatabase(f.T, f.file, to) }, parts: []string{""}, age: 10 * time.Minute, noMark: true},
	"backup API, no mark":   {take: (*fileShop).backUp, parts: []string{""}, age: 10 * time.Minute, noMark: true},
	"with its mark":         {take: (*fileShop).copyParts, parts: []string{"", "-wal", ".mark"}, age: 10 * time.Minute, unseen: true},
	"three days, web first": {take: (*fileShop).backUp, parts: []string{""}, age: 72 * time.Hour, web: true},
}

// memory is what a service remembers of a lost payment.
type memory struct {
	lag, keys time.Duration
	fails     string // the operation that fails until every customer is served
}

var memories = map[string]memory{
	"shows late, keeps keys":      {lag: 5 * time.Minute, keys: 24 * time.Hour},
	"shows at once, forgets keys": {keys: time.Minute},
	"lists fail, forgets keys":    {keys: time.Minute, fails: "GET /transactions/for-settlement-date"},
}

// fileShop is a shop on a file that may be closed and put back.
type fileShop struct {
	*shop[*sql.Tx]
	file, backup string
	params       quickstream.PayParams
}

func newFileShop(t *testing.T, m memory) *fileShop {
	f := &fileShop{shop: &shop[*sql.Tx]{T: t, clock: runningClock(t)}, file: filepath.Join(t.TempDir(), "shop.db"), backup: filepath.Join(t.TempDir(), "backup.db")}
	f.box, f.client = sandboxtest.New(t, sandbox.WithClock(f.clock), sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.LookupLag, a.KeyLifetime = 0, m.lag, m.keys
	}))
	f.db = onFile(t, f.file)
	f.engine, f.params = f.start(), f.stored()
	return f
}

func (f *fileShop) copyParts(to string) {
	for _, part := range []string{"", "-wal", ".mark"} {
		content, err := os.ReadFile(f.file + part)
		require.NoError(f, err)
		require.NotEmpty(f, content, part)
		require.NoError(f, os.WriteFile(to+part, content, 0o600))
	}
}

func (f *fileShop) backUp(to string) {
	connection, err := new(modernc.Driver).Open(f.file)
	require.NoError(f, err)
	defer connection.Close()
	backup, err := connection.(interface {
		NewBackup(to string) (*modernc.Backup, error)
	}).NewBackup(to)
	require.NoError(f, err)
	_, err = backup.Step(-1)
	require.NoError(f, errors.Join(err, backup.Finish()))
}

// closed reports whether nothing has the file any more. What was cancelled may have it yet, or was interrupted when it
// closed it as the last, and has left its log: the next one to close it removes that.
func (f *fileShop) closed() bool {
	left, err := filepath.Glob(f.file + "-wal")
	require.NoError(f, err)
	if left == nil {
		return true
	}
	last, err := sql.Open("sqlite", f.file)
	require.NoError(f, err)
	_, _ = last.ExecContext(f.Context(), "PRAGMA wal_checkpoint(TRUNCATE)") // or another one has it
	_ = last.Close()
	return false
}

// putsBack puts a backup in the place of the file, which keeps its number.
func (f *fileShop) putsBack(b fileBackup) {
	f.Helper()
	require.NoError(f, f.engine.Stop(f.Context()))
	require.NoError(f, f.db.close())
	require.Eventually(f, f.closed, time.Minute, 10*time.Millisecond)
	for _, part := range b.parts {
		content, err := os.ReadFile(f.backup + part)
		require.NoError(f, err)
		require.NoError(f, os.WriteFile(f.file+part, content, 0o600))
	}
	if b.noMark {
		require.NoError(f, os.Remove(f.file+".mark"))
	}
	f.db = onFile(f.T, f.file)
}

// orders returns new writes of so many orders.
func (f *fileShop) orders(name string, n int) []durable.NewWrite {
	writes := make([]durable.NewWrite, n)
	for i := range writes {
		writes[i] = f.newWrite(fmt.Sprint(name, " ", i))
	}
	return writes
}

// come has customers ask for payments, under the ids that they had.
func (f *fileShop) come(writes []durable.NewWrite) {
	f.Helper()
	for _, w := range writes {
		_, _, err := f.asked(w, f.params)
		require.NoError(f, err, w.Order)
	}
}

// sells has customers pay, and waits until every write is settled.
func (f *fileShop) sells(writes []durable.NewWrite) {
	f.Helper()
	f.come(writes)
	require.Eventually(f, func() bool { return len(f.status().Writes) == 0 }, 4*time.Minute, 20*time.Millisecond)
}

// giveBack asks for a refund of a part of each payment, under an id that follows from it.
func (f *fileShop) giveBack(payments []durable.NewWrite) {
	f.Helper()
	for _, p := range payments {
		require.NoError(f, f.commit(func(tx *sql.Tx) error {
			_, _, err := f.engine.Refund(f.Context(), tx, durable.NewWrite{ID: "refund of " + p.ID}, p.ID,
				quickstream.RefundParams{PrincipalAmount: decimal.New(300, -2), Currency: quickstream.CurrencyAUD})
			return err
		}))
	}
}

// ends lets a quarter of an hour pass, and waits until no write is in progress, and the search has ended unless
// its lists fail. Time then goes on slowly: no payment may become too old to be sent.
func (f *fileShop) ends(searched bool) {
	f.Helper()
	until := f.clock.Now().Add(17 * time.Minute)
	require.Eventually(f, func() bool {
		passed, h := f.clock.Now().After(until), f.status()
		if f.clock.Advance(time.Second); !passed {
			f.clock.Advance(20 * time.Second)
		}
		waits := h.Writes[durable.StateQueued] + h.Writes[durable.StateSending] + h.Writes[durable.StateResolving]
		return passed && waits == 0 && (!searched || h.Restoring.IsZero())
	}, 5*time.Minute, 20*time.Millisecond)
}

// bill counts what is wrong with orders, by the ledger and by what the engine says.
type bill struct{ twice, refundedTwice, lost, unsettled int }

func (f *fileShop) bill(orders, refunded []durable.NewWrite) (b bill) {
	f.Helper()
	charges, refunds, orderOf := map[string]int{}, map[string]int{}, map[string]string{}
	for _, e := range f.box.Ledger() {
		switch {
		case e.Outcome != "approved":
		case e.Type == "PAYMENT":
			orderOf[e.Receipt] = e.Metadata["quickstreamOrder"]
			charges[orderOf[e.Receipt]]++
		case e.Type == "REFUND":
			refunds[orderOf[e.OriginalReceipt]]++
		}
	}
	add := func(n *int, wrong bool) {
		if wrong {
			*n++
		}
	}
	for _, w := range orders {
		p, err := f.engine.PaymentOf(f.Context(), w.Order)
		if err != nil || p.Text() != approved && (p.Text() != doubleCharged || charges[w.Order] < 2) {
			f.Logf("%s is %s: %s %v", w.Order, p.Text(), p.Problem, err)
			b.unsettled++
		}
		add(&b.twice, charges[w.Order] > 1)
		add(&b.lost, charges[w.Order] == 0)
	}
	for _, w := range refunded {
		add(&b.unsettled, f.read("refund of "+w.ID).Text() != approved)
		add(&b.refundedTwice, refunds[w.Order] > 1)
		add(&b.lost, refunds[w.Order] == 0)
	}
	return b
}

// A file is put back that holds some payments as queued, and does not know others and their refunds. Customers
// repeat at once under the same ids, others never come back: every order is charged once and known as paid.
func TestFileRestored(t *testing.T) {
	t.Parallel()
	for name, backup := range fileBackups {
		for service, m := range memories {
			t.Run(name+"/"+service, func(t *testing.T) {
				t.Parallel()
				testFileRestored(t, backup, m)
			})
		}
	}
}

func testFileRestored(t *testing.T, backup fileBackup, m memory) {
	begun, f, n := time.Now(), newFileShop(t, m), times(t, backupVariable, 20)
	paid, waiting, lost, absent, fresh := f.orders("paid", n/4), f.orders("waiting", n/4), f.orders("lost", n), f.orders("absent", n/4), f.orders("fresh", n/4)
	f.sells(paid)
	f.clock.Advance(48 * time.Hour) // what is settled can be refunded
	require.NoError(t, f.engine.Stop(t.Context()))
	f.come(waiting)
	backup.take(f, f.backup)
	made := f.clock.Now()
	f.engine = f.start()
	f.giveBack(paid)
	f.sells(slices.Concat(lost, absent))
	f.clock.Advance(backup.age)
	f.putsBack(backup)
	if backup.unseen {
		require.NoError(t, f.engineOf().Restored(t.Context(), made))
	}
	if m.fails != "" {
		require.NoError(t, f.box.Inject(sandbox.Fault{Operation: m.fails, Kind: sandbox.Status(502, sandbox.HTML)}))
	}
	if f.engine = f.engineOf(); !backup.web {
		f.engine = f.start()
	}
	f.come(slices.Concat(fresh, lost[:n/2]))
	f.giveBack(paid[:n/8])
	if backup.web {
		f.engine = f.start()
	}
	f.clock.Advance(2 * time.Second) // what was written within a second may have been there before
	f.come(slices.Concat(lost[n/2:], waiting))
	f.giveBack(paid[n/8:])
	f.ends(m.fails == "")
	f.box.ClearFaults()
	f.ends(true)
	b := f.bill(slices.Concat(paid, waiting, lost, absent, fresh), paid)
	t.Logf("%d payments and %d refunds, %d and all repeated, in %s: %+v", 2*n, len(paid), n+n/4, time.Since(begun).Round(time.Second), b)
	assert.Equal(t, bill{}, b)
}
