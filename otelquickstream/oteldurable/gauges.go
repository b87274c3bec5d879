package oteldurable

import (
	"time"

	"go.opentelemetry.io/otel/attribute"

	"github.com/quickstream-go/quickstream/durable"
)

const (
	stateKey    = attribute.Key("quickstream.durable.state")
	reasonKey   = attribute.Key("quickstream.durable.reason")
	pausedByKey = attribute.Key("quickstream.durable.paused.by")
)

// point is one value of a gauge.
type point struct {
	value      float64
	attributes []attribute.KeyValue
}

// gauge is a metric with one name that is read from a health.
type gauge struct {
	name, unit, description string
	read                    func(h durable.Health) []point
}

// gauges returns all gauges. A gauge with nothing to report is zero, so that a missing one means that no process reports.
func gauges() []gauge {
	const seconds, writes, notifications = "s", "{write}", "{notification}"
	return []gauge{
		{"quickstream.durable.write.count", writes, "Writes that are not over, by state, and by reason if they need a person.", states},
		{"quickstream.durable.unknown.count", writes, "Writes whose outcome is unknown.", one(func(h durable.Health) float64 { return float64(h.Unknown) })},
		{"quickstream.durable.unknown.age", seconds, "Age of the oldest write whose outcome is unknown.", one(func(h durable.Health) float64 { return h.UnknownFor.Seconds() })},
		{"quickstream.durable.overdue.age", seconds, "For how long what is due has waited.", one(func(h durable.Health) float64 { return h.Overdue.Seconds() })},
		{"quickstream.durable.hook.failed.count", writes, "Writes of which OnOutcome has not taken what is known, after it has failed.", one(func(h durable.Health) float64 { return float64(h.HookFailed) })},
		{"quickstream.durable.hook.wait", seconds, "For how long a change has waited for OnOutcome.", one(func(h durable.Health) float64 { return h.HookWaits.Seconds() })},
		{"quickstream.durable.discarded.count", "{job}", "Jobs that somebody has cancelled, or that River has given up.", one(func(h durable.Health) float64 { return float64(h.Discarded) })},
		{"quickstream.durable.received.count", notifications, "Notifications that wait to be confirmed.", one(func(h durable.Health) float64 { return float64(h.Received) })},
		{"quickstream.durable.held.count", notifications, "Notifications that wait and have failed before.", one(func(h durable.Health) float64 { return float64(h.Held) })},
		{"quickstream.durable.restoring.age", seconds, "Since when payments that the database lacks are read.", since(func(h durable.Health) time.Time { return h.Restoring })},
		{"quickstream.durable.restoring.unreadable", "", "1 if a list of the service cannot be read meanwhile.", one(func(h durable.Health) float64 { return flag(h.Unreadable != "") })},
		{"quickstream.durable.maybe_copy", "", "1 if the database may be a copy of one that is in use.", one(func(h durable.Health) float64 { return flag(h.MaybeCopy) })},
		{"quickstream.durable.paused.age", seconds, "Since when nothing is sent, by who paused.", paused},
		{"quickstream.durable.comparison.age", seconds, "Since when the last comparison has ended; missing before the first.", compared(func(h durable.Health) float64 { return age(h, h.Comparison.At) })},
		{"quickstream.durable.comparison.transaction.count", "{transaction}", "Transactions that the last comparison has read.", compared(func(h durable.Health) float64 { return float64(h.Comparison.Transactions) })},
		{"quickstream.durable.comparison.difference.count", "{difference}", "Differences that the last comparison has found.", compared(func(h durable.Health) float64 { return float64(h.Comparison.Differences) })},
		{"quickstream.durable.comparison.failing.age", seconds, "Since when each comparison has failed.", since(func(h durable.Health) time.Time { return h.Comparison.FailingSince })},
		{"quickstream.durable.returns.age", seconds, "Since which day's midnight (UTC) returned payments were last read; missing before the first.", known(func(h durable.Health) bool { return !h.ReturnsRead.IsZero() }, func(h durable.Health) float64 { return age(h, h.ReturnsRead.In(time.UTC)) })},
		{"quickstream.durable.other_facility", "", "1 if the database belongs to another facility.", one(func(h durable.Health) float64 { return flag(h.Facility != nil) })},
		{"quickstream.durable.clock.database.ahead", seconds, "How far the database's clock is ahead of this machine's.", one(func(h durable.Health) float64 { return h.DatabaseAhead.Seconds() })},
		{"quickstream.durable.clock.service.ahead", seconds, "How far the service's clock is ahead of the database's; missing before its first answer.", known(func(h durable.Health) bool { return !h.ServiceAt.IsZero() }, func(h durable.Health) float64 { return h.ServiceAhead.Seconds() })},
	}
}

func one(read func(durable.Health) float64) func(durable.Health) []point {
	return func(h durable.Health) []point { return []point{{value: read(h)}} }
}

// since reads for how long something has been so; zero if it is not.
func since(read func(durable.Health) time.Time) func(durable.Health) []point {
	return one(func(h durable.Health) float64 { return age(h, read(h)) })
}

func age(h durable.Health, at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return max(0, h.At.Sub(at).Seconds())
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

// known reads a gauge that is missing until its value is known.
func known(is func(durable.Health) bool, read func(durable.Health) float64) func(durable.Health) []point {
	return func(h durable.Health) []point {
		if !is(h) {
			return nil
		}
		return []point{{value: read(h)}}
	}
}

// compared reads what the last comparison has found, if there was one.
func compared(read func(durable.Health) float64) func(durable.Health) []point {
	return known(func(h durable.Health) bool { return !h.Comparison.Day.IsZero() }, read)
}

func states(h durable.Health) (points []point) {
	for _, state := range []durable.State{durable.StateQueued, durable.StateSending, durable.StatePending, durable.StateUnknown} {
		points = append(points, point{float64(h.Writes[state]), []attribute.KeyValue{stateKey.String(string(state))}})
	}
	for _, reason := range []durable.Reason{
		durable.ReasonNotFound, durable.ReasonUnresolved, durable.ReasonLookupsFailed, durable.ReasonAltered, durable.ReasonRestored, durable.ReasonReversed, durable.ReasonDoubleCharged,
	} {
		points = append(points, point{float64(h.NeedPerson[reason]), []attribute.KeyValue{stateKey.String(string(durable.StateNeedsPerson)), reasonKey.String(string(reason))}})
	}
	return points
}

// paused tells a person's pause from the service's, without a name.
func paused(h durable.Health) []point {
	person, service := 0.0, age(h, h.Paused)
	if h.PausedBy != "" {
		person, service = service, 0
	}
	return []point{
		{person, []attribute.KeyValue{pausedByKey.String("person")}},
		{service, []attribute.KeyValue{pausedByKey.String("service")}},
	}
}
