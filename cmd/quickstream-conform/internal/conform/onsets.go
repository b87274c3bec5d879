package conform

import (
	"fmt"
	"net/http"
	"time"
)

const day = 24 * time.Hour

// onset is a change of a thing that is waited for.
type onset struct {
	name         string
	of           *thing
	listed, ages []time.Duration
	// seen looks. It is not known if no usable answer came.
	seen   func() (seen, known bool)
	before time.Duration // how old the thing was when the change was not yet seen; -1 before the first look
	looked int
}

func seconds(list ...int) (out []time.Duration) {
	for _, n := range list {
		out = append(out, time.Duration(n)*time.Second)
	}
	return out
}

// watch looks at a thing at some ages until a change is seen.
func (s *session) watch(o *onset) result {
	o.before = -1
	s.plan(o)
	return result{}
}

func (s *session) plan(o *onset) {
	s.at(o.of.Answered.Add(o.ages[o.looked]), func() { s.look(o) })
}

// look looks once.
func (s *session) look(o *onset) {
	begun := time.Now()
	seen, known := o.seen()
	switch {
	case s.err != nil:
		return
	case known && seen:
		after := time.Since(o.of.Sent)
		if s.answered(o.name, pick(o.before, after, o.listed...)); o.name == "LookupLag" {
			s.lag = after
			s.planReads()
		}
		return
	case known:
		o.before = max(o.before, begun.Sub(o.of.Answered))
	}
	for o.looked++; o.looked < len(o.ages) && o.ages[o.looked] <= time.Since(o.of.Answered); { // what has passed is not looked at
		o.looked++
	}
	last := o.ages[len(o.ages)-1]
	switch {
	case o.looked < len(o.ages):
		s.plan(o)
	case o.before >= last-time.Second:
		s.answered(o.name, other("longer than "+brief(o.before)))
	default:
		s.answered(o.name, open("it was not looked for in time"))
	}
}

// pick returns the one listed duration between two ages, if they are so close that it says more
// than "nearest": 4 seconds for short durations, and 15 from a minute on.
func pick(before, after time.Duration, listed ...time.Duration) result {
	var in []time.Duration
	for _, d := range listed {
		if before < d && d <= after {
			in = append(in, d)
		}
	}
	between := fmt.Sprintf("between %s and %s", brief(max(before, 0)), brief(after))
	switch width := after - before; {
	case len(in) == 0:
		return other(between)
	case len(in) == 1 && (width <= 4*time.Second || width <= 15*time.Second && in[0] >= time.Minute):
		return is(brief(in[0]))
	default:
		return open(between + ", which is not narrow enough")
	}
}

// lookupLag is how long reads do not find what was made.
func (s *session) lookupLag() result {
	if s.probe = s.transact(kindHarmless, s.verification()); s.probe == nil {
		return open("no verification was accepted")
	}
	return s.watch(&onset{
		name: "LookupLag", of: s.probe, listed: []time.Duration{0, 2 * time.Second, 10 * time.Second, 5 * time.Minute, day},
		ages: seconds(1, 2, 9, 10, 11, 299, 300, 302, 86399, 86400, 86402),
		seen: func() (seen, known bool) {
			a := s.transactionOf(s.probe.Handle)
			return a.accepted(), a.accepted() || a.status == http.StatusNotFound
		},
	})
}

// lagOr is the lag of look-ups, or the longest one while it is not known.
func (s *session) lagOr(longest time.Duration) time.Duration {
	if s.lag < 0 {
		return longest
	}
	return s.lag
}

// keyLifetime sends a verification again, which takes no money however often it is made.
func (s *session) keyLifetime() result {
	t := s.transact(kindHarmless, s.verification())
	if t == nil {
		return open("no verification was accepted")
	}
	return s.watch(&onset{
		name: "KeyLifetime", of: t, listed: []time.Duration{0, 2 * time.Minute, 5 * time.Minute, day},
		ages: seconds(1, 118, 122, 298, 302, 86398, 86402),
		seen: func() (seen, known bool) {
			body := s.verification()
			body["paymentReferenceNumber"] = t.Reference
			receipt := s.send(http.MethodPost, "/transactions", body, t.Key).member("receiptNumber")
			return receipt != t.Handle, receipt != ""
		},
	})
}
