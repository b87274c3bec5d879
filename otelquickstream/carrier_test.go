package otelquickstream_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/baggage"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/otelquickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
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
		tx, err := quickstream.RequireApproved(b.client.Transactions.Resume(ctx, intent))
		job.End()
		require.NoError(t, err)
		assert.NotEmpty(t, tx.ReceiptNumber)
		spans := b.spans()
		look := named(t, spans, "Transactions.Resume")
		continues(t, look, paid.SpanContext, job.SpanContext())
		continues(t, named(t, spans, "GET /transactions/for-reference-number"), look.SpanContext)
		assert.NotEqual(t, job.SpanContext().TraceID(), look.SpanContext.TraceID())

		// A job that continues the trace for itself loses no link.
		_, err = b.client.Transactions.Resume(b.observer.Continue(ctx, intent.Carrier), intent)
		require.NoError(t, err)
		continues(t, named(t, b.spans(), "Transactions.Resume"), paid.SpanContext, job.SpanContext())

		// Where nothing is traced, or in the payment's own trace, there is nothing to link to.
		for _, ctx := range []context.Context{t.Context(), trace.ContextWithSpanContext(t.Context(), paid.SpanContext)} {
			_, err = b.client.Transactions.Resume(ctx, intent)
			require.NoError(t, err)
			continues(t, named(t, b.spans(), "Transactions.Resume"), paid.SpanContext)
		}
	})
}

// TestSubmitContinuesTheTrace: from Plan to a worker and on to its look-up. The claim runs
// within the span of the call.
func TestSubmitContinuesTheTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ctx, checkout := b.tracing.Tracer("shop").Start(t.Context(), "checkout")
		planned, err := b.client.Transactions.Plan(ctx, payment(b.token(approved)))
		require.NoError(t, err)
		checkout.End()
		var handed quickstream.Intent
		var claimed trace.SpanContext
		claim := func(ctx context.Context) error {
			claimed = trace.SpanContextFromContext(ctx)
			_, err := b.client.Transactions.Get(ctx, "R-404")
			assert.ErrorIs(t, err, quickstream.ErrNotFound)
			return nil
		}
		ctx, worker := b.tracing.Tracer("shop").Start(t.Context(), "worker")
		_, err = b.client.Transactions.Submit(ctx, planned, claim,
			quickstream.WithBeforeSend(func(_ context.Context, i quickstream.Intent) error { handed = i; return nil }))
		require.NoError(t, err)
		worker.End()
		spans := b.spans()
		call, inner := named(t, spans, "Transactions.Pay"), named(t, spans, "Transactions.Get")
		continues(t, call, checkout.SpanContext(), worker.SpanContext())
		assert.Equal(t, call.SpanContext, claimed)
		continues(t, inner, call.SpanContext)
		assert.Contains(t, handed.Carrier, call.SpanContext.SpanID().String())
	})
}

// TestCarrierHoldsNothingElse: neither baggage nor tracestate, and what is no traceparent
// continues nothing.
func TestCarrierHoldsNothingElse(t *testing.T) {
	b := newBench(t)
	member, err := baggage.NewMember("card", canaryCard)
	require.NoError(t, err)
	bag, err := baggage.New(member)
	require.NoError(t, err)
	state, err := trace.ParseTraceState("vendor=" + canaryCard)
	require.NoError(t, err)
	ctx, span := b.tracing.Tracer("shop").Start(baggage.ContextWithBaggage(t.Context(), bag), "checkout")
	ctx = trace.ContextWithSpanContext(ctx, span.SpanContext().WithTraceState(state))
	planned, err := b.client.Transactions.PlanVoid(ctx, "R-1")
	require.NoError(t, err)
	assert.Len(t, planned.Carrier, 55)
	for _, odd := range []string{"x", canaryCard, planned.Carrier[:54], "\x00"} {
		assert.Equal(t, span.SpanContext().SpanID(), trace.SpanContextFromContext(b.observer.Continue(ctx, odd)).SpanID(), "%q", odd)
	}
}

// TestCarrierOutlivesUntracedWorkers: a process without a tracer hands the trace on, and
// what was not sampled stays so.
func TestCarrierOutlivesUntracedWorkers(t *testing.T) {
	b := newBench(t)
	untraced, err := otelquickstream.NewObserver(tracenoop.NewTracerProvider(), metricnoop.NewMeterProvider())
	require.NoError(t, err)
	client := sandboxtest.Client(t, b.box, quickstream.WithObserver(untraced))
	ctx, checkout := b.tracing.Tracer("shop").Start(t.Context(), "checkout")
	planned, err := b.client.Transactions.Plan(ctx, payment(b.token(approved)))
	require.NoError(t, err)
	checkout.End()
	var handed quickstream.Intent
	_, err = client.Transactions.Submit(t.Context(), planned, func(context.Context) error { return nil },
		quickstream.WithBeforeSend(func(_ context.Context, i quickstream.Intent) error { handed = i; return nil }))
	require.NoError(t, err)
	assert.Equal(t, planned.Carrier, handed.Carrier)

	never := sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))
	ctx, _ = never.Tracer("shop").Start(t.Context(), "checkout")
	planned, err = b.client.Transactions.Plan(ctx, payment(b.token(approved)))
	require.NoError(t, err)
	b.spans()
	_, err = b.client.Transactions.Submit(t.Context(), planned, func(context.Context) error { return nil })
	require.NoError(t, err)
	assert.Empty(t, b.spans())
}
