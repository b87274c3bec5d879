package store

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/quickstream-go/quickstream/durable"
)

// figures are what an operator watches.
type figures struct {
	Approved, Declined int // payments, in a day
	Status             durable.Status
}

// Ended counts the payments that the approval rate is of.
func (f figures) Ended() int { return f.Approved + f.Declined }

// Rate is the approval rate, in percent.
func (f figures) Rate() float64 { return 100 * float64(f.Approved) / float64(max(1, f.Ended())) }

// figures reads the figures, all of which the database knows.
func (s *server) figures(ctx context.Context) (f figures, err error) {
	if f.Status, err = s.engine.Status(ctx); err != nil {
		return f, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM shop_write WHERE operation = 'Transactions.Pay' AND ended > ?1 AND state IN ('approved', 'voided', 'returned', 'charged twice')),
		(SELECT count(*) FROM shop_write WHERE operation = 'Transactions.Pay' AND ended > ?1 AND state IN ('declined', 'refused'))`,
		micros(s.clock.Now().Add(-24*time.Hour))).Scan(&f.Approved, &f.Declined)
	return f, err
}

// states are all of them: one that no payment is in is observed too, so that the first one
// is seen as a change.
func states() []durable.State {
	return []durable.State{
		durable.StatePrepared, durable.StateSending, durable.StateUnknown, durable.StateApproved, durable.StateDeclined, durable.StateRefused,
		durable.StateNotSent, durable.StateVoided, durable.StateReturned, durable.StateAbsent, durable.StateEscalated, durable.StateTwice,
	}
}

// gauges has the metrics read what is stored, whenever they are asked for.
func (s *server) gauges() error {
	meter := s.telemetry.meters.Meter("shop")
	payments, err := meter.Int64ObservableGauge("shop.payments", metric.WithUnit("{payment}"), metric.WithDescription("Payments and other writes, by state."))
	if err != nil {
		return err
	}
	oldest, err := meter.Float64ObservableGauge("shop.unknown.oldest", metric.WithUnit("s"), metric.WithDescription("For how long an outcome was not known at the longest."))
	if err != nil {
		return err
	}
	ended, err := meter.Int64ObservableGauge("shop.payments.day", metric.WithUnit("{payment}"), metric.WithDescription("Payments that have ended within a day."))
	if err != nil {
		return err
	}
	webhooks, err := meter.Int64ObservableGauge("shop.webhooks.waiting", metric.WithUnit("{notification}"), metric.WithDescription("Notifications that wait to be confirmed."))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(ctx context.Context, to metric.Observer) error {
		f, err := s.figures(ctx)
		if err != nil {
			return err
		}
		for _, state := range states() {
			to.ObserveInt64(payments, int64(f.Status.Payments[state]), metric.WithAttributes(attribute.String("state", string(state))))
		}
		to.ObserveFloat64(oldest, f.Status.UnknownFor.Seconds())
		to.ObserveInt64(ended, int64(f.Approved), metric.WithAttributes(attribute.String("outcome", "approved")))
		to.ObserveInt64(ended, int64(f.Declined), metric.WithAttributes(attribute.String("outcome", "declined")))
		to.ObserveInt64(webhooks, int64(f.Status.Received-f.Status.Held), metric.WithAttributes(attribute.Bool("failed", false)))
		to.ObserveInt64(webhooks, int64(f.Status.Held), metric.WithAttributes(attribute.Bool("failed", true)))
		return nil
	}, payments, oldest, ended, webhooks)
	return err
}
