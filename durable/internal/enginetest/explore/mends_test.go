package explore

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mend is a change of the engine that has ended a double charge, and what was there before.
type mend struct {
	file, now, before string
	test              string // whose schedules find the double charge
	wrong             string // what they say
}

// mends are those of the double charges that were found in earlier engines.
func mends() map[string]mend {
	return map[string]mend{
		"a refusal after the charge is looked up before the next send": {
			file: "resend.go", now: `answer: "own 401 or 429", pause: 5 * time.Second, lookUp: true`,
			before: `answer: "own 401 or 429", pause: 5 * time.Second`,
			test:   "TestSchedulesOnSQLite/a_gateway's_429", wrong: "was sent twice under one key",
		},
		"an order is locked before one of its payments is claimed": {
			file: "send.go", now: "if _, err := e.lock(ctx, tx, r); err != nil {\n", before: "if _, err := e.lock(ctx, tx, &row{}); err != nil {\n",
			test: "TestSchedulesOnPostgres/a_person_who_pays_again,_two_workers,_and_what_was_charged", wrong: "was claimed while",
		},
		"the key of a send follows from the id, so that a send that was lost is not doubled": {
			file: "derive.go", now: `fmt.Sprint("key ", number)`, before: `fmt.Sprint("key ", number, &number)`,
			test: "TestSchedulesOnSQLite/a_standby_that_is_promoted", wrong: "was charged 2 times",
		},
		"what a copy holds waits for what its original may be sending": {
			file: "history.go", now: `!h.Confirmed && h.before(r) && h.recent(c)`, before: `!h.Confirmed && h.before(r) && c == nil`,
			test: "TestSchedulesOnSQLite/a_copy", wrong: "was charged 2 times",
		},
		"a leap of the database's clock is not followed": {
			file: "clock.go", now: `read.IsZero() || later > 0 && later <= mostLeap`, before: `read.IsZero() || later > 0`,
			test: "TestSchedulesOnSQLite/a_server's_clock", wrong: "rows of other orders were changed",
		},
		"what pays by a card's details respects a payment that another one has replaced": {
			file: "pay.go", now: `("+secondCharge()+" OR replaced_by = '' AND "+sqlBlocks()+")`, before: `(replaced_by = '' AND "+sqlBlocks()+")`,
			test: "TestSchedulesOnSQLite/a_payment_that_is_found", wrong: "was claimed while",
		},
	}
}

// TestMends takes the mends of the last round's double charges out, one at a time, and sees that
// the schedules find each. It builds the tests again for each: .ci/long sets the variable. Without it
// the test sees only that each mend stands where it stood.
func TestMends(t *testing.T) {
	for name, m := range mends() {
		t.Run(name, func(t *testing.T) {
			file, err := filepath.Abs(filepath.Join("..", "..", "..", m.file))
			require.NoError(t, err)
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, 1, strings.Count(string(text), m.now), "the mend is not where it was")
			if os.Getenv("DURABLE_MUTANTS") == "" {
				return
			}
			if strings.Contains(m.test, "Postgres") {
				postgresServer(t)
			}
			changed := filepath.Join(t.TempDir(), m.file)
			require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(text), m.now, m.before, 1)), 0o600))
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
			require.NoError(t, err)
			plan := filepath.Join(t.TempDir(), "overlay.json")
			require.NoError(t, os.WriteFile(plan, overlay, 0o600))
			printed, err := exec.Command("go", "test", "-count=1", "-overlay", plan, "-run", m.test, ".").CombinedOutput()
			require.Error(t, err, "nothing was found")
			assert.Contains(t, string(printed), m.wrong)
			assert.Contains(t, string(printed), replayVariable)
			t.Logf("%s", printed)
		})
	}
}
