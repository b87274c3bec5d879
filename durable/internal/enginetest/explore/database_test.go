package explore

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/riverqueue/river"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
)

// watched is a database whose transactions are steps. If transactions of several actors are open
// at a time, each statement is a step.
type watched[TTx comparable] struct {
	durable.Database[TTx]
	fine   bool
	past   *database.Change                    // how its history has changed
	change func(query string) string           // of a mutant
	forget func(query string, args []any) bool // a mutant that does not commit what a statement has done
	seen   func(query string)
	tasks  database.Tasks
	opened func(*Turn, TTx)

	mu   *sync.Mutex
	open map[TTx]*transaction[TTx]
}

// transaction is a transaction and what it has written, which others see when it commits.
type transaction[TTx comparable] struct {
	database.Tx
	d         *watched[TTx]
	turn      *Turn
	written   []string
	forgotten bool
}

func watch[TTx comparable](db durable.Database[TTx]) *watched[TTx] {
	return &watched[TTx]{Database: db, mu: new(sync.Mutex), open: map[TTx]*transaction[TTx]{}}
}

// Drive keeps the engine's tasks, which the actors do.
func (d *watched[TTx]) Drive(tasks database.Tasks) { d.tasks = tasks }

// Check accepts any database, also one that may lose a commit.
func (*watched[TTx]) Check(context.Context, database.Tx) error { return nil }

func (d *watched[TTx]) Begin(ctx context.Context) (database.Tx, error) {
	t := turnOf(ctx)
	if t != nil && !d.fine {
		t.Yield()
	}
	tx, err := d.Database.Begin(ctx)
	if err != nil {
		return nil, err
	}
	begun := &transaction[TTx]{Tx: tx, d: d, turn: t}
	d.mu.Lock()
	d.open[d.Database.Leave(tx)] = begun
	d.mu.Unlock()
	d.opened(t, d.Database.Leave(tx))
	return begun, nil
}

// Query is a step: nothing that it reads can change meanwhile.
func (d *watched[TTx]) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	alone := &transaction[TTx]{d: d, turn: turnOf(ctx)}
	if alone.turn != nil {
		alone.turn.Yield()
	}
	query = d.mutated(query)
	rows, err := d.Database.Query(ctx, query, args...)
	alone.touched(query, false)
	return rows, err
}

// Join returns the transaction that Begin has begun.
func (d *watched[TTx]) Join(tx TTx) database.Tx {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[tx]
}

func inner[TTx comparable](tx database.Tx) database.Tx { return tx.(*transaction[TTx]).Tx } //nolint:forcetypeassert // there is no other

func (d *watched[TTx]) Leave(tx database.Tx) TTx { return d.Database.Leave(inner[TTx](tx)) }

// Queue takes jobs in the transactions of the scene.
func (d *watched[TTx]) Queue(config *river.Config) (database.Queue, error) {
	queue, err := d.Database.Queue(config)
	return watchedQueue[TTx]{queue}, err
}

type watchedQueue[TTx comparable] struct{ database.Queue }

func (q watchedQueue[TTx]) Insert(ctx context.Context, tx database.Tx, jobs []river.InsertManyParams) error {
	return q.Queue.Insert(ctx, inner[TTx](tx), jobs)
}

func (q watchedQueue[TTx]) Pause(ctx context.Context, tx database.Tx, name string) error {
	return q.Queue.Pause(ctx, inner[TTx](tx), name)
}

func (q watchedQueue[TTx]) Resume(ctx context.Context, tx database.Tx, name string) error {
	return q.Queue.Resume(ctx, inner[TTx](tx), name)
}

func (t *transaction[TTx]) ended() {
	t.d.mu.Lock()
	defer t.d.mu.Unlock()
	delete(t.d.open, t.d.Database.Leave(t.Tx))
}

// Commit is a step if others can have written meanwhile.
func (t *transaction[TTx]) Commit(ctx context.Context) error {
	if t.turn != nil && t.d.fine && len(t.written) > 0 {
		ends := true // the process, before it commits
		defer func() {
			if ends {
				_ = t.Rollback(context.WithoutCancel(ctx))
			}
		}()
		t.turn.Yield()
		ends = false
	}
	t.ended()
	if t.turn != nil {
		for _, table := range t.written {
			t.turn.Writes(table)
		}
		if t.d.fine && len(t.written) > 0 {
			t.turn.Says("commits")
		}
	}
	if t.forgotten {
		return t.Tx.Rollback(ctx)
	}
	return t.Tx.Commit(ctx)
}

// Rollback lets its locks go.
func (t *transaction[TTx]) Rollback(ctx context.Context) error {
	t.ended()
	if t.turn != nil {
		for _, table := range t.written {
			t.turn.Writes(table)
		}
		t.turn.Says("rolls back")
	}
	return t.Tx.Rollback(ctx)
}

// Claim is the engine's count of claims, whose mark is written in a step of its own.
func (d *watched[TTx]) Claim(ctx context.Context, tx database.Tx) (func() error, error) {
	t := turnOf(ctx)
	marked, err := d.Database.Claim(ctx, inner[TTx](tx))
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

// History reads what Claim and Adopt write.
func (d *watched[TTx]) History(ctx context.Context, tx database.Tx) (database.Change, error) {
	if t := turnOf(ctx); t != nil {
		t.Reads("meta")
	}
	if *d.past != database.Same {
		return *d.past, nil
	}
	return d.Database.History(ctx, inner[TTx](tx))
}

// Adopt writes what History reads.
func (d *watched[TTx]) Adopt(ctx context.Context, tx database.Tx) error {
	if t := turnOf(ctx); t != nil {
		t.Writes("meta")
	}
	*d.past = database.Same
	return d.Database.Adopt(ctx, inner[TTx](tx))
}

func (t *transaction[TTx]) Exec(ctx context.Context, query string, args ...any) (int64, error) {
	query = t.d.mutated(query)
	t.step(query)
	n, err := t.Tx.Exec(ctx, query, args...)
	t.touched(query, n > 0 || err != nil)
	if n > 0 && t.d.forget != nil && t.d.forget(query, args) {
		t.forgotten = true
	}
	return n, err
}

func (t *transaction[TTx]) Query(ctx context.Context, query string, args ...any) (database.Rows, error) {
	query = t.d.mutated(query)
	t.step(query)
	rows, err := t.Tx.Query(ctx, query, args...)
	t.touched(query, !strings.HasPrefix(query, "SELECT") || t.d.fine && strings.Contains(query, " FOR UPDATE"))
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

// step begins a step if each statement is one. Events are only added, and nothing reads them.
func (t *transaction[TTx]) step(query string) {
	if t.turn != nil && t.d.fine && !strings.Contains(query, "quickstream.event") {
		t.turn.Yield()
	}
}

var tables = regexp.MustCompile(`quickstream\.(write|notification|meta)\b|\b(orders|reported)\b`)

// touched notes the tables of a statement. One that writes writes the first of them.
func (t *transaction[TTx]) touched(query string, writes bool) {
	if t.turn == nil {
		return
	}
	if strings.Contains(query, database.Now) {
		t.turn.Reads("clock")
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
