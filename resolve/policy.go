package resolve

import (
	"context"
	"time"
	_ "time/tzdata" // Sydney's daylight saving, for containers without zone data

	"github.com/quickstream-go/quickstream"
)

// TimeOfDay is a time of day in Sydney.
type TimeOfDay struct{ Hour, Minute int }

// ServiceRetries says whether the facility lets the service retry declined payments, a setting of
// the merchant's facility. Make it with [ServiceRetriesOff] or [ServiceRetriesFor]. The zero value
// is unknown: a soft decline is held as long as a status may take.
type ServiceRetries struct {
	said bool
	last time.Duration
}

// ServiceRetriesOff says that the service retries nothing: a decline settles immediately. One that only a look-up found
// does so if the payment was surely sent once: otherwise another transaction may still appear.
func ServiceRetriesOff() ServiceRetries { return ServiceRetries{said: true} }

// ServiceRetriesFor says that the service may retry a decline for this long after the payment.
func ServiceRetriesFor(d time.Duration) ServiceRetries { return ServiceRetries{said: true, last: d} }

// NextStep returns what to do about a transaction, as its own method does. If the service retries
// nothing, a soft decline can be paid again at once: see [quickstream.NextStepCheckRetries].
func (p Policy) NextStep(t *quickstream.Transaction) quickstream.NextStep {
	return p.nextStep(t.NextStep())
}

func (p Policy) nextStep(step quickstream.NextStep) quickstream.NextStep {
	if step == quickstream.NextStepCheckRetries && p.ServiceRetries.said && p.ServiceRetries.last <= 0 {
		return quickstream.NextStepPayAgain
	}
	return step
}

// mayFollow returns how long after a payment a retry may follow.
func (p Policy) mayFollow() time.Duration {
	if !p.ServiceRetries.said {
		return p.Limit
	}
	return p.ServiceRetries.last
}

// Calendar is the merchant's calendar of the days on which the service settles.
type Calendar struct {
	// Business reports whether a date is a business day.
	Business func(quickstream.Date) bool
	// Until is the last date that Business covers.
	Until quickstream.Date
}

// Agreements reads PayTo agreements, such as Client.PayTo.
type Agreements interface {
	Get(ctx context.Context, agreementToken string, opts ...quickstream.CallOption) (*quickstream.Agreement, error)
}

// Policy says when to look up. [DefaultPolicy] returns the service's procedure.
type Policy struct {
	// ServiceRetries holds a soft decline until no retry can follow.
	ServiceRetries ServiceRetries
	// CutOff is the settlement cut-off, in Sydney.
	CutOff TimeOfDay
	// CutOffs has the account types with other cut-offs.
	CutOffs map[quickstream.AccountType]TimeOfDay
	// Margin is how long after a cut-off to look up.
	Margin time.Duration
	// Limit is how long a final status can take. Then a payment without one is escalated. A payment
	// that is not found ends no earlier.
	Limit time.Duration
	// Calendar lets not_found come after two business days. If it does not cover them, three
	// weekdays are waited for, which is enough over every long weekend.
	Calendar Calendar
	// Agreements lets [Policy.LookUp] read whether the payer of a pending PayTo payment may still
	// answer. Without it, or if it fails, the longest time is waited for.
	Agreements Agreements
	// Scan lets a case end as [StatusNotFound] only after the complete lists of its settlement dates
	// were read. Without it, not found means that no search by reference found anything.
	Scan DateScan
	// Delays are the pauses before the first look-ups for a payment that is not found yet.
	Delays []time.Duration
	// RetryDelay is the pause after a failed look-up; it doubles up to MaxRetryDelay.
	RetryDelay    time.Duration
	MaxRetryDelay time.Duration
}

// DefaultPolicy returns the service's procedure: the card cut-off for all accounts, a margin of
// half an hour, a limit of 48 hours. Service retries have no default, because a retried decline may
// be approved after the customer has paid again.
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

// sydney returns the service's time zone, which time/tzdata makes available.
func sydney() *time.Location {
	location, err := time.LoadLocation("Australia/Sydney")
	if err != nil {
		return time.UTC
	}
	return location
}

// afterCutOff returns when to look up after the cut-off of a settlement date.
func (p Policy) afterCutOff(settlement quickstream.Date, account quickstream.AccountType) time.Time {
	cutOff, ok := p.CutOffs[account]
	if !ok {
		cutOff = p.CutOff
	}
	return time.Date(settlement.Year, settlement.Month, settlement.Day, cutOff.Hour, cutOff.Minute, 0, 0, sydney()).Add(p.Margin)
}

