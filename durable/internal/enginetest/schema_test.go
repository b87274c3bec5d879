package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/durable/postgres"
	"github.com/quickstream-go/quickstream/sandbox"
)

func TestIndexes(t *testing.T) { everywhere(t, testIndexes[*sql.Tx], testIndexes[pgx.Tx]) }

// The index of orders lets in a second payment exactly if the first one does not block its order, and
// that of tokens a second use exactly if the first one was not sent, in every standing.
func testIndexes[TTx any](t *testing.T, db store[TTx]) {
	number := 0
	insert := func(tx TTx, order, token, replacedBy string, s durable.Standing) (added int64) {
		number++
		n, err := db.Join(tx).Exec(t.Context(), `INSERT INTO quickstream.write (id, order_id, kind, operation, follows, business, source, token, request, state, outcome, reversal,
			version, claim, sends, key_number, permit, written_at, changed_at, database_at, replaced_by, receipt, reference, intent_id, end_to_end_id,
			currency, settles_on, intent, lookups, pending, failures, problem, decision)
			VALUES ($1, $2, 'payment', 'Transactions.Pay', '', '', '', $3, '', $4, $5, $6, 1, '', 0, 1, '', $7, $7, $7, $8, '', '', '', '', '', '', '', '', '', 0, '', '')
			ON CONFLICT DO NOTHING`, fmt.Sprint("write ", number), order, token, string(s.State), string(s.Outcome), string(s.Reversal), time.Now(), replacedBy)
		require.NoError(t, err)
		return n
	}
	lets := map[bool]int64{true: 1, false: 0}
	standings := allStandings()
	require.NoError(t, inTx(t.Context(), db.Database, func(tx TTx) error {
		for _, s := range standings {
			queued := durable.Standing{State: durable.StateQueued, Reversal: durable.ReversalNone}
			order, token := fmt.Sprint("order ", s), fmt.Sprint("token ", s)
			require.EqualValues(t, 1, insert(tx, order, "", "", s))
			assert.Equal(t, lets[!s.Blocks()], insert(tx, order, "", "", queued), "another payment beside %v", s)
			require.EqualValues(t, 1, insert(tx, order+" replaced", "", "another", s))
			assert.EqualValues(t, 1, insert(tx, order+" replaced", "", "", queued), "a payment instead of %v", s)
			require.EqualValues(t, 1, insert(tx, token, token, "", s))
			assert.Equal(t, lets[s.State == durable.StateNotSent], insert(tx, token+" again", token, "", queued), "another use beside %v", s)
		}
		return nil
	}))
}

// allStandings are all that a payment can have.
func allStandings() (all []durable.Standing) {
	for _, state := range []durable.State{
		durable.StateQueued, durable.StateSending, durable.StateResolving, durable.StateRefused, durable.StateNotSent,
		durable.StateNotFound, durable.StateEscalated, durable.StateDoubleCharged,
	} {
		all = append(all, durable.Standing{State: state, Reversal: durable.ReversalNone})
	}
	for _, outcome := range []quickstream.Outcome{quickstream.OutcomeApproved, quickstream.OutcomeDeclined, quickstream.OutcomeRejected} {
		all = append(all, durable.Standing{State: durable.StateSettled, Outcome: outcome, Reversal: durable.ReversalNone})
	}
	for _, reversal := range []durable.Reversal{durable.ReversalVoided, durable.ReversalReturned} {
		all = append(all, durable.Standing{State: durable.StateSettled, Outcome: quickstream.OutcomeApproved, Reversal: reversal})
	}
	return all
}

// A role that owns the schema, and may make none in the database, migrates and works.
func TestSchemaOwner(t *testing.T) {
	t.Parallel()
	address := emptyDatabase(t)
	role := "owner_" + strings.TrimPrefix(databaseOf(t, address), "durable_")
	admin, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(admin.Close)
	execute := func(ctx context.Context, statement string) {
		_, err := admin.Exec(ctx, statement)
		require.NoError(t, err)
	}
	execute(t.Context(), "CREATE ROLE "+role+" LOGIN")
	t.Cleanup(func() { // before the database, whose privileges it has
		ctx := context.WithoutCancel(t.Context())
		execute(ctx, "DROP OWNED BY "+role+" CASCADE")
		execute(ctx, "DROP ROLE "+role)
	})
	execute(t.Context(), "REVOKE CREATE ON DATABASE "+databaseOf(t, address)+" FROM PUBLIC")
	execute(t.Context(), "CREATE SCHEMA quickstream AUTHORIZATION "+role)
	db := store[pgx.Tx]{Database: poolOf(t, address, func(c *pgxpool.Config) { c.ConnConfig.User = role }), anew: func() {}}
	require.ErrorContains(t, inTx(t.Context(), db.Database, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "CREATE SCHEMA another")
		return err
	}), "permission denied")
	for range 2 { // at each start
		require.NoError(t, durable.MigrateUp(t.Context(), db.Database))
	}
	s := open(t, db)
	assert.Equal(t, approved, s.settled(s.pay("A", s.card(sandbox.CardAttempted))).Text())
}

func databaseOf(t *testing.T, address string) string {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	return strings.TrimPrefix(parsed.Path, "/")
}

// Two installations share a database, each in its own schema with its own queues: no write and no job
// of one is another's, and an idle engine holds at most three connections.
func TestTwoSchemas(t *testing.T) {
	t.Parallel()
	address := emptyDatabase(t)
	shops := map[string]*shop[pgx.Tx]{}
	for _, schema := range []string{"shop_au", "shop_nz"} {
		config, err := pgxpool.ParseConfig(address)
		require.NoError(t, err)
		config.ConnConfig.RuntimeParams["application_name"] = schema
		config.MaxConnIdleTime, config.HealthCheckPeriod = 100*time.Millisecond, 50*time.Millisecond
		pool, err := pgxpool.NewWithConfig(t.Context(), config)
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		db := store[pgx.Tx]{Database: postgres.Pgx(pool, postgres.Schema(schema)), anew: pool.Reset}
		require.NoError(t, durable.MigrateUp(t.Context(), db.Database))
		shops[schema] = open(t, db, func(o *durable.Options[pgx.Tx]) { o.Installation, o.SweepEvery = schema, time.Second })
	}
	for schema, s := range shops { // the same order number, and the same id
		params := s.card(sandbox.CardAttempted)
		require.NoError(t, s.commit(func(tx pgx.Tx) error {
			_, created, err := s.engine.Pay(t.Context(), tx, durable.NewWrite{ID: "attempt-1", Order: "A"}, params)
			assert.True(t, created, schema)
			return err
		}))
	}
	for schema, s := range shops {
		assert.Equal(t, approved, s.settled("attempt-1").Text(), schema)
		assert.Equal(t, 1, s.charged(), schema)
		assert.Equal(t, 1, s.count("SELECT count(*) FROM "+schema+".river_job"), schema)
		assert.Zero(t, s.count("SELECT count(*) FROM pg_tables WHERE schemaname = 'quickstream' OR schemaname = 'public'"), schema)
		idle := "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND application_name = '" + schema + "'"
		assert.Eventually(t, func() bool { return s.count(idle) <= 3 }, 2*time.Minute, 50*time.Millisecond, schema)
	}
	require.ErrorContains(t, durable.MigrateUp(t.Context(), postgres.Pgx(nil, postgres.Schema("shop; DROP"))), "name of the schema")
}
