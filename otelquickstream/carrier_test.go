package otelquickstream_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

func named(t *testing.T, spans tracetest.SpanStubs, name string) tracetest.SpanStub {
	t.Helper()
	i := slices.IndexFunc(spans, func(span tracetest.SpanStub) bool { return span.Name == name })
	require.GreaterOrEqual(t, i, 0, "there is no span %q", name)
	return spans[i]
}

// continues holds that a span continues a trace as a child of its span, with these links.
func continues(t *testing.T, span tracetest.SpanStub, parent trace.SpanContext, links ...trace.SpanContext) {
	t.Helper()
	assert.Equal(t, parent.TraceID(), span.SpanContext.TraceID())
	assert.Equal(t, parent.SpanID(), span.Parent.SpanID())
	require.Len(t, span.Links, len(links))
	for i, link := range links {
		assert.Equal(t, link, span.Links[i].SpanContext)
		assert.Empty(t, span.Links[i].Attributes)
	}
}

// TestResumeContinuesTheTrace: the look-up is a child of the payment's span, with a link to
// the span of the job that makes it.
func TestResumeContinuesTheTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		require.NoError(t, b.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}))
		ctx, checkout := b.tracing.Tracer("shop").Start(t.Context(), "checkout")
		_, err := b.pay(ctx, approved)
		checkout.End()
		lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
		require.True(t, ok, "%v", err)
		intent, paid := *lost.Intent, named(t, b.spans(), "Transactions.Pay")
		assert.Equal(t, checkout.SpanContext().SpanID(), paid.Parent.SpanID())
		assert.Equal(t, "00-"+paid.SpanContext.TraceID().String()+"-"+paid.SpanContext.SpanID().String()+"-01", intent.Carrier)

		ctx, job := b.tracing.Tracer("shop").Start(t.Context(), "job")
		_, err = b.client.Transactions.Resume(ctx, intent)
		job.End()
		require.NoError(t, err)
		spans := b.spans()
		look := named(t, spans, "Transactions.Resume")
		continues(t, look, paid.SpanContext, job.SpanContext())
		continues(t, named(t, spans, "GET /transactions/for-reference-number"), look.SpanContext)

		// A job that continues the trace for itself loses no link.
		_, err = b.client.Transactions.Resume(b.observer.Continue(ctx, intent.Carrier), intent)
		require.NoError(t, err)
		continues(t, named(t, b.spans(), "Transactions.Resume"), paid.SpanContext, job.SpanContext())
	})
}

// TestCarrierHoldsNothingElse: no tracestate, and what is no traceparent
// continues nothing.
func TestCarrierHoldsNothingElse(t *testing.T) {
	b := newBench(t)
	state, err := trace.ParseTraceState("vendor=" + canaryCard)
	require.NoError(t, err)
	ctx, span := b.tracing.Tracer("shop").Start(t.Context(), "checkout")
	ctx = trace.ContextWithSpanContext(ctx, span.SpanContext().WithTraceState(state))
	planned, err := b.client.Transactions.PlanVoid(ctx, "R-1")
	require.NoError(t, err)
	assert.Len(t, planned.Carrier, 55)
	for _, odd := range []string{"x", canaryCard, planned.Carrier[:54], "\x00"} {
		assert.Equal(t, span.SpanContext().SpanID(), trace.SpanContextFromContext(b.observer.Continue(ctx, odd)).SpanID(), "%q", odd)
	}
}
