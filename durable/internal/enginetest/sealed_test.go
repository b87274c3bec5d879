package enginetest

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
)

// newAEAD returns a cipher under a key of its own.
func newAEAD(t *testing.T) cipher.AEAD {
	t.Helper()
	key := make([]byte, 32)
	_, err := rand.Read(key)
	require.NoError(t, err)
	block, err := aes.NewCipher(key)
	require.NoError(t, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(t, err)
	return aead
}

func TestSeal(t *testing.T) { everywhere(t, testSeal[*sql.Tx], testSeal[pgx.Tx]) }

// Requests and raw notifications are sealed, and what the engine searches by stays readable. A
// program with another key leaves the write alone, and says so: it is overdue.
func testSeal[TTx any](t *testing.T, db store[TTx]) {
	aead := newAEAD(t)
	sealed := func(aead cipher.AEAD) func(*durable.Options[TTx]) {
		return func(o *durable.Options[TTx]) { o.Seal = aead }
	}
	s := open(t, db, sealed(aead))
	s.listen()
	params := s.card(sandbox.CardAttempted)
	params.Metadata = map[string]string{"customer": "Kim Lee of Example Street"}
	p := s.settled(s.pay("A", params))
	s.mandate()
	require.NoError(t, s.box.Flush(t.Context()))
	s.until(0, func(h durable.Health) bool { return h.Received == 0 })
	for table, column := range map[string]string{"write": "intent", "notification": "raw"} {
		assert.NotZero(t, s.count("SELECT count(*) FROM quickstream."+table), table)
		assert.Zero(t, s.count("SELECT count(*) FROM quickstream."+table+" WHERE "+column+" NOT LIKE 'sealed:%'"), table)
	}
	for _, column := range s.columnsOf("write") {
		assert.Zero(t, s.count("SELECT count(*) FROM quickstream.write WHERE CAST("+column+" AS text) LIKE '%Kim Lee%'"), column)
	}
	assert.Equal(t, 1, s.count("SELECT count(*) FROM quickstream.write WHERE id = $1 AND order_id = 'A' AND operation = $2 AND receipt = $3 AND reference = $4",
		p.ID, string(p.Operation), p.ReceiptNumber, p.Reference))
	assert.Equal(t, 1, s.count("SELECT count(*) FROM quickstream.write WHERE amount > 0 AND currency = 'AUD' AND business = $1", sandbox.DefaultBusiness))
	require.NoError(t, s.engine.Stop(t.Context()))

	id := s.pay("B", s.card(sandbox.CardAttempted))
	s.engine = s.start(sealed(newAEAD(t)))
	var version *durable.VersionError
	for _, id := range []string{p.ID, id} {
		_, err := s.engine.Write(t.Context(), id)
		require.ErrorAs(t, err, &version)
		assert.Equal(t, id, version.WriteID)
	}
	s.until(time.Second, func(h durable.Health) bool { return h.Overdue > time.Minute })
	assert.Equal(t, 1, s.charged())
	require.NoError(t, s.engine.Stop(t.Context()))
	s.clock.Advance(2 * time.Minute) // its job is lost, and its single-use token good for ten minutes
	s.engine = s.start(sealed(aead))
	s.comes(id, approved, 0)
	assert.Equal(t, 2, s.charged())
}

// columnsOf are the columns of a table.
func (s *shop[TTx]) columnsOf(table string) (columns []string) {
	s.Helper()
	names := "SELECT column_name FROM information_schema.columns WHERE table_schema || '.' || table_name = 'quickstream." + table + "'"
	if any(s.db.Dialect()) == any(sqlite.DB(nil).Dialect()) {
		names = "SELECT name FROM pragma_table_info('quickstream_" + table + "')"
	}
	require.NoError(s, s.commit(func(tx TTx) error {
		rows, err := s.db.Join(tx).Query(s.Context(), names)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			columns = append(columns, name)
		}
		return rows.Err()
	}))
	require.NotEmpty(s, columns)
	return columns
}

func TestErrorsShowNoValues(t *testing.T) {
	everywhere(t, testErrorsShowNoValues[*sql.Tx], testErrorsShowNoValues[pgx.Tx])
}

// What a hook fails or panics with can hold anything, such as a card number: it is in no table, no
// log and no error.
func testErrorsShowNoValues[TTx any](t *testing.T, db store[TTx]) {
	const canary = "4111111111111111"
	written, fails := new(log), true
	var failed [2]int // outcomes and events
	var s *shop[TTx]
	fail := func(hook int) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !fails {
			return nil
		}
		failed[hook]++
		switch failed[hook] % 3 {
		case 0:
			panic(canary)
		case 1:
			return errors.New("card " + canary)
		default:
			return fmt.Errorf("wrapped: %w", errors.New(canary))
		}
	}
	s = open(t, db, func(o *durable.Options[TTx]) {
		o.OnOutcome = func(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
			if err := fail(0); err != nil {
				return err
			}
			return s.told(ctx, tx, change)
		}
		o.OnEvent = func(context.Context, TTx, *webhooks.Notification) error { return fail(1) }
		o.Logger = slog.New(slog.NewTextHandler(written, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	s.listen()
	id := s.pay("A", s.card(sandbox.CardAttempted))
	s.mandate()
	require.NoError(t, s.box.Flush(t.Context()))
	s.until(time.Second, func(durable.Health) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return failed[0] >= 4 && failed[1] >= 4
	})
	tables := map[string][]string{s.db.Dialect().Jobs: {"args", "errors"}}
	for _, table := range []string{"write", "event", "notification", "meta"} {
		tables["quickstream."+table] = s.columnsOf(table)
	}
	for table, columns := range tables {
		for _, column := range columns {
			if column == "by" {
				column = `"by"`
			}
			assert.Zero(t, s.count("SELECT count(*) FROM "+table+" WHERE CAST("+column+" AS text) LIKE '%"+canary+"%'"), "%s.%s", table, column)
		}
	}
	assert.Contains(t, s.read(id).Problem, "OnOutcome")
	s.mu.Lock()
	fails = false
	s.mu.Unlock()
	s.comes(id, approved, time.Minute)
	written.mu.Lock()
	defer written.mu.Unlock()
	assert.False(t, bytes.Contains(written.text.Bytes(), []byte(canary)))
	assert.Equal(t, []string{approved}, s.states("A"))
}
