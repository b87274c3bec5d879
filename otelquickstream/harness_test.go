package otelquickstream_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/apitest"
	"github.com/quickstream-go/quickstream/internal/leaktest"
	"github.com/quickstream-go/quickstream/otelquickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// TestMain fails when goroutines or connections outlive the tests.
func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

// TestExportedAPI compares the package with its list in the directory api.
func TestExportedAPI(t *testing.T) { apitest.Compare(t) }

// bench is a sandbox, a client whose calls are observed, and what that has exported.
type bench struct {
	t        *testing.T
	box      *sandbox.Sandbox
	client   *quickstream.Client
	observer quickstream.Observer
	exported *tracetest.InMemoryExporter
	tracing  *sdktrace.TracerProvider
	reader   *sdkmetric.ManualReader
}

func newBench(t *testing.T, opts ...quickstream.ClientOption) *bench {
	t.Helper()
	b := &bench{t: t, box: sandbox.New(), exported: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	t.Cleanup(b.box.Close)
	b.tracing = sdktrace.NewTracerProvider(sdktrace.WithSyncer(b.exported))
	var err error
	b.observer, err = otelquickstream.NewObserver(b.tracing, sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader)))
	require.NoError(t, err)
	b.client = sandboxtest.Client(t, b.box, append(opts, quickstream.WithObserver(b.observer))...)
	return b
}

// pay pays with a card of the vendor's public test numbers.
func (b *bench) pay(ctx context.Context, card string, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
	b.t.Helper()
	return b.client.Transactions.Pay(ctx, payment(quickstream.FromCard(sandboxtest.Card(card))), opts...)
}

func payment(source quickstream.AccountSource) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Source: source,
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		ECI: quickstream.ECIInternet, IPAddress: netip.MustParseAddr("203.0.113.7"),
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}
}

// spans are those that have ended since the last call, a request before its call.
func (b *bench) spans() tracetest.SpanStubs {
	spans := b.exported.GetSpans()
	b.exported.Reset()
	return spans
}

// lines are the spans with their kinds, states and attributes, in the order of their ends.
func (b *bench) lines() []string {
	var lines []string
	for _, span := range b.spans() {
		lines = append(lines, fmt.Sprintf("%s, %s, %s%s:%s", span.Name, span.SpanKind, span.Status.Code, span.Status.Description, pairs(span.Attributes)))
	}
	return lines
}

func pairs(attributes []attribute.KeyValue) string {
	set := attribute.NewSet(attributes...)
	return " " + strings.ReplaceAll(set.Encoded(attribute.DefaultEncoder()), ",", " ")
}

// counted are all metrics, one line for each series with what it has counted.
func (b *bench) counted() []string {
	b.t.Helper()
	var all metricdata.ResourceMetrics
	require.NoError(b.t, b.reader.Collect(context.Background(), &all))
	var lines []string
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					lines = append(lines, fmt.Sprintf("%d %s:%s", p.Value, m.Name, pairs(p.Attributes.ToSlice())))
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					lines = append(lines, fmt.Sprintf("%d %s:%s", p.Count, m.Name, pairs(p.Attributes.ToSlice())))
				}
			default:
				b.t.Fatalf("%s is a %T", m.Name, data)
			}
		}
	}
	slices.Sort(lines)
	return lines
}
