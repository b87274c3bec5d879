package explore

import (
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/durable"
)

// mutant is a change of what the engine asks of its database.
type mutant struct {
	name   string
	in     []string // the scenarios that meet it; nil for all
	change func(query string) string
	forget func(query string, args []any) bool // its transaction is not committed, and says that it is
	seen   func(query string)
}

// conjuncts returns where the conditions of a statement's WHERE clauses begin and end, those of
// its subqueries too.
func conjuncts(query string) (found [][2]int) {
	for at := 0; ; {
		next := strings.Index(query[at:], "WHERE ")
		if next < 0 {
			return found
		}
		at += next + len("WHERE ")
		begun, depth := at, 0
		end := func(i int) {
			for begun < i && strings.Contains(" \n\t", query[begun:begun+1]) {
				begun++
			}
			if begun < i {
				found = append(found, [2]int{begun, i})
			}
		}
		i := at
	clause:
		for ; i < len(query); i++ {
			rest := query[i:]
			switch {
			case query[i] == '(':
				depth++
			case query[i] == ')':
				if depth--; depth < 0 {
					break clause
				}
			case depth > 0 || !strings.Contains(" \n\t", query[i:i+1]):
			case strings.HasPrefix(rest[1:], "AND "):
				if !strings.Contains(query[begun:i], "BETWEEN") || strings.Count(query[begun:i], "AND") > 0 {
					end(i)
					begun = i + len(" AND ")
				}
			case slices.ContainsFunc([]string{"ORDER BY", "LIMIT", "FOR UPDATE", "RETURNING"}, func(word string) bool { return strings.HasPrefix(rest[1:], word) }):
				break clause
			}
		}
		end(i)
	}
}

// statementsOf returns what the engine asks, and the scenarios in which it does. The time, which
// stands in some statements, is left out.
func statementsOf[TTx comparable](run func(scenario[TTx], mutant)) map[string][]string {
	asked := map[string][]string{}
	for _, sc := range scenarios[TTx]() {
		run(sc, mutant{seen: func(query string) {
			if query = timeless(query); !slices.Contains(asked[query], sc.name) {
				asked[query] = append(asked[query], sc.name)
			}
		}})
	}
	return asked
}

func timeless(query string) string { return literalTime.ReplaceAllString(query, "now") }

var literalTime = regexp.MustCompile(`CAST\(\d+ AS bigint\)`)

// without returns a mutant in which a condition of a statement always holds.
func without(statement string, condition [2]int, in []string) mutant {
	begun, ended := condition[0], condition[1]
	return mutant{
		name: fmt.Sprintf("without %s of %s", strings.Join(strings.Fields(statement[begun:ended]), " "), brief(statement)), in: in,
		change: func(query string) string {
			if query != statement {
				return query
			}
			return query[:begun] + "(" + query[begun:ended] + " OR 1 = 1)" + query[ended:]
		},
	}
}

// brief is a statement in a line.
func brief(statement string) string {
	text := strings.Join(strings.Fields(statement), " ")
	return text[:min(len(text), 90)]
}

// besideTheVersion are conditions that matter if a version is counted twice, as after a backup was
// restored. No database goes back in these scenarios.
var besideTheVersion = []string{"state = $2", "claim = $4"}

// updates are mutants of all statements that update.
func updates(asked map[string][]string) (mutants []mutant) {
	for _, statement := range slices.Sorted(maps.Keys(asked)) {
		if !strings.Contains(statement, "UPDATE") || !strings.Contains(statement, "quickstream.") || strings.HasPrefix(statement, "SELECT") {
			continue
		}
		for _, condition := range conjuncts(statement) {
			if slices.Contains(besideTheVersion, statement[condition[0]:condition[1]]) {
				continue
			}
			mutants = append(mutants, without(statement, condition, asked[statement]))
		}
	}
	return mutants
}

// locks are mutants without a lock.
func locks(asked map[string][]string) (mutants []mutant) {
	for _, statement := range slices.Sorted(maps.Keys(asked)) {
		if !strings.Contains(statement, "FOR UPDATE") {
			continue
		}
		where := strings.Join(strings.Fields(statement[max(0, strings.Index(statement, "WHERE")):]), " ")
		mutants = append(mutants, mutant{name: "without the lock of " + where, in: asked[statement], change: func(query string) string {
			if timeless(query) != statement {
				return query
			}
			return strings.NewReplacer(" FOR UPDATE SKIP LOCKED", "", " FOR UPDATE", "").Replace(query)
		}})
	}
	return mutants
}

// commits are mutants that send what they have not committed.
func commits() []mutant {
	const updated, inserted = 8, 10 // where the state stands among the arguments
	saves := func(query string, args []any, before, after durable.State) bool {
		return strings.HasPrefix(query, "UPDATE quickstream.write SET business") && args[1] == string(before) && args[updated] == after
	}
	return []mutant{
		{name: "without the claim's commit", forget: func(query string, args []any) bool {
			return saves(query, args, durable.StateQueued, durable.StateSending)
		}},
		{name: "without the commit of the choice between void and refund", forget: func(query string, args []any) bool {
			return saves(query, args, durable.StateQueued, durable.StateQueued)
		}},
		{name: "without the commit of a payment that the merchant sends", forget: func(query string, args []any) bool {
			return strings.HasPrefix(query, "INSERT INTO quickstream.write") && args[inserted] == durable.StateSending
		}},
	}
}

