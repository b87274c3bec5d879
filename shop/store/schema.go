package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/sqlite"
)

// schema are the shop's own tables, beside those of package durable. Amounts are in
// cents, times in microseconds.
const schema = `
CREATE TABLE IF NOT EXISTS shop_session (
	digest  text PRIMARY KEY, -- of the cookie, so that the file opens nobody's session
	visitor text NOT NULL UNIQUE, -- the customer number at the service
	customer text NOT NULL DEFAULT '', -- the customer's id there, once there is one
	changes integer NOT NULL DEFAULT 0, -- of what the visitor's pages show
	seen integer NOT NULL -- to the hour, by this machine's clock
);
CREATE TABLE IF NOT EXISTS shop_order (
	id       text PRIMARY KEY,
	visitor  text NOT NULL,
	item     text NOT NULL,
	amount   integer NOT NULL,
	state    text NOT NULL DEFAULT 'new', -- new, challenge, paying, or the name of its payment's standing
	token    text NOT NULL DEFAULT '', -- the single-use token of a card whose bank asks
	payment  text NOT NULL DEFAULT '', -- the id of the payment that is made by that token
	address  text NOT NULL DEFAULT '', -- of the bill, for the card's bank
	save     integer NOT NULL DEFAULT 0, -- the customer wants the card to be stored
	agreement text NOT NULL DEFAULT '', -- the PayTo agreement that it is collected by
	returned integer NOT NULL DEFAULT 0, -- given back
	created  integer NOT NULL
);
CREATE INDEX IF NOT EXISTS shop_order_visitor ON shop_order (visitor, created);
CREATE TABLE IF NOT EXISTS shop_card (
	id      text PRIMARY KEY,
	visitor text NOT NULL,
	account text NOT NULL UNIQUE, -- the service's token
	scheme  text NOT NULL DEFAULT '', -- once it was read
	digits  text NOT NULL DEFAULT '', -- the last ones
	expires text NOT NULL DEFAULT '', -- month and year
	created integer NOT NULL
);
CREATE TABLE IF NOT EXISTS shop_agreement (
	reference text PRIMARY KEY, -- the payee reference, which is the shop's own
	order_id  text NOT NULL, -- the first order that it collects
	visitor   text NOT NULL,
	item      text NOT NULL,
	amount    integer NOT NULL,
	token     text NOT NULL DEFAULT '',
	status    text NOT NULL DEFAULT '', -- the service's word for it; none yet, or REFUSED by it
	started   text NOT NULL, -- the date of the first collection
	collected integer NOT NULL DEFAULT 0, -- how many there were
	created   integer NOT NULL
);
CREATE TRIGGER IF NOT EXISTS shop_order_placed AFTER INSERT ON shop_order BEGIN
	UPDATE shop_session SET changes = changes + 1 WHERE visitor = new.visitor; END;
CREATE TRIGGER IF NOT EXISTS shop_order_changed AFTER UPDATE ON shop_order BEGIN
	UPDATE shop_session SET changes = changes + 1 WHERE visitor = new.visitor; END;
CREATE TRIGGER IF NOT EXISTS shop_agreement_begun AFTER INSERT ON shop_agreement BEGIN
	UPDATE shop_session SET changes = changes + 1 WHERE visitor = new.visitor; END;
CREATE TRIGGER IF NOT EXISTS shop_agreement_changed AFTER UPDATE ON shop_agreement
	WHEN (new.status, new.collected) IS NOT (old.status, old.collected) BEGIN -- it is read again and again
	UPDATE shop_session SET changes = changes + 1 WHERE visitor = new.visitor; END;
CREATE TRIGGER IF NOT EXISTS shop_card_stored AFTER INSERT ON shop_card BEGIN
	UPDATE shop_session SET changes = changes + 1 WHERE visitor = new.visitor; END;
CREATE TRIGGER IF NOT EXISTS shop_card_removed AFTER DELETE ON shop_card BEGIN
	UPDATE shop_session SET changes = changes + 1 WHERE visitor = old.visitor; END;`

// openDatabase opens the file, and makes what is missing in it.
func openDatabase(ctx context.Context, file string) (*sql.DB, error) {
	db, err := sqlite.Open(file)
	if err != nil {
		return nil, err
	}
	if err = durable.MigrateUp(ctx, sqlite.DB(db)); err == nil {
		_, err = db.ExecContext(ctx, schema+officeSchema)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// within runs f in a transaction.
func (s *server) within(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

func micros(t time.Time) int64 { return t.UnixMicro() }
