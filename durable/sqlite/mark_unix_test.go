//go:build unix

package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// TestCopyAtTheSamePlace: a copy of the file and its mark is another file, although it has their names.
func TestCopyAtTheSamePlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shop.db")
	open := func() database.Change {
		db, err := Open(file)
		require.NoError(t, err)
		defer db.Close()
		store := DB(db)
		require.NoError(t, durable.MigrateUp(t.Context(), store))
		tx, err := store.Begin(t.Context())
		require.NoError(t, err)
		defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
		change, err := store.History(t.Context(), tx)
		require.NoError(t, err)
		return change
	}
	for range 2 {
		assert.Equal(t, database.Same, open())
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file+".copy", text, 0o600))
	require.NoError(t, os.Rename(file+".copy", file))
	assert.Equal(t, database.MaybeCopy, open())
}
