package conform

import (
	"time"
)

// question is a row of the table: its assumption, and how it is answered.
type question struct {
	name, how string
	ask       func(*session) result
}

// questions are all that is asked, one after another. Those that may take days are the last.
func questions() []question {
	return []question{
		{"NothingFound", "the transactions of a day in 1990", (*session).nothingFound},
		{"ErrorForm", "a payment without its members", (*session).errorForm},
		{"KeyMismatch", "the same idempotency key for another verification", (*session).keyMismatch},
		{"LookupLag", "a verification that is read until it is found", (*session).lookupLag},
		{"StatusForm", "an account verification that is read", (*session).status},
		{"ReferenceSearch", "a card payment with a reference in both cases", (*session).search},
		{"Metadata", "the metadata of a payment and of its refund", (*session).metadata},
		{"PageSize", "the first page of the day's transactions", (*session).pageSize},
		{"CutOffHour", "verifications around the hours of a weekday", (*session).settlement},
		{"KeyLifetime", "a verification that is sent again with its key", (*session).keyLifetime},
		{"SoftDeclineCodes", "declined card payments, and their retries after a day", (*session).retries},
		{"PayToApprovedAfter", "a PayTo payment that is read until it is approved", (*session).payTo},
	}
}

// ask asks everything. Nothing follows from requests that were not sent.
func (s *session) ask() Facility {
	s.makeSpecimens()
	f := Facility{Format: 1, Host: s.base.Hostname(), Tool: version()}
	for _, q := range questions() {
		r := q.ask(s)
		if s.err != nil {
			r = open("the run ended before: " + s.err.Error())
		}
		r.Name, r.How, r.At = q.name, q.how, time.Now().UTC()
		f.Findings = append(f.Findings, r)
	}
	f.SignatureScheme, f.Seen = s.webhookScheme(), time.Now().UTC()
	return f
}
