package oteldurable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// full is a health in which nothing is zero.
func full() durable.Health {
	at := time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)
	ago := func(seconds int) time.Time { return at.Add(-time.Duration(seconds) * time.Second) }
	return durable.Health{
		At: at, Writes: map[durable.State]int{
			durable.StateQueued: 1, durable.StateSending: 2, durable.StateResolving: 3, durable.StateNotFound: 4, durable.StateEscalated: 5, durable.StateDoubleCharged: 6,
		},
		Unknown: 14, UnknownFor: 7 * time.Second, Overdue: 8 * time.Second, Refused: 9, Stuck: 10, Received: 11, Held: 12, Restoring: ago(13), RestoringUnreadable: 14,
		MaybeCopy: true, Paused: ago(15), PausedBy: "Kim",
		Comparison: durable.Comparison{Day: quickstream.DateOf(at), At: ago(16), Transactions: 17, Differences: 18, FailingSince: ago(19), Problem: "a column is missing"},
		Facility:   errors.New("another"), Outdated: true, ClockDoubted: true, DatabaseAhead: -20 * time.Second, ServiceAhead: 21 * time.Second, ServiceAt: at,
	}
}

// collector is a meter provider, and reads what it has collected, one line for each series.
func collector(t *testing.T) (*sdkmetric.MeterProvider, func() []string) {
	reader := sdkmetric.NewManualReader()
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), func() (lines []string) {
		t.Helper()
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		add := func(m metricdata.Metrics, value any, attributes string) {
			require.NotEmpty(t, m.Description, m.Name)
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %v %s", m.Name, m.Unit, value, attributes)))
		}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				switch data := m.Data.(type) {
				case metricdata.Gauge[float64]:
					for _, p := range data.DataPoints {
						add(m, p.Value, attributes(p.Attributes))
					}
				case metricdata.Sum[int64]:
					require.True(t, data.IsMonotonic, m.Name)
					for _, p := range data.DataPoints {
						add(m, p.Value, attributes(p.Attributes))
					}
				default:
					t.Fatalf("%s is a %T", m.Name, data)
				}
			}
		}
		slices.Sort(lines)
		return lines
	}
}

func attributes(set attribute.Set) string {
	var texts []string
	for _, a := range set.ToSlice() { // sorted
		texts = append(texts, fmt.Sprintf("%s=%s", a.Key, a.Value.AsString()))
	}
	return strings.Join(texts, " ")
}

// watched are the series of a health.
func watched(t *testing.T, h durable.Health) []string {
	t.Helper()
	meters, read := collector(t)
	_, err := Watch(meters, func(context.Context) (durable.Health, error) { return h, nil })
	require.NoError(t, err)
	return read()
}

// TestGauges: each gauge says what Health says, and all but those of what never was are there when nothing is wrong.
func TestGauges(t *testing.T) {
	want := []string{
		"quickstream.durable.clock.database.ahead s -20",
		"quickstream.durable.clock.doubted  1",
		"quickstream.durable.clock.service.ahead s 21",
		"quickstream.durable.comparison.age s 16",
		"quickstream.durable.comparison.difference.count {difference} 18",
		"quickstream.durable.comparison.failing.age s 19",
		"quickstream.durable.comparison.transaction.count {transaction} 17",
		"quickstream.durable.health.failures {failure} 0",
		"quickstream.durable.held.count {notification} 12",
		"quickstream.durable.maybe_copy  1",
		"quickstream.durable.other_facility  1",
		"quickstream.durable.outdated  1",
		"quickstream.durable.overdue.age s 8",
		"quickstream.durable.paused.age s 0 quickstream.durable.paused.by=service",
		"quickstream.durable.paused.age s 15 quickstream.durable.paused.by=person",
		"quickstream.durable.received.count {notification} 11",
		"quickstream.durable.refused.count {write} 9",
		"quickstream.durable.restoring.age s 13",
		"quickstream.durable.restoring.unreadable.count {transaction} 14",
		"quickstream.durable.stuck.count {write} 10",
		"quickstream.durable.unknown.age s 7",
		"quickstream.durable.unknown.count {write} 14",
		"quickstream.durable.write.count {write} 1 quickstream.durable.state=queued",
		"quickstream.durable.write.count {write} 2 quickstream.durable.state=sending",
		"quickstream.durable.write.count {write} 3 quickstream.durable.state=resolving",
		"quickstream.durable.write.count {write} 4 quickstream.durable.state=not_found",
		"quickstream.durable.write.count {write} 5 quickstream.durable.state=escalated",
		"quickstream.durable.write.count {write} 6 quickstream.durable.state=double_charged",
	}
	assert.Equal(t, want, watched(t, full()))
	assert.NotContains(t, strings.Join(want, "\n"), "Kim")

	value := regexp.MustCompile(` -?\d+( |$)`)
	var zero []string
	for _, line := range want {
		if name := strings.Fields(line)[0]; !strings.Contains(name, "service.ahead") && (!strings.Contains(name, "comparison") || strings.Contains(name, "failing")) {
			zero = append(zero, value.ReplaceAllString(line, " 0$1"))
		}
	}
	slices.Sort(zero)
	assert.Equal(t, zero, watched(t, durable.Health{At: full().At}))
}

