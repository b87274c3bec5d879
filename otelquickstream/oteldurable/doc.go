// Package oteldurable turns the health of a durable engine, and the outcomes of its writes, into
// OpenTelemetry metrics. It is a module of its own, so that otelquickstream needs neither durable nor
// its dependencies.
//
//	opts, err := oteldurable.Count(otel.GetMeterProvider(), durable.Options[*sql.Tx]{ … })
//	engine, err := durable.New(ctx, store, client, opts)
//	_, err = oteldurable.Watch(otel.GetMeterProvider(), engine.Health)
//
// The gauges are those of [durable.Health], under quickstream.durable: write.count by state and reason,
// unknown.count and unknown.age, overdue.age, hook.failed.count, hook.wait, discarded.count, received.count,
// held.count, restoring.age and restoring.unreadable, maybe_copy, paused.age by paused.by, comparison.age,
// comparison.transaction.count, comparison.difference.count and comparison.failing.age, returns.age, other_facility,
// clock.database.ahead and clock.service.ahead. Counters are health.failures, outcomes and differences. Each has a
// description and a unit. Ages are in seconds, and zero means that all is well. durable/alerts.yml has alerts for
// Prometheus, by the names that OpenTelemetry's exporter makes.
//
// Attributes are states, operations and kinds, all of fixed sets: no ids, no orders, no receipts, and no names of
// persons.
package oteldurable
