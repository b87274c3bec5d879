package conform

import (
	"slices"
	"time"
)

// question is a row of the table: its assumption, how it is answered, and when.
type question struct {
	name  string
	calls int // about how many requests it makes
	how   string
	when  moment
	ask   func(*session) result // of a change that is waited for: what begins the wait
	needs string                // why it stays open if the run has ended before
}

// moment is when a question is asked.
type moment int

const (
	atOnce    moment = iota // it needs nothing but an answer
	beginning               // it begins a wait before anything else is made
	waiting                 // it begins a wait
	reading                 // reads find what was made
	daily                   // its time has come
)

const (
	needsDays = "needs -wait 2d or more"
	needsLag  = "reads do not find the transactions yet; needs a -wait that is longer than LookupLag"
)

// questions are all that is asked, in this order.
func questions() []question {
	return []question{
		{"NothingFound", 2, "the transactions of a day in 1990", atOnce, (*session).nothingFound, ""},
		{"ErrorForm", 2, "a payment without its members", atOnce, (*session).errorForm, ""},
		{"TransactionAnswers", 1, "the answer to an account verification", atOnce, (*session).transactionAnswers, ""},
		{"KeyMismatch", 2, "the same idempotency key for another verification", atOnce, (*session).keyMismatch, ""},
		{"LookupLag", 11, "a verification that is read until it is found", beginning, (*session).lookupLag, "needs -wait 25h"},
		{"KeyLifetime", 8, "a verification that is sent again with its key", waiting, (*session).keyLifetime, "needs -wait 25h"},
		{"PayToApprovedAfter", 12, "a PayTo payment that is read until it is approved", waiting, (*session).payTo, "needs -wait 5d"},
		{"SignatureHeader", 0, "the notifications about a PayTo agreement, with -listen", waiting, (*session).listen, "needs -listen and a subscription"},
		{"StatusForm", 1, "an account verification that is read", reading, (*session).status, needsLag},
		{"ReferenceSearch", 9, "a card payment with a reference in both cases", reading, (*session).search, needsLag},
		{"Metadata", 2, "the metadata of a payment and of its refund", reading, (*session).metadata, needsLag},
		{"CutOffHour", 10, "verifications around the hours of a weekday", daily, (*session).settlement, needsDays},
		{"SoftDeclineCodes", 10, "declined card payments, and their retries after a day", daily, (*session).retries, needsDays},
	}
}

// ask asks everything: first what needs only an answer, then what is read later, then what needs
// days. Short lags are looked for before anything else is made: later looks would come too late.
func (s *session) ask() {
	s.each(atOnce)
	s.each(beginning)
	s.makeSpecimens()
	s.makeDeclines()
	s.each(waiting)
	s.planSamples()
	s.work(s.until)
}

// each asks the questions of a moment.
func (s *session) each(when moment) {
	for _, q := range questions() {
		if q.when != when || s.err != nil {
			continue
		}
		s.answered(q.name, q.ask(s))
		if when == beginning || when == waiting {
			s.work(minTime(s.until, time.Now().Add(14*time.Second)))
		}
	}
}

// one asks one question.
func (s *session) one(name string) {
	rows := questions()
	i := slices.IndexFunc(rows, func(q question) bool { return q.name == name })
	s.answered(name, rows[i].ask(s))
}

// answered notes the result of a question; the zero result is none.
func (s *session) answered(name string, r result) {
	if s.err == nil && r != (result{}) {
		s.results[name] = r
		s.seen[name] = time.Now().UTC()
	}
}

// report is what has been found, in the order of the table, and why the rest is open.
func (s *session) report() Report {
	f := Facility{
		Format: 1, Host: s.base.Hostname(), Seen: time.Now().UTC(), Tool: version(), SignatureScheme: s.scheme,
	}
	for _, q := range questions() {
		r, at := s.results[q.name], s.seen[q.name]
		if at.IsZero() {
			at = f.Seen
			if r = open(q.needs); s.left() <= 0 {
				r = open("the 200 requests for questions are used up")
			}
		}
		f.Findings = append(f.Findings, Finding{Name: q.name, Value: r.value, Other: r.other, Open: r.open, How: q.how, At: at})
	}
	return Report{Facility: f}
}

func minTime(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
