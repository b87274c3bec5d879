package otelquickstream_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/otelquickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const (
	approved = "4242424242424242"
	declined = "4111111111444496"

	server = " server.address=quickstream.localhost server.port=80"
	post   = "POST /transactions, client, "
)

// TestSpans: a call is a span, and each of its requests a child of it that says what
// became of the request.
func TestSpans(t *testing.T) {
	missing := func(b *bench) error { return second(b.client.Transactions.Get(b.t.Context(), "R-404")) }
	pays := func(card string, opts ...quickstream.CallOption) func(*bench) error {
		return func(b *bench) error { return second(b.pay(b.t.Context(), card, opts...)) }
	}
	lost := sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}
	for name, c := range map[string]struct {
		fault sandbox.Fault
		call  func(*bench) error
		want  []string
	}{
		"success": {call: pays(approved), want: []string{
			post + "Unset: http.request.method=POST http.response.status_code=201" + server + " url.template=/transactions",
			"Transactions.Pay, client, Unset: quickstream.attempts=1 quickstream.operation=Transactions.Pay quickstream.result=success",
		}},
		"declined": {call: pays(declined), want: []string{
			post + "Unset: http.request.method=POST http.response.status_code=201" + server + " url.template=/transactions",
			"Transactions.Pay, client, Unset: quickstream.attempts=1 quickstream.operation=Transactions.Pay quickstream.result=success",
		}},
		"lost, then answered": {fault: sandbox.Fault{Operation: lost.Operation, Kind: lost.Kind, Times: 1}, call: pays(approved), want: []string{
			post + "Error: error.type=network_reset http.request.method=POST" + server + " url.template=/transactions",
			post + "Unset: http.request.method=POST http.request.resend_count=1 http.response.status_code=201" + server + " url.template=/transactions",
			"Transactions.Pay, client, Unset: quickstream.attempts=2 quickstream.operation=Transactions.Pay quickstream.result=success",
		}},
		"lost": {fault: lost, call: pays(approved, quickstream.WithMaxAttempts(2)), want: []string{
			post + "Error: error.type=network_reset http.request.method=POST" + server + " url.template=/transactions",
			post + "Error: error.type=network_reset http.request.method=POST http.request.resend_count=1" + server + " url.template=/transactions",
			"Transactions.Pay, client, Error: error.type=network_reset quickstream.attempts=2 quickstream.operation=Transactions.Pay quickstream.result=unknown",
		}},
		"lost, then declined": {fault: sandbox.Fault{Operation: lost.Operation, Kind: sandbox.ResetBeforeCommit(), Times: 1}, call: pays(declined), want: []string{
			post + "Error: error.type=network_reset http.request.method=POST" + server + " url.template=/transactions",
			post + "Unset: http.request.method=POST http.request.resend_count=1 http.response.status_code=201" + server + " url.template=/transactions",
			"Transactions.Pay, client, Error: error.type=unsettled quickstream.attempts=2 quickstream.operation=Transactions.Pay quickstream.result=unknown",
		}},
		"refused": {call: missing, want: []string{
			"GET /transactions/{receiptNumber}, client, Error: error.type=404 http.request.method=GET http.response.status_code=404" + server + " url.template=/transactions/{receiptNumber}",
			"Transactions.Get, client, Error: error.type=answer_not_found quickstream.attempts=1 quickstream.operation=Transactions.Get quickstream.result=answered quickstream.trace_code=TRACE",
		}},
		"invalid": {call: func(b *bench) error {
			return second(b.client.Transactions.Pay(b.t.Context(), quickstream.PayParams{}))
		}, want: []string{
			"Transactions.Pay, client, Error: error.type=validation quickstream.attempts=0 quickstream.operation=Transactions.Pay quickstream.result=not_sent",
		}},
		"hook": {call: pays(approved, quickstream.WithBeforeSend(func(context.Context, quickstream.Intent) error { return errors.New("mine") })), want: []string{
			"Transactions.Pay, client, Error: error.type=not_sent quickstream.attempts=0 quickstream.operation=Transactions.Pay quickstream.result=not_sent",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				if c.fault.Operation != "" {
					b.inject(c.fault)
				}
				err := c.call(b)
				if refused, ok := errors.AsType[*quickstream.APIError](err); ok {
					require.NotEmpty(t, refused.TraceCode)
					c.want[1] = strings.Replace(c.want[1], "=TRACE", "="+refused.TraceCode, 1)
				}
				spans := b.exported.GetSpans()
				last := spans[len(spans)-1]
				for _, request := range spans[:len(spans)-1] {
					assert.Equal(t, last.SpanContext.SpanID(), request.Parent.SpanID())
					assert.False(t, request.StartTime.Before(last.StartTime))
					assert.False(t, request.EndTime.After(last.EndTime))
				}
				assert.Equal(t, c.want, b.lines())
			})
		})
	}
}

