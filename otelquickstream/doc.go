// Package otelquickstream turns the calls of a quickstream client into OpenTelemetry
// spans and metrics.
//
//	observer, err := otelquickstream.NewObserver(otel.GetTracerProvider(), otel.GetMeterProvider())
//	client, err := quickstream.NewClient(env, keys, quickstream.WithObserver(observer))
//
// A call is a span named by its operation, such as "Transactions.Pay", and each request
// that is sent for it a child of that span, such as "POST /transactions". A span has the
// status Error when its call returned an error or its request had no answer or one of 400
// or more. A payment that is declined is no error: its call has succeeded.
//
// A request's span is made when the request has ended. What runs within it, such as the
// spans of an instrumented http.Client, is beside it under the span of the call. Use one
// of the two.
//
// An intent carries the W3C traceparent of the call that made it. The spans of Submit,
// Resume and ResumeChange are children of that span, so that a payment is one trace from
// its checkout to its last look-up. In another trace, such as that of a job, they have a
// link to the span that they were called in. A webhook handler or a job that knows the
// intent does the same for its own spans with observer.Continue(ctx, intent.Carrier).
//
// Names, attributes, links and labels hold names from fixed sets, counts and the host. The
// README lists them, and what is never exported.
package otelquickstream
