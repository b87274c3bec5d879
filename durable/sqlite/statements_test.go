package sqlite

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A connection that keeps its statements answers as one that does not: while the same
// statement is being read, after the table has changed, and after an error.
func TestStatementsAreKept(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	defer db.Close()
	run := func(statement string, args ...any) {
		_, err := db.ExecContext(t.Context(), statement, args...)
		require.NoError(t, err)
	}
	run("CREATE TABLE a (n integer UNIQUE, s text)")
	for n := range 3 {
		run("INSERT INTO a (n, s) VALUES (?, ?)", n, fmt.Sprint("s", n))
	}
	_, err = db.ExecContext(t.Context(), "INSERT INTO a (n, s) VALUES (?, ?)", 2, "again")
	require.ErrorContains(t, err, "UNIQUE")
	run("INSERT INTO a (n, s) VALUES (?, ?)", 3, "s3")

	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	read := func(from int) []int {
		rows, err := tx.QueryContext(t.Context(), "SELECT n FROM a WHERE n >= ? ORDER BY n", from)
		require.NoError(t, err)
		defer rows.Close()
		types, err := rows.ColumnTypes()
		require.NoError(t, err)
		assert.Equal(t, "INTEGER", types[0].DatabaseTypeName())
		var found []int
		for rows.Next() {
			var n int
			require.NoError(t, rows.Scan(&n))
			found = append(found, n)
			if from == 0 {
				var last int
				require.NoError(t, tx.QueryRowContext(t.Context(), "SELECT n FROM a WHERE n >= ? ORDER BY n", n+1).Scan(&last))
				assert.Equal(t, n+1, last)
				if n == 2 {
					break // rows that are not read to their end
				}
			}
		}
		return found
	}
	assert.Equal(t, []int{0, 1, 2}, read(0))
	assert.Equal(t, []int{1, 2, 3}, read(1))
	require.NoError(t, tx.Commit())

	columns := func() int {
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM a")
		require.NoError(t, err)
		defer rows.Close()
		names, err := rows.Columns()
		require.NoError(t, err)
		require.NoError(t, rows.Err())
		return len(names)
	}
	assert.Equal(t, 2, columns())
	run("ALTER TABLE a ADD COLUMN more text")
	assert.Equal(t, 3, columns())
}

// Statements that are never the same again take no more memory than others.
func TestStatementsAreFew(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "shop.db"))
	require.NoError(t, err)
	defer db.Close()
	connection, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer connection.Close()
	for i := range 3 * mostKept {
		var n int
		require.NoError(t, connection.QueryRowContext(t.Context(), fmt.Sprintf("SELECT %d + ?", i), 1).Scan(&n))
		require.Equal(t, i+1, n)
	}
	_, err = connection.ExecContext(t.Context(), "SELECT '"+strings.Repeat("x", longestKept)+"'")
	require.NoError(t, err)
	require.NoError(t, connection.Raw(func(driver any) error {
		for text := range driver.(*keeper).kept { //nolint:forcetypeassert // it is Open's own
			assert.Less(t, len(text), longestKept)
		}
		assert.Len(t, driver.(*keeper).kept, mostKept) //nolint:forcetypeassert // it is Open's own
		return nil
	}))
}
