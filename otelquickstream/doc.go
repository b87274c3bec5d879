// Package otelquickstream turns the calls of a quickstream client into OpenTelemetry
// spans and metrics.
//
//	observer, err := otelquickstream.NewObserver(otel.GetTracerProvider(), otel.GetMeterProvider())
//	client, err := quickstream.NewClient(env, keys, quickstream.WithObserver(observer))
//
// # Spans
//
// A call is a span named by its operation, such as "Transactions.Pay", and each request
// that is sent for it a child of that span, such as "POST /transactions". Both are of
// kind client. The requests follow the stable conventions for HTTP clients. The span of
// the call has no HTTP attributes, so that nothing counts a request twice. A span has
// the status Error when its call returned an error or its request had no answer or one
// of 400 or more, with error.type from a fixed set. A report that is not ready
// is no error. Nor is a payment that is declined: its call has succeeded, and an observer
// does not see transactions. Count outcomes where you read Transaction.Outcome.
//
// A request's span is made when the request has ended, with the times of its beginning
// and its end. What runs within it, such as the spans of an instrumented http.Client, is
// beside it under the span of the call. Use one of the two.
//
// # Traces of payments
//
// An intent carries the W3C traceparent of the call that made it, and of the context that
// Plan was given. The spans of Submit, Resume and ResumeChange are children of that
// span, so that a payment is one trace from its checkout to its last look-up, days later
// too: who holds the order finds all that was done about it in one place, and sampling,
// which is decided once for the trace, keeps all of it or nothing. Where these methods run
// under another trace, such as that of a job, each span of theirs has a link to the
// span that they were called in. A webhook handler or a job that knows the intent does
// the same for its own spans with observer.Continue(ctx, intent.Carrier).
//
// The carrier has no tracestate and no baggage, which may hold values, and the service is
// sent neither: its interface has no place for a trace.
//
// # Values
//
// Names, attributes, links and labels hold operations, route templates, statuses,
// counts, the host and names from fixed sets. There are no addresses with their path
// (url.full), which hold receipts and references, and no texts of errors, which may
// be those of your hooks. The one thing that the service words is the trace code, on
// spans alone: it identifies a request for the service's support, is "?" when it does not
// look like one, and is left out where it repeats what the call sent.
package otelquickstream
