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
// # What is exported
//
// A call's span has quickstream.operation, quickstream.result, quickstream.attempts,
// quickstream.trace_code and error.type. A request's span follows the conventions for HTTP
// clients, one span for each resend; url.full is missing, because addresses hold receipts and
// references, and url.template is the route below the environment's address.
//
// Metrics are quickstream.client.calls by operation, result and error.type,
// quickstream.client.call.duration by operation and result, and http.client.request.duration
// of the conventions. The result is success, not_sent, network_failed, unknown, answered or
// undecodable. Watch unknown: each one is an order on hold.
//
// The error.type of a request is its status, or network_ with the kind. That of a call is
// network_ with the kind, answer_ with the meaning of the answer, validation, key_required or
// not_sent if nothing was sent, undecodable, unsettled (an unknown outcome after an answer that
// does not settle it) or _OTHER.
//
// Never exported are secrets, references, receipts, tokens, amounts, paths with identifiers,
// texts of errors and bodies. The trace code, which the service's support asks for, is the only
// text of the service. It is left out if it repeats what the call sent.
package otelquickstream
