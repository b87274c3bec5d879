package store

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/otelquickstream"
)

// telemetry are the shop's traces and metrics. They hold routes, operations, states and
// counts, and no values: what a customer types in, what the service answers and what
// identifies an order stays out of them.
type telemetry struct {
	traces   *sdktrace.TracerProvider
	meters   *sdkmetric.MeterProvider
	tracer   trace.Tracer
	scraped  http.Handler // for Prometheus
	observer quickstream.Observer
	answers  metric.Int64Counter // to webhooks
	file     *os.File            // of the spans; nil where they are not wanted
}

// newTelemetry writes each span into a file when it has ended, as a line of JSON, so that a
// program that is killed leaves all but those it was in. Without a file there are only
// metrics.
func newTelemetry(file string) (t *telemetry, err error) {
	t = &telemetry{}
	about := resource.NewSchemaless(attribute.String("service.name", "shop"))
	options := []sdktrace.TracerProviderOption{sdktrace.WithResource(about)}
	if file != "" {
		if t.file, err = os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil { //nolint:gosec // the operator names it
			return nil, err
		}
		lines, err := stdouttrace.New(stdouttrace.WithWriter(t.file))
		if err != nil {
			return nil, errors.Join(err, t.file.Close())
		}
		options = append(options, sdktrace.WithSyncer(lines))
	}
	t.traces = sdktrace.NewTracerProvider(options...)
	t.tracer = t.traces.Tracer("shop")
	if err = t.measure(about); err != nil {
		return nil, errors.Join(err, t.close(context.Background()))
	}
	return t, nil
}

// measure exports metrics to Prometheus, through a registry that holds nothing else.
func (t *telemetry) measure(about *resource.Resource) error {
	registry := prometheus.NewRegistry()
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(registry), otelprometheus.WithoutScopeInfo())
	if err != nil {
		return err
	}
	t.scraped = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	t.meters = sdkmetric.NewMeterProvider(sdkmetric.WithResource(about), sdkmetric.WithReader(exporter))
	t.answers, err = t.meters.Meter("shop").Int64Counter("shop.webhooks.answers", metric.WithUnit("{answer}"),
		metric.WithDescription("Answers to webhooks, by their status."))
	if err != nil {
		return err
	}
	for _, status := range []int{http.StatusOK, http.StatusUnauthorized, http.StatusInternalServerError} {
		t.count(context.Background(), status, 0) // so that the first one is seen as a change
	}
	t.observer, err = otelquickstream.NewObserver(t.traces, t.meters)
	return err
}

func (t *telemetry) close(ctx context.Context) error {
	errs := []error{t.traces.Shutdown(ctx)}
	if t.meters != nil {
		errs = append(errs, t.meters.Shutdown(ctx))
	}
	if t.file != nil {
		errs = append(errs, t.file.Close())
	}
	return errors.Join(errs...)
}

// traced makes a span of each request that changes something. Its name is the route, in
// which no order is named.
func (t *telemetry) traced(pattern string, next http.HandlerFunc) http.HandlerFunc {
	method, path, _ := strings.Cut(pattern, " ")
	if method != http.MethodPost || path == "/webhooks" { // which makes its own: see notified
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		t.within(w, r, pattern, path, next)
	}
}

// within serves a request in a span, and returns the status of its answer.
func (t *telemetry) within(w http.ResponseWriter, r *http.Request, name, route string, next http.HandlerFunc) int {
	ctx, span := t.tracer.Start(r.Context(), name, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(attribute.String("http.request.method", r.Method), attribute.String("http.route", route)))
	defer span.End()
	answer := &answered{ResponseWriter: w, status: http.StatusOK}
	next(answer, r.WithContext(ctx))
	span.SetAttributes(attribute.Int("http.response.status_code", answer.status))
	if answer.status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
		span.SetAttributes(attribute.String("error.type", strconv.Itoa(answer.status)))
	}
	return answer.status
}

// notified serves a webhook in the trace of the payment that it is about, where that is
// known, and counts the answer.
func (t *telemetry) notified(w http.ResponseWriter, r *http.Request, carrier string, next http.Handler) {
	ctx := r.Context()
	if carrier != "" {
		ctx = t.observer.Continue(ctx, carrier)
	}
	status := t.within(w, r.WithContext(ctx), "POST /webhooks", "/webhooks", next.ServeHTTP)
	t.count(ctx, status, 1)
}

// count counts answers to webhooks.
func (t *telemetry) count(ctx context.Context, status int, n int64) {
	t.answers.Add(ctx, n, metric.WithAttributes(attribute.Int("http.response.status_code", status)))
}

// answered remembers the status of an answer.
type answered struct {
	http.ResponseWriter

	status int
}

// WriteHeader implements http.ResponseWriter.
func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// metrics are for a Prometheus on this machine. They need no login, so that they are for
// nobody else: neither for another machine, nor for who came by the name of a public site
// through a proxy on this one.
func (s *server) metrics(w http.ResponseWriter, r *http.Request) {
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	name, _ := netip.ParseAddr(host)
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	if !peer.Addr().IsLoopback() || host != "localhost" && !name.IsLoopback() {
		http.NotFound(w, r)
		return
	}
	s.telemetry.scraped.ServeHTTP(w, r)
}

// begun writes down in which trace an order's payment was written, so that notifications go
// on with it.
func (s *server) begun(ctx context.Context, in executor, orderID string) error {
	_, err := in.ExecContext(ctx, `INSERT INTO shop_begun (order_id, carrier) VALUES (?, ?)
		ON CONFLICT (order_id) DO UPDATE SET carrier = excluded.carrier`, orderID, s.telemetry.observer.Carrier(ctx))
	return err
}

// traceAbout is the trace of the payment with a receipt, and of the order's last one where
// none is known by it yet; "" where that has none.
func (s *server) traceAbout(ctx context.Context, orderID, receipt string) (carrier string) {
	_ = s.db.QueryRowContext(ctx, `SELECT carrier FROM shop_write WHERE order_id = ?1 AND receipt = ?2 AND receipt <> ''
		UNION ALL SELECT carrier FROM shop_begun WHERE order_id = ?1 LIMIT 1`, orderID, receipt).Scan(&carrier) // or a trace of its own
	return carrier
}
