package enginetest

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
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
	s.reaches(s.pay("A", s.mandate()), approved, time.Minute)
	byToken := func() quickstream.PayParams { return s.card(sandbox.CardAttempted) }
	for i, answer := range []struct {
		fault   sandbox.FaultKind
		becomes string
		params  func() quickstream.PayParams
	}{
		{sandbox.StatusAfterCommit(500, sandbox.HTML), approved, byToken},
		{sandbox.Status(422, sandbox.ServiceError), refused, byToken},
		{sandbox.Status(503, sandbox.ServiceError), approved, s.stored},
		{sandbox.StatusAfterCommit(401, sandbox.HTML), approved, byToken},
	} {
		order := fmt.Sprint("order ", i)
		require.NoError(t, s.box.Inject(sandbox.Fault{Operation: transactions, Kind: answer.fault, Times: 2}))
		_ = s.sendCard("by card " + order)
		id := s.pay(order, answer.params())
		s.until(10*time.Second, func(durable.Health) bool { return s.read(id).Text() == answer.becomes })
		s.box.ClearFaults()
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
