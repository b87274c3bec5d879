package resolve

import (
	"time"

	"github.com/quickstream-go/quickstream"
)

// Next returns the case after a look-up, or after a webhook about the intent's transaction. It is pure.
//
// An approval settles at any time, also in a final status; a second approval is [StatusDoubleCharged].
// A decline settles when nothing can follow it. Any other observation before NextLook is recorded but
// changes no status, except that [StatusNotFound] becomes [StatusEscalated] if something was found. A
// case of an unknown version stays unchanged and is due again later.
func (p Policy) Next(c Case, o Observation, now time.Time) Case {
	now, o = now.Round(0), o.of(c.Intent)
	o.NextStep = p.nextStep(o.NextStep)
	if c.known() != nil {
		c.NextLook = now.Add(maxFailedDelay)
		return c
	}
	other := func(seen Observation) bool { return c.taken(seen) && !sameReceipt(seen.ReceiptNumber, o.ReceiptNumber) }
	second := c.taken(o) && (other(c.Seen) || c.anyLookup(func(l Lookup) bool { return other(l.Observation) }))
	switch {
	case c.Status == StatusDoubleCharged:
		return c
	case second || o.Result == LookupDoubleCharged:
		c = c.record(o, now)
		c.Status, c.Step, c.Outcome, c.NextLook, c.Until = StatusDoubleCharged, 0, quickstream.OutcomeApproved, time.Time{}, time.Time{}
		return c
	case c.Status == StatusSettled:
		return p.settled(c, o, now)
	}
	c = c.record(o, now)
	switch {
	case c.taken(o) || p.declinedForGood(c, o, now):
		return c.settle(o, now)
	case c.Status == StatusNotFound && c.evident():
		return c.watch(StatusEscalated, now)
	case now.Before(c.NextLook) || c.NextLook.IsZero():
		return c
	case c.Status.Final():
		return c.watchOn(now)
	case o.Result == LookupFailed:
		return p.failed(c, now)
	case o.Result == LookupNone, o.Outcome == quickstream.OutcomePending: // PayTo payments end within seconds, or when the payer answers
		return p.wait(c, now)
	}
	return p.held(c, o, now)
}

// settled checks whether the outcome of a settled case still holds.
func (p Policy) settled(c Case, o Observation, now time.Time) Case {
	late := c.taken(o) && !c.taken(c.Seen)
	reversed := !c.NextLook.IsZero() && o.Result == LookupSettled && sameReceipt(o.ReceiptNumber, c.Seen.ReceiptNumber) && o.Outcome != c.Outcome
	due := !c.NextLook.IsZero() && !now.Before(c.NextLook)
	if !late && !reversed && !due {
		return c
	}
	c = c.record(o, now)
	c.Changed = c.Changed || late || reversed
	switch {
	case late:
		c.Outcome, c.Seen, c.NextLook = o.Outcome, o, now.Add(again)
		c.Intent.ReceiptNumber, c.Intent.Answered = "", false // a look-up by reference finds both
		return c
	case reversed: // an approval was taken back, or the service shows old states: a person decides
		c.Outcome, c.Seen = "", o
		return c.watch(StatusEscalated, now)
	case o.Result == LookupFailed, o.Result == LookupAmbiguous, o.Result == LookupPending:
		c.Until = c.Intent.MadeAt.Add(watched)
		return c.watchOn(now)
	}
	if c.NextLook = p.cutOffOf(c); !now.Before(c.NextLook) {
		return c.watchOn(now)
	}
	return c
}

// declinedForGood reports whether an observation is a final decline. Without retries every decline
// is, even if the caller's clock is behind the intent's.
func (p Policy) declinedForGood(c Case, o Observation, now time.Time) bool {
	return !c.Changed && p.whole(c, o, now) && !(o.Retryable && p.mayFollow() > 0 && now.Before(p.retried(c)))
}

// whole reports whether a decline answers every attempt. After several attempts, or an unknown
// number, a decline found by reference may be for one of them, while another is approved and not
// visible yet. So it counts only after the cut-off, and if nothing else was found.
func (p Policy) whole(c Case, o Observation, now time.Time) bool {
	switch {
	case o.Result != LookupSettled:
		return false
	case c.Intent.ReceiptNumber != "" && !c.Intent.OwnKey:
		return sameReceipt(o.ReceiptNumber, c.Intent.ReceiptNumber)
	}
	return c.Intent.Attempts == 1 && !o.Doubtful || !now.Before(p.cutOffOf(c)) && c.alone(o)
}

// held waits for a transaction that was found.
func (p Policy) held(c Case, o Observation, now time.Time) Case {
	if p.whole(c, o, now) { // only a retry can follow
		c.Step, c.NextLook = stepHeld, earliest(nextDay(now), p.retried(c))
		return c
	}
	return p.climb(c, now)
}

// wait waits longer each time, and then climbs.
func (p Policy) wait(c Case, now time.Time) Case {
	since := now.Sub(c.Intent.MadeAt)
	for _, l := range c.Lookups { // the machine that has sent it may be ahead
		since = max(since, now.Sub(l.At))
	}
	pause := max(3*since, soonest)
	if at := now.Add(pause); pause <= latestSoon && at.Before(p.cutOffOf(c)) {
		c.NextLook = at
		return c
	}
	return p.climb(c, now)
}

// climb goes to the next step: after the cut-off, the same time next day, then daily to the limit.
func (p Policy) climb(c Case, now time.Time) Case {
	limit, last := p.horizon(c.Intent.MadeAt), StatusNotFound
	if c.evident() {
		limit, last = p.limit(c), StatusEscalated
	}
	if cutOff := p.cutOffOf(c); now.Before(cutOff) {
		c.Step, c.NextLook = stepHeld, cutOff
		return c
	}
	if c.Step != stepDaily {
		c.Step, c.NextLook = stepDaily, nextDay(now)
		return c
	}
	if now.Before(limit) {
		c.NextLook = earliest(nextDay(now), limit)
		return c
	}
	return c.watch(last, now)
}

// failed tries again at the same step, because a failed look-up proves nothing. After a day of
// failures beyond the limit it escalates.
func (p Policy) failed(c Case, now time.Time) Case {
	if c.FailingSince.IsZero() {
		c.FailingSince = now
	}
	if now.After(latest(p.limit(c), c.FailingSince).Add(final / 2)) {
		return c.watch(StatusEscalated, now)
	}
	c.NextLook = now.Add(min(max(now.Sub(c.FailingSince), failedDelay), maxFailedDelay))
	return c
}
