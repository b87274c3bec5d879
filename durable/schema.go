package durable

import (
	"context"
	"fmt"
	"strconv"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// migrations returns the statements that make the tables, in order. What is released
// stays as it is; later versions append.
//
// Times are microseconds since 1970 and amounts are texts, so that both databases keep
// them alike. next_at is when there is something to do, and null
// when there is not; due_at is when that is handed out, again where its job was lost.
func migrations() []string {
	return append([]string{
		`CREATE TABLE quickstream.payment (
			id text PRIMARY KEY,
			order_id text NOT NULL,
			operation text NOT NULL,
			receipt_of text NOT NULL,
			state text NOT NULL,
			version bigint NOT NULL,
			claim text NOT NULL,
			next_at bigint,
			due_at bigint,
			written_at bigint NOT NULL,
			changed_at bigint NOT NULL,
			database_at bigint NOT NULL,
			passed_by text NOT NULL,
			suspect integer NOT NULL,
			receipt text NOT NULL,
			reference text NOT NULL,
			intent_id text NOT NULL,
			end_to_end_id text NOT NULL,
			amount text NOT NULL,
			total text NOT NULL,
			currency text NOT NULL,
			settles_on text NOT NULL,
			intent text NOT NULL,
			resolution text NOT NULL,
			pending text NOT NULL,
			failures bigint NOT NULL,
			problem text NOT NULL,
			decided text NOT NULL
		)`,
		// One order, one payment: all others of the order stand under their ids.
		`CREATE UNIQUE INDEX quickstream_payment_order ON quickstream.payment (order_id, (
			CASE WHEN receipt_of = '' AND passed_by = '' AND state NOT IN ('declined', 'refused', 'not sent', 'voided', 'returned') THEN '' ELSE id END))`,
		// One open follow-up for each receipt.
		`CREATE UNIQUE INDEX quickstream_payment_follow_up ON quickstream.payment (receipt_of)
			WHERE receipt_of <> '' AND state IN ('prepared', 'sending', 'unknown', 'absent', 'escalated')`,
		`CREATE INDEX quickstream_payment_due ON quickstream.payment (due_at) WHERE due_at IS NOT NULL`,
		`CREATE INDEX quickstream_payment_receipts ON quickstream.payment (receipt) WHERE receipt <> ''`,
		`CREATE INDEX quickstream_payment_receipts_of ON quickstream.payment (receipt_of) WHERE receipt_of <> ''`,
		`CREATE INDEX quickstream_payment_references ON quickstream.payment (reference) WHERE reference <> ''`,
		`CREATE INDEX quickstream_payment_intents ON quickstream.payment (intent_id) WHERE intent_id <> ''`,
		`CREATE INDEX quickstream_payment_ends ON quickstream.payment (end_to_end_id) WHERE end_to_end_id <> ''`,
		`CREATE INDEX quickstream_payment_settles ON quickstream.payment (settles_on, receipt) WHERE settles_on <> ''`,
	}, tablesBeside()...)
}

// tablesBeside are those of notifications, and of comparisons that are under way.
func tablesBeside() []string {
	return []string{
		`CREATE TABLE quickstream.notification (
			id text NOT NULL,
			digest text NOT NULL,
			raw text NOT NULL,
			state text NOT NULL,
			next_at bigint,
			due_at bigint,
			received_at bigint NOT NULL,
			changed_at bigint NOT NULL,
			failures bigint NOT NULL,
			problem text NOT NULL,
			carrier text NOT NULL,
			PRIMARY KEY (id, digest)
		)`,
		`CREATE INDEX quickstream_notification_due ON quickstream.notification (due_at) WHERE due_at IS NOT NULL`,
		// What a comparison has seen, in a table of its own: payments are wide, and all of a
		// day's would be written anew every night.
		`CREATE TABLE quickstream.compared (run text NOT NULL, id text NOT NULL, PRIMARY KEY (run, id))`,
		// When a claim was last made, which no claim has stored yet.
		`INSERT INTO quickstream.meta (name, value) VALUES ('` + lastClaimed + `', '0')`,
	}
}

const metaTable = "CREATE TABLE IF NOT EXISTS quickstream.meta (name text PRIMARY KEY, value text NOT NULL)"

// MigrateUp makes or completes the tables of the engine and those of its queue. It may
// be run by every process before New, by all at once too: one migrates and the others wait.
// It changes nothing if nothing is missing. Run it again after an error.
func MigrateUp[TTx any](ctx context.Context, db Database[TTx]) error {
	err := db.Migrate(ctx, true, func(tx TTx) error {
		if err := execute(ctx, db, tx, metaTable); err != nil {
			return err
		}
		if err := execute(ctx, db, tx, "INSERT INTO quickstream.meta (name, value) VALUES ('schema', '0') ON CONFLICT DO NOTHING"); err != nil {
			return err
		}
		version, err := schemaVersion(ctx, db, tx)
		if err != nil {
			return err
		}
		statements := migrations()
		for _, statement := range statements[min(version, len(statements)):] {
			if err := execute(ctx, db, tx, statement); err != nil {
				return fmt.Errorf("migration %d: %w", version, err)
			}
		}
		if err := execute(ctx, db, tx, database.PutMeta, "schema", strconv.Itoa(max(version, len(statements)))); err != nil || version > 0 {
			return err
		}
		return db.Adopt(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
}

// MigrateDown removes the tables of the engine and of its queue, with all that is in
// them: every payment that is not settled is then for the merchant to find.
func MigrateDown[TTx any](ctx context.Context, db Database[TTx]) error {
	err := db.Migrate(ctx, false, func(tx TTx) error {
		// In the order of the work: a transaction whose engine has stopped may be on its way yet.
		for _, table := range []string{"meta", "payment", "notification", "compared"} {
			if err := execute(ctx, db, tx, "DROP TABLE IF EXISTS quickstream."+table); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
}

func schemaVersion[TTx any](ctx context.Context, db Database[TTx], tx TTx) (version int, err error) {
	text, err := meta(ctx, db, tx, "schema")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
