package explore

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// watched is a database whose transactions are steps, or each of whose statements is one, where
// transactions of several actors are open at a time.
type watched[TTx comparable] struct {
	durable.Database[TTx]
	fine   bool
	now    func() time.Time
	change func(query string) string           // of a mutant
	forget func(query string, args []any) bool // a mutant that does not commit what a statement has done
	seen   func(query string)
	tasks  database.Tasks
	opened func(*Turn, TTx)

	mu   *sync.Mutex
	open map[TTx]*transaction
}

// transaction is what a transaction has written, which others see when it commits.
type transaction struct {
	turn      *Turn
	written   []string
	forgotten bool
}

func watch[TTx comparable](db durable.Database[TTx], now func() time.Time) *watched[TTx] {
	return &watched[TTx]{Database: db, now: now, mu: new(sync.Mutex), open: map[TTx]*transaction{}}
}

// Step does nothing: a step of a schedule begins with what goes out of the process.
func (*watched[TTx]) Step(string)                  {}
func (d *watched[TTx]) Machine() time.Time         { return d.now() }
func (d *watched[TTx]) Drive(tasks database.Tasks) { d.tasks = tasks }

// Check lets a file be on a disk that may lose it.
func (*watched[TTx]) Check(context.Context, TTx) error { return nil }

func (d *watched[TTx]) Words() database.Words {
	words := d.Database.Words()
	words.Now = fmt.Sprintf("CAST(%d AS bigint)", d.now().UnixMicro())
	return words
}

func (d *watched[TTx]) Begin(ctx context.Context) (TTx, error) {
	t := turnOf(ctx)
	if t != nil && !d.fine {
		t.Yield()
	}
	tx, err := d.Database.Begin(ctx)
	if err == nil {
		d.mu.Lock()
		d.open[tx] = &transaction{turn: t}
		d.mu.Unlock()
		d.opened(t, tx)
	}
	return tx, err
}

func (d *watched[TTx]) of(tx TTx) *transaction {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[tx]
}

func (d *watched[TTx]) ended(tx TTx) *transaction {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.open[tx]
	delete(d.open, tx)
	return t
}

func (d *watched[TTx]) Commit(ctx context.Context, tx TTx) error {
	t := d.of(tx)
	if t.turn != nil && d.fine && len(t.written) > 0 {
		ends := true // the process, before it commits
		defer func() {
			if ends {
				_ = d.Rollback(context.WithoutCancel(ctx), tx)
			}
		}()
		t.turn.Yield()
		ends = false
	}
	d.ended(tx)
	if t.turn != nil {
		for _, table := range t.written {
			t.turn.Writes(table)
		}
		if d.fine && len(t.written) > 0 {
			t.turn.Says("commits")
		}
	}
	if t.forgotten {
		return d.Database.Rollback(ctx, tx)
	}
	return d.Database.Commit(ctx, tx)
}

func (d *watched[TTx]) Rollback(ctx context.Context, tx TTx) error {
	if t := d.ended(tx); t != nil && t.turn != nil { // its locks are let go
		for _, table := range t.written {
			t.turn.Writes(table)
		}
		t.turn.Says("rolls back")
	}
	return d.Database.Rollback(ctx, tx)
}

// Claim is the engine's count of claims, whose mark is written in a step of its own.
func (d *watched[TTx]) Claim(ctx context.Context, tx TTx) (func() error, error) {
	t := turnOf(ctx)
	marked, err := d.Database.Claim(ctx, tx)
	if t == nil {
		return marked, err
	}
	t.Writes("meta")
	return func() error {
		t.Yield()
		t.Writes("meta")
		t.Says("writes the mark")
		return marked()
	}, err
}

// Restored reads what Claim and Adopt write.
func (d *watched[TTx]) Restored(ctx context.Context, tx TTx) (bool, error) {
	if t := turnOf(ctx); t != nil {
		t.Reads("meta")
	}
	return d.Database.Restored(ctx, tx)
}

// Adopt writes what Restored reads.
func (d *watched[TTx]) Adopt(ctx context.Context, tx TTx) error {
	if t := turnOf(ctx); t != nil {
		t.Writes("meta")
	}
	return d.Database.Adopt(ctx, tx)
}

func (d *watched[TTx]) Exec(ctx context.Context, tx TTx, query string, args ...any) (int64, error) {
	query = d.mutated(query)
	t := d.step(tx, query)
	n, err := d.Database.Exec(ctx, tx, query, args...)
	d.touched(t, query, n > 0 || err != nil)
	if n > 0 && d.forget != nil && d.forget(query, args) {
		t.forgotten = true
	}
	return n, err
}

func (d *watched[TTx]) Query(ctx context.Context, tx TTx, query string, args ...any) (database.Rows, error) {
	query = d.mutated(query)
	t := d.step(tx, query)
	rows, err := d.Database.Query(ctx, tx, query, args...)
	d.touched(t, query, !strings.HasPrefix(query, "SELECT") || d.fine && strings.Contains(query, " FOR UPDATE"))
	return rows, err
}

func (d *watched[TTx]) mutated(query string) string {
	if d.seen != nil {
		d.seen(query)
	}
	if d.change != nil {
		return d.change(query)
	}
	return query
}

// step begins a step where each statement is one.
func (d *watched[TTx]) step(tx TTx, query string) *transaction {
	t := d.of(tx)
	if t.turn != nil && d.fine && !strings.HasPrefix(query, "SELECT current_") {
		t.turn.Yield()
	}
	return t
}

var tables = regexp.MustCompile(`quickstream\.(payment|notification|meta|compared)\b|\b(orders|told)\b`)

// touched notes the tables of a statement. One that writes writes the first of them.
func (d *watched[TTx]) touched(t *transaction, query string, writes bool) {
	if t.turn == nil {
		return
	}
	for i, table := range tablesOf(query) {
		if i > 0 || !writes {
			t.turn.Reads(table)
			continue
		}
		t.turn.Writes(table)
		t.turn.Says(strings.ToLower(query[:strings.IndexAny(query, " \n")]) + " " + table)
		if !slices.Contains(t.written, table) {
			t.written = append(t.written, table)
		}
	}
}

// tablesOf returns the tables of a statement.
func tablesOf(query string) []string {
	if known, ok := statements.Load(query); ok {
		return known.([]string) //nolint:forcetypeassert // nothing else is stored
	}
	var names []string
	for _, found := range tables.FindAllStringSubmatch(query, -1) {
		names = append(names, found[1]+found[2])
	}
	statements.Store(query, names)
	return names
}

var statements sync.Map // to what tablesOf has found in them
