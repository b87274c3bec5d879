package resolve

import (
	"time"
	_ "time/tzdata" // Sydney's daylight saving, for containers without zone data

	"github.com/quickstream-go/quickstream"
)

// TimeOfDay is a time of day in Sydney.
type TimeOfDay struct{ Hour, Minute int }

// ServiceRetries says whether the service retries declined payments, which is a setting of the
// merchant's facility. Make it with [ServiceRetriesOff] or [ServiceRetriesFor]. The zero value is
// unknown: a soft decline is held as if a retry could follow for 48 hours.
type ServiceRetries struct {
	said bool
	last time.Duration
}

// ServiceRetriesOff says that the service retries nothing: a decline settles immediately. A decline that only a look-up
// found settles then if the payment was certainly sent only once: otherwise another transaction may still appear.
func ServiceRetriesOff() ServiceRetries { return ServiceRetries{said: true} }

// ServiceRetriesFor says that the service may retry a decline for this long after the payment. If d
// is not positive, such as from an empty setting, it is unknown: only [ServiceRetriesOff] says that
// there are no retries.
func ServiceRetriesFor(d time.Duration) ServiceRetries {
	return ServiceRetries{said: d > 0, last: max(d, 0)}
}

// nextStep lets a soft decline be paid again at once if the service retries nothing.
func (p Policy) nextStep(step quickstream.NextStep) quickstream.NextStep {
	if step == quickstream.NextStepCheckRetries && p.mayFollow() <= 0 {
		return quickstream.NextStepPayAgain
	}
	return step
}

// mayFollow returns how long after a payment a retry may follow.
func (p Policy) mayFollow() time.Duration {
	if !p.ServiceRetries.said {
		return final
	}
	return p.ServiceRetries.last
}

// Calendar is the merchant's calendar of the days on which the service settles.
type Calendar struct {
	// IsBusinessDay reports whether a date is a business day.
	IsBusinessDay func(quickstream.Date) bool
	// Until is the last date that IsBusinessDay covers.
	Until quickstream.Date
}

// Policy says when to look up. [DefaultPolicy] returns the service's procedure.
type Policy struct {
	// ServiceRetries holds a soft decline until no retry can follow.
	ServiceRetries ServiceRetries
	// CutOff is the settlement cut-off, in Sydney; the latest, if account types have several.
	CutOff TimeOfDay
	// Calendar makes not_found come after two business days. If it does not cover them, not_found
	// comes after five weekdays, which is enough over Easter and Christmas.
	Calendar Calendar
}

// DefaultPolicy returns the service's procedure, with the card cut-off for all accounts. Service retries
// have no default, because a retried decline may be approved after the customer has paid again.
func DefaultPolicy(retries ServiceRetries) Policy {
	return Policy{ServiceRetries: retries, CutOff: TimeOfDay{Hour: 18}}
}

const (
	// margin is how long after a cut-off to look up.
	margin = 30 * time.Minute
	// final is how long a final status can take. A case without one by then is escalated. No case is not_found earlier.
	final = 48 * time.Hour
	// answered is how long the payer of a pending PayTo payment may have to answer.
	answered = 7200 * time.Minute
	// watched is how long look-ups go on after an end without an outcome. It also limits the wait
	// for a date that the service shows.
	watched = 14 * 24 * time.Hour
	// While nothing is found, or a payer has to answer, the pause is three times the time since sending, from the first to the second.
	soonest, latestSoon = 5 * time.Second, 90 * time.Minute
	// The pause after a failed look-up doubles from the first to the second.
	failedDelay, maxFailedDelay = 30 * time.Second, 30 * time.Minute
)

// sydney returns the service's time zone, which time/tzdata makes available.
func sydney() *time.Location {
	location, err := time.LoadLocation("Australia/Sydney")
	if err != nil {
		return time.UTC
	}
	return location
}

// afterCutOff returns when to look up after the cut-off of a settlement date.
func (p Policy) afterCutOff(settlement quickstream.Date) time.Time {
	return time.Date(settlement.Year, settlement.Month, settlement.Day, p.CutOff.Hour, p.CutOff.Minute, 0, 0, sydney()).Add(margin)
}

// nextCutOff returns when to look up after the first cut-off after t, for an unknown settlement date.
func (p Policy) nextCutOff(t time.Time) time.Time {
	today := dateOf(t)
	if at := p.afterCutOff(today); at.Add(-margin).After(t) {
		return at
	}
	return p.afterCutOff(today.AddDays(1))
}

// cutOffOf returns when to look up after the cut-off that settles a payment. A settlement date in
// the past is ignored, and a distant one is not waited for.
func (p Policy) cutOffOf(c Case) time.Time {
	next := p.nextCutOff(c.Intent.MadeAt)
	if c.Seen.SettlementDate.IsZero() {
		return next
	}
	return latest(next, earliest(p.afterCutOff(c.Seen.SettlementDate), c.Intent.MadeAt.Add(watched)))
}

// retried returns when the last retry of the service can be read, which lists may not show before a cut-off.
func (p Policy) retried(c Case) time.Time {
	last := c.Intent.MadeAt.Add(p.mayFollow())
	return latest(last.Add(final/2), p.nextCutOff(last))
}

// limit returns when a final status must exist. A retry has the same time from its creation; a
// payer has one more cut-off after answering.
func (p Policy) limit(c Case) time.Time {
	limit := c.Intent.MadeAt.Add(final)
	if c.anyLookup(func(l Lookup) bool { return l.Retryable }) {
		limit = limit.Add(p.mayFollow())
	}
	if c.Seen.PayTo {
		limit = latest(limit, p.nextCutOff(c.Intent.MadeAt.Add(answered)))
	}
	return limit
}

// horizon returns when a payment that cannot be found is not_found: not before the limit, and not
// before the service has settled twice on business days after sending.
func (p Policy) horizon(sent time.Time) time.Time {
	return latest(p.afterCutOff(p.lastDate(sent)), sent.Add(final))
}

// lastDate returns the second business day after sending, and without a calendar the fifth weekday.
func (p Policy) lastDate(sent time.Time) quickstream.Date {
	settled := func(days int, business func(quickstream.Date) bool) (day quickstream.Date) {
		for day = dateOf(sent); days > 0; {
			if day = day.AddDays(1); business(day) {
				days--
			}
		}
		return day
	}
	if calendar := p.Calendar; calendar.IsBusinessDay != nil {
		covered := func(d quickstream.Date) bool { return d.Compare(calendar.Until) > 0 || calendar.IsBusinessDay(d) }
		if day := settled(2, covered); day.Compare(calendar.Until) <= 0 {
			return day
		}
	}
	return settled(5, weekday)
}

func weekday(d quickstream.Date) bool {
	day := d.In(time.UTC).Weekday()
	return day != time.Saturday && day != time.Sunday
}

func dateOf(t time.Time) quickstream.Date { return quickstream.DateOf(t.In(sydney())) }

// nextDay returns the same time next day in Sydney, 23 to 25 hours later.
func nextDay(t time.Time) time.Time { return t.In(sydney()).AddDate(0, 0, 1) }

func earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
