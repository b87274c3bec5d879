package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/durable/sqlite"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const (
	killedVariable      = "DURABLE_TEST_KILLED" // the database of a process that is killed
	addressVariable     = "DURABLE_TEST_SERVICE"
	secretVariable      = "DURABLE_TEST_SECRET"
	publishableVariable = "DURABLE_TEST_PUBLISHABLE"
	firstVariable       = "DURABLE_TEST_FIRST"
	killsVariable       = "DURABLE_KILLS"
)

// TestMain runs a merchant's program instead of the tests if a variable says so.
func TestMain(m *testing.M) {
	if address := os.Getenv(killedVariable); address != "" {
		if err := sell(address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// shopDB opens the database of a process.
func shopDB(address string) (*sql.DB, durable.Database[*sql.Tx], error) {
	if filepath.IsAbs(address) {
		db, err := sqlite.Open(address)
		if err != nil {
			return nil, nil, err
		}
		return db, sqlite.DB(db), nil
	}
	pool, err := pgxpool.New(context.Background(), address)
	if err != nil {
		return nil, nil, err
	}
	return stdlib.OpenDBFromPool(pool), postgres.SQL(pool), nil
}

// killedEngine returns the engine of a process. Its OnOutcome writes into the shop's book.
func killedEngine(ctx context.Context, store durable.Database[*sql.Tx], client *quickstream.Client) (*durable.Engine[*sql.Tx], error) {
	engine, err := durable.New(ctx, store, client, durable.Options[*sql.Tx]{
		Installation: "shop", ServiceRetries: serviceRetries(), LongestPay: 2 * time.Second,
		OnOutcome: func(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
			_, err := tx.ExecContext(ctx, "INSERT INTO book (write_id, state) VALUES ($1, $2)", change.Write.ID, change.Write.Name())
			return err
		},
	})
	if err == nil {
		err = engine.Start(ctx)
	}
	return engine, err
}

// sell pays one order after the other until it is killed, or stopped as by a deploy.
func sell(address string) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	db, store, err := shopDB(address)
	if err != nil {
		return err
	}
	client, err := quickstream.NewClient(quickstream.CustomURL(os.Getenv(addressVariable)),
		quickstream.Keys{Secret: quickstream.NewSecretKey(os.Getenv(secretVariable)), Publishable: quickstream.NewPublishableKey(os.Getenv(publishableVariable))},
		quickstream.WithAttemptTimeout(time.Second), quickstream.WithoutResend())
	if err != nil {
		return err
	}
	engine, err := killedEngine(ctx, store, client)
	if err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	notify(ended)
	for n := 0; ; n++ {
		select {
		case <-ended:
			return engine.Stop(ctx)
		default:
		}
		id := os.Getenv(firstVariable) + "-" + strconv.Itoa(n)
		token, err := sandboxtest.CardToken(ctx, client, sandbox.CardAttempted)
		if err != nil { // no answer in time: another one costs nothing
			continue
		}
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if _, _, err := engine.Pay(ctx, tx, durable.NewWrite{ID: id, Order: id}, params(quickstream.FromSingleUseToken(token))); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
}

// TestKills kills merchants' programs at any moment, and stops some as a deploy does: no order is charged twice, none that was
// charged is lost, and the shop's book has each outcome once.
func TestKills(t *testing.T) {
	kills := 6
	if text := os.Getenv(killsVariable); text != "" {
		kills, _ = strconv.Atoi(text)
	}
	t.Run("SQLite", func(t *testing.T) { testKills(t, filepath.Join(t.TempDir(), "shop.db"), kills, 1) })
	t.Run("PostgreSQL", func(t *testing.T) { testKills(t, emptyDatabase(t), kills, 2) })
}

func testKills(t *testing.T, address string, kills, processes int) {
	ctx := t.Context()
	db, store, err := shopDB(address)
	require.NoError(t, err)
	defer db.Close()
	require.NoError(t, durable.MigrateUp(ctx, store))
	_, err = db.ExecContext(ctx, "CREATE TABLE book (write_id text, state text)")
	require.NoError(t, err)
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota, a.LookupLag, a.KeyLifetime = 0, 0, 0 }))
	defer box.Close()
	service, err := box.Listen("127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, box.Inject(sandbox.Fault{Operation: "POST /transactions", Probability: 0.3, Kind: sandbox.DelayAfterCommit(300 * time.Millisecond)}))
	program, err := os.Executable()
	require.NoError(t, err)
	if filepath.IsAbs(address) {
		require.NoError(t, db.Close()) // a file is for one process
	}
	dice, started := rand.New(rand.NewPCG(1, 2)), 0
	start := func() *exec.Cmd {
		started++
		command := exec.CommandContext(ctx, program)
		command.Env = append(os.Environ(), killedVariable+"="+address, addressVariable+"="+service, secretVariable+"="+box.Keys().Secret,
			publishableVariable+"="+box.Keys().Publishable, firstVariable+"="+strconv.Itoa(started))
		command.Stderr = t.Output()
		require.NoError(t, command.Start())
		return command
	}
	running := make([]*exec.Cmd, processes)
	for i := range running {
		running[i] = start()
	}
	sold := func() int { return len(box.Ledger()) }
	for range kills {
		i, before := dice.IntN(processes), sold()
		eventually(t, func() bool { return sold() > before }, "it sells")
		ticker := time.NewTimer(time.Duration(dice.IntN(200)) * time.Millisecond)
		<-ticker.C
		signal := syscall.SIGKILL
		if dice.IntN(10) == 0 {
			signal = syscall.SIGTERM
		}
		require.NoError(t, running[i].Process.Signal(signal))
		_ = running[i].Wait()
		running[i] = start()
	}
	for _, command := range running {
		require.NoError(t, command.Process.Kill())
		_ = command.Wait()
	}
	box.ClearFaults()
	db, store, err = shopDB(address)
	require.NoError(t, err)
	defer db.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(service), quickstream.Keys{Secret: quickstream.NewSecretKey(box.Keys().Secret)}, quickstream.WithoutResend())
	require.NoError(t, err)
	engine, err := killedEngine(ctx, store, client)
	require.NoError(t, err)
	defer func() { _ = engine.Stop(context.Background()) }()
	charged := map[string]int{}
	for _, e := range box.Ledger() {
		if e.Outcome == "approved" {
			charged[e.Metadata["quickstreamOrder"]]++
		}
	}
	for order, times := range charged {
		assert.Equal(t, 1, times, order)
		within(t, 3*time.Minute, func() bool { // the job of a killed process runs again after a while
			w, err := engine.Get(ctx, order)
			if err == nil && w.State == durable.StateUnknown && time.Until(w.Due) > time.Minute { // its look-ups failed, in processes that were killed
				_, err = engine.LookUp(ctx, "the test", "it does not wait for the next one", order)
			}
			return err == nil && w.Paid() && w.Notified
		}, order+" is paid")
	}
	reported := map[string]int{}
	rows, err := db.QueryContext(ctx, "SELECT write_id FROM book WHERE state = 'approved'")
	require.NoError(t, err)
	for rows.Next() {
		var id string
		require.NoError(t, rows.Scan(&id))
		reported[id]++
	}
	require.NoError(t, rows.Close())
	for id, times := range reported {
		assert.Equal(t, 1, times, id)
		assert.LessOrEqual(t, charged[id], 1, id)
	}
	t.Logf("%d kills and stops, %d orders charged", kills, len(charged))
}
