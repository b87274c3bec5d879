package resolve

import (
	"time"
	_ "time/tzdata" // Sydney's daylight saving, in containers without zone data too

	"github.com/quickstream-go/quickstream"
)

// TimeOfDay is a time of day in Sydney.
type TimeOfDay struct{ Hour, Minute int }

// ServiceRetries says whether the facility lets the service retry declined payments
// by itself. That is a setting of the merchant's, which nobody else knows:
// ServiceRetriesOff and ServiceRetriesFor make it. The zero value says nothing, and a
// soft decline is then held as long as a status may take.
type ServiceRetries struct {
	said bool
	last time.Duration
}

// ServiceRetriesOff says that the service retries nothing: a decline is settled at
// once.
func ServiceRetriesOff() ServiceRetries { return ServiceRetries{said: true} }

// ServiceRetriesFor says that the service may retry a decline until so long after the
// payment.
func ServiceRetriesFor(d time.Duration) ServiceRetries { return ServiceRetries{said: true, last: d} }

// mayFollow is for how long after a payment a retry may follow.
func (p Policy) mayFollow() time.Duration {
	if !p.ServiceRetries.said {
		return p.Limit
	}
	return p.ServiceRetries.last
}

// Policy says when to look. DefaultPolicy returns the service's procedure.
type Policy struct {
	// ServiceRetries holds a soft decline until no retry can follow any more.
	ServiceRetries ServiceRetries
	// CutOff is when the business of a settlement date closes, in Sydney.
	CutOff TimeOfDay
	// CutOffs holds the cut-offs of kinds of account that differ from CutOff.
	CutOffs map[quickstream.AccountType]TimeOfDay
	// Margin is how long after a cut-off to look.
	Margin time.Duration
	// Limit is how long a final status can take. After it, a payment is absent or
	// escalated.
	Limit time.Duration
	// Delays are the pauses before the first looks for a payment that cannot be
	// found yet, before the cut-off is waited for.
	Delays []time.Duration
	// RetryDelay is the pause after a look-up that failed; it doubles up to
	// MaxRetryDelay.
	RetryDelay    time.Duration
	MaxRetryDelay time.Duration
}

// DefaultPolicy returns the service's procedure: the card cut-off for every kind
// of account, half an hour of margin, a limit of 48 hours. Whether the facility lets
// the service retry declines by itself has no default: a decline that is retried may
// be approved, and charge the customer, after somebody has paid again.
func DefaultPolicy(retries ServiceRetries) Policy {
	return Policy{
		ServiceRetries: retries,
		CutOff:         TimeOfDay{Hour: 18},
		Margin:         30 * time.Minute,
		Limit:          48 * time.Hour,
		Delays:         []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, time.Hour},
		RetryDelay:     30 * time.Second,
		MaxRetryDelay:  30 * time.Minute,
	}
}

// sydney returns the service's time zone. The import of time/tzdata makes it
// available everywhere.
func sydney() *time.Location {
	location, err := time.LoadLocation("Australia/Sydney")
	if err != nil {
		return time.FixedZone("AEST", 10*60*60)
	}
	return location
}

// afterCutOff returns when to look after the cut-off of a settlement date.
func (p Policy) afterCutOff(settlement quickstream.Date, account quickstream.AccountType) time.Time {
	cutOff, ok := p.CutOffs[account]
	if !ok {
		cutOff = p.CutOff
	}
	return time.Date(settlement.Year, settlement.Month, settlement.Day, cutOff.Hour, cutOff.Minute, 0, 0, sydney()).Add(p.Margin)
}

// nextCutOff returns when to look after the first cut-off that follows t, for a
// payment whose settlement date is not known.
func (p Policy) nextCutOff(t time.Time) time.Time {
	today := quickstream.DateOf(t.In(sydney()))
	if at := p.afterCutOff(today, ""); !at.Add(-p.Margin).Before(t) {
		return at
	}
	return p.afterCutOff(today.AddDays(1), "")
}

// nextDay returns the same time on the next day in Sydney, which is 23 or 25
// hours later when daylight saving begins or ends.
func nextDay(t time.Time) time.Time { return t.In(sydney()).AddDate(0, 0, 1) }
