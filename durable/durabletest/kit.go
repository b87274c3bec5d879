// Package durabletest tests a merchant's program that pays through package durable, against the sandbox:
//
//	kit := durabletest.New(t, sqlite.DB(db), durable.Options[*sql.Tx]{OnOutcome: markOrder})
//	order := shop.buy(kit.Engine(), kit.Token(sandbox.CardAttempted)) // the merchant's own code
//	write := kit.Settled(order.attempt)
//
// It takes the merchant's own database of package sqlite or postgres, and imports neither.
//
// The database, the sandbox and the client share one clock, which runs in real time. [Kit.Settled] moves it to the time that
// the engine waits for, so that days of look-ups take no time, and never past a request that is under way.
//
// A test arms faults by [sandbox.Sandbox.Inject]. [Worlds] runs it in many worlds, each with other answers to what the
// public contract leaves open. [Kit.Chaos] pays many orders while calls fail and engines are killed, and [Kit.Judge]
// compares the engine's payments with the sandbox's ledger.
package durabletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// Kit is a running engine with a sandbox, a client and a clock.
type Kit[TTx any] struct {
	// Sandbox is the service, and Client the engine's client of it.
	Sandbox *sandbox.Sandbox
	Client  *quickstream.Client
	// World is the one given to [NewIn].
	World worlds.World

	t     testing.TB
	db    *driven[TTx]
	clock *sandbox.Clock
	opts  durable.Options[TTx]

	engine atomic.Pointer[durable.Engine[TTx]]

	mu    sync.Mutex
	ahead int64 // how far the kit's time is ahead of this machine's, in microseconds
}

// driven is a database that receives its engine's tasks: the kit does them too, and waits for no queue.
type driven[TTx any] struct {
	durable.Database[TTx]
	tasks atomic.Pointer[database.Tasks]
}

// Drive implements [database.Driver].
func (d *driven[TTx]) Drive(tasks database.Tasks) { d.tasks.Store(&tasks) }

// New makes the tables of the engine and starts it. Everything ends with the test. Of the options
// Installation, ServiceRetries, LongestPay and Logger have values for tests, and only OnOutcome
// is required. The client has short time limits and pauses. The sandbox has no TokenQuota.
func New[TTx any](t testing.TB, db durable.Database[TTx], opts durable.Options[TTx], box ...sandbox.Option) *Kit[TTx] {
	t.Helper()
	return NewIn(t, worlds.World{}, db, opts, box...)
}

// NewIn is [New] in a world of [Worlds]. Its fault meets the first payment. The sandbox keeps
// idempotency keys for five minutes at least: how long the service does is not published.
func NewIn[TTx any](t testing.TB, world worlds.World, db durable.Database[TTx], opts durable.Options[TTx], box ...sandbox.Option) *Kit[TTx] {
	t.Helper()
	k := &Kit[TTx]{World: world, t: t, db: &driven[TTx]{Database: db}, clock: sandbox.NewRunningClock(time.Now()), opts: opts}
	db.SetNow(k.now)
	assume := sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.TokenQuota, a.KeyLifetime = 0, max(a.KeyLifetime, sandbox.DefaultAssumptions().KeyLifetime)
	})
	k.Sandbox = sandbox.New(append([]sandbox.Option{sandbox.WithClock(k.clock), world.Option(), assume}, box...)...)
	t.Cleanup(k.Sandbox.Close)
	k.must(k.Sandbox.Inject(world.Faults("POST /transactions")...))
	k.Client = sandboxtest.Client(t, k.Sandbox,
		quickstream.WithAttemptTimeout(2*time.Second), quickstream.WithRetryWait(time.Millisecond, 10*time.Millisecond))
	retries := resolve.ServiceRetriesOff()
	k.opts.Installation = cmp.Or(opts.Installation, "durabletest")
	k.opts.ServiceRetries = cmp.Or(opts.ServiceRetries, &retries)
	k.opts.LongestPay = cmp.Or(opts.LongestPay, 20*time.Second)
	k.opts.Logger = cmp.Or(opts.Logger, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError})))
	k.must(durable.MigrateUp(t.Context(), db))
	k.start()
	t.Cleanup(func() { k.stop(time.Minute) })
	return k
}

// now returns the expression of the database's time, moved ahead as the kit's clock is ahead of this machine's.
// It never goes back: the difference only grows, and its measurement between two readings can only be too small.
func (k *Kit[TTx]) now(expression string) string {
	k.mu.Lock()
	k.ahead = max(k.ahead, time.Until(k.clock.Now()).Microseconds())
	ahead := k.ahead
	k.mu.Unlock()
	if strings.HasPrefix(expression, "clock_timestamp") {
		return fmt.Sprintf("(%s + interval '%d microseconds')", expression, ahead)
	}
	return fmt.Sprintf("(%s + %d)", expression, ahead)
}

// Engine returns the engine that works now: [Kit.Kill] starts another one.
func (k *Kit[TTx]) Engine() *durable.Engine[TTx] { return k.engine.Load() }

