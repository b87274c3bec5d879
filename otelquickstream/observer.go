package otelquickstream

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/quickstream-go/quickstream"
)

const (
	scope = "github.com/quickstream-go/quickstream/otelquickstream"

	operationKey = attribute.Key("quickstream.operation")
	resultKey    = attribute.Key("quickstream.result")
	attemptsKey  = attribute.Key("quickstream.attempts")
	traceCodeKey = attribute.Key("quickstream.trace_code")
)

// observer has what all calls of a client share. The span of a call is in its context, under a
// key of the observer's, because the context's current span may be a wrapper's.
type observer struct {
	tracer    trace.Tracer
	calls     metric.Int64Counter
	durations metric.Float64Histogram
	requests  metric.Float64Histogram
}

// callKey finds the span that an observer has begun for a call.
type callKey struct{ *observer }

// NewObserver returns an observer for quickstream.WithObserver, which makes spans with the
// tracer provider and counts with the meter provider. It fails when one of them is nil or
// makes no instruments: give otel.GetTracerProvider() and otel.GetMeterProvider() for the
// global ones, and those of the packages noop for none. It may serve many clients.
func NewObserver(tracerProvider trace.TracerProvider, meterProvider metric.MeterProvider) (quickstream.Observer, error) {
	if tracerProvider == nil || meterProvider == nil {
		return quickstream.Observer{}, errors.New("otelquickstream: a provider is nil")
	}
	meter := meterProvider.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL))
	calls, countErr := meter.Int64Counter(
		"quickstream.client.calls", metric.WithUnit("{call}"),
		metric.WithDescription("Calls of the client, by how they ended."),
	)
	durations, callErr := meter.Float64Histogram(
		"quickstream.client.call.duration", metric.WithUnit("s"),
		metric.WithDescription("Duration of calls, with all their requests and the pauses between them."),
		metric.WithExplicitBucketBoundaries(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120),
	)
	requests, requestErr := httpconv.NewClientRequestDuration(meter)
	if err := errors.Join(countErr, callErr, requestErr); err != nil {
		return quickstream.Observer{}, err
	}
	o := &observer{
		tracer: tracerProvider.Tracer(scope, trace.WithSchemaURL(semconv.SchemaURL)),
		calls:  calls, durations: durations, requests: requests.Inst(),
	}
	return quickstream.Observer{Start: o.start, Attempt: o.attempt, End: o.end, Carrier: carrier, Continue: resumed}, nil
}

// start begins the span of a call.
func (o *observer) start(ctx context.Context, call quickstream.CallInfo) context.Context {
	opts := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(operationKey.String(string(call.Operation)))}
	if caller := callerOf(ctx); caller.IsValid() {
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: caller}))
	}
	ctx, span := o.tracer.Start(ctx, string(call.Operation), opts...)
	return context.WithValue(ctx, callKey{o}, span)
}

// attempt makes the span of a request that has ended. One whose call is not recorded is
// not recorded either.
func (o *observer) attempt(ctx context.Context, call quickstream.CallInfo, a quickstream.AttemptInfo) {
	attributes := []attribute.KeyValue{semconv.HTTPRequestMethodKey.String(call.Method), semconv.ServerAddress(a.Host), semconv.ServerPort(a.Port)}
	if a.StatusCode != 0 {
		attributes = append(attributes, semconv.HTTPResponseStatusCode(a.StatusCode))
	}
	failure := requestError(a)
	if failure != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(failure))
	}
	o.requests.Record(ctx, a.Duration.Seconds(), metric.WithAttributes(attributes...))
	parent, begun := ctx.Value(callKey{o}).(trace.Span)
	if !begun || !parent.IsRecording() {
		return
	}
	attributes = append(attributes, semconv.URLTemplate(call.Route))
	if a.Number > 1 {
		attributes = append(attributes, semconv.HTTPRequestResendCount(a.Number-1))
	}
	_, span := o.tracer.Start(trace.ContextWithSpan(ctx, parent), call.Method+" "+call.Route,
		trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(a.Start), trace.WithAttributes(attributes...))
	if failure != "" {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(a.Start.Add(a.Duration)))
}

// end ends the span of a call, and counts it.
func (o *observer) end(ctx context.Context, call quickstream.CallInfo, end quickstream.EndInfo) {
	operation, result, failure := operationKey.String(string(call.Operation)), resultKey.String(string(end.Result)), callError(end)
	o.durations.Record(ctx, end.Duration.Seconds(), metric.WithAttributes(operation, result))
	attributes := []attribute.KeyValue{result}
	if failure != "" {
		attributes = append(attributes, semconv.ErrorTypeKey.String(failure))
	}
	o.calls.Add(ctx, 1, metric.WithAttributes(append(attributes, operation)...))
	span, begun := ctx.Value(callKey{o}).(trace.Span)
	if !begun {
		return
	}
	attributes = append(attributes, attemptsKey.Int(end.Attempts))
	if end.TraceCode != "" {
		attributes = append(attributes, traceCodeKey.String(end.TraceCode))
	}
	span.SetAttributes(attributes...)
	if failure != "" {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