// TestTimesOfRequests: the span of a request lasts as long as the request, and the pause
// before the next one is in neither.
func TestTimesOfRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pause := time.Second
		b := newBench(t, quickstream.WithRetryWait(pause, pause))
		b.inject(sandbox.Fault{Kind: sandbox.DelayBeforeCommit(2 * time.Second), Nth: 2}, sandbox.Fault{Kind: sandbox.Status(503, sandbox.GatewayError), Nth: 1})
		_, err := b.client.Transactions.Get(t.Context(), "R-404")
		require.ErrorIs(t, err, quickstream.ErrNotFound)
		spans := b.spans()
		require.Len(t, spans, 3)
		length := func(i int) time.Duration { return spans[i].EndTime.Sub(spans[i].StartTime) }
		assert.Equal(t, []time.Duration{0, 2 * time.Second, 3 * time.Second}, []time.Duration{length(0), length(1), length(2)})
		assert.Equal(t, pause, spans[1].StartTime.Sub(spans[0].EndTime))
	})
}

// TestMetrics: calls are counted by how they ended, and requests as the conventions say.
// A report that is not ready is no error.
func TestMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Nth: 2, Times: 1})
		for range 3 {
			_, err := b.pay(t.Context(), approved)
			require.NoError(t, err)
		}
		_, err := b.client.Transactions.Get(t.Context(), "R-404")
		require.ErrorIs(t, err, quickstream.ErrNotFound)
		_, err = b.client.Transactions.Void(t.Context(), "")
		require.ErrorIs(t, err, quickstream.ErrNotSent)
		assert.Equal(t, []string{
			"1 http.client.request.duration: error.type=404 http.request.method=GET http.response.status_code=404" + server,
			"1 http.client.request.duration: error.type=network_reset http.request.method=POST" + server,
			"1 quickstream.client.call.duration: quickstream.operation=Transactions.Get quickstream.result=answered",
			"1 quickstream.client.call.duration: quickstream.operation=Transactions.Void quickstream.result=not_sent",
			"1 quickstream.client.calls: error.type=answer_not_found quickstream.operation=Transactions.Get quickstream.result=answered",
			"1 quickstream.client.calls: error.type=validation quickstream.operation=Transactions.Void quickstream.result=not_sent",
			"3 http.client.request.duration: http.request.method=POST http.response.status_code=201" + server,
			"3 quickstream.client.call.duration: quickstream.operation=Transactions.Pay quickstream.result=success",
			"3 quickstream.client.calls: quickstream.operation=Transactions.Pay quickstream.result=success",
		}, b.counted())
		b.spans()
		_, err = b.client.Transactions.DownloadReport(t.Context(), io.Discard, quickstream.ReportParams{SettlementDate: quickstream.Date{Year: 2026, Month: time.March, Day: 2}})
		require.ErrorIs(t, err, quickstream.ErrReportNotReady)
		ended := b.lines()
		assert.Equal(t, "Transactions.DownloadReport, client, Unset: quickstream.attempts=1 quickstream.operation=Transactions.DownloadReport quickstream.result=answered", ended[len(ended)-1])
	})
}

// TestServers: the server's name and port are apart, in spans and metrics.
func TestServers(t *testing.T) {
	b := newBench(t)
	for address, want := range map[string]string{
		"https://[::1]:8443": " server.address=::1 server.port=8443", "http://localhost": " server.address=localhost server.port=80",
	} {
		client, err := quickstream.NewClient(quickstream.CustomURL(address+"/rest/v1"), sandboxtest.Keys(b.box),
			quickstream.WithHTTPClient(&http.Client{Transport: stub{}}), quickstream.WithObserver(b.observer))
		require.NoError(t, err)
		_, err = client.Transactions.Get(t.Context(), "R-1")
		require.NoError(t, err)
		assert.Contains(t, b.lines()[0], want+" url.template")
		assert.Contains(t, b.counted(), "1 http.client.request.duration: http.request.method=GET http.response.status_code=200"+want)
	}
}

