// Package otelquickstream turns the calls of a quickstream client into OpenTelemetry
// spans and metrics.
//
//	observer, err := otelquickstream.NewObserver(otel.GetTracerProvider(), otel.GetMeterProvider())
//	client, err := quickstream.NewClient(env, keys, quickstream.WithObserver(observer))
//
// A call is a span named by its operation, such as "Transactions.Pay". Each request that is
// sent for it is a child, such as "POST /transactions", made when the request has ended: spans
// of an instrumented http.Client stand beside it, so use one of the two. A declined payment is
// no error: its call has succeeded.
//
// An intent carries the W3C traceparent of the call that made it. The spans of Submit, Resume
// and ResumeChange are children of that span, with a link to where they were called: a payment
// is one trace from its checkout to its last look-up. A webhook handler or a job does the same
// with observer.Continue(ctx, intent.Carrier).
//
// Never exported are secrets, references, receipts, tokens, amounts, paths with identifiers,
// texts of errors and bodies. README.md lists what is.
package otelquickstream
