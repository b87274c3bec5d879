package conform

import (
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// question is a row of the table: its assumption, how it is answered, and when.
type question struct {
	name  string
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
	settling                // the day of the samples has ended
	retried                 // the declined payments have been retried
)

const (
	needsDays = "needs -wait 2d or more"
	needsLag  = "reads do not find the transactions yet; needs a -wait that is longer than LookupLag"
)

// questions are all that is asked, in this order.
func questions() []question {
	return []question{
		{"NothingFound", "the transactions of a day in 1990", atOnce, (*session).nothingFound, ""},
		{"ErrorForm", "a payment without its members", atOnce, (*session).errorForm, ""},
		{"KeyMismatch", "the same idempotency key for another verification", atOnce, (*session).keyMismatch, ""},
		{"LookupLag", "a verification that is read until it is found", beginning, (*session).lookupLag, "needs -wait 25h"},
		{"KeyLifetime", "a verification that is sent again with its key", waiting, (*session).keyLifetime, "needs -wait 25h"},
		{"PayToApprovedAfter", "a PayTo payment that is read until it is approved", waiting, (*session).payTo, "needs -wait 5d"},
		{"StatusForm", "an account verification that is read", reading, (*session).status, needsLag},
		{"ReferenceSearch", "a card payment with a reference in both cases", reading, (*session).search, needsLag},
		{"Metadata", "the metadata of a payment and of its refund", reading, (*session).metadata, needsLag},
		{"PageSize", "the first page of the day's transactions", reading, (*session).pageSize, needsLag},
		{"CutOffHour", "verifications around the hours of a weekday", settling, (*session).settlement, needsDays},
		{"SoftDeclineCodes", "declined card payments, and their retries after a day", retried, (*session).retries, needsDays},
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
	s.listen()
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
		if end := time.Now().Add(14 * time.Second); (when == beginning || when == waiting) && end.Before(s.until) {
			s.work(end)
		}
	}
}

// answered notes the result of a question; the zero result is none.
func (s *session) answered(name string, r result) {
	if s.err == nil && r != (result{}) {
		r.At = time.Now().UTC()
		s.results[name] = r
	}
}

// report is what has been found, in the order of the table, and why the rest is open.
func (s *session) report() Report {
	f := sandbox.Facility{
		Format: sandbox.FacilityFormat, Host: s.base.Hostname(), Seen: time.Now().UTC(), Tool: version(), SignatureScheme: s.scheme,
	}
	for _, q := range questions() {
		r, known := s.results[q.name]
		if !known {
			if r = open(q.needs); s.left() <= 0 {
				r = open("the 200 requests for questions are used up")
			}
			r.At = f.Seen
		}
		r.Name, r.How = q.name, q.how
		f.Findings = append(f.Findings, r)
	}
	return Report{Facility: f}
}
