package oteldurable

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/quickstream-go/quickstream/durable"
)

const (
	scope = "github.com/quickstream-go/quickstream/otelquickstream/oteldurable"

	// longest is how long a collection waits for the database.
	longest = 5 * time.Second
)

// Watch makes the gauges of an engine. health is the method Health of the engine. Each collection calls it once,
// for at most five seconds. If that fails the gauges are missing, and quickstream.durable.health.failures counts it.
// Every process reports the same values: take the largest, not the sum. Unregister the result when the engine has stopped.
func Watch(meterProvider metric.MeterProvider, health func(context.Context) (durable.Health, error)) (metric.Registration, error) {
	if meterProvider == nil || health == nil {
		return nil, errors.New("oteldurable: the meter provider or the health is nil")
	}
	meter := meterProvider.Meter(scope)
	failures, err := meter.Int64ObservableCounter("quickstream.durable.health.failures", metric.WithUnit("{failure}"),
		metric.WithDescription("Collections whose call of Health failed."))
	if err != nil {
		return nil, err
	}
	gauges := gauges()
	instruments, made := []metric.Observable{failures}, make([]metric.Float64Observable, len(gauges))
	for i, g := range gauges {
		gauge, err := meter.Float64ObservableGauge(g.name, metric.WithUnit(g.unit), metric.WithDescription(g.description))
		if err != nil {
			return nil, err
		}
		made[i], instruments = gauge, append(instruments, gauge)
	}
	var failed atomic.Int64
	return meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		h, err := health(ctx)
		if err != nil {
			failed.Add(1)
		}
		o.ObserveInt64(failures, failed.Load())
		if err != nil {
			return nil // other metrics are collected all the same
		}
		for i, g := range gauges {
			for _, p := range g.read(h) {
				o.ObserveFloat64(made[i], p.value, metric.WithAttributes(p.attributes...))
			}
		}
		return nil
	}, instruments...)
}
