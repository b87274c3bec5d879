package enginetest

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
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

// listing is a service that has settled many payments on a date: R1 to Rn, all like one.
type listing struct {
	one   string // its JSON, with the receipt "RECEIPT"
	n     int
	broke int // the one that cannot be read; 0 for none
	page  func(first int)
}

const perPage = 100

func (l listing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path != "/transactions/for-settlement-date" {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"status":404,"developerMessage":"there is no such transaction"}`)
		return
	}
	first, _ := strconv.Atoi(r.URL.Query().Get("page"))
	l.page(first)
	var items []string
	for i := first + 1; i <= min(first+perPage, l.n); i++ {
		receipt := fmt.Sprintf("R%d", i)
		if i == l.broke {
			items = append(items, `{"receiptNumber":"`+receipt+`","status":{}}`)
			continue
		}
		items = append(items, strings.Replace(l.one, "RECEIPT", receipt, 1))
	}
	links := ""
	if first+perPage < l.n {
		links = fmt.Sprintf(`{"rel":"next","href":"http://%s%s?settlementDate=%s&page=%d","requestMethod":"GET"}`,
			r.Host, r.URL.Path, r.URL.Query().Get("settlementDate"), first+perPage)
	}
	_, _ = fmt.Fprintf(w, `{"links":[%s],"data":[%s]}`, links, strings.Join(items, ","))
}

// many returns a shop with n approved payments more, which its service has settled but for
// the last.
func many[TTx any](t *testing.T, db store[TTx], n, broke int, page func(first int)) (*durable.Engine[TTx], *differences, quickstream.Date) {
	t.Helper()
	s := &shop[TTx]{T: t, db: db, clock: runningClock(t)}
	s.box, s.client = sandboxtest.New(t, sandbox.WithClock(s.clock))
	s.engine = s.start()
	p := s.settled(s.pay("A", s.card(sandbox.CardAttempted)))
	s.clock.Advance(time.Minute)
	made, err := s.client.Transactions.Get(t.Context(), p.ReceiptNumber)
	require.NoError(t, err)
	var raw map[string]any
	require.NoError(t, json.Unmarshal(made.Raw(), &raw))
	raw["receiptNumber"] = "RECEIPT"
	one, err := json.Marshal(raw)
	require.NoError(t, err)
	server := httptest.NewServer(listing{string(one), n - 1, broke, page})
	t.Cleanup(server.Close)
	s.client, err = quickstream.NewClient(quickstream.CustomURL(server.URL), sandboxtest.Keys(s.box))
	require.NoError(t, err)
	const others = `kind, operation, follows, business, source, request, state, outcome, reversal, version, claim, sends, key_number, first_sent_at, last_sent_at, key_sent_at,
		permit, written_at, changed_at, database_at, replaced_by, end_to_end_id, amount, total, currency, settles_on, intent, pending, failures, problem, decision`
	require.NoError(t, s.commit(func(tx TTx) error {
		_, err := db.Join(tx).Exec(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO quickstream.write (id, order_id, receipt, token, reference, intent_id, lookups, `+others+`)
			SELECT 'P' || i, 'order ' || i, 'R' || i, '', reference || i, intent_id || i, replace(lookups, receipt, 'R' || i), `+others+` FROM quickstream.write, n`, n)
		if err == nil {
			_, err = db.Join(tx).Exec(t.Context(), "ANALYZE") //nolint:misspell // as SQL spells it
		}
		if err == nil {
			_, err = db.Join(tx).Exec(t.Context(), "DELETE FROM quickstream.write WHERE order_id = 'A'")
		}
		return err
	}))
	told := new(differences)
	return s.engineOf(func(o *durable.Options[TTx]) { o.OnDifference = told.tell }), told, p.SettlesOn
}

func TestCompareMany(t *testing.T) { oneByOne(t, testCompareMany[*sql.Tx], testCompareMany[pgx.Tx]) }

// rowsVariable says how many payments are compared.
const rowsVariable = "DURABLE_TEST_ROWS"

// Many payments are compared in the memory that a tenth
// of them takes; one that cannot be read is told, and told as missing; and the one that the
// service does not have is found.
func testCompareMany[TTx any](t *testing.T, db store[TTx]) {
	const broke = 777
	n := times(t, rowsVariable, compareRows)
	at := map[int]uint64{}
	engine, told, date := many(t, db, n, broke, func(first int) {
		if first == n/10 || first == n-perPage {
			at[first] = liveHeap()
		}
	})
	begun := time.Now()
	require.NoError(t, engine.Compare(t.Context(), date))
	t.Logf("%d payments in %v, with %d KiB live after a tenth and %d KiB at the end", n, time.Since(begun), at[n/10]>>10, at[n-perPage]>>10)
	require.Len(t, at, 2)
	assert.Less(t, at[n-perPage], at[n/10]+4<<20, "it grows with the list")
	require.Len(t, told.told, 3)
	assert.ErrorIs(t, told.told[0].Err, quickstream.ErrUnreadableItem)
	assert.Equal(t, []string{": unreadable", fmt.Sprintf("order %d: missing_there", n), fmt.Sprintf("order %d: missing_there", broke)}, told.kinds())
}

func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