// TestEveryFieldOfHealth: none is forgotten.
func TestEveryFieldOfHealth(t *testing.T) {
	without := func(change func(h *durable.Health)) []string {
		h := full()
		change(&h)
		return watched(t, h)
	}
	all := watched(t, full())
	for _, field := range reflect.VisibleFields(reflect.TypeFor[durable.Health]()) {
		if field.Name == "Comparison" {
			continue
		}
		assert.NotEqual(t, all, without(func(h *durable.Health) { reflect.ValueOf(h).Elem().FieldByIndex(field.Index).SetZero() }), field.Name)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[durable.Comparison]()) {
		without := without(func(h *durable.Health) { reflect.ValueOf(&h.Comparison).Elem().FieldByIndex(field.Index).SetZero() })
		if field.Name == "Problem" { // a text, for people
			assert.Equal(t, all, without)
			continue
		}
		assert.NotEqual(t, all, without, field.Name)
	}
}

// TestHealthFails: what fails, or hangs, is counted, and other metrics are collected all the same. The
// registration ends the gauges.
func TestHealthFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meters, read := collector(t)
		hangs, fails := true, true
		registration, err := Watch(meters, func(ctx context.Context) (durable.Health, error) {
			if hangs {
				<-ctx.Done()
				return durable.Health{}, ctx.Err()
			}
			if fails {
				return durable.Health{}, errors.New("the database is away")
			}
			return durable.Health{}, nil
		})
		require.NoError(t, err)
		begun := time.Now()
		assert.Equal(t, []string{"quickstream.durable.health.failures {failure} 1"}, read())
		assert.Equal(t, longest, time.Since(begun))
		hangs = false
		assert.Equal(t, []string{"quickstream.durable.health.failures {failure} 2"}, read())
		fails = false
		lines := read()
		assert.Greater(t, len(lines), 20)
		assert.Contains(t, lines, "quickstream.durable.health.failures {failure} 2")
		require.NoError(t, registration.Unregister())
		assert.Empty(t, read())
	})
}

