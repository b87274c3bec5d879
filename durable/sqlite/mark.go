package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
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

// fileHistory is the history that the database stores of its file.
type fileHistory struct {
	path, history, place string
	claims               int64
}

func historyIn(ctx context.Context, tx *sql.Tx) (h fileHistory, err error) {
	err = tx.QueryRowContext(ctx, `SELECT (SELECT file FROM pragma_database_list WHERE name = 'main'), coalesce(max(CASE name WHEN 'history' THEN value END), ''),
		coalesce(max(CASE name WHEN 'place' THEN value END), ''), coalesce(max(CASE name WHEN 'claims' THEN CAST(value AS INTEGER) END), 0)
		FROM quickstream_meta`).Scan(&h.path, &h.history, &h.place, &h.claims)
	return h, err
}

func (h fileHistory) mark() string { return h.path + ".mark" }

// placeNow returns the path of the file, and its inode number on systems that have one: a copy on the same disk has
// another number.
func (h fileHistory) placeNow() string {
	info, err := os.Stat(h.path)
	if err != nil {
		return h.path
	}
	if system := reflect.Indirect(reflect.ValueOf(info.Sys())); system.Kind() == reflect.Struct {
		if number := system.FieldByName("Ino"); number.IsValid() {
			return fmt.Sprint(h.path, " ", number)
		}
	}
	return h.path
}

// History implements [database.Database]. A file that is older than its mark, at the place where it was
// adopted, was restored from a backup. A file at another place, or without its mark, may be a copy.
func (d *sqliteDatabase) History(ctx context.Context, joined database.Tx) (database.Change, error) {
	stored, err := historyIn(ctx, d.Leave(joined))
	if err != nil || stored.history == "" {
		return database.MaybeCopy, err
	}
	text, err := os.ReadFile(stored.mark())
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		return database.Same, err
	}
	var marked string
	var at int64
	read, _ := fmt.Sscanf(string(text), markForm, &marked, &at) // a damaged mark is a change
	switch {
	case missing, stored.place != stored.placeNow():
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
	stored, err := historyIn(ctx, d.Leave(joined))
	if err != nil {
		return err
	}
	stored.history, stored.claims = rand.Text(), 0
	for name, value := range map[string]any{"history": stored.history, "claims": "0", "place": stored.placeNow()} {
		if _, err := joined.Exec(ctx, database.PutMeta, name, value); err != nil {
			return err
		}
	}
	if stored.path == "" { // in memory, which the engine refuses
		return nil
	}
	return d.write(stored)
}

// Claim counts a claim, and returns the function that writes the mark.
func (d *sqliteDatabase) Claim(ctx context.Context, joined database.Tx) (func() error, error) {
	stored, err := historyIn(ctx, d.Leave(joined))
	if err != nil {
		return nil, err
	}
	stored.claims++
	_, err = joined.Exec(ctx, database.PutMeta, "claims", fmt.Sprint(stored.claims))
	return func() error { return d.write(stored) }, err
}

// write raises the mark to a number of claims, on disk. A process may write an older number
// over a newer one of another process: the mark then misses claims, but is not false.
func (m *mark) write(h fileHistory) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if h.claims != 0 && h.claims <= m.claims {
		return nil // a later claim has written it
	}
	file, err := os.OpenFile(h.mark(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(fmt.Appendf(nil, markForm, h.history, h.claims), 0) // always the same length
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		m.claims = h.claims
	}
	return err
}
