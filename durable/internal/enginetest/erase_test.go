package enginetest

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestErase(t *testing.T) { everywhere(t, testErase[*sql.Tx], testErase[pgx.Tx]) }

// Erasing a customer leaves no text of theirs in any table, and leaves amounts and receipts, other
// customers, and what is not over.
func testErase[TTx any](t *testing.T, db store[TTx]) {
	s := open(t, db)
	s.listen()
	const canary = "CUSTOMER-CANARY"
	pay := func(order, reference string) durable.Record {
		params := s.card(sandbox.CardAttempted)
		params.CustomerReferenceNumber = reference
		return s.settled(s.pay(order, params))
	}
	erased, kept := pay("erased", canary), pay("kept", "C-2")
	byAgreement := s.mandate()
	byAgreement.CustomerReferenceNumber = canary
	open := s.pay("open", byAgreement)
	require.Contains(t, s.tablesWith(canary), "write")
	done, err := s.engine.Erase(t.Context(), canary, "Alex", "as asked")
	require.NoError(t, err)
	assert.Equal(t, 1, done.Writes)
	assert.Equal(t, 1, done.Left, "the open payment")
	assert.True(t, s.emptied(erased.ID))
	assert.False(t, s.emptied(open))
	p := s.read(erased.ID)
	assert.Equal(t, []string{"12.34", erased.ReceiptNumber, approved}, []string{p.Amount.String(), p.ReceiptNumber, p.Text()})

	receipt := s.reaches(open, approved, time.Minute).ReceiptNumber
	s.until(time.Second, func(status durable.Health) bool { return status.Received == 0 && len(s.tablesWith(receipt)) > 1 })
	require.Contains(t, s.tablesWith(receipt), "notification")
	require.Eventually(t, func() bool {
		s.clock.Advance(24 * time.Hour) // until its money cannot come back
		done, err = s.engine.Erase(t.Context(), canary, "Alex", "as asked")
		return err == nil && done.Left == 0
	}, 2*time.Minute, 50*time.Millisecond)
	assert.Empty(t, s.tablesWith(canary))
	assert.NotContains(t, s.tablesWith(receipt), "notification")
	assert.False(t, s.emptied(kept.ID))
	_, err = s.engine.Erase(t.Context(), "", "Alex", "as asked")
	assert.Error(t, err)
}

// tablesWith are the tables that hold a text in any column.
func (s *shop[TTx]) tablesWith(text string) (tables []string) {
	s.Helper()
	for _, table := range []string{"write", "event", "notification", "meta"} {
		var columns []string
		for _, column := range s.columnsOf(table) {
			columns = append(columns, "coalesce(CAST("+column+" AS text), '')")
		}
		if s.count("SELECT count(*) FROM quickstream."+table+" WHERE "+strings.Join(columns, " || ' ' || ")+" LIKE $1", "%"+text+"%") > 0 {
			tables = append(tables, table)
		}
	}
	return tables
}
