package oteldurable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/internal/apitest"
)

// full is a health in which nothing is zero.
func full() durable.Health {
	at := time.Date(2030, 5, 6, 7, 8, 9, 0, time.UTC)
	ago := func(seconds int) time.Time { return at.Add(-time.Duration(seconds) * time.Second) }
	return durable.Health{
		At: at, Writes: map[durable.State]int{
			durable.StateQueued: 1, durable.StateSending: 2, durable.StatePending: 3, durable.StateUnknown: 4, durable.StateNeedsPerson: 28,
		},
		NeedPerson: map[durable.Reason]int{
			durable.ReasonNotFound: 1, durable.ReasonUnresolved: 2, durable.ReasonLookupsFailed: 3, durable.ReasonAltered: 4, durable.ReasonRestored: 5, durable.ReasonDoubleCharged: 6, durable.ReasonReversed: 7,
		},
		Unknown: 14, UnknownFor: 7 * time.Second, Overdue: 8 * time.Second, HookFailed: 9, HookWaits: 10 * time.Second, Discarded: 10, Received: 11, Held: 12, Restoring: ago(13), Unreadable: "a day",
		MaybeCopy: true, Paused: ago(15), PausedBy: "Kim",
		Comparison: durable.Comparison{Day: quickstream.DateOf(at), At: ago(16), Transactions: 17, Differences: 18, FailingSince: ago(19), Problem: "a column is missing"}, ReturnsRead: quickstream.DateOf(at),
		Facility: errors.New("another"), DatabaseAhead: -20 * time.Second, ServiceAhead: 21 * time.Second, ServiceAt: at,
	}
}

// collector is a meter provider, and reads what it has collected, one line for each series.
func collector(t *testing.T) (*sdkmetric.MeterProvider, func() []string) {
	reader := sdkmetric.NewManualReader()
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)), func() (lines []string) {
		t.Helper()
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				switch data := m.Data.(type) {
				case metricdata.Gauge[float64]:
					lines = append(lines, series(m, data.DataPoints)...)
				case metricdata.Sum[int64]:
					lines = append(lines, series(m, data.DataPoints)...)
				}
			}
		}
		slices.Sort(lines)
		return lines
	}
}

func series[N int64 | float64](m metricdata.Metrics, points []metricdata.DataPoint[N]) (lines []string) {
	for _, p := range points {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %v %s", m.Name, m.Unit, p.Value, p.Attributes.Encoded(attribute.DefaultEncoder()))))
	}
	return lines
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
		"quickstream.durable.clock.service.ahead s 21",
		"quickstream.durable.comparison.age s 16",
		"quickstream.durable.comparison.difference.count {difference} 18",
		"quickstream.durable.comparison.failing.age s 19",
		"quickstream.durable.comparison.transaction.count {transaction} 17",
		"quickstream.durable.discarded.count {job} 10",
		"quickstream.durable.health.failures {failure} 0",
		"quickstream.durable.held.count {notification} 12",
		"quickstream.durable.hook.failed.count {write} 9",
		"quickstream.durable.hook.wait s 10",
		"quickstream.durable.maybe_copy  1",
		"quickstream.durable.other_facility  1",
		"quickstream.durable.overdue.age s 8",
		"quickstream.durable.paused.age s 0 quickstream.durable.paused.by=service",
		"quickstream.durable.paused.age s 15 quickstream.durable.paused.by=person",
		"quickstream.durable.received.count {notification} 11",
		"quickstream.durable.restoring.age s 13",
		"quickstream.durable.restoring.unreadable  1",
		"quickstream.durable.returns.age s 25689",
		"quickstream.durable.unknown.age s 7",
		"quickstream.durable.unknown.count {write} 14",
		"quickstream.durable.write.count {write} 1 quickstream.durable.reason=not_found,quickstream.durable.state=needs_person",
		"quickstream.durable.write.count {write} 1 quickstream.durable.state=queued",
		"quickstream.durable.write.count {write} 2 quickstream.durable.reason=unresolved,quickstream.durable.state=needs_person",
		"quickstream.durable.write.count {write} 2 quickstream.durable.state=sending",
		"quickstream.durable.write.count {write} 3 quickstream.durable.reason=look_ups_failed,quickstream.durable.state=needs_person",
		"quickstream.durable.write.count {write} 3 quickstream.durable.state=pending",
		"quickstream.durable.write.count {write} 4 quickstream.durable.reason=altered,quickstream.durable.state=needs_person",
		"quickstream.durable.write.count {write} 4 quickstream.durable.state=unknown",
		"quickstream.durable.write.count {write} 5 quickstream.durable.reason=restored,quickstream.durable.state=needs_person",
		"quickstream.durable.write.count {write} 6 quickstream.durable.reason=double_charged,quickstream.durable.state=needs_person",
		"quickstream.durable.write.count {write} 7 quickstream.durable.reason=reversed,quickstream.durable.state=needs_person",
	}
	assert.Equal(t, want, watched(t, full()))
	assert.NotContains(t, strings.Join(want, "\n"), "Kim")
	assert.Len(t, watched(t, durable.Health{At: full().At}), len(want)-5, "without the comparison's three, the returned payments and the service's clock")
}

