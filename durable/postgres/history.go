package postgres

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

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

// witness is what this process has seen of the server: how far its log has come.
type witness struct {
	mu   sync.Mutex
	seen sighting
}

type sighting struct {
	database string
	timeline int64
	position int64
}

// last is what was seen, before the server is asked again: what others see meanwhile is later.
func (w *witness) last() sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seen
}

func (w *witness) saw(here identity) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen.database != here.Database || w.seen.timeline != here.Timeline {
		w.seen.position = 0
	}
	w.seen = sighting{here.Database, here.Timeline, max(w.seen.position, here.Position)}
}

// forget begins again, as what was seen may be of a lost history.
func (w *witness) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = sighting{}
}

// isOf reports whether it was seen of this history of the database, and behind whether the server lacks some of it.
func (s sighting) isOf(here identity) bool {
	return s.position > 0 && s.database == here.Database && s.timeline == here.Timeline
}

func (s sighting) behind(here identity) bool { return s.isOf(here) && s.position > here.Position }

// History implements [database.Database]. A server that runs as it ran when it was adopted is the same at
// any address. One that was started again since may be a volume that has come back: it is the same if this
// process has seen it before, and its log is not behind that.
func (d *pgxDatabase) History(ctx context.Context, tx database.Tx) (database.Change, error) {
	last := d.seen.last()
	here, adopted, err := d.identify(ctx, tx.(*transaction).tx) //nolint:forcetypeassert // there is no other
	if err != nil {
		return database.Same, err
	}
	change := database.Same
	switch {
	case here.Database != adopted.Database:
		change = database.MaybeCopy
	case here.Timeline != adopted.Timeline:
		change = database.Changed
	case here.Position < adopted.Position || last.behind(here):
		change = database.Changed
	case here.Started == adopted.Started:
	case !slices.Contains(adopted.Places, here.Places[0]):
		change = database.MaybeCopy
	case last.isOf(here):
		change = database.Restarted
	default:
		change = database.Changed
	}
	if change == database.Same || change == database.Restarted {
		d.seen.saw(here)
	}
	return change, nil
}

// Adopt implements [database.Database].
func (d *pgxDatabase) Adopt(ctx context.Context, tx database.Tx) error {
	here, adopted, err := d.identify(ctx, tx.(*transaction).tx) //nolint:forcetypeassert // there is no other
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
	d.seen.forget()
	_, err = tx.Exec(ctx, database.PutMeta, "history", string(text))
	return err
}

// Claim implements [database.Database].
func (d *pgxDatabase) Claim(_ context.Context, tx database.Tx) (func() error, error) {
	tx.(*transaction).claims = true //nolint:forcetypeassert // there is no other
	return func() error { return nil }, nil
}
