package store

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// figures are what an operator watches.
type figures struct {
	Approved, Declined int           // payments, in a day
	Median, Slow       time.Duration // half of the calls, and 95 of 100, ended sooner
	Calls              uint64        // to take a payment, that were sent since the program has started
	Waiting, Held      int           // notifications that wait to be confirmed, and those of them that have failed
	Untaken            int           // notifications that could not be stored when they came last
	Refused            int64         // webhooks that were refused since the program has started, which anybody can send
	Status             durable.Status
}

// Ended counts the payments that the approval rate is of.
func (f figures) Ended() int { return f.Approved + f.Declined }

// Rate is the approval rate, in percent.
func (f figures) Rate() float64 { return 100 * float64(f.Approved) / float64(max(1, f.Ended())) }

// Unacknowledged counts notifications whose content has not come to rest here.
func (f figures) Unacknowledged() int { return f.Waiting + f.Untaken }

// stored reads the figures that the database knows.
func (s *server) stored(ctx context.Context) (f figures, err error) {
	if f.Status, err = s.engine.Status(ctx); err != nil {
		return f, err
	}
	f.Waiting, f.Held, f.Untaken = f.Status.Received, f.Status.Held, s.telemetry.untaken.count()
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
	untaken, err := meter.Int64ObservableGauge("shop.webhooks.untaken", metric.WithUnit("{notification}"), metric.WithDescription("Notifications that could not be stored when they came last."))
	if err != nil {
		return err
	}
	_, err = meter.RegisterCallback(func(ctx context.Context, to metric.Observer) error {
		f, err := s.stored(ctx)
		if err != nil {
			return err
		}
		for _, state := range states() {
			to.ObserveInt64(payments, int64(f.Status.Payments[state]), metric.WithAttributes(attribute.String("state", string(state))))
		}
		to.ObserveFloat64(oldest, f.Status.UnknownFor.Seconds())
		to.ObserveInt64(ended, int64(f.Approved), metric.WithAttributes(attribute.String("outcome", "approved")))
		to.ObserveInt64(ended, int64(f.Declined), metric.WithAttributes(attribute.String("outcome", "declined")))
		to.ObserveInt64(webhooks, int64(f.Waiting-f.Held), metric.WithAttributes(attribute.Bool("failed", false)))
		to.ObserveInt64(webhooks, int64(f.Held), metric.WithAttributes(attribute.Bool("failed", true)))
		to.ObserveInt64(untaken, int64(f.Untaken))
		return nil
	}, payments, oldest, ended, webhooks, untaken)
	return err
}

// figures reads all figures: those of the database, and those that were measured.
func (s *server) figures(ctx context.Context) (figures, error) {
	f, err := s.stored(ctx)
	if err != nil {
		return f, err
	}
	var measured metricdata.ResourceMetrics
	if err := s.telemetry.reader.Collect(ctx, &measured); err != nil {
		return f, err
	}
	for _, scope := range measured.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				if m.Name == "quickstream.client.call.duration" {
					f.latency(data)
				}
			case metricdata.Sum[int64]:
				if m.Name == "shop.webhooks.answers" {
					f.Refused = refused(data)
				}
			}
		}
	}
	return f, nil
}

// refused counts the webhooks that were refused: what failed here is told by the notification.
func refused(data metricdata.Sum[int64]) (n int64) {
	for _, point := range data.DataPoints {
		if status, _ := point.Attributes.Value("http.response.status_code"); status.AsInt64() < http.StatusInternalServerError && status.AsInt64() != http.StatusOK {
			n += point.Value
		}
	}
	return n
}

// latency reads how long calls to take a payment took from the histogram of all calls. One
// that did not get as far as the service says nothing of it, and would only seem fast.
func (f *figures) latency(data metricdata.Histogram[float64]) {
	var bounds []float64
	var counts []uint64
	for _, point := range data.DataPoints {
		operation, _ := point.Attributes.Value("quickstream.operation")
		result, _ := point.Attributes.Value("quickstream.result")
		unsent := result.AsString() == string(quickstream.CallResultNotSent) || result.AsString() == string(quickstream.CallResultNetworkFailed)
		if operation.AsString() != string(quickstream.OperationPay) || unsent {
			continue
		}
		if counts == nil {
			bounds, counts = point.Bounds, make([]uint64, len(point.BucketCounts))
		}
		for i, n := range point.BucketCounts {
			counts[i] += n
		}
		f.Calls += point.Count
	}
	f.Median, f.Slow = quantile(bounds, counts, f.Calls, .5), quantile(bounds, counts, f.Calls, .95)
}

// quantile estimates a quantile as Prometheus does: evenly within its bucket. Of what is
// above all bounds the last bound is said.
func quantile(bounds []float64, counts []uint64, total uint64, q float64) time.Duration {
	rank, below := q*float64(total), 0.0
	for i, n := range counts {
		if n == 0 || below+float64(n) < rank {
			below += float64(n)
			continue
		}
		if i == len(bounds) {
			return seconds(bounds[i-1])
		}
		from := 0.0
		if i > 0 {
			from = bounds[i-1]
		}
		return seconds(from + (bounds[i]-from)*(rank-below)/float64(n))
	}
	return 0
}

func seconds(s float64) time.Duration {
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}
