package oteldurable

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/quickstream-go/quickstream/durable"
)

const (
	operationKey  = attribute.Key("quickstream.operation")
	standingKey   = attribute.Key("quickstream.durable.standing")
	differenceKey = attribute.Key("quickstream.durable.difference")
	errorKey      = attribute.Key("error.type")
)

// Count returns the options of an engine with an OnOutcome and an OnDifference that count what they are notified of
// and call those of opts. OnDifference may be nil. Without an OnOutcome no outcome is counted. An outcome that OnOutcome
// refuses is counted with an error.type, and once more when it is notified again. An outcome whose transaction does
// not commit is counted once more too: exact numbers are in the database.
func Count[TTx any](meterProvider metric.MeterProvider, opts durable.Options[TTx]) (durable.Options[TTx], error) {
	if meterProvider == nil {
		return opts, errors.New("oteldurable: the meter provider is nil")
	}
	meter := meterProvider.Meter(scope)
	outcomes, err := meter.Int64Counter("quickstream.durable.outcomes", metric.WithUnit("{outcome}"),
		metric.WithDescription("Outcomes that OnOutcome was notified of."))
	if err != nil {
		return opts, err
	}
	differences, err := meter.Int64Counter("quickstream.durable.differences", metric.WithUnit("{difference}"),
		metric.WithDescription("Differences that comparisons have found."))
	if err != nil {
		return opts, err
	}
	for _, kind := range kinds() { // so that the first one is seen as a change
		differences.Add(context.Background(), 0, metric.WithAttributes(differenceKey.String(string(kind))))
	}
	if onOutcome := opts.OnOutcome; onOutcome != nil {
		opts.OnOutcome = func(ctx context.Context, tx TTx, change durable.OutcomeChange) error {
			err := onOutcome(ctx, tx, change)
			attributes := []attribute.KeyValue{operationKey.String(string(change.Write.Operation)), standingKey.String(change.Write.Name())}
			if err != nil {
				attributes = append(attributes, errorKey.String("refused"))
			}
			outcomes.Add(ctx, 1, metric.WithAttributes(attributes...))
			return err
		}
	}
	onDifference := opts.OnDifference
	opts.OnDifference = func(ctx context.Context, d durable.Difference) error {
		differences.Add(ctx, 1, metric.WithAttributes(differenceKey.String(string(d.Kind))))
		if onDifference == nil {
			return nil
		}
		return onDifference(ctx, d)
	}
	return opts, nil
}

// kinds returns all kinds of differences.
func kinds() []durable.DifferenceKind {
	return []durable.DifferenceKind{
		durable.DifferenceMissingHere, durable.DifferenceMissingThere, durable.DifferenceAmount, durable.DifferenceState, durable.DifferenceLate, durable.DifferenceDoubleCharged,
		durable.DifferenceNotFoundCharged, durable.DifferenceNotOurs, durable.DifferenceUnreadable,
	}
}