// TestMutants removes in turn each condition of each update, each lock and each commit before a
// send, and counts how many of them the schedules find. It takes long: .ci/long sets the variable.
func TestMutants(t *testing.T) {
	if os.Getenv("DURABLE_MUTANTS") == "" {
		t.Skip("DURABLE_MUTANTS is not set")
	}
	found, names := map[string]string{}, []string{}
	try := func(m mutant, finds func() string) {
		if !strings.Contains(m.name, os.Getenv("DURABLE_MUTANT")) {
			return
		}
		if !slices.Contains(names, m.name) {
			names = append(names, m.name)
		}
		if found[m.name] == "" {
			found[m.name] = finds()
			t.Logf("%s: %s", m.name, cmp.Or(found[m.name], "not found"))
		}
	}
	small := statementsOf(func(sc scenario[*sql.Tx], m mutant) {
		t.Run(sc.name, func(t *testing.T) { Run(onSQLite(t, sc, m), Options{Deaths: 1, Atomic: true}) })
	})
	for _, m := range append(updates(small), commits()...) {
		try(m, func() string {
			return finds(t, m, func(t *testing.T, sc scenario[*sql.Tx], m mutant) World { return onSQLite(t, sc, m) }, Options{Preemptions: 1, Deaths: 1, Atomic: true, First: true, Most: 300})
		})
	}
	if server := os.Getenv("DURABLE_TEST_POSTGRES"); server != "" {
		world := func(t *testing.T, sc scenario[pgx.Tx], m mutant) World {
			sc.fine = true
			return onPostgres(t, server, sc, m)
		}
		large := statementsOf(func(sc scenario[pgx.Tx], m mutant) {
			t.Run(sc.name, func(t *testing.T) { Run(world(t, sc, m), Options{}) })
		})
		for _, m := range append(locks(large), updates(large)...) {
			try(m, func() string { return finds(t, m, world, Options{Preemptions: 1, First: true, Most: 100}) })
		}
	}
	n, same := 0, 0
	for _, name := range names {
		why := ""
		for part, reason := range survivors() {
			if strings.HasPrefix(name, part) {
				why = reason
			}
		}
		switch {
		case found[name] != "":
			n++
			assert.Empty(t, why, "it is found: %s", name)
		case why != "":
			same++
			t.Logf("survives: %s: %s", name, why)
		default:
			t.Logf("survives, and nobody knows why: %s", name)
		}
	}
	t.Logf("%d of %d mutants found; %d more change nothing that can be seen while time stands still", n, len(names), same)
	assert.GreaterOrEqual(t, 10*n, 9*(len(names)-same))
}

// survivors are mutants that nothing can find, by the beginning of their names, and why.
func survivors() map[string]string {
	const early, passed = "a job that comes before its time, or twice, does nothing", "who waits for a lock instead of passing it over does the same a little later"
	return map[string]string{
		"without name = $2 of UPDATE quickstream.meta SET value = $1 WHERE name = $2 AND value":  "a turn's text, by its times, is no other row's",
		"without value = $3 of UPDATE quickstream.meta SET value = $1 WHERE name = $2 AND value": "nobody else gets a turn before ten minutes have passed",
		"without name = $2 of UPDATE quickstream.meta SET value = $1 WHERE name IN":              "the CASE beside it is true of no other row",
		"without CASE WHEN name = $2":                                            "the time of the last claim is stored more than once a minute",
		"without version = $3 of UPDATE quickstream.write SET business":          "what changes beside state and claim is a pause, or the choice of a reversal, of which the line lets one go",
		"without due_at IS NOT NULL of UPDATE quickstream.write SET next_at":     "what is being sent is always due; an index wants the condition",
		"without follows <> '' of UPDATE quickstream.write SET due_at":           early,
		"without follows = $2 of UPDATE quickstream.write SET due_at":            early,
		"without next_at <= $3 of UPDATE quickstream.write SET due_at":           early,
		"without id IN (SELECT id FROM quickstream.write WHERE due_at > next_at": early,
		"without due_at > next_at of UPDATE quickstream.write SET due_at":        early,
		"without state = 'queued' of UPDATE quickstream.write SET due_at":        early,
		"without the lock of WHERE id = $1 FOR UPDATE":                           "a payment is saved by its version: who comes second begins again",
		"without the lock of WHERE (id = $1 OR follows":                          "refunds are added up under the payment's version, and of two that wait the first one goes",
		"without the lock of WHERE name IN":                                      passed,
		"without the lock of WHERE (id, digest) IN":                              early,
		"without the lock of WHERE (id) IN":                                      early,
		"without the lock of WHERE id IN":                                        passed,
	}
}

// finds returns the scenario whose schedules find a mutant, or "".
func finds[TTx comparable](t *testing.T, m mutant, world func(*testing.T, scenario[TTx], mutant) World, o Options) (by string) {
	for _, sc := range scenarios[TTx]() {
		if m.in != nil && !slices.Contains(m.in, sc.name) {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			r := Run(world(t, sc, m), o)
			if v := r.Shortest(); v != nil {
				by = fmt.Sprintf("%s: %s after %d schedules: %.150s", sc.name, v.Schedule, r.Schedules, strings.ReplaceAll(v.Err.Error(), "\n", "; "))
			}
		})
		if by != "" {
			break
		}
	}
	return by
}
