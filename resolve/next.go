package resolve

import (
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Next returns the state after a look-up, or after a webhook whose transaction is the
// intent's. It is pure: the same arguments give the same result, and the given state is
// left as it was. A final state stays as it is, but for what was absent or escalated
// and turns out to have an outcome after all, such as a PayTo payment that takes days:
// that settles it, unless several transactions matched.
func (p Policy) Next(s State, o Observation, now time.Time) State {
	if s.Stage.Final() {
		return p.late(s, o, now)
	}
	s.Looks = append(slices.Clip(s.Looks), Look{At: now, Observation: o})
	switch o.Sighting {
	case SawOutcome:
		if cutOff := p.cutOffOf(s, o); !settles(s.Intent, o) && now.Before(cutOff) {
			s.Misses, s.Failures, s.Stage, s.NextLook = 0, 0, StageHeld, cutOff
			return s
		}
		s.Intent.ReceiptNumber = o.ReceiptNumber
		if over := s.Intent.NotBefore.Add(p.mayFollow()); o.Retryable && now.Before(over) {
			s.Misses, s.Failures, s.Stage, s.NextLook = 0, 0, StageHeld, earliest(nextDay(now), over)
			return s
		}
		s.Outcome = o.Outcome
		return s.end(StageSettled)
	case SawSeveral:
		return s.end(StageEscalated)
	case SawNoOutcome:
		if settles(s.Intent, o) {
			s.Intent.ReceiptNumber = o.ReceiptNumber
		}
		s.Misses, s.Failures = 0, 0
		return p.climb(s, now, p.cutOffOf(s, o), StageEscalated)
	case SawNothing:
		s.Failures = 0
		return p.missed(s, now)
	default:
		return p.failed(s, now)
	}
}

// late settles what was given up, if the observation would settle it while it was
// held.
func (p Policy) late(s State, o Observation, now time.Time) State {
	if s.Stage == StageSettled || slices.ContainsFunc(s.Looks, func(l Look) bool { return l.Sighting == SawSeveral }) {
		return s
	}
	held := s
	held.Stage = StageHeld
	if next := p.Next(held, o, now); next.Stage == StageSettled {
		return next
	}
	return s
}

// settles reports whether an outcome is the payment's whole story. A decline that
// is found by reference after several attempts, or an unknown number of them
// before a crash, may be that of one of them while another is approved and not
// visible yet: it counts after the cut-off only.
func settles(intent quickstream.Intent, o Observation) bool {
	return o.Outcome == quickstream.OutcomeApproved || intent.Attempts == 1 || intent.ReceiptNumber != ""
}

// cutOffOf returns when to look after the cut-off of an observed transaction.
func (p Policy) cutOffOf(s State, o Observation) time.Time {
	if o.SettlementDate.IsZero() {
		return p.nextCutOff(s.Intent.NotBefore)
	}
	return p.afterCutOff(o.SettlementDate, o.AccountType)
}

// missed waits a little longer each time, and then climbs. A payment that has a
// receipt, or was seen once, exists, wherever it may hide; it is escalated and
// never absent.
func (p Policy) missed(s State, now time.Time) State {
	last := StageAbsent
	if len(s.Receipts()) > 0 {
		last = StageEscalated
	}
	s.Misses++
	cutOff := p.nextCutOff(s.Intent.NotBefore)
	if s.Stage == StageLooking && s.Misses <= len(p.Delays) {
		if at := now.Add(p.Delays[s.Misses-1]); at.Before(cutOff) {
			s.NextLook = at
			return s
		}
	}
	return p.climb(s, now, cutOff, last)
}

// limit is when a final status must have come. A retry of the service's own has the
// same time from when it was made.
func (p Policy) limit(s State) time.Time {
	limit := s.Intent.NotBefore.Add(p.Limit)
	if slices.ContainsFunc(s.Looks, func(l Look) bool { return l.Retryable }) {
		return limit.Add(p.mayFollow())
	}
	return limit
}

// climb goes to the next rung: after the cut-off, the same time next day, the
// limit. What the last rung ends in is given.
func (p Policy) climb(s State, now, cutOff time.Time, last Stage) State {
	limit := p.limit(s)
	switch s.Stage {
	case StageLooking, StageHeld:
		if now.Before(cutOff) {
			s.Stage, s.NextLook = StageHeld, cutOff
			return s
		}
		s.Stage, s.NextLook = StageAfterCutOff, nextDay(now)
	case StageAfterCutOff:
		if now.Before(cutOff) { // the settlement date has become known, or has moved
			s.NextLook = cutOff
			return s
		}
		s.Stage, s.NextLook = StageNextDay, latest(limit, now)
	default: // StageNextDay: only the limit is left
	}
	if s.NextLook.After(now) {
		return s
	}
	if now.Before(limit) {
		s.NextLook = limit
		return s
	}
	return s.end(last)
}

// failed tries again without moving on: a look-up that fails proves nothing. Far
// beyond the limit a person has to take over.
func (p Policy) failed(s State, now time.Time) State {
	s.Failures++
	if now.After(p.limit(s).Add(p.Limit / 2)) {
		return s.end(StageEscalated)
	}
	delay := p.RetryDelay
	for range min(s.Failures-1, 20) {
		delay = min(2*delay, p.MaxRetryDelay)
	}
	s.NextLook = now.Add(delay)
	return s
}

func (s State) end(stage Stage) State {
	s.Stage, s.NextLook = stage, time.Time{}
	return s
}

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