func (k *Kit[TTx]) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

func (k *Kit[TTx]) start() {
	k.t.Helper()
	engine, err := durable.New(k.t.Context(), k.db, k.Client, k.opts)
	k.must(err)
	k.must(engine.Start(k.t.Context()))
	k.engine.Store(engine)
}

func (k *Kit[TTx]) stop(patience time.Duration) {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := k.Engine().Stop(ctx); err != nil && patience > 0 {
		k.t.Error(err)
	}
}

// Kill ends the engine in the middle of its work, and starts another one on the same database.
// Requests under way are cancelled, as if the process had died.
func (k *Kit[TTx]) Kill() {
	k.t.Helper()
	k.stop(0)
	k.start()
}

// Now returns the time of the database and the sandbox.
func (k *Kit[TTx]) Now() time.Time { return k.clock.Now() }

// Advance moves the time forward by d, for the database, the sandbox and the client. See
// [sandbox.Clock.Advance].
func (k *Kit[TTx]) Advance(d time.Duration) { k.clock.Advance(d) }

// Tx runs f in a transaction, which commits if f returns nil.
func (k *Kit[TTx]) Tx(f func(tx TTx) error) error {
	tx, err := k.db.Begin(k.t.Context())
	if err != nil {
		return err
	}
	if err := f(k.db.Leave(tx)); err != nil {
		return errors.Join(err, tx.Rollback(k.t.Context()))
	}
	return tx.Commit(k.t.Context())
}

// Token returns a single-use token of a card, made without 3D Secure. For one with it use [sandboxtest.CardToken] with
// Client. The card's number, such as [sandbox.CardAttempted], decides the outcome of the payment.
func (k *Kit[TTx]) Token(number string) string {
	k.t.Helper()
	token, err := sandboxtest.CardToken(k.t.Context(), k.Client, number)
	k.must(err)
	return token
}

const (
	patience = 2 * time.Minute        // the longest that Until waits, in real time
	mostDays = 60 * 24 * time.Hour    // the longest that Until waits, by the clock
	claiming = 250 * time.Millisecond // how long a claim may take to become a request, in real time
)

// Settled waits until the write is no longer in progress and OnOutcome was notified, and returns it. While the engine
// waits for a time, the clock moves to it. The test fails if that takes two months, or two minutes of real time. A
// payment that stays not_found is returned as such.
func (k *Kit[TTx]) Settled(id string) durable.Write {
	k.t.Helper()
	return k.Until(id, func(w durable.Write) bool { return !w.State.InProgress() && w.Notified })
}

// Until waits as [Kit.Settled] does, until wanted is true of the write.
func (k *Kit[TTx]) Until(id string, wanted func(w durable.Write) bool) durable.Write {
	k.t.Helper()
	begun, deadline := k.Now(), time.Now().Add(patience)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for since, last := time.Now(), durable.State(""); ; {
		w, err := k.Engine().Get(k.t.Context(), id)
		k.must(err)
		if wanted(w) {
			return w
		}
		if time.Now().After(deadline) || k.Now().Sub(begun) > mostDays {
			k.t.Fatalf("durabletest: %s is %s after %s: %s", id, w.Text(), k.Now().Sub(begun).Round(time.Second), w.Problem)
		}
		if w.State != last {
			since, last = time.Now(), w.State
		}
		if wait := w.Due.Sub(k.Now()); wait > 0 && (w.Notified || w.State.InProgress()) && (w.State != durable.StateSending && w.State != durable.StateQueued || time.Since(since) > claiming) {
			k.Advance(wait + time.Millisecond)
		} else if w.State == durable.StateQueued && time.Since(since) > claiming {
			if h, err := k.Engine().Health(k.t.Context()); err == nil && !h.Restoring.IsZero() && h.Read { // it waits for the look-up lag
				k.Advance(time.Minute)
			}
		}
		k.Work(w)
		<-ticker.C
	}
}

// Work does the due work of a write once, beside the engine's own workers.
func (k *Kit[TTx]) Work(w durable.Write) {
	if w.Due.After(k.Now()) && w.Notified {
		return
	}
	ctx, tasks := k.t.Context(), k.db.tasks.Load()
	var err error
	switch {
	case !w.Notified:
		_ = tasks.Notify(ctx, w.ID) // the merchant's hook may fail
	case w.Due.IsZero():
	case w.State == durable.StateQueued:
		err = tasks.Send(ctx, w.ID)
	default:
		err = tasks.LookUp(ctx, w.ID)
	}
	if err != nil && !errors.Is(err, durable.ErrChanged) {
		k.t.Logf("durabletest: %v", err)
	}
}

// Daily does the engine's regular work. Once a day it reads the payments that the bank returned, empties old writes and
// compares. Each time it inserts a job for every write that has work and no job.
func (k *Kit[TTx]) Daily() {
	k.t.Helper()
	tasks := k.db.tasks.Load()
	k.must(errors.Join(tasks.Daily(k.t.Context()), tasks.Orphans(k.t.Context())))
}
