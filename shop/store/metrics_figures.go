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
	Approved, Declined int            // payments, in a day
	States             map[string]int // writes
	Health             durable.Health
}

// Ended counts the payments that the approval rate is of.
func (f figures) Ended() int { return f.Approved + f.Declined }

// Rate is the approval rate, in percent.
func (f figures) Rate() float64 { return 100 * float64(f.Approved) / float64(max(1, f.Ended())) }

// figures reads the figures, all of which the database knows.
func (s *server) figures(ctx context.Context) (f figures, err error) {
	if f.Health, err = s.engine.Health(ctx); err != nil {
		return f, err
	}
	err = s.db.QueryRowContext(ctx, `SELECT
		(SELECT count(*) FROM shop_write WHERE operation = 'Transactions.Pay' AND ended > ?1 AND state IN ('approved', 'voided', 'returned', 'double_charged')),
		(SELECT count(*) FROM shop_write WHERE operation = 'Transactions.Pay' AND ended > ?1 AND state IN ('declined', 'rejected', 'refused'))`,
		micros(s.clock.Now().Add(-24*time.Hour))).Scan(&f.Approved, &f.Declined)
	if err != nil {
		return f, err
	}
	// durable counts what is settled as one state.
	f.States, err = s.counted(ctx, "SELECT state, count(*) FROM shop_write WHERE ended IS NOT NULL GROUP BY state")
	for state, n := range f.Health.Writes {
		f.States[string(state)] = n
	}
	return f, err
}

// counted reads how many there are of each state.
func (s *server) counted(ctx context.Context, query string) (map[string]int, error) {
	counts := map[string]int{}
	rows, err := s.db.QueryContext(ctx, query)
	if err != nil {
		return counts, err
	}
	_, err = all(rows, func(scan func(...any) error) (state string, err error) {
		n := 0
		err = scan(&state, &n)
		counts[state] = n
		return state, err
	})
	return counts, err
}

// states are all of them: one that no payment is in is observed too, so that the first one
// is seen as a change.
func states() []string {
	return []string{
		"queued", "sending", "resolving", "approved", "declined", "rejected", "refused", "not_sent", "voided", "returned",
		"not_found", "escalated", "double_charged",
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
			to.ObserveInt64(payments, int64(f.States[state]), metric.WithAttributes(attribute.String("state", state)))
		}
		to.ObserveFloat64(oldest, f.Health.UnknownFor.Seconds())
		to.ObserveInt64(ended, int64(f.Approved), metric.WithAttributes(attribute.String("outcome", "approved")))
		to.ObserveInt64(ended, int64(f.Declined), metric.WithAttributes(attribute.String("outcome", "declined")))
		to.ObserveInt64(webhooks, int64(f.Health.Received-f.Health.Held), metric.WithAttributes(attribute.Bool("failed", false)))
		to.ObserveInt64(webhooks, int64(f.Health.Held), metric.WithAttributes(attribute.Bool("failed", true)))
		return nil
	}, payments, oldest, ended, webhooks)
	return err
}
