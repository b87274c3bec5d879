package otelquickstream_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// lose makes a payment whose answer is lost, in a checkout's span, and returns its intent
// with the span of the call.
func (b *bench) lose() (quickstream.Intent, tracetest.SpanStub) {
	b.t.Helper()
	b.inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()})
	ctx, checkout := b.tracing.Tracer("shop").Start(b.t.Context(), "checkout")
	_, err := b.pay(ctx, approved)
	checkout.End()
	b.box.ClearFaults()
	<-time.After(time.Minute) // lists show it later
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	require.True(b.t, ok, "%v", err)
	call := named(b.t, b.spans(), "Transactions.Pay")
	assert.Equal(b.t, checkout.SpanContext().SpanID(), call.Parent.SpanID())
	return *lost.Intent, call
}

func named(t *testing.T, spans tracetest.SpanStubs, name string) tracetest.SpanStub {
	t.Helper()
	for _, span := range spans {
		if span.Name == name {
			return span
		}
	}
	t.Fatalf("there is no span %q", name)
	return tracetest.SpanStub{}
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
		intent, paid := b.lose()
		assert.Equal(t, "00-"+paid.SpanContext.TraceID().String()+"-"+paid.SpanContext.SpanID().String()+"-01", intent.Carrier)

		ctx, job := b.tracing.Tracer("shop").Start(t.Context(), "job")
		_, err := b.client.Transactions.Resume(ctx, intent)
		job.End()
		require.NoError(t, err)
		spans := b.spans()
		look := named(t, spans, "Transactions.Resume")
		continues(t, look, paid.SpanContext, job.SpanContext())
		continues(t, named(t, spans, "GET /transactions/for-reference-number"), look.SpanContext)
		assert.NotEqual(t, job.SpanContext().TraceID(), look.SpanContext.TraceID())

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
