package postgres

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// identity identifies a database and its history.
type identity struct {
	// Database changes when a dump is read back, and is another one for a copy on the same server: its
	// tables have other numbers.
	Database string `json:"database"`
	// Timeline changes when a standby is promoted or a base backup is recovered. A backup that is started
	// without recovery stays in the timeline of its server, and so does a copied volume.
	Timeline int64 `json:"timeline"`
	// Started is when the server was started, and Position is the end of its log.
	Started  string `json:"started"`
	Position int64  `json:"position"`
	// Places are the addresses and directories that the server was seen at: a server has several
	// addresses, and a role may not be allowed to see the directory.
	Places []string `json:"places"`
}

// mostPlaces is how many places are kept, the latest ones.
const mostPlaces = 20

// identityQuery reads the identity and the one that was adopted. The timeline is that of the next record
// to be written: pg_control_checkpoint shows a new one only after a checkpoint, up to a minute later.
const identityQuery = `SELECT s.system_identifier || '/' || d.oid || '/' || 'quickstream.write'::regclass::oid,
	('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint,
	extract(epoch FROM pg_postmaster_start_time())::text, (pg_current_wal_insert_lsn() - '0/0')::bigint,
	coalesce(host(inet_server_addr()), '') || ':' || coalesce(inet_server_port(), 0) || ' ' ||
		CASE WHEN pg_has_role(current_user, 'pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') ELSE '' END,
	coalesce((SELECT value FROM quickstream.meta WHERE name = 'history'), ''), current_setting('synchronous_standby_names') <> ''
	FROM pg_control_system() s, pg_database d WHERE d.datname = current_database()`

func (d *pgxDatabase) identify(ctx context.Context, joined database.Tx) (here, adopted identity, err error) {
	var place, stored string
	tx := joined.(*transaction) //nolint:forcetypeassert // there is no other
	err = tx.tx.QueryRow(ctx, d.Text(identityQuery)).Scan(&here.Database, &here.Timeline, &here.Started, &here.Position, &place, &stored, &tx.standbys)
	here.Places = []string{place}
	if json.Unmarshal([]byte(stored), &adopted) != nil { // it was never adopted, or by another version
		adopted = identity{}
	}
	return here, adopted, err
}

// saw remembers the latest identity of the server that this process has seen, with the end of its log. A slow caller does not
// replace what a faster one has seen.
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

// History implements [database.Database]. A server that was not restarted since it was adopted is the same at
// any address. A restarted one may run on a restored volume: it is Restarted only if this process has
// seen this history before, and the log is not behind what it saw.
func (d *pgxDatabase) History(ctx context.Context, tx database.Tx) (database.Change, error) {
	last := d.seen.Load() // before the server is asked: what others see meanwhile is later
	here, adopted, err := d.identify(ctx, tx)
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

func (d *pgxDatabase) Adopt(ctx context.Context, tx database.Tx) error {
	here, adopted, err := d.identify(ctx, tx)
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
	d.seen.Store(&identity{}) // the identity that was seen may be of a lost history
	_, err = tx.Exec(ctx, database.PutMeta, "history", string(text))
	return err
}

// Claim implements [database.Database]: Commit checks the claim, and nothing is left to do after it.
func (d *pgxDatabase) Claim(_ context.Context, tx database.Tx) (func() error, error) {
	tx.(*transaction).claims = true //nolint:forcetypeassert // there is no other
	return func() error { return nil }, nil
}
