package otelquickstream

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traceparent is the W3C header's name. An intent stores its value.
const traceparent = "traceparent"

// carrier returns the traceparent of the context's span, and "" without one.
func carrier(ctx context.Context) string {
	header := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, header)
	return header[traceparent]
}

// callerKey is the context key of the caller's span, in a context that continues the trace of
// an intent.
type callerKey struct{}

// resumed returns a context whose spans are children of the carrier's. A carrier that is no
// traceparent does not change the parent.
func resumed(ctx context.Context, carrier string) context.Context {
	caller := trace.SpanContextFromContext(ctx)
	if earlier, ok := ctx.Value(callerKey{}).(trace.SpanContext); ok && caller.IsRemote() {
		caller = earlier // ctx continues a trace already
	}
	ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{traceparent: carrier})
	if !caller.IsValid() {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, caller)
}

// callerOf returns the span to which a span that begins now needs a link. It is valid if the new
// span is the first of this process in the intent's trace, and the caller is in another trace.
func callerOf(ctx context.Context) trace.SpanContext {
	caller, _ := ctx.Value(callerKey{}).(trace.SpanContext)
	parent := trace.SpanContextFromContext(ctx)
	if !parent.IsRemote() || parent.TraceID() == caller.TraceID() {
		return trace.SpanContext{}
	}
	return caller
}
