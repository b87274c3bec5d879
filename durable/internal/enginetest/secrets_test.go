package enginetest

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestAttack59JobRows: the database, its write-ahead log and the log contain no key, card number or PayID,
// whatever was paid and however it failed. The log contains no handles either.
func TestAttack59JobRows(t *testing.T) {
	t.Parallel()
	db, logged := onFile(t, filepath.Join(t.TempDir(), "shop.db")), &sink{}
	var calls atomic.Int32
	s := open(t, db, func(o *durable.Options[*sql.Tx]) {
		o.Logger = slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
		hook := o.OnOutcome
		o.OnOutcome = func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
			if change.Write.ID == "A" && calls.Add(1) <= 3 {
				return errors.New("the receipt " + change.Write.ReceiptNumber)
			}
			return hook(ctx, tx, change)
		}
	})
	s.listen()
	s.pay("A", s.mandate())
	handles := []string{s.Settled("A").ReceiptNumber}
	for id, fault := range map[string]sandbox.FaultKind{
		"B": sandbox.StatusAfterCommit(500, sandbox.HTML), "C": sandbox.Status(422, sandbox.ServiceError), "D": sandbox.Status(503, sandbox.ServiceError),
	} {
		token := s.Token(sandbox.CardAttempted)
		s.inject(sandbox.Fault{Operation: "POST /transactions", Kind: fault, Times: 1})
		s.pay(id, params(quickstream.FromSingleUseToken(token)))
		handles = append(handles, token, s.Settled(id).ReceiptNumber)
	}
	_, err := s.tryPay(durable.NewWrite{ID: "E", Order: "E"}, params(quickstream.FromCard(sandboxtest.Card(sandbox.CardAttempted))))
	require.Error(t, err, "a card number cannot be stored")
	s.received()
	keys := s.Sandbox.Keys()
	secrets := []string{sandbox.CardAttempted, "waits@example.com", keys.Secret, keys.Publishable, webhookSecret}

	found := func() (where []string) {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(db.file), "*"))
		require.NoError(t, err)
		for _, name := range files {
			content, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, secret := range secrets {
				if bytes.Contains(content, []byte(secret)) {
					where = append(where, filepath.Base(name)+" holds "+secret)
				}
			}
		}
		return where
	}
	eventually(t, func() bool { return strings.Contains(logged.String(), "OnOutcome failed") }, "the log says that a hook fails, and not what it said")
	assert.Empty(t, found())
	for _, text := range append(secrets, handles...) {
		if text != "" {
			assert.NotContains(t, logged.String(), text)
		}
	}
	assert.Contains(t, logged.String(), "503", "the log says why nothing is sent")
	require.NoError(t, db.exec(t.Context(), "CREATE TABLE job AS SELECT ? AS args", sandbox.CardAttempted))
	assert.NotEmpty(t, found(), "a job that holds what it is to send is found")
}

// sink is a log that many write to.
type sink struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
