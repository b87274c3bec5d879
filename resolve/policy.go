package resolve

import (
	"context"
	"time"
	_ "time/tzdata" // Sydney's daylight saving, in containers without zone data too

	"github.com/quickstream-go/quickstream"
)

// TimeOfDay is a time of day in Sydney.
type TimeOfDay struct{ Hour, Minute int }

// ServiceRetries says whether the facility lets the service retry declined payments
// by itself. That is a setting of the merchant's, which nobody else knows:
// [ServiceRetriesOff] and [ServiceRetriesFor] make it. The zero value says nothing, and a
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

// Calendar is the merchant's calendar of the days on which the service settles.
type Calendar struct {
	// Business reports whether a date is a business day.
	Business func(quickstream.Date) bool
	// Until is the last date that Business knows.
	Until quickstream.Date
}

// Agreements reads PayTo agreements. Client.PayTo is one.
type Agreements interface {
	Get(ctx context.Context, agreementToken string, opts ...quickstream.CallOption) (*quickstream.Agreement, error)
}

// Policy says when to look. [DefaultPolicy] returns the service's procedure.
type Policy struct {
	// ServiceRetries holds a soft decline until no retry can follow any more.
	ServiceRetries ServiceRetries
	// CutOff is when the business of a settlement date closes, in Sydney.
	CutOff TimeOfDay
	// CutOffs holds the cut-offs of kinds of account that differ from CutOff.
	CutOffs map[quickstream.AccountType]TimeOfDay
	// Margin is how long after a cut-off to look.
	Margin time.Duration
	// Limit is how long a final status can take. After it a payment without one is
	// escalated, and not before it one that cannot be found is absent.
	Limit time.Duration
	// Calendar lets absent be said after two business days. Where it does not cover
	// them, three weekdays are waited for, which holds over every long weekend.
	Calendar Calendar
	// Agreements tells [Policy.LookUp] whether the payer of a pending PayTo payment may still
	// answer. Without it, or when it fails, the longest time is waited for.
	Agreements Agreements
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
		return time.UTC
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

// nextCutOff returns when to look after the first cut-off that follows t, where the
// settlement date is not known.
func (p Policy) nextCutOff(t time.Time, account quickstream.AccountType) time.Time {
	today := dateOf(t)
	if at := p.afterCutOff(today, account); at.Add(-p.Margin).After(t) {
		return at
	}
	return p.afterCutOff(today.AddDays(1), account)
}

const (
	// watched is for how long what ended without an outcome is looked at on. Nothing
	// that is waited for by a date of the service is waited for longer.
	watched = 14 * 24 * time.Hour
	// respondBy is how long a payer has to answer, where the agreement does not tell.
	respondBy = 7200 * time.Minute
)

// cutOffOf returns when to look after the cut-off that settles a payment. A settlement
// date that is past already says nothing.
func (p Policy) cutOffOf(c Case) time.Time {
	next := p.nextCutOff(c.Intent.NotBefore, c.Seen.AccountType)
	if c.Seen.SettlementDate.IsZero() {
		return next
	}
	return latest(next, c.within(p.afterCutOff(c.Seen.SettlementDate, c.Seen.AccountType)))
}

// within bounds what the service says of the future.
func (c Case) within(t time.Time) time.Time { return earliest(t, c.Intent.NotBefore.Add(watched)) }

// retried is when no retry of the service's own can follow any more, and the last one
// can be read: what was made may be absent from every list until after a cut-off.
func (p Policy) retried(c Case) time.Time {
	last := c.Intent.NotBefore.Add(p.mayFollow())
	return latest(last.Add(p.Limit/2), p.nextCutOff(last, c.Seen.AccountType))
}

// limit is when a final status must have come. A retry of the service's own has the
// same time from when it was made, and a payer one cut-off more than to answer.
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

// answers is until when the payer of a pending PayTo payment may answer. Of an agreement
// that was answered it is zero.
func (c Case) answers() time.Time {
	switch c.Seen.Agreement {
	case quickstream.AgreementStatusActive, quickstream.AgreementStatusSuspended,
		quickstream.AgreementStatusCancelled, quickstream.AgreementStatusRejected:
		return time.Time{}
	default: // created, pending, not known
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

// horizon is when what cannot be found is absent: not before the limit, and not before
// the service has settled twice since, on business days after the day of sending. Every
// day is one too many, or one of any long weekend, where the calendar does not tell.
func (p Policy) horizon(sent time.Time) time.Time {
	settled := func(days int, business func(quickstream.Date) bool) (day quickstream.Date) {
		for day = dateOf(sent); days > 0; {
			if day = day.AddDays(1); business(day) {
				days--
			}
		}
		return day
	}
	last := settled(3, weekday)
	if calendar := p.Calendar; calendar.Business != nil {
		covered := func(d quickstream.Date) bool { return d.Compare(calendar.Until) > 0 || calendar.Business(d) }
		if day := settled(2, covered); day.Compare(calendar.Until) <= 0 {
			last = day
		}
	}
	at := p.afterCutOff(last, "")
	for account := range p.CutOffs { // what was sent is not known
		at = latest(at, p.afterCutOff(last, account))
	}
	return latest(at, sent.Add(p.Limit))
}

func weekday(d quickstream.Date) bool {
	day := d.In(time.UTC).Weekday()
	return day != time.Saturday && day != time.Sunday
}

func dateOf(t time.Time) quickstream.Date { return quickstream.DateOf(t.In(sydney())) }

// nextDay returns the same time on the next day in Sydney, which is 23 or 25
// hours later when daylight saving begins or ends.
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
