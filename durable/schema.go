package durable

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

const metaTable = "CREATE TABLE IF NOT EXISTS quickstream.meta (name text PRIMARY KEY, value text NOT NULL)"

// MigrateUp makes or completes the tables of the engine and those of its queue, and sets their
// sequences, which a copy of rows leaves behind. Every process may call it before New, even all at once:
// one migrates and the others wait. It changes nothing if nothing is missing. Call it again after an
// error.
func MigrateUp[TTx any](ctx context.Context, db Database[TTx]) error {
	err := db.Migrate(ctx, func(tx tx) error {
		if err := execute(ctx, tx, metaTable); err != nil {
			return err
		}
		if err := execute(ctx, tx, "INSERT INTO quickstream.meta (name, value) VALUES ('schema', '0') ON CONFLICT DO NOTHING"); err != nil {
			return err
		}
		version, err := schemaVersion(ctx, tx)
		if err != nil {
			return err
		}
		files := db.Schema()
		for i := min(version, len(files)); i < len(files); i++ {
			for _, statement := range strings.Split(files[i], ";\n") {
				if strings.TrimSpace(statement) == "" {
					continue
				}
				if err := execute(ctx, tx, statement); err != nil {
					return fmt.Errorf("schema %d: %w", i+1, err)
				}
			}
		}
		if err := setMeta(ctx, tx, "schema", strconv.Itoa(max(version, len(files)))); err != nil {
			return err
		}
		if err := setSequences(ctx, db, tx); err != nil {
			return err
		}
		if version > 0 {
			return nil
		}
		now, err := databaseNow(ctx, tx)
		if err != nil {
			return err
		}
		if err := setMeta(ctx, tx, createdName, strconv.FormatInt(now.UnixMicro(), 10)); err != nil {
			return err
		}
		return db.Adopt(ctx, tx)
	})
	return named(err)
}

// createdName is the name under which the time is stored at which the tables were made.
const createdName = "created"

// setSequences sets sequences that logical replication, or a load of data alone, has left behind.
func setSequences(ctx context.Context, db database.Database, tx tx) error {
	for _, statement := range db.Dialect().Sequences {
		if err := query(ctx, tx, func(scan func(...any) error) error { return scan(new(int64)) }, statement); err != nil {
			return err
		}
	}
	return nil
}

func schemaVersion(ctx context.Context, tx tx) (version int, err error) {
	text, err := meta(ctx, tx, "schema")
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

// checkSchema refuses tables that lack something. Those of a later version can be written and read.
func checkSchema(ctx context.Context, db database.Database, tx tx) error {
	version, err := schemaVersion(ctx, tx)
	if err != nil {
		return fmt.Errorf("the tables are missing, see MigrateUp: %w", err)
	}
	if known := len(db.Schema()); version < known {
		return fmt.Errorf("the tables have version %d, and this program needs version %d: see MigrateUp", version, known)
	}
	return nil
}
