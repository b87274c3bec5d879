package conform

import (
	"fmt"
	"net/http"
	"time"

	"github.com/quickstream-go/quickstream/internal/transport"
)

const (
	day       = 24 * time.Hour
	needsDays = "needs -wait 72h or more"
)

// watch looks at a thing at some ages, in seconds, until a change is seen. It is not known if no usable
// answer came.
func (s *session) watch(t *thing, listed []string, ages []int, look func() (seen, known bool)) result {
	before := time.Duration(-1) // how old the thing was when the change was not yet seen
	age := time.Duration(0)
	for _, n := range ages {
		age = time.Duration(n) * time.Second
		due := t.Answered.Add(age)
		if !s.can(time.Until(due)) {
			return open(fmt.Sprintf("needs a -wait that is longer than %s", age))
		}
		if !s.wait(due) {
			break
		}
		begun := time.Now()
		switch seen, known := look(); {
		case known && seen:
			return pick(before, time.Since(t.Sent), listed...)
		case known:
			before = begun.Sub(t.Answered)
		}
	}
	if before < age-time.Second {
		return open(unusable)
	}
	return other(fmt.Sprintf("longer than %s", age))
}

// pick returns the one listed duration between two ages, if they are so close that it says more
// than "nearest": 4 seconds for short durations, and 15 from a minute on.
func pick(before, after time.Duration, listed ...string) result {
	var in []string
	for _, text := range listed {
		if d, err := time.ParseDuration(text); err == nil && before < d && d <= after {
			in = append(in, text)
		}
	}
	between := fmt.Sprintf("between %s and %s", max(before, 0).Round(time.Millisecond), after.Round(time.Millisecond))
	switch width := after - before; {
	case len(in) == 0:
		return other(between)
	case len(in) == 1 && (width <= 4*time.Second || width <= 15*time.Second && after >= time.Minute):
		return is(in[0])
	default:
		return open(between + ", which is not narrow enough")
	}
}

// lookupLag is how long reads do not find what was made.
func (s *session) lookupLag() result {
	if s.probe = s.transact(kindHarmless, s.verification()); s.probe == nil {
		return open("no verification was accepted")
	}
	return s.watch(s.probe, []string{"0s", "2s", "10s", "5m", "24h"}, []int{1, 2, 9, 10, 11, 299, 300, 302, 86399, 86400, 86402}, func() (seen, known bool) {
		a := s.transactionOf(s.probe.Handle)
		if a.accepted() {
			s.lag = time.Since(s.probe.Sent)
		}
		return a.accepted(), a.accepted() || a.status == http.StatusNotFound
	})
}

// found waits until reads find what has been made so far.
func (s *session) found() bool { return s.lag >= 0 && s.can(s.lag) && s.pause(s.lag) }

// keyLifetime sends a verification again, which takes no money however often it is made.
func (s *session) keyLifetime() result {
	t := s.transact(kindHarmless, s.verification())
	if t == nil {
		return open("no verification was accepted")
	}
	return s.watch(t, []string{"0s", "2m", "5m", "24h"}, []int{1, 118, 122, 298, 302, 86398, 86402}, func() (seen, known bool) {
		body := s.verification()
		body["paymentReferenceNumber"] = t.Reference
		receipt := s.send(http.MethodPost, "/transactions", body, t.Key).member("receiptNumber")
		return receipt != t.Handle, receipt != ""
	})
}

// keyMismatch sends another verification with a key.
func (s *session) keyMismatch() result {
	key := transport.NewKey()
	another := s.verification()
	another["comment"] = "another"
	try := func(body object) answer {
		return s.send(http.MethodPost, "/transactions", body, key).with("receiptNumber")
	}
	first := try(s.verification())
	if !first.accepted() {
		return open(unusable)
	}
	switch a := judged(func() answer { return try(another) }); {
	case a.refused():
		return one(fmt.Sprint(a.status), "422", "409")
	case !a.accepted():
		return open(unusable)
	case a.member("receiptNumber") == first.member("receiptNumber"):
		return is("replay")
	default:
		return open("keys are not honoured")
	}
}
