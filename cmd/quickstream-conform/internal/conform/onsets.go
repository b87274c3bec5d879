package conform

import (
	"net/http"
	"slices"
	"time"
)

// onset is a probe for how long it takes until something becomes true of a thing.
type onset struct {
	name, how string
	listed    []time.Duration
	ages      []time.Duration // at which to look
	start     func(*session) (n int, no result)
	// seen looks. It is not known if no usable answer came.
	seen func(s *session, w window) (seen, known bool)
}

const day = 24 * time.Hour

func onsets() []onset {
	return []onset{
		{
			"LookupLag", "a verification that is read until it is found",
			[]time.Duration{0, 2 * time.Second, 10 * time.Second, 5 * time.Minute, day},
			seconds(1, 2, 9, 10, 11, 299, 300, 302, 86399, 86400, 86402), (*session).startLag, (*session).visible,
		},
		{
			"KeyLifetime", "a verification that is sent again with its key",
			[]time.Duration{0, 2 * time.Minute, 5 * time.Minute, day},
			seconds(1, 118, 122, 298, 302, 86398, 86402), (*session).startKey, (*session).forgotten,
		},
		{
			"PayToApprovedAfter", "a PayTo payment that is read until it is approved",
			[]time.Duration{0, time.Minute, 15 * time.Minute, 119 * time.Hour},
			seconds(1, 5, 12, 58, 62, 898, 902, 86410, 428398, 428402), (*session).startPayTo, (*session).approved,
		},
		{
			"BankReturnAfter", "a bank account payment that its bank returns",
			[]time.Duration{0, day, 3 * day},
			seconds(1, 3, 11, 302, 86396, 86404, 259196, 259204), (*session).startReturn, (*session).returned,
		},
	}
}

func seconds(list ...int) (out []time.Duration) {
	for _, n := range list {
		out = append(out, time.Duration(n)*time.Second)
	}
	return out
}

// begin starts those of the named onsets that are not known. It looks for short lags before anything
// else is made: later looks would come too late.
func (s *session) begin(names ...string) {
	until := s.until
	defer func() { s.until = until }()
	for _, o := range onsets() {
		if s.Findings[o.name].Name != "" || !slices.Contains(names, o.name) {
			continue
		}
		n, no := o.start(s)
		if no != (result{}) {
			s.answered(o.name, o.how, no)
			continue
		}
		w := window{number: n, before: -1}
		if o.name == "BankReturnAfter" && s.answers[n].body.get("summaryCode").text == "0" {
			w.before, w.looked = 0, 4 // approved in its answer
		}
		s.windows[o.name] = w
		s.keep()
		if soon := time.Now().Add(14 * time.Second); soon.Before(until) {
			s.until = soon
		}
		s.watch()
		s.until = until
	}
}

// look looks once.
func (s *session) look(o onset) {
	w := s.windows[o.name]
	begun := time.Now()
	seen, known := o.seen(s, w)
	made := s.Made[w.number]
	w.looked++
	switch {
	case s.err != nil:
		return
	case !known:
	case seen:
		w.after, w.seen = time.Since(made.Sent), true
		s.answered(o.name, o.how, w.pick(o.listed...))
	default:
		w.before = max(w.before, begun.Sub(made.Answered))
	}
	// Ages that have passed are not looked at.
	for w.looked < len(o.ages) && o.ages[w.looked] <= time.Since(made.Answered) {
		w.looked++
	}
	if last := len(o.ages); !w.seen && w.looked >= last {
		r := open("it was not looked for in time")
		if w.before >= o.ages[last-1]-time.Second {
			r = other("longer than " + brief(w.before))
		}
		s.answered(o.name, o.how, r)
	}
	s.windows[o.name] = w
}

// lag is how long the service takes to show a thing, if the question with that name has an answer: as
// seen by this process or, if not, by one before.
func (s *session) lag(name string) (lag time.Duration, known bool) {
	if w := s.windows[name]; w.seen {
		return w.after, true
	}
	lag, err := time.ParseDuration(s.value(name))
	return lag, err == nil
}

func (s *session) startLag() (int, result) {
	if !s.has("verification") {
		return 0, open("no verification was accepted")
	}
	v, _ := s.transact("lag", kindHarmless, s.verification())
	return s.started("lag", v, open(unusable))
}

// started is the number of what was made under a name, or why there is none.
func (s *session) started(name string, v reply, no result) (int, result) {
	if v != accepts {
		return 0, no
	}
	return s.named[name], result{}
}

func (s *session) visible(w window) (seen, known bool) {
	return found(s.transactionOf(s.Made[w.number].Handle))
}

// found reports whether a read finds something.
func found(a answer) (seen, known bool) {
	seen = a.accepted() && !a.broken
	return seen, seen || a.status == http.StatusNotFound
}

func (s *session) startKey() (int, result) {
	if !s.has("verification") {
		return 0, open("no verification was accepted")
	}
	v, _ := s.transact("key", kindHarmless, s.verification())
	return s.started("key", v, open(unusable))
}

// forgotten sends the verification again. A verification takes no money, however often it is made.
func (s *session) forgotten(w window) (seen, known bool) {
	body := s.verification()
	body["paymentReferenceNumber"] = s.reference(w.number)
	a := s.send(http.MethodPost, "/transactions", body, keyed(s.idempotencyKey("thing", w.number)))
	return a.receipt() != s.Made[w.number].Handle, a.receipt() != ""
}

func (s *session) startReturn() (int, result) {
	if !s.can(3*day + time.Hour) {
		return 0, open("needs -wait 80h, or the payment could not be taken back")
	}
	v, _ := s.transact("return", kindPayment, s.transaction("PAYMENT", "1.03", "bankAccount", bank(s.bsb("032-051"))))
	n, no := s.started("return", v, open("no bank account payment was accepted"))
	if no == (result{}) {
		s.Made[n].Keep = true
	}
	return n, no
}

// returned reads whether a payment is declined. Before it is found, its answer says whether it was
// approved at first.
func (s *session) returned(w window) (seen, known bool) {
	code := s.answers[w.number].body.get("summaryCode").text
	if a := s.transactionOf(s.Made[w.number].Handle); !a.body.get("summaryCode").empty() {
		code = a.body.get("summaryCode").text
	} else if w.before >= 0 {
		return false, false
	}
	if code == "1" {
		s.Made[w.number].Keep = false
	}
	return code == "1", code != ""
}
