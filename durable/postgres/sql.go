package postgres

import (
	"bytes"
	"context"
	"database/sql"
	"errors"

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

func (d sqlDatabase) Begin(ctx context.Context) (database.Tx, error) {
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return d.Join(tx), nil
}

func (d sqlDatabase) Join(tx *sql.Tx) database.Tx {
	return &transaction{tx: sqlTx{tx: tx, pool: d.pool}, d: d.pgxDatabase}
}

func (sqlDatabase) Leave(tx database.Tx) *sql.Tx { return tx.(*transaction).tx.(sqlTx).tx } //nolint:forcetypeassert // there is no other

// sqlTx is a transaction of database/sql as one of pgx, with what this package and River use of one.
type sqlTx struct {
	pgx.Tx // nil
	tx     *sql.Tx
	pool   *pgxpool.Pool
}

// Config returns the pool's configuration, from which River takes how arguments are sent.
func (t sqlTx) Config() *pgxpool.Config { return t.pool.Config() }

func (t sqlTx) Exec(ctx context.Context, query string, args ...any) (tag pgconn.CommandTag, err error) {
	err = raw(ctx, t, func(connection *pgx.Conn) error {
		tag, err = connection.Exec(ctx, query, args...)
		return err
	})
	return tag, err
}

func (t sqlTx) Query(ctx context.Context, query string, args ...any) (pgx.Rows, error) {
	read := t.read(ctx, query, args)
	return read, read.err
}

func (t sqlTx) QueryRow(ctx context.Context, query string, args ...any) pgx.Row {
	read := t.read(ctx, query, args)
	read.Next()
	return read
}

// read reads all rows at once, because database/sql lends the connection only during raw.
func (t sqlTx) read(ctx context.Context, query string, args []any) *readRows {
	read := &readRows{at: -1}
	read.err = raw(ctx, t, func(connection *pgx.Conn) (err error) {
		found, _ := connection.Query(ctx, query, args...) // CollectRows returns its error
		read.rows, err = pgx.CollectRows(found, func(row pgx.CollectableRow) (values [][]byte, _ error) {
			for _, value := range row.RawValues() {
				values = append(values, bytes.Clone(value))
			}
			return values, nil
		})
		if err == nil {
			read.types, read.fields = connection.TypeMap(), found.FieldDescriptions()
		}
		return err
	})
	return read
}

func (t sqlTx) Commit(context.Context) error { return t.tx.Commit() }

func (t sqlTx) Rollback(context.Context) error { return t.tx.Rollback() }

// raw calls f with the connection of a transaction. database/sql lets no other caller use it meanwhile.
func raw(ctx context.Context, tx pgx.Tx, f func(connection *pgx.Conn) error) error {
	inner, inSQL := tx.(sqlTx)
	if !inSQL {
		return f(tx.Conn())
	}
	used, failed := false, error(nil)
	_, err := inner.tx.ExecContext(ctx, "SELECT 1", use(func(connection *pgx.Conn) { used, failed = true, f(connection) }))
	switch {
	case used:
		return failed
	case err == nil:
		return errors.New("the transaction is not one of pgx's stdlib")
	default:
		return err
	}
}

// use is a query's argument that pgx calls with its connection: the only way to the connection of a
// [sql.Tx]. It fails, so the query itself is not sent.
type use func(connection *pgx.Conn)

var errUsed = errors.New("the connection was used")

// RewriteQuery implements [pgx.QueryRewriter].
func (u use) RewriteQuery(_ context.Context, connection *pgx.Conn, _ string, _ []any) (string, []any, error) {
	u(connection)
	return "", nil, errUsed
}

// readRows are rows that were read, or one of them.
type readRows struct {
	pgx.Rows // nil
	types    *pgtype.Map
	fields   []pgconn.FieldDescription
	rows     [][][]byte
	at       int
	err      error
}

func (r *readRows) Next() bool { r.at++; return r.at < len(r.rows) }

func (r *readRows) Scan(into ...any) error {
	switch {
	case r.err != nil:
		return r.err
	case r.at >= len(r.rows):
		return pgx.ErrNoRows
	default:
		return pgx.ScanRow(r.types, r.fields, r.rows[r.at], into...)
	}
}

func (r *readRows) FieldDescriptions() []pgconn.FieldDescription { return r.fields }

func (*readRows) CommandTag() pgconn.CommandTag { return pgconn.CommandTag{} }

func (r *readRows) Err() error { return r.err }

func (*readRows) Close() {}
