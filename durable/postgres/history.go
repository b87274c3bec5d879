package postgres

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// identity is which history of which database this is.
type identity struct {
	// Database is another one after a dump was read back, or for a copy on the same server: its tables
	// have other numbers.
	Database string `json:"database"`
	// Timeline begins when a standby is promoted or a base backup recovered. A backup that is started
	// as it is stays in the timeline of its server, and so does a copied volume.
	Timeline int64 `json:"timeline"`
	// Started is when the server has started, and Position where its log stood.
	Started  string `json:"started"`
	Position int64  `json:"position"`
	// Places are the addresses and directories that the server was seen at: a server has several
	// addresses, and a role may not be allowed to see the directory.
	Places []string `json:"places"`
}

// mostPlaces are kept, the latest ones.
const mostPlaces = 20

// identityQuery reads the identity and the one that was adopted. The timeline is that of the next record
// to be written: pg_control_checkpoint shows a new one only after a checkpoint, up to a minute later.
const identityQuery = `SELECT s.system_identifier || '/' || d.oid || '/' || 'quickstream.write'::regclass::oid,
	('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint,
	extract(epoch FROM pg_postmaster_start_time())::text, (pg_current_wal_insert_lsn() - '0/0')::bigint,
	coalesce(host(inet_server_addr()), '') || ':' || coalesce(inet_server_port(), 0) || ' ' ||
		CASE WHEN pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') ELSE '' END,
	coalesce((SELECT value FROM quickstream.meta WHERE name = 'history'), '')
	FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()`

func (d *pgxDatabase) identify(ctx context.Context, tx pgx.Tx) (here, adopted identity, err error) {
	var place, stored string
	err = tx.QueryRow(ctx, d.Text(identityQuery)).Scan(&here.Database, &here.Timeline, &here.Started, &here.Position, &place, &stored)
	here.Places = []string{place}
	if json.Unmarshal([]byte(stored), &adopted) != nil { // it was never adopted, or by another version
		adopted = identity{}
	}
	return here, adopted, err
}

// saw remembers what this process has seen last of the server: how far its log has come. Who was slower than another one does
// not undo what that one has seen.
func (d *pgxDatabase) saw(here identity) {
	for {
		last := d.seen.Load()
		if last.continues(here) && last.Position >= here.Position || d.seen.CompareAndSwap(last, &here) {
			return
		}
	}
}

// continues reports whether both are of the same history of the database.
func (i *identity) continues(here identity) bool {
	return i.Database == here.Database && i.Timeline == here.Timeline
}

// History implements [database.Database]. A server that runs as it ran when it was adopted is the same at
// any address. One that was started again since may be a volume that has come back: it is the same if this
// process has seen it before, and its log is not behind that.
func (d *pgxDatabase) History(ctx context.Context, tx database.Tx) (database.Change, error) {
	last := d.seen.Load() // before the server is asked: what others see meanwhile is later
	here, adopted, err := d.identify(ctx, d.Leave(tx))
	if err != nil {
		return database.Same, err
	}
	change := database.Same
	switch {
	case here.Database != adopted.Database:
		change = database.MaybeCopy
	case here.Timeline != adopted.Timeline:
		change = database.Changed
	case here.Position < adopted.Position || last.continues(here) && here.Position < last.Position:
		change = database.Changed
	case here.Started == adopted.Started:
	case !slices.Contains(adopted.Places, here.Places[0]):
		change = database.MaybeCopy
	case last.continues(here):
		change = database.Restarted
	default:
		change = database.Changed
	}
	if change == database.Same || change == database.Restarted {
		d.saw(here)
	}
	return change, nil
}

// Adopt implements [database.Database].
func (d *pgxDatabase) Adopt(ctx context.Context, tx database.Tx) error {
	here, adopted, err := d.identify(ctx, d.Leave(tx))
	if err != nil {
		return err
	}
	if here.Database == adopted.Database {
		others := slices.DeleteFunc(adopted.Places, func(place string) bool { return place == here.Places[0] })
		here.Places = append(others[max(0, len(others)+1-mostPlaces):], here.Places[0])
	}
	text, err := json.Marshal(here)
	if err != nil {
		return err
	}
	d.seen.Store(&identity{}) // what was seen may be of a lost history
	_, err = tx.Exec(ctx, database.PutMeta, "history", string(text))
	return err
}

// Claim implements [database.Database]: the commit shows whether it is safe, and nothing follows it.
func (d *pgxDatabase) Claim(_ context.Context, tx database.Tx) (func() error, error) {
	tx.(*transaction).claims = true //nolint:forcetypeassert // there is no other
	return func() error { return nil }, nil
}
