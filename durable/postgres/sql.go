package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// SQL returns the database of a pool for a program that uses database/sql, as with gorm, ent or sqlc.
// OnOutcome and the methods of the engine take its *sql.Tx. Open its [sql.DB] on the same pool, by
// [stdlib.OpenDBFromPool]: then both share the connections of the pool. A transaction of another driver
// than pgx's is refused. Everything else is as in [Pgx].
func SQL(pool *pgxpool.Pool, opts ...Option) durable.Database[*sql.Tx] {
	return sqlDatabase{newDatabase(pool, opts), stdlib.OpenDBFromPool(pool)}
}

// sqlDatabase is a pgxDatabase whose transactions are those of database/sql.
type sqlDatabase struct {
	*pgxDatabase
	db *sql.DB
}

// Begin implements [database.Database].
func (d sqlDatabase) Begin(ctx context.Context) (database.Tx, error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return d.Join(tx), nil
}

// Join implements [database.Of].
func (d sqlDatabase) Join(tx *sql.Tx) database.Tx {
	return &transaction{tx: sqlTx{tx: tx, pool: d.pool}, d: d.pgxDatabase}
}

// Leave implements [database.Of].
func (sqlDatabase) Leave(tx database.Tx) *sql.Tx { return tx.(*transaction).tx.(sqlTx).tx } //nolint:forcetypeassert // there is no other

// sqlTx is a transaction of database/sql as one of pgx, with what this package and River use of one.
type sqlTx struct {
	pgx.Tx // nil
	tx     *sql.Tx
	pool   *pgxpool.Pool
}

// Config implements what River asks a pool for: how arguments are sent.
func (t sqlTx) Config() *pgxpool.Config { return t.pool.Config() }

// Exec implements [pgx.Tx].
func (t sqlTx) Exec(ctx context.Context, query string, args ...any) (tag pgconn.CommandTag, err error) {
	err = t.raw(ctx, func(connection *pgx.Conn) error {
		tag, err = connection.Exec(ctx, query, args...)
		return err
	})
	return tag, err
}

// Query implements [pgx.Tx]. All rows are read, because database/sql gives the connection for a moment only.
func (t sqlTx) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	read := &readRows{at: -1}
	err := t.raw(ctx, func(connection *pgx.Conn) error {
		found, err := connection.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer found.Close()
		read.types, read.fields = connection.TypeMap(), found.FieldDescriptions()
		for found.Next() {
			var row [][]byte
			for _, value := range found.RawValues() {
				row = append(row, bytes.Clone(value))
			}
			read.rows = append(read.rows, row)
		}
		read.fields = found.FieldDescriptions()
		return found.Err()
	})
	if err != nil {
		return nil, err
	}
	return read, nil
}

// QueryRow implements [pgx.Tx].
func (t sqlTx) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	found, err := t.Query(ctx, query, args...)
	return readRow{found, err}
}

type readRow struct {
	found pgx.Rows
	err   error
}

// Scan implements [pgx.Row].
func (r readRow) Scan(into ...any) error {
	switch {
	case r.err != nil:
		return r.err
	case !r.found.Next():
		return pgx.ErrNoRows
	default:
		return r.found.Scan(into...)
	}
}

// Commit implements [pgx.Tx].
func (t sqlTx) Commit(context.Context) error { return t.tx.Commit() }

// Rollback implements [pgx.Tx].
func (t sqlTx) Rollback(context.Context) error { return t.tx.Rollback() }

// commitClaim commits by commitClaim, and gives the connection back: database/sql wants a transaction that it can end.
func (t sqlTx) commitClaim(ctx context.Context) error {
	err := t.raw(ctx, func(connection *pgx.Conn) error { return commitClaim(ctx, connection.PgConn(), "commit; begin") })
	if failed := t.tx.Rollback(); err == nil && failed != nil {
		return fmt.Errorf("the end of a claim: %w", failed)
	}
	return err
}

// raw calls f with the connection, while database/sql keeps everybody else from using it.
func (t sqlTx) raw(ctx context.Context, f func(connection *pgx.Conn) error) error {
	use := &use{f: f}
	_, err := t.tx.ExecContext(ctx, "SELECT 1", use)
	switch {
	case use.done:
		return use.err
	case err == nil:
		return errors.New("the transaction is not one of pgx's stdlib")
	default:
		return err
	}
}

// use is an argument that pgx gives its connection to, and the only way to the connection of a
// [sql.Tx]. No statement follows it.
type use struct {
	f    func(connection *pgx.Conn) error
	done bool
	err  error
}

var errUsed = errors.New("the connection was used")

// RewriteQuery implements [pgx.QueryRewriter].
func (u *use) RewriteQuery(_ context.Context, connection *pgx.Conn, _ string, _ []any) (string, []any, error) {
	u.done, u.err = true, u.f(connection)
	return "", nil, errUsed
}

// readRows are rows that were read.
type readRows struct {
	pgx.Rows // nil
	types    *pgtype.Map
	fields   []pgconn.FieldDescription
	rows     [][][]byte
	at       int
}

// Next implements [pgx.Rows].
func (r *readRows) Next() bool { r.at++; return r.at < len(r.rows) }

// Scan implements [pgx.Rows].
func (r *readRows) Scan(into ...any) error {
	return pgx.ScanRow(r.types, r.fields, r.rows[r.at], into...)
}

// FieldDescriptions implements [pgx.Rows].
func (r *readRows) FieldDescriptions() []pgconn.FieldDescription { return r.fields }

// CommandTag implements [pgx.Rows].
func (*readRows) CommandTag() pgconn.CommandTag { return pgconn.CommandTag{} }

// Err implements [pgx.Rows].
func (*readRows) Err() error { return nil }

// Close implements [pgx.Rows].
func (*readRows) Close() {}
