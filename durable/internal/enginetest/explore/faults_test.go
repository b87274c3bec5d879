//go:build !race

// One goroutine acts at a time here: the race detector would see nothing, and take an hour.

package explore

import (
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/durable"
)

// without leaves a text out of the statements that contain another one.
func without(of, text string) func(query string) string { return instead(of, text, "") }

func instead(of, text, with string) func(query string) string {
	return func(query string) string {
		if strings.Contains(query, of) {
			return strings.Replace(query, text, with, 1)
		}
		return query
	}
}

const update = "UPDATE quickstream.write SET business"

// faults are those of the old engine and others, each in one statement.
func faults() []mutant {
	return []mutant{
		{name: "a claim is not conditional", in: []string{"two workers"}, change: without(update, " AND state = $2 AND version = $3 AND claim = $4 AND suspect = $5")},
		{name: "a claim is not committed", in: []string{"no answer and no key", "a process ends"}, forget: func(query string, args []any) bool {
			return strings.HasPrefix(query, update) && contains(args, durable.StateSending)
		}},
		{name: "the mark of the hook is not set", in: []string{"two workers", "the hook fails"}, change: instead("SET notified = $1", "notified = $1", "notified = notified + 0 * $1")},
		{name: "the mark of the hook is not set with the answer", in: []string{"two workers"}, change: func(query string) string {
			return regexp.MustCompile(`, notified = (\$\d+)`).ReplaceAllString(query, ", notified = notified + 0 * $1")
		}},
		{name: "the mark of the hook is not committed", in: []string{"the hook fails"}, forget: func(query string, _ []any) bool { return strings.Contains(query, "SET notified = $1") }},
		{name: "refunds are not added up", in: []string{"two refunds of one payment"}, change: func(query string) string {
			if strings.Contains(query, "follows <> '' AND follows = $1 AND id <> $2 AND state IN") {
				return strings.Replace(query, "follows <> '' AND follows = $1 AND id <> $2 AND state IN", "1 = 0 AND follows <> '' AND follows = $1 AND id <> $2 AND state IN", 1)
			}
			return query
		}},
		{name: "what the restoring found is not kept", in: []string{"a history is lost with a payment", "a history is lost with a claim"}, forget: func(query string, args []any) bool {
			return strings.HasPrefix(query, "INSERT INTO quickstream.meta") && len(args) > 0 && args[0] == any("restoring")
		}},
	}
}

func contains(args []any, wanted durable.State) bool {
	return slices.ContainsFunc(args, func(arg any) bool { return arg == any(wanted) })
}

// TestFaults: each fault that is put back is found by a schedule.
func TestFaults(t *testing.T) {
	all := map[string]scenario[*sql.Tx]{}
	for _, sc := range scenarios[*sql.Tx]() {
		all[sc.name] = sc
	}
	for _, m := range faults() {
		t.Run(m.name, func(t *testing.T) {
			found := false
			for _, name := range m.in {
				sc, there := all[name]
				require.True(t, there, name)
				s := onSQLite(t, sc, m)
				r := Run(s, Options{Preemptions: 2, Deaths: 1, Atomic: true, First: true, Most: 3000})
				if v := r.Shortest(); v != nil {
					found = true
					if os.Getenv("DURABLE_FAULTS") != "" {
						t.Logf("%s\n%v", strings.Join(v.Steps, "\n"), v.Err)
					}
				}
			}
			assert.True(t, found, "no schedule is wrong")
		})
	}
}