// TestConcurrentCalls: calls at the same time share the observer and no spans.
func TestConcurrentCalls(t *testing.T) {
	b := newBench(t)
	const count = 50
	var calls sync.WaitGroup
	for range count {
		calls.Go(func() { _, _ = b.client.Transactions.Get(t.Context(), "R-404") })
	}
	calls.Wait()
	spans, byID := b.spans(), map[trace.SpanID]int{}
	require.Len(t, spans, 2*count)
	for _, span := range spans {
		byID[span.Parent.SpanID()]++
	}
	require.Len(t, byID, count+1, "the calls have no parent, and each has one request")
	assert.Equal(t, count, byID[trace.SpanID{}])
	assert.Contains(t, b.counted(), fmt.Sprintf("%d quickstream.client.calls: error.type=answer_not_found quickstream.operation=Transactions.Get quickstream.result=answered", count))
}

// dropsCalls is a sampler that drops what has no parent, and nothing else.
type dropsCalls struct{ sdktrace.Sampler }

func (s dropsCalls) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if trace.SpanContextFromContext(p.ParentContext).IsValid() {
		return s.Sampler.ShouldSample(p)
	}
	return sdktrace.SamplingResult{Decision: sdktrace.Drop}
}

// TestUnrecordedCalls: the requests of a call that is not recorded are not either. They are
// counted.
func TestUnrecordedCalls(t *testing.T) {
	exported, reader := tracetest.NewInMemoryExporter(), sdkmetric.NewManualReader()
	observer, err := otelquickstream.NewObserver(
		sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported), sdktrace.WithSampler(dropsCalls{sdktrace.AlwaysSample()})),
		sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	require.NoError(t, err)
	b := newBench(t)
	b.reader = reader
	_, err = sandboxtest.Client(t, b.box, quickstream.WithObserver(observer)).Transactions.Get(t.Context(), "R-404")
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.Empty(t, exported.GetSpans())
	assert.Len(t, b.counted(), 3)
}

// TestHooksErrorsAreNotTheCalls: a hook may return what another call returned. The call that
// it ends was not sent, and failed, whatever that was.
func TestHooksErrorsAreNotTheCalls(t *testing.T) {
	b := newBench(t)
	for _, mine := range []error{
		&quickstream.NetworkError{Kind: quickstream.NetworkKindReset}, &quickstream.APIError{Reason: quickstream.ReasonNotFound}, new(quickstream.DecodeError),
		&quickstream.UnknownOutcomeError{Cause: &quickstream.NetworkError{Kind: quickstream.NetworkKindReset}}, quickstream.ErrReportNotReady,
	} {
		fails := func(context.Context) error { return mine }
		_, err := b.client.Transactions.Void(t.Context(), "R-1", quickstream.WithBeforeSend(func(ctx context.Context, _ quickstream.Intent) error { return fails(ctx) }))
		require.ErrorIs(t, err, quickstream.ErrNotSent)
		planned, err := b.client.Transactions.PlanVoid(t.Context(), "R-1")
		require.NoError(t, err)
		_, err = b.client.Transactions.Submit(t.Context(), planned, fails)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		const void = "Transactions.Void, client, Error: error.type=not_sent quickstream.attempts=0 quickstream.operation=Transactions.Void quickstream.result="
		assert.Equal(t, []string{void + "not_sent", void + "unknown"}, b.lines(), "%T", mine)
	}
}

// TestProviders: a missing one is an error, and with those that do nothing calls are made
// as ever.
func TestProviders(t *testing.T) {
	_, err := otelquickstream.NewObserver(nil, metricnoop.NewMeterProvider())
	require.Error(t, err)
	_, err = otelquickstream.NewObserver(tracenoop.NewTracerProvider(), nil)
	require.Error(t, err)
	var tracing *sdktrace.TracerProvider
	_, err = otelquickstream.NewObserver(tracing, metricnoop.NewMeterProvider())
	require.ErrorContains(t, err, "a provider panicked with a runtime.")
	var metering *sdkmetric.MeterProvider
	_, err = otelquickstream.NewObserver(tracenoop.NewTracerProvider(), metering)
	require.ErrorContains(t, err, "a provider panicked with a runtime.")
	observer, err := otelquickstream.NewObserver(tracenoop.NewTracerProvider(), metricnoop.NewMeterProvider())
	require.NoError(t, err)
	box, _ := sandboxtest.New(t)
	client := sandboxtest.Client(t, box, quickstream.WithObserver(observer))
	_, err = client.Transactions.Get(t.Context(), "R-404")
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.Empty(t, observer.Carrier(t.Context()))
}

func second[T any](_ T, err error) error { return err }
