package otelquickstream_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/codes"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/otelquickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// blowsUp is a sampler that panics for the spans of one name.
type blowsUp struct {
	sdktrace.Sampler
	name string
}

func (s blowsUp) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	if p.Name == s.name {
		panic("mine")
	}
	return s.Sampler.ShouldSample(p)
}

// TestPanicsOfStartLeaveOtherSpans: a call whose span could not begin ends and marks no
// other one: neither its caller's, nor that of the call in whose hook it was made. It is
// counted.
func TestPanicsOfStartLeaveOtherSpans(t *testing.T) {
	b := newBench(t)
	exported := tracetest.NewInMemoryExporter()
	sampled := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exported), sdktrace.WithSampler(blowsUp{sdktrace.AlwaysSample(), "Transactions.Get"}))
	observer, err := otelquickstream.NewObserver(sampled, metricnoop.NewMeterProvider())
	require.NoError(t, err)
	wrapped := b.observer
	wrapped.Start = func(ctx context.Context, call quickstream.CallInfo) context.Context {
		if call.Operation == "Transactions.Get" {
			panic("mine")
		}
		return b.observer.Start(ctx, call)
	}
	for name, c := range map[string]struct {
		observer quickstream.Observer
		tracing  trace.TracerProvider
		spans    func() tracetest.SpanStubs
	}{
		"sampler": {observer, sampled, exported.GetSpans}, "wrapper": {wrapped, b.tracing, b.spans},
	} {
		token := b.token(approved)
		client := sandboxtest.Client(t, b.box, quickstream.WithObserver(c.observer))
		get := func(ctx context.Context) { // as a hook that has the call's context
			_, err := client.Transactions.Get(ctx, "R-1")
			require.ErrorIs(t, err, quickstream.ErrNotSent, name)
			require.ErrorContains(t, err, "the observer panicked with a string at wrapper_test.go:", name)
		}
		ctx, checkout := c.tracing.Tracer("shop").Start(t.Context(), "checkout")
		get(ctx)
		_, err := client.Transactions.Pay(ctx, payment(token), quickstream.WithBeforeSend(func(ctx context.Context, _ quickstream.Intent) error {
			get(ctx)
			return nil
		}))
		require.NoError(t, err, name)
		assert.True(t, checkout.IsRecording(), name)
		checkout.End()
		spans := c.spans()
		require.Len(t, spans, 3, name)
		assert.Equal(t, codes.Unset, named(t, spans, "checkout").Status.Code, name)
		assert.Empty(t, named(t, spans, "checkout").Attributes, name)
		assert.Equal(t, " quickstream.attempts=1 quickstream.operation=Transactions.Pay quickstream.result=success", pairs(named(t, spans, "Transactions.Pay").Attributes), name)
	}
	assert.Contains(t, b.counted(), "2 quickstream.client.calls: error.type=not_sent quickstream.operation=Transactions.Get quickstream.result=not_sent")
}

// TestSpansOfWrappers: a wrapper may begin a span of its own within the call's. That one
// still ends with the call, and has its requests.
func TestSpansOfWrappers(t *testing.T) {
	b := newBench(t)
	wrapped := b.observer
	var inner trace.Span
	wrapped.Start = func(ctx context.Context, call quickstream.CallInfo) context.Context {
		ctx, inner = b.tracing.Tracer("shop").Start(b.observer.Start(ctx, call), "inner")
		return ctx
	}
	_, err := sandboxtest.Client(t, b.box, quickstream.WithObserver(wrapped)).Transactions.Get(t.Context(), "R-404")
	require.ErrorIs(t, err, quickstream.ErrNotFound)
	assert.True(t, inner.IsRecording(), "the wrapper ends it")
	inner.End()
	spans := b.spans()
	require.Len(t, spans, 3)
	call := named(t, spans, "Transactions.Get")
	assert.Equal(t, codes.Error, call.Status.Code)
	for _, child := range []string{"inner", "GET /transactions/{receiptNumber}"} {
		assert.Equal(t, call.SpanContext.SpanID(), named(t, spans, child).Parent.SpanID(), child)
	}
	assert.Empty(t, named(t, spans, "inner").Attributes)
}