// TestCount: outcomes are counted by operation and standing, refused ones apart, and differences by kind from
// zero on. The merchant's functions get what they got before.
func TestCount(t *testing.T) {
	meters, read := collector(t)
	var tellings []any
	answer := errors.New("no")
	panics := false
	opts, err := Count(meters, durable.Options[*sql.Tx]{
		OnOutcome: func(_ context.Context, _ *sql.Tx, change durable.OutcomeChange) error {
			if panics {
				panic("mine")
			}
			tellings = append(tellings, change)
			return answer
		},
		OnDifference: func(_ context.Context, d durable.Difference) error {
			tellings = append(tellings, d)
			return answer
		},
	})
	require.NoError(t, err)
	lines := read()
	require.Len(t, lines, len(kinds()))
	for i, kind := range slices.Sorted(slices.Values(kinds())) {
		assert.Equal(t, "quickstream.durable.differences {difference} 0 quickstream.durable.difference="+string(kind), lines[i])
	}
	change := durable.OutcomeChange{Write: durable.Payment{Record: durable.Record{
		ID: "an id", Order: "an order", ReceiptNumber: "R-1", Operation: quickstream.OperationPay,
		Standing: durable.Standing{State: durable.StateSettled, Outcome: quickstream.OutcomeApproved, Reversal: durable.ReversalNone},
	}}}
	difference := durable.Difference{Kind: durable.MissingHere}
	require.ErrorIs(t, opts.OnOutcome(t.Context(), nil, change), answer)
	require.ErrorIs(t, opts.OnDifference(t.Context(), difference), answer)
	panics = true
	assert.PanicsWithValue(t, "mine", func() { _ = opts.OnOutcome(t.Context(), nil, change) })
	panics, answer = false, nil
	require.NoError(t, opts.OnOutcome(t.Context(), nil, change))
	assert.Equal(t, []any{change, difference, change}, tellings)
	lines = slices.DeleteFunc(read(), func(line string) bool { return strings.Contains(line, "} 0 ") })
	assert.Equal(t, []string{
		"quickstream.durable.differences {difference} 1 quickstream.durable.difference=missing_here",
		"quickstream.durable.outcomes {outcome} 1 quickstream.durable.standing=approved quickstream.operation=Transactions.Pay",
		"quickstream.durable.outcomes {outcome} 2 error.type=refused quickstream.durable.standing=approved quickstream.operation=Transactions.Pay",
	}, lines)

	opts, err = Count(noop.NewMeterProvider(), durable.Options[*sql.Tx]{})
	require.NoError(t, err)
	assert.Nil(t, opts.OnOutcome, "New says that it is required")
	require.NoError(t, opts.OnDifference(t.Context(), difference))
}

// TestKinds: all states that are not over have a series, and all kinds of differences begin with zero.
func TestKinds(t *testing.T) {
	var open, found []string
	for _, value := range constants(t, "../../durable/state.go", "State") {
		if durable.State(value).Open() {
			open = append(open, value)
		}
	}
	for _, p := range states(durable.Health{}) {
		found = append(found, p.attributes[0].Value.AsString())
	}
	assert.ElementsMatch(t, open, found)
	found = nil
	for _, kind := range kinds() {
		found = append(found, string(kind))
	}
	assert.ElementsMatch(t, constants(t, "../../durable/difference.go", "DifferenceKind"), found)
}

// constants are the values of a type's constants in a file.
func constants(t *testing.T, file, typed string) (values []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != typed {
			return true
		}
		values = append(values, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		return true
	})
	require.NotEmpty(t, values)
	return values
}

// TestProviders: a missing one is an error.
func TestProviders(t *testing.T) {
	health := func(context.Context) (durable.Health, error) { return durable.Health{}, nil }
	_, err := Watch(nil, health)
	require.Error(t, err)
	_, err = Watch(noop.NewMeterProvider(), nil)
	require.Error(t, err)
	_, err = Count(nil, durable.Options[*sql.Tx]{})
	require.Error(t, err)
}

// TestTable: the README names every metric, with its unit, and no other.
func TestTable(t *testing.T) {
	meters, read := collector(t)
	_, err := Watch(meters, func(context.Context) (durable.Health, error) { return full(), nil })
	require.NoError(t, err)
	opts, err := Count(meters, durable.Options[*sql.Tx]{OnOutcome: func(context.Context, *sql.Tx, durable.OutcomeChange) error { return nil }})
	require.NoError(t, err)
	require.NoError(t, opts.OnOutcome(t.Context(), nil, durable.OutcomeChange{Write: durable.Payment{}}))
	var metrics, listed []string
	for _, line := range read() {
		name, rest, _ := strings.Cut(line, " ")
		unit, _, _ := strings.Cut(rest, " ")
		metrics = append(metrics, name+" "+unit)
	}
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, match := range regexp.MustCompile("(?m)^\\| `(quickstream\\.durable\\.[a-z_.]+)` \\| (?:counter, )?(?:`([^`]*)`)?").FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, match[1]+" "+match[2])
	}
	slices.Sort(listed)
	slices.Sort(metrics)
	assert.Equal(t, slices.Compact(metrics), listed)
}