// TestHealthFails: what fails, or hangs, is counted, and other metrics are collected all the same. The
// registration ends the gauges.
func TestHealthFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meters, read := collector(t)
		hangs := true
		registration, err := Watch(meters, func(ctx context.Context) (durable.Health, error) {
			if hangs {
				<-ctx.Done()
			}
			return durable.Health{}, ctx.Err()
		})
		require.NoError(t, err)
		begun := time.Now()
		assert.Equal(t, []string{"quickstream.durable.health.failures {failure} 1"}, read())
		assert.Equal(t, longest, time.Since(begun))
		hangs = false
		lines := read()
		assert.Greater(t, len(lines), 20)
		assert.Contains(t, lines, "quickstream.durable.health.failures {failure} 1")
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
	opts, err := Count(meters, durable.Options[*sql.Tx]{
		OnOutcome: func(_ context.Context, _ *sql.Tx, change durable.OutcomeChange) error {
			tellings = append(tellings, change)
			return answer
		},
		OnDifference: func(_ context.Context, d durable.Difference) error {
			tellings = append(tellings, d)
			return answer
		},
	})
	require.NoError(t, err)
	require.Len(t, read(), 9, "each kind of difference begins with zero")
	change := durable.OutcomeChange{Write: durable.Write{
		ID: "an id", Order: "an order", ReceiptNumber: "R-1", Operation: quickstream.OperationPay, Standing: durable.Standing{State: durable.StateApproved},
	}}
	difference := durable.Difference{Kind: durable.DifferenceMissingHere}
	require.ErrorIs(t, opts.OnOutcome(t.Context(), nil, change), answer)
	require.ErrorIs(t, opts.OnDifference(t.Context(), difference), answer)
	answer = nil
	require.NoError(t, opts.OnOutcome(t.Context(), nil, change))
	assert.Equal(t, []any{change, difference, change}, tellings)
	lines := slices.DeleteFunc(read(), func(line string) bool { return strings.Contains(line, "} 0 ") })
	assert.Equal(t, []string{
		"quickstream.durable.differences {difference} 1 quickstream.durable.difference=missing_here",
		"quickstream.durable.outcomes {outcome} 1 error.type=refused,quickstream.durable.standing=approved,quickstream.operation=Transactions.Pay",
		"quickstream.durable.outcomes {outcome} 1 quickstream.durable.standing=approved,quickstream.operation=Transactions.Pay",
	}, lines)
}

// TestAlertsAreOfMetrics: the alerts name metrics, labels and reasons that there are, as OpenTelemetry's exporter for
// Prometheus writes them.
func TestAlertsAreOfMetrics(t *testing.T) {
	names := map[string]bool{}
	meters, read := collector(t)
	_, err := Count(meters, durable.Options[*sql.Tx]{})
	require.NoError(t, err)
	all := append(watched(t, full()), read()...)
	for _, line := range all {
		fields := strings.Split(line+" ", " ") // name, unit, value, labels
		name := strings.ReplaceAll(fields[0], ".", "_")
		switch {
		case fields[1] == "s":
			name += "_seconds"
		case strings.HasSuffix(name, "_failures") || strings.HasSuffix(name, "_differences"):
			name += "_total"
		}
		names[name] = true
		for _, label := range regexp.MustCompile(`quickstream[a-z.]+`).FindAllString(fields[3], -1) {
			names[strings.ReplaceAll(label, ".", "_")] = true
		}
	}
	alerts, err := os.ReadFile("../../durable/alerts.yml")
	require.NoError(t, err)
	found := regexp.MustCompile(`quickstream_durable_[a-z_]+`).FindAllString(string(alerts), -1)
	require.Greater(t, len(found), 20)
	for _, name := range found {
		assert.Contains(t, names, name)
	}
	for _, reasons := range regexp.MustCompile(`_reason=~?"([a-z_|]+)"`).FindAllStringSubmatch(string(alerts), -1) {
		for _, reason := range strings.Split(reasons[1], "|") {
			assert.Contains(t, strings.Join(all, "\n"), "reason="+reason)
		}
	}
}

// TestExportedAPI compares the package with its list in the directory api.
func TestExportedAPI(t *testing.T) { apitest.Compare(t) }
