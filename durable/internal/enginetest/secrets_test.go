package enginetest

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
)

// TestAttack59JobRows: who gets hold of the database, its write-ahead log or its backup
// finds no key, card number, CVN or PayID in it, in job rows or elsewhere, whatever was
// paid, agreed and asked for, and whether it failed. A row that a program writes from its
// parameters holds them.
func TestAttack59JobRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "shop.db")
	s := open(t, onFile(t, file))
	s.listen()
	s.reaches(s.pay("A", s.mandate()), durable.StateApproved, time.Minute)
	for fault, becomes := range map[*sandbox.FaultKind]durable.State{
		new(sandbox.StatusAfterCommit(500, sandbox.HTML)): durable.StateApproved, new(sandbox.Status(422, sandbox.ServiceError)): durable.StateRefused,
		new(sandbox.Status(503, sandbox.ServiceError)): durable.StateUnknown,
	} {
		order := string(becomes) + fault.String()
		require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: *fault, Times: 2}))
		_ = s.sendCard("by card " + order)
		s.clock.Advance(checkPassed)
		s.reaches(s.pay(order, s.card(sandbox.CardAttempted)), becomes, time.Second)
		s.box.ClearFaults()
		s.clock.Advance(checkPassed)
	}
	require.NoError(t, s.box.Flush(t.Context()))
	s.clock.Advance(time.Minute)
	require.NoError(t, s.engine.Stop(t.Context()))

	secrets := []string{sandbox.CardAttempted, "waits@example.com", s.box.Keys().Secret, s.box.Keys().Publishable, webhookSecret}
	found := func() (all []string) {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		for _, name := range files {
			content, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, secret := range secrets {
				if bytes.Contains(content, []byte(secret)) {
					all = append(all, filepath.Base(name)+" holds "+secret)
				}
			}
		}
		return all
	}
	assert.Empty(t, found())
	require.NoError(t, s.commit(func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "CREATE TABLE job AS SELECT ? AS args", `{"cardNumber":"`+sandbox.CardAttempted+`"}`)
		return err
	}))
	assert.NotEmpty(t, found(), "a job that holds what it is to send")
}
