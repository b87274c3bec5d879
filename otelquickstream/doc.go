// Package otelquickstream turns the calls of a quickstream client into OpenTelemetry
// spans and metrics.
//
//	observer, err := otelquickstream.NewObserver(otel.GetTracerProvider(), otel.GetMeterProvider())
//	client, err := quickstream.NewClient(env, keys, quickstream.WithObserver(observer))
//
// A call is a span named by its operation, such as "Transactions.Pay". Each request of the call
// is a child span, such as "POST /transactions", made when the request has ended. An instrumented
// http.Client makes another span for each request, so use one of the two. A declined payment is no
// error: its call has succeeded.
//
// An intent carries the W3C traceparent of the call that made it. The spans of Submit, Resume
// and ResumeChange are children of that span, with a link to the span of their caller: a payment
// is one trace from its checkout to its last look-up. A webhook handler or a job does the same
// with observer.Continue(ctx, intent.Carrier).
//
// The package never exports secrets, references, receipts, tokens, amounts, paths with
// identifiers, texts of errors or bodies. README.md lists what it exports.
package otelquickstream