// nextCutOff returns when to look up after the first cut-off after t, for an unknown settlement
// date.
func (p Policy) nextCutOff(t time.Time, account quickstream.AccountType) time.Time {
	today := dateOf(t)
	if at := p.afterCutOff(today, account); at.Add(-p.Margin).After(t) {
		return at
	}
	return p.afterCutOff(today.AddDays(1), account)
}

const (
	// watched is how long look-ups go on after an end without an outcome. No date of the service is
	// waited for longer.
	watched = 14 * 24 * time.Hour
	// respondBy is how long a payer has to answer if the agreement does not say.
	respondBy = 7200 * time.Minute
)

// cutOffOf returns when to look up after the cut-off that settles a payment. A past settlement date
// says nothing.
func (p Policy) cutOffOf(c Case) time.Time {
	next := p.nextCutOff(c.Intent.NotBefore, c.Seen.AccountType)
	if c.Seen.SettlementDate.IsZero() {
		return next
	}
	return latest(next, c.within(p.afterCutOff(c.Seen.SettlementDate, c.Seen.AccountType)))
}

// within bounds dates that the service gives.
func (c Case) within(t time.Time) time.Time { return earliest(t, c.Intent.NotBefore.Add(watched)) }

// retried returns when the service can retry no more and the last retry can be read: a new
// transaction may be missing from lists until a cut-off.
func (p Policy) retried(c Case) time.Time {
	last := c.Intent.NotBefore.Add(p.mayFollow())
	return latest(last.Add(p.Limit/2), p.nextCutOff(last, c.Seen.AccountType))
}

// limit returns when a final status must exist. A retry has the same time from its creation; a
// payer has one more cut-off after answering.
func (p Policy) limit(c Case) time.Time {
	limit := c.Intent.NotBefore.Add(p.Limit)
	if c.anyLookup(func(l Lookup) bool { return l.Retryable }) {
		limit = limit.Add(p.mayFollow())
	}
	if answers := c.answers(); !answers.IsZero() {
		limit = latest(limit, p.nextCutOff(answers, c.Seen.AccountType))
	}
	return limit
}

// answers returns until when the payer of a pending PayTo payment may answer; zero if they have
// answered.
func (c Case) answers() time.Time {
	switch c.Seen.Agreement {
	case quickstream.AgreementStatusActive, quickstream.AgreementStatusSuspended,
		quickstream.AgreementStatusCancelled, quickstream.AgreementStatusRejected:
		return time.Time{}
	default: // created, pending, unknown
	}
	account := c.Seen.AccountType
	if c.Seen.Outcome != quickstream.OutcomePending || account != "" && account != quickstream.AccountTypePayTo {
		return time.Time{}
	}
	if c.Seen.RespondBy.IsZero() {
		return c.Intent.NotBefore.Add(respondBy)
	}
	return c.within(c.Seen.RespondBy)
}

// horizon returns when a payment that cannot be found is not_found: not before the limit, and not
// before the service has settled twice on business days after sending.
func (p Policy) horizon(sent time.Time) time.Time {
	last := p.lastDate(sent)
	at := p.afterCutOff(last, "")
	for account := range p.CutOffs { // the account type is unknown
		at = latest(at, p.afterCutOff(last, account))
	}
	return latest(at, sent.Add(p.Limit))
}

// lastDate returns the second business day after sending. Without a calendar it adds a day for long
// weekends.
func (p Policy) lastDate(sent time.Time) quickstream.Date {
	settled := func(days int, business func(quickstream.Date) bool) (day quickstream.Date) {
		for day = dateOf(sent); days > 0; {
			if day = day.AddDays(1); business(day) {
				days--
			}
		}
		return day
	}
	if calendar := p.Calendar; calendar.Business != nil {
		covered := func(d quickstream.Date) bool { return d.Compare(calendar.Until) > 0 || calendar.Business(d) }
		if day := settled(2, covered); day.Compare(calendar.Until) <= 0 {
			return day
		}
	}
	return settled(3, weekday)
}

func weekday(d quickstream.Date) bool {
	day := d.In(time.UTC).Weekday()
	return day != time.Saturday && day != time.Sunday
}

func dateOf(t time.Time) quickstream.Date { return quickstream.DateOf(t.In(sydney())) }

// nextDay returns the same time next day in Sydney, 23 to 25 hours later because of daylight
// saving.
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
