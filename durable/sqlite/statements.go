package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
)

// A connection keeps up to mostKept statements of up to longestKept bytes. The engine and
// its queue have fewer and shorter ones.
const (
	mostKept    = 200
	longestKept = 16 << 10
)

// keeping is a connector whose connections keep their compiled statements, because
// compiling takes longer here than running. database/sql keeps only statements that a
// program has prepared, and the queue passes its own as text.
type keeping struct{ driver.Connector }

func (k keeping) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := k.Connector.Connect(ctx)
	inner, ok := opened.(connection)
	if err != nil || !ok { // it is of another version of the driver
		return opened, err
	}
	return &keeper{connection: inner, kept: map[string]statement{}}, nil
}

// connection, statement and rowsOf are the interfaces of the driver's types.
type connection interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type statement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type rowsOf interface {
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeLength
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypePrecisionScale
	driver.RowsColumnTypeScanType
}

// keeper is a connection. One goroutine at a time uses it.
type keeper struct {
	connection
	kept map[string]statement
}

// take returns a compiled statement, which is the caller's alone until it is put back.
func (k *keeper) take(ctx context.Context, query string) (statement, error) {
	if s, ok := k.kept[query]; ok {
		delete(k.kept, query)
		return s, nil
	}
	prepared, err := k.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s, ok := prepared.(statement)
	if !ok {
		_ = prepared.Close()
		return nil, driver.ErrSkip // database/sql does without it
	}
	return s, nil
}

// putBack keeps a statement that has not failed, in the place of any other if there are too many. An error of
// closing a statement changes nothing of what it did, and is ignored.
func (k *keeper) putBack(query string, s statement, failed error) {
	if _, twice := k.kept[query]; failed != nil || twice || len(query) > longestKept {
		_ = s.Close()
		return
	}
	for other, statement := range k.kept {
		if len(k.kept) < mostKept {
			break
		}
		delete(k.kept, other)
		_ = statement.Close()
	}
	k.kept[query] = s
}

func (k *keeper) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := k.take(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err := s.ExecContext(ctx, args)
	k.putBack(query, s, err)
	return result, err
}

func (k *keeper) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := k.take(ctx, query)
	if err != nil {
		return nil, err
	}
	opened, err := s.QueryContext(ctx, args)
	found, ok := opened.(rowsOf)
	if err == nil && !ok { // not ErrSkip, after which database/sql would run it a second time
		_, err = opened.Close(), errors.New("sqlite: rows of this version of the driver are not known")
	}
	if err != nil {
		k.putBack(query, s, err)
		return nil, err
	}
	return &keptRows{rowsOf: found, done: func() { k.putBack(query, s, nil) }}, nil
}

func (k *keeper) Close() error {
	var err error
	for _, s := range k.kept {
		err = errors.Join(err, s.Close())
	}
	clear(k.kept)
	return errors.Join(err, k.connection.Close())
}

// keptRows are rows whose statement is put back when they are closed.
type keptRows struct {
	rowsOf
	done func()
}

func (r *keptRows) Close() error {
	defer r.done()
	return r.rowsOf.Close()
}
