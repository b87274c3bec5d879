package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// mark is the file beside the database that holds how many claims were made. It is
// written after each claim is committed and before its request, so that a database that
// holds fewer claims is an older one: a backup, or one whose last commits were lost.
type mark struct {
	mu     sync.Mutex
	claims int64
}

// History implements [database.Database]. A file at the place that it was adopted at, and older than its
// mark, has come back from a backup. One at another place, or without its mark, may be a copy.
func (d *sqliteDatabase) History(ctx context.Context, joined database.Tx) (database.Change, error) {
	tx := joined.(transaction).tx //nolint:forcetypeassert // there is no other
	path, err := markPath(ctx, tx)
	if err != nil {
		return database.Same, err
	}
	stored, err := historyIn(ctx, tx)
	if err != nil || stored.history == "" {
		return database.MaybeCopy, err
	}
	text, err := os.ReadFile(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return database.MaybeCopy, nil
	}
	if err != nil {
		return database.Same, err
	}
	var marked string
	var at int64
	read, _ := fmt.Sscanf(string(text), markForm, &marked, &at) // what is damaged is no mark
	switch there := placeOf(path); {
	case stored.place != there:
		return database.MaybeCopy, nil
	case read != 2 || marked != stored.history || at > stored.claims:
		return database.Changed, nil
	default:
		return database.Same, nil
	}
}

const markForm = "%s %020d\n"

// Adopt begins a new history of the database. The mark is written before the commit, because
// a process that begins right after it looks for the mark.
func (d *sqliteDatabase) Adopt(ctx context.Context, joined database.Tx) error {
	tx := joined.(transaction).tx //nolint:forcetypeassert // there is no other
	path, err := markPath(ctx, tx)
	if err != nil {
		return err
	}
	history := rand.Text()
	for name, value := range map[string]any{"history": history, "claims": "0", "place": placeOf(path)} {
		if _, err := joined.Exec(ctx, database.PutMeta, name, value); err != nil {
			return err
		}
	}
	if path == "" { // in memory, which the engine refuses
		return nil
	}
	return d.write(path, history, 0)
}

// Claim counts a claim, and returns what writes the mark.
func (d *sqliteDatabase) Claim(ctx context.Context, joined database.Tx) (func() error, error) {
	tx := joined.(transaction).tx //nolint:forcetypeassert // there is no other
	path, err := markPath(ctx, tx)
	if err != nil {
		return nil, err
	}
	stored, err := historyIn(ctx, tx)
	if err != nil {
		return nil, err
	}
	stored.claims++
	if _, err := joined.Exec(ctx, database.PutMeta, "claims", fmt.Sprint(stored.claims)); err != nil {
		return nil, err
	}
	return func() error { return d.write(path, stored.history, stored.claims) }, nil
}

// write brings the mark up to a number of claims, on disk. One process may write an
// older number over a newer one of another: the mark then holds less, and nothing false.
func (m *mark) write(path, history string, claims int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if claims != 0 && claims <= m.claims {
		return nil // a later claim has been faster
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(fmt.Appendf(nil, markForm, history, claims), 0) // always as long
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		m.claims = claims
	}
	return err
}

func markPath(ctx context.Context, tx *sql.Tx) (string, error) {
	var file string
	err := tx.QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file)
	if file == "" {
		return "", err
	}
	return file + ".mark", err
}

// fileHistory is what the file says of its history.
type fileHistory struct {
	history, place string
	claims         int64
}

func historyIn(ctx context.Context, tx *sql.Tx) (h fileHistory, err error) {
	err = tx.QueryRowContext(ctx, `SELECT coalesce(max(CASE name WHEN 'history' THEN value END), ''), coalesce(max(CASE name WHEN 'place' THEN value END), ''),
		coalesce(max(CASE name WHEN 'claims' THEN CAST(value AS INTEGER) END), 0) FROM quickstream_meta`).Scan(&h.history, &h.place, &h.claims)
	return h, err
}

// placeOf says where the file is, and which one that has this name: a copy on the same disk has another
// number where files are numbered.
func placeOf(mark string) string {
	path := strings.TrimSuffix(mark, ".mark")
	info, err := os.Stat(path)
	if err != nil {
		return path
	}
	return path + numberOf(info)
}
