package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.yaml.in/yaml/v3"

	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/otelquickstream/oteldurable"
)

const alertsFile = "../../alerts.yml"

// promtool is Prometheus' tool for rules.
func promtool(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		needs(t, "promtool, which Debian's package prometheus has")
	}
	return path
}

// scrape is what Prometheus reads: values by series, in its notation.
type scrape map[string]string

// watched is a shop whose engine's metrics are exported to Prometheus.
type watched struct {
	*shop[*sql.Tx]
	counts  func(*durable.Options[*sql.Tx])
	metrics http.Handler
	room    func() // ends a full disk
}

// watch exports the metrics of a shop's engine. The shop has none yet.
func watch(s *shop[*sql.Tx]) *watched {
	s.Helper()
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
	require.NoError(s, err)
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	w := &watched{shop: s, metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})}
	w.counts = func(o *durable.Options[*sql.Tx]) {
		var err error
		*o, err = oteldurable.Count(meters, *o)
		require.NoError(s, err)
	}
	_, err = oteldurable.Watch(meters, func(ctx context.Context) (durable.Health, error) { return s.engine.Health(ctx) })
	require.NoError(s, err)
	return w
}

// scrape reads the metrics.
func (w *watched) scrape() scrape {
	w.Helper()
	answer := httptest.NewRecorder()
	w.metrics.ServeHTTP(answer, httptest.NewRequestWithContext(w.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(w, http.StatusOK, answer.Code, answer.Body)
	series := scrape{}
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "quickstream_") {
			at := strings.LastIndex(line, " ")
			series[line[:at]] = strings.TrimSpace(line[at+1:])
		}
	}
	return series
}

// Prometheus reads all series each five minutes: for an hour as they were before a fault, and then as they
// are with it.
const (
	scraped   = 5 * time.Minute
	wellFor   = time.Hour
	faultyFor = time.Hour
	firing    = `count by (alertname) (ALERTS{alertstate="firing"})`
)

// fires asks promtool whether exactly these alerts fire at the end, and none before the fault.
func fires(t *testing.T, before, after scrape, held time.Duration, alerts []string) {
	t.Helper()
	file, err := filepath.Abs(alertsFile)
	require.NoError(t, err)
	var text strings.Builder
	fmt.Fprintf(&text, "rule_files: [%s]\nevaluation_interval: 5m\ntests:\n  - interval: 5m\n    input_series:\n", file)
	series := maps.Clone(before)
	maps.Copy(series, after)
	for _, name := range slices.Sorted(maps.Keys(series)) {
		fmt.Fprintf(&text, "      - series: '%s'\n        values: '%s %s'\n", name, constant(before[name], wellFor), constant(after[name], held))
	}
	text.WriteString("    promql_expr_test:\n")
	expect := func(at time.Duration, alerts []string) {
		fmt.Fprintf(&text, "      - expr: %s\n        eval_time: %s\n        exp_samples:\n", firing, at)
		for _, alert := range slices.Sorted(slices.Values(alerts)) {
			fmt.Fprintf(&text, "          - {labels: '{alertname=\"%s\"}', value: 1}\n", alert)
		}
	}
	expect(wellFor-scraped, nil)
	expect(wellFor+held-scraped, alerts)
	file = filepath.Join(t.TempDir(), "test.yml")
	require.NoError(t, os.WriteFile(file, []byte(text.String()), 0o600))
	out, err := exec.CommandContext(t.Context(), promtool(t), "test", "rules", file).CombinedOutput()
	assert.NoError(t, err, "%s", out)
}

// constant is a value that stays for some time, in the notation of promtool.
func constant(value string, d time.Duration) string {
	n := int(d/scraped) - 1
	if value == "" {
		return fmt.Sprintf("_x%d", n+1)
	}
	return fmt.Sprintf("%s+0x%d", value, n)
}

// rule is an alert of the file.
type rule struct {
	Alert, Expr         string
	Labels, Annotations map[string]string
}

func rules(t *testing.T) []rule {
	t.Helper()
	text, err := os.ReadFile(alertsFile)
	require.NoError(t, err)
	var file struct{ Groups []struct{ Rules []rule } }
	require.NoError(t, yaml.Unmarshal(text, &file))
	require.Len(t, file.Groups, 1)
	return file.Groups[0].Rules
}

// TestAlertsAreOfMetrics: each metric and each label that an alert names is written by an engine, and each
// alert has a severity, a summary and a runbook. What a runbook names can be called or set, or is a page of the console.
func TestAlertsAreOfMetrics(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	w.settled(w.pay("A", w.stored()))
	w.compareToday()
	series := w.scrape()
	written := map[string][]string{}
	label, grouped, camel := regexp.MustCompile(`(\w+)(=~|!~|!=|=)"([^"]*)"`), regexp.MustCompile(`without \([^)]*\)`), regexp.MustCompile(`\b[A-Z][a-z]+[A-Z]\w*\b`)
	for name := range series {
		metric, labels, _ := strings.Cut(name, "{")
		written[metric] = append(written[metric], "")
		for _, match := range label.FindAllStringSubmatch(labels, -1) {
			written[metric] = append(written[metric], match[1]+"="+match[3])
		}
	}
	names, err := os.ReadFile("../../api/durable.txt")
	require.NoError(t, err)
	pages, place := "", regexp.MustCompile(`Console, ([^.,]+)`)
	for _, file := range []string{"lists.go", "installation.go"} {
		text, err := os.ReadFile("../../console/" + file)
		require.NoError(t, err)
		for _, title := range regexp.MustCompile(`Title: ("[^"]+")`).FindAllStringSubmatch(string(text), -1) {
			pages += title[1]
		}
	}
	for _, r := range rules(t) {
		selectors := regexp.MustCompile(`\b(quickstream_\w+)(\{[^}]*\})?`).FindAllStringSubmatch(grouped.ReplaceAllString(r.Expr, ""), -1)
		assert.NotEmpty(t, selectors, r.Alert)
		for _, selector := range selectors {
			require.Contains(t, written, selector[1], r.Alert)
			for _, match := range label.FindAllStringSubmatch(selector[2], -1) {
				for value := range strings.SplitSeq(match[3], "|") {
					assert.Contains(t, written[selector[1]], match[1]+"="+value, r.Alert)
				}
			}
		}
		assert.Contains(t, []string{"page", "ticket"}, r.Labels["severity"], r.Alert)
		assert.Greater(t, len(r.Annotations["summary"]), 20, r.Alert)
		assert.Greater(t, len(r.Annotations["runbook"]), 40, r.Alert)
		for _, place := range place.FindAllStringSubmatch(r.Annotations["runbook"], -1) {
			assert.Contains(t, pages, `"`+place[1]+`"`, "%s: the console has no such page or list", r.Alert)
		}
		for _, name := range camel.FindAllString(r.Annotations["runbook"], -1) {
			assert.True(t, name == "PayTo" || regexp.MustCompile(`\b`+name+`\b`).Match(names), "%s: %s", r.Alert, name)
		}
	}
}
