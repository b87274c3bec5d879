// Package oteldurable turns the health of a durable engine, and what becomes of its writes, into
// OpenTelemetry metrics. It is a module of its own, so that otelquickstream needs neither durable nor
// what that depends on.
//
//	opts, err := oteldurable.Count(otel.GetMeterProvider(), durable.Options[*sql.Tx]{ … })
//	engine, err := durable.New(ctx, store, client, opts)
//	_, err = oteldurable.Watch(otel.GetMeterProvider(), engine.Health)
//
// The README has a table of the metrics, and durable/alerts.yml the alerts on them. Attributes are states,
// operations and kinds, all of fixed sets: no ids, no orders, no receipts, and no names of persons.
package oteldurable
