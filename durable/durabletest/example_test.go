package durabletest_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream/durable/durabletest"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

// exampleT is a t for examples, which have none.
type exampleT struct {
	testing.TB
	cleanups []func()
}

func (*exampleT) Helper()                           {}
func (*exampleT) Context() context.Context          { return context.Background() }
func (*exampleT) Output() io.Writer                 { return io.Discard }
func (*exampleT) Error(args ...any)                 { panic(fmt.Sprint(args...)) }
func (*exampleT) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (*exampleT) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (*exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (t *exampleT) Cleanup(f func())                { t.cleanups = append(t.cleanups, f) }

func (t *exampleT) TempDir() string {
	dir, err := os.MkdirTemp("", "durabletest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (t *exampleT) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}

// newExample returns a t and a kit with the database of a shop.
func newExample() (*exampleT, *sql.DB, *durabletest.Kit[*sql.Tx]) {
	t := &exampleT{} // in a test, its own t
	db, opts := openShop(t)
	return t, db, durabletest.New(t, sqlite.DB(db), opts)
}

// The answer to a payment is lost after the money was taken. The engine looks it up, and OnOutcome
// marks the order.
func ExampleNew() {
	t := &exampleT{} // in a test, its own t
	defer t.end()
	db, opts := openShop(t) // the merchant's database, with OnOutcome in the options
	kit := durabletest.New(t, sqlite.DB(db), opts)
	if err := kit.Sandbox.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}); err != nil {
		t.Fatal(err)
	}

	if err := buy(t.Context(), db, kit.Engine(), "ORDER-1", kit.Token(sandbox.CardAttempted)); err != nil {
		t.Fatal(err)
	}
	fmt.Println(kit.Settled("ORDER-1/1").Text())
	fmt.Println(stateOf(t.Context(), db, "ORDER-1"))
	kit.Judge("ORDER-1") // the test fails if it was charged twice
	// Output:
	// approved
	// approved <nil>
}

// The number of a card decides how its payment ends.
func ExampleKit_Token() {
	t, db, kit := newExample()
	defer t.end()
	for order, number := range map[string]string{"ORDER-1": "4111111111444496"} {
		if err := buy(t.Context(), db, kit.Engine(), order, kit.Token(number)); err != nil {
			t.Fatal(err)
		}
		fmt.Println(kit.Settled(order + "/1").Text())
	}
	// Output: declined
}

// A merchant's transaction that fails sends nothing.
func ExampleKit_Tx() {
	t, _, kit := newExample()
	defer t.end()
	err := kit.Tx(func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "INSERT INTO orders (id) VALUES ('ORDER-1')")
		return err
	})
	fmt.Println(err)
	// Output: <nil>
}

// Time passes for the engine and the service.
func ExampleKit_Advance() {
	t, _, kit := newExample()
	defer t.end()
	before := kit.Now()
	kit.Advance(24 * time.Hour)
	fmt.Println(kit.Now().Sub(before).Round(time.Hour))
	// Output: 24h0m0s
}

// The merchant's process dies, and another one goes on with what is in the database.
func ExampleKit_Kill() {
	t, db, kit := newExample()
	defer t.end()
	if err := buy(t.Context(), db, kit.Engine(), "ORDER-1", kit.Token(sandbox.CardAttempted)); err != nil {
		t.Fatal(err)
	}
	kit.Kill()
	fmt.Println(kit.Settled("ORDER-1/1").Text())
	kit.Judge("ORDER-1")
	// Output: approved
}

// Calls fail and engines are killed, and every order is charged once or not at all.
func ExampleKit_Chaos() {
	t, db, kit := newExample()
	defer t.end()
	kit.Chaos(durabletest.ChaosOptions{Orders: 10}, func(ctx context.Context, order string) error {
		return buy(ctx, db, kit.Engine(), order, kit.Token(sandbox.CardAttempted))
	})
	fmt.Println("nothing was lost")
	// Output: nothing was lost
}

// A merchant's own test in 20 worlds.
func inWorlds(t *testing.T) {
	durabletest.Worlds(t, 20, func(t *testing.T, world worlds.World) {
		db, opts := openShop(t)
		kit := durabletest.NewIn(t, world, sqlite.DB(db), opts)
		if err := buy(t.Context(), db, kit.Engine(), "ORDER-1", kit.Token(sandbox.CardAttempted)); err != nil {
			t.Fatal(err)
		}
		kit.Settled("ORDER-1/1")
		kit.Judge("ORDER-1")
	})
}

// Worlds makes subtests and needs a test: go test calls inWorlds as TestInWorlds.
func ExampleWorlds() {
	_ = inWorlds
}

// A world that has broken a test is made again from what the test has printed.
func ExampleNewIn() {
	t := &exampleT{} // in a test, its own t
	defer t.end()
	world, err := worlds.Parse("LookupLag=5m Fault=lostAfterCommit")
	if err != nil {
		t.Fatal(err)
	}
	db, opts := openShop(t)
	kit := durabletest.NewIn(t, world, sqlite.DB(db), opts)
	if err := buy(t.Context(), db, kit.Engine(), "ORDER-1", kit.Token(sandbox.CardAttempted)); err != nil {
		t.Fatal(err)
	}
	fmt.Println(kit.Settled("ORDER-1/1").Text())
	// Output: approved
}
