package resolve

import (
	"time"

	"github.com/quickstream-go/quickstream"
)

// Next returns the case after a look-up, or after a webhook about the intent's transaction. It is
// pure: it does not change its arguments, and equal arguments give equal results.
//
// An approval settles at any time, also in a final status; a second approval is
// [StatusDoubleCharged]. A decline settles when nothing can follow it. Any other observation before
// NextLook is recorded but changes no status, except that [StatusNotFound] ends if something was
// found. A case of an unknown version stays unchanged and is due again later.
func (p Policy) Next(c Case, o Observation, now time.Time) Case {
	now, o = now.Round(0), o.of(c.Intent)
	o.NextStep = p.nextStep(o.NextStep)
	if c.known() != nil {
		c.NextLook = now.Add(p.MaxRetryDelay)
		return c
	}
	settled := c.Status == StatusSettled
	another := c.taken(o) && (o.Outcome != c.Outcome || o.ReceiptNumber != c.Seen.ReceiptNumber)
	twice := o.Result == LookupDoubleCharged || another && settled && c.taken(c.Seen)
	if c.Status == StatusDoubleCharged || settled && c.NextLook.IsZero() && !another && !twice {
		return c
	}
	c = c.record(o, now)
	if twice {
		return c.doubleCharged()
	}
	if c.Resent {
		return p.resent(c, o, now)
	}
	if c.taken(o) || !settled && p.declinedForGood(c, o, now) {
		return c.settle(o, now)
	}
	if o.Result == LookupAmbiguous && !c.Status.Final() || c.Status == StatusNotFound && c.evident() {
		return c.watch(StatusEscalated, now)
	}
	if now.Before(c.NextLook) || c.NextLook.IsZero() {
		return c
	}
	if o.Result == LookupFailed {
		return p.failed(c, now)
	}
	if c.Status.Final() {
		return c.watchOn(now)
	}
	if o.Result == LookupNone {
		return p.missed(c, o, now)
	}
	return p.held(c, o, now)
}

// declinedForGood reports whether an observation is a final decline. Without retries every decline
// is, even if the caller's clock is behind the intent's.
func (p Policy) declinedForGood(c Case, o Observation, now time.Time) bool {
	return p.whole(c, o, now) && !(o.Retryable && p.mayFollow() > 0 && now.Before(p.retried(c)))
}

// whole reports whether a refusal answers every attempt. One found by reference after several or an
// unknown number of attempts may be for one of them, while another is approved and not visible yet.
// So it counts only after the cut-off, and if nothing else was found.
func (p Policy) whole(c Case, o Observation, now time.Time) bool {
	if o.Result != LookupSettled {
		return false
	}
	if c.Intent.ReceiptNumber != "" && !c.Intent.OwnKey {
		return o.ReceiptNumber == c.Intent.ReceiptNumber
	}
	return c.Intent.Attempts == 1 && !o.Doubtful || !now.Before(p.cutOffOf(c)) && !c.rivalled(o)
}

// held waits for a transaction that was found.
func (p Policy) held(c Case, o Observation, now time.Time) Case {
	c.Misses = 0
	if p.whole(c, o, now) { // only a retry can follow
		c.Intent.ReceiptNumber, c.Step, c.NextLook = o.ReceiptNumber, stepHeld, earliest(nextDay(now), p.retried(c))
		return c
	}
	identified := c.Intent.ID != "" || !c.Intent.OwnReference
	if c.Intent.ReceiptNumber == "" && c.Intent.Attempts == 1 && identified && o.Result == LookupPending && !o.Retryable {
		c.Intent.ReceiptNumber = o.ReceiptNumber
	}
	if o.Outcome == quickstream.OutcomeSuspended { // somebody has to act in the portal
		c.Step, c.NextLook = stepHeld, nextDay(now)
		return c
	}
	return p.climb(c, now, p.limit(c), StatusEscalated)
}

// resent looks for a second approval of a payment that was sent again: until 15 minutes have passed,
// and longer if another transaction may still be approved.
func (p Policy) resent(c Case, o Observation, now time.Time) Case {
	if now.Before(c.NextLook) || c.NextLook.IsZero() {
		return c
	}
	if o.Result == LookupFailed {
		return p.failed(c, now)
	}
	if o.Result == LookupAmbiguous || o.Result == LookupPending {
		c.Until = c.Intent.NotBefore.Add(watched)
		return c.watchOn(now)
	}
	c.NextLook = time.Time{}
	if now.Before(c.Until) {
		c.NextLook = earliest(c.Until, nextDay(now))
	}
	return c
}

// missed waits longer each time, and then climbs.
func (p Policy) missed(c Case, o Observation, now time.Time) Case {
	c.Misses++
	if c.Step == stepSoon && c.Misses <= len(p.Delays) {
		if at := now.Add(p.Delays[c.Misses-1]); at.Before(p.cutOffOf(c)) {
			c.NextLook = at
			return c
		}
	}
	if c.evident() {
		return p.climb(c, now, p.limit(c), StatusEscalated)
	}
	end := p.climb(c, now, p.horizon(c.Intent.NotBefore), StatusNotFound)
	if end.Status == StatusNotFound && p.scanned(c) && !o.Scanned {
		c.Step, c.NextLook = stepScan, now
		return c
	}
	return end
}

// climb goes to the next step: after the cut-off, the same time next day, then daily to the limit.
// last is the status at the end.
func (p Policy) climb(c Case, now, limit time.Time, last Status) Case {
	if cutOff := p.cutOffOf(c); now.Before(cutOff) {
		c.Step, c.NextLook = stepHeld, cutOff
		return c
	}
	if c.Step == stepSoon || c.Step == stepHeld {
		c.Step, c.NextLook = stepAfterCutOff, nextDay(now)
		return c
	}
	if now.Before(limit) {
		c.Step, c.NextLook = stepDaily, earliest(nextDay(now), limit)
		return c
	}
	return c.watch(last, now)
}

// failed tries again at the same step, because a failed look-up proves nothing. After a day of
// failures beyond the limit it escalates.
func (p Policy) failed(c Case, now time.Time) Case {
	if c.Failing.IsZero() {
		c.Failing = now
	}
	last := p.limit(c)
	if c.Status.Final() {
		last = c.Until
	}
	over := now.After(latest(last, c.Failing).Add(p.Limit / 2))
	switch {
	case over && c.Status.Final():
		c.NextLook = time.Time{}
	case c.Status.Final() && now.Sub(c.Failing) > p.Limit/24:
		c.NextLook = nextDay(now)
	case over:
		return c.watch(StatusEscalated, now)
	default:
		c.NextLook = now.Add(min(max(now.Sub(c.Failing), p.RetryDelay), p.MaxRetryDelay))
	}
	return c
}
