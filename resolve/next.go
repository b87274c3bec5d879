package resolve

import (
	"time"

	"github.com/quickstream-go/quickstream"
)

// Next returns the state after a look-up, or after a webhook whose transaction is the
// intent's. It is pure: the same arguments give the same result, and the given state is
// left as it was.
//
// An approval settles whenever it is seen, in a final stage too; another one beside it
// is [StageTwice]. A decline settles as soon as nothing can follow it. All else that is
// seen before NextLook is counted and moves nothing, but that what was seen is not
// absent any more. A state that this package does not know in full stays as it is, and
// is due again later.
func (p Policy) Next(s State, o Observation, now time.Time) State {
	now, o = now.Round(0), o.of(s.Intent)
	if s.known() != nil {
		s.NextLook = now.Add(p.MaxRetryDelay)
		return s
	}
	settled := s.Stage == StageSettled
	another := s.taken(o) && (o.Outcome != s.Outcome || o.ReceiptNumber != s.Seen.ReceiptNumber)
	twice := o.Sighting == SawTwice || another && settled && s.taken(s.Seen)
	if s.Stage == StageTwice || settled && s.NextLook.IsZero() && !another && !twice {
		return s
	}
	s = s.see(o, now)
	if twice {
		return s.twice()
	}
	if s.taken(o) || !settled && p.refusedFor(s, o, now) {
		return s.settle(o, now)
	}
	if o.Sighting == SawSeveral && !s.Stage.Final() || s.Stage == StageAbsent && s.evident() {
		return s.watch(StageEscalated, now)
	}
	if now.Before(s.NextLook) || s.NextLook.IsZero() {
		return s
	}
	if o.Sighting == SawError {
		return p.failed(s, now)
	}
	if s.Stage.Final() {
		return s.watchOn(now)
	}
	if o.Sighting == SawNothing {
		return p.missed(s, now)
	}
	return p.held(s, o, now)
}

// refusedFor reports whether an observation is a refusal for good. Where the service retries
// nothing every one is, also when the caller's clock is behind that of the intent.
func (p Policy) refusedFor(s State, o Observation, now time.Time) bool {
	return p.whole(s, o, now) && !(o.Retryable && p.mayFollow() > 0 && now.Before(p.retried(s)))
}

// whole reports whether a refusal is the payment's whole story. One that is found by
// reference after several attempts, or an unknown number of them before a crash, may be
// that of one of them while another is approved and not visible yet: it counts after
// the cut-off only, and only when nothing else was seen.
func (p Policy) whole(s State, o Observation, now time.Time) bool {
	if o.Sighting != SawOutcome {
		return false
	}
	if s.Intent.ReceiptNumber != "" {
		return o.ReceiptNumber == s.Intent.ReceiptNumber
	}
	return s.Intent.Attempts == 1 && !o.Doubtful || !now.Before(p.cutOffOf(s)) && !s.rivalled(o)
}

// held waits for what was found.
func (p Policy) held(s State, o Observation, now time.Time) State {
	s.Misses = 0
	if p.whole(s, o, now) { // only a retry can follow
		s.Intent.ReceiptNumber, s.Stage, s.NextLook = o.ReceiptNumber, StageHeld, earliest(nextDay(now), p.retried(s))
		return s
	}
	identified := s.Intent.ID != "" || !s.Intent.OwnReference
	if s.Intent.ReceiptNumber == "" && s.Intent.Attempts == 1 && identified && o.Sighting == SawNoOutcome && !o.Retryable {
		s.Intent.ReceiptNumber = o.ReceiptNumber
	}
	if o.Outcome == quickstream.OutcomeSuspended { // until somebody acts in the portal
		s.Stage, s.NextLook = StageHeld, nextDay(now)
		return s
	}
	return p.climb(s, now, p.limit(s), StageEscalated)
}

// missed waits a little longer each time, and then climbs.
func (p Policy) missed(s State, now time.Time) State {
	s.Misses++
	if s.Stage == StageLooking && s.Misses <= len(p.Delays) {
		if at := now.Add(p.Delays[s.Misses-1]); at.Before(p.cutOffOf(s)) {
			s.NextLook = at
			return s
		}
	}
	if s.evident() {
		return p.climb(s, now, p.limit(s), StageEscalated)
	}
	return p.climb(s, now, p.horizon(s.Intent.NotBefore), StageAbsent)
}

// climb goes to the next rung: after the cut-off, the same time next day, and daily to
// the limit. What the last rung ends in is given.
func (p Policy) climb(s State, now, limit time.Time, last Stage) State {
	if cutOff := p.cutOffOf(s); now.Before(cutOff) {
		s.Stage, s.NextLook = StageHeld, cutOff
		return s
	}
	if s.Stage == StageLooking || s.Stage == StageHeld {
		s.Stage, s.NextLook = StageAfterCutOff, nextDay(now)
		return s
	}
	if now.Before(limit) {
		s.Stage, s.NextLook = StageNextDay, earliest(nextDay(now), limit)
		return s
	}
	return s.watch(last, now)
}

// failed tries again without moving on: a look-up that fails proves nothing. When they
// have failed for a day, far beyond the limit, a person has to take over.
func (p Policy) failed(s State, now time.Time) State {
	if s.Failing.IsZero() {
		s.Failing = now
	}
	last := p.limit(s)
	if s.Stage.Final() {
		last = s.Until
	}
	over := now.After(latest(last, s.Failing).Add(p.Limit / 2))
	switch {
	case over && s.Stage.Final():
		s.NextLook = time.Time{}
	case s.Stage.Final() && now.Sub(s.Failing) > p.Limit/24:
		s.NextLook = nextDay(now)
	case over:
		return s.watch(StageEscalated, now)
	default:
		s.NextLook = now.Add(min(max(now.Sub(s.Failing), p.RetryDelay), p.MaxRetryDelay))
	}
	return s
}
