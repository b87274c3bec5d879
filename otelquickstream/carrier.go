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

// callerKey finds the span in which an intent is worked on, in a context that continues
// the intent's trace.
type callerKey struct{}

// resumed returns a context whose spans are children of the carrier's. What is no
// traceparent changes nothing.
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

// callerOf returns the span that a span which begins now is to be linked to: where it is
// the first of this process in the intent's trace, and the caller is in another.
func callerOf(ctx context.Context) trace.SpanContext {
	caller, _ := ctx.Value(callerKey{}).(trace.SpanContext)
	parent := trace.SpanContextFromContext(ctx)
	if !parent.IsRemote() || parent.TraceID() == caller.TraceID() {
		return trace.SpanContext{}
	}
	return caller
}
