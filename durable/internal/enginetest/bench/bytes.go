package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// settled is how many payments are made for the row about bytes, after as many others.
const settled = 300

// size is what is written for a payment from Pay to its outcome.
type size struct {
	table int64 // rows of the write and its events, without what is dead and without indexes
	log   int64 // of PostgreSQL's log, with indexes, jobs and all that is deleted; 0 on SQLite, which logs pages
}

// rows prints the size, in the units of its gates.
func (b size) rows(name string) error {
	err := row("P19d", name, "table bytes for a payment", fmt.Sprint(b.table), "<= 3 kB", b.table <= 3000)
	if b.log > 0 {
		err = errors.Join(err, row("P19d", name, "WAL bytes for a payment", fmt.Sprint(b.log), "<= 8 kB", b.log <= 8000))
	}
	return err
}

// bytes has payments sent by an engine of its own until they are settled. The first ones fill the
// pages: a page is logged as a whole when it is changed for the first time.
func (s subject[TTx]) bytes(ctx context.Context, client *quickstream.Client) (b size, err error) {
	off := resolve.ServiceRetriesOff()
	engine, err := durable.New(ctx, s.Database, client, durable.Options[TTx]{
		Installation: "bench", ServiceRetries: &off, OnOutcome: func(context.Context, TTx, durable.OutcomeChange) error { return nil },
	})
	if err != nil {
		return b, err
	}
	if err := engine.Start(ctx); err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, engine.Stop(ctx)) }()
	onServer := s.Dialect().ForUpdate != ""
	at := func() (int64, error) {
		if !onServer {
			return 0, nil
		}
		return s.value(ctx, "SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS bigint)")
	}
	if err := s.settle(ctx, engine, client); err != nil {
		return b, err
	}
	before, err := at()
	if err != nil {
		return b, err
	}
	if err := s.settle(ctx, engine, client); err != nil {
		return b, err
	}
	after, err := at()
	if err != nil {
		return b, err
	}
	b.log = (after - before) / settled
	// What is dead is not counted: a copy of each table has no such rows.
	for _, table := range []string{"write", "event"} {
		n, err := s.tableBytes(ctx, table, onServer)
		if err != nil {
			return b, err
		}
		b.table += n / (2 * settled)
	}
	return b, nil
}

func (s subject[TTx]) settle(ctx context.Context, engine *durable.Engine[TTx], client *quickstream.Client) error {
	var ids []string
	for range settled {
		token, err := sandboxtest.CardToken(ctx, client, sandbox.CardAttempted)
		if err != nil {
			return err
		}
		w := newWrite()
		ids = append(ids, w.ID)
		err = s.commit(ctx, func(tx database.Tx) error {
			_, _, err := engine.Pay(ctx, s.Leave(tx), w, payment(token))
			return err
		})
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for _, id := range ids {
		w, err := engine.Wait(ctx, id)
		if err != nil {
			return err
		}
		if r := w.Common(); !r.Paid() {
			return fmt.Errorf("a payment is %s: %s", r.Text(), r.Problem)
		}
	}
	return nil
}

// tableBytes is the size of a copy of a table.
func (s subject[TTx]) tableBytes(ctx context.Context, table string, onServer bool) (n int64, err error) {
	execute := func(statement string) error {
		return s.commit(ctx, func(tx database.Tx) error {
			_, err := tx.Exec(ctx, statement)
			return err
		})
	}
	if err := execute("CREATE TABLE copied AS SELECT * FROM quickstream." + table); err != nil {
		return 0, err
	}
	size := "SELECT sum(pgsize) FROM dbstat WHERE name = 'copied'"
	if onServer {
		size = "SELECT pg_table_size('copied')"
	}
	n, err = s.value(ctx, size)
	return n, errors.Join(err, execute("DROP TABLE copied"))
}
