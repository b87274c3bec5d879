package conform

import (
	"slices"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// probe is a row of the table: the questions that it answers, and how.
type probe struct {
	names []string
	calls int    // about how many requests it makes
	how   string // what it does, in the report and before the start
	needs string // what the service has to accept before; a refusal says nothing without it
	// ask returns a result for each name, and the last one is for all that follow. Without ask, the
	// questions are answered on the way.
	ask func(*session) []result
	// later is why a question has no answer yet, if ask did not say it.
	later string
}

const needsDays = "needs -wait 2d or more"

// table is all probes but the onsets, which wait for one change each.
func table() []probe { return slices.Concat(immediate(), reads(), timed()) }

// row returns the row of a question.
func row(name string) probe {
	rows := table()
	return rows[slices.IndexFunc(rows, func(p probe) bool { return slices.Contains(p.names, name) })]
}

// immediate are the probes that need nothing but an answer.
func immediate() []probe {
	return []probe{
		question("NothingFound", 2, "the transactions of a day in 1990", "", (*session).nothingFound),
		question("ErrorForm", 2, "a payment without its members", "", (*session).errorForm),
		question("TransactionAnswers", 1, "the answer to an account verification", "verification", (*session).transactionAnswers),
		question("KeyMismatch", 2, "the same idempotency key for another verification", "verification", (*session).keyMismatch),
		question("BSBForm", 4, "tokens for a bank account, with and without a dash in the BSB", "", (*session).bsbForm),
	}
}

// reads are the probes that read what was made, when reads find it.
func reads() []probe {
	rows := []probe{
		question("StatusForm", 1, "an account verification that is read", "", (*session).status),
		question("ReferenceSearch", 9, "a card payment with a reference in both cases", "", (*session).search),
		question("EchoedReferences", 1, "the reference of a card payment that is read", "", (*session).echoed),
		question("RefundBeforeCutOff", 1, "a card payment that is read on its day", "", (*session).refundable),
		question("Metadata", 2, "the metadata of a payment and of its refund", "", (*session).metadata),
		question("FollowUpReferences", 8, "look-ups of a refund and of a top-up", "", (*session).followUpReferences),
	}
	for i := range rows {
		rows[i].later = "reads do not find the transactions yet; needs a -wait that is longer than LookupLag"
	}
	return rows
}

// timed are the probes that are asked when their time has come.
func timed() []probe {
	return []probe{
		{names: []string{"CutOffHour"}, calls: 10, how: "verifications around the hours of a weekday", ask: func(s *session) []result { return []result{s.settlement()} }, later: needsDays},
		{names: []string{"SoftDeclineCodes"}, calls: 10, how: "declined card payments, and their retries after a day", ask: (*session).retries, later: needsDays},
		{names: []string{"Events", "Redelivery", "SignatureHeader"}, calls: 6, how: "notifications about two PayTo agreements, with -listen", ask: (*session).events, later: "needs -listen and a subscription"},
	}
}

// question is a probe with one name.
func question(name string, calls int, how, needs string, ask func(*session) result) probe {
	return probe{names: []string{name}, calls: calls, how: how, needs: needs, ask: func(s *session) []result { return []result{ask(s)} }}
}

// ask asks the probes without an answer.
func (s *session) ask(probes ...probe) {
	for _, p := range probes {
		if s.err != nil || !s.missing(p) {
			continue
		}
		if s.has(p.needs) {
			s.note(p, p.ask(s)...)
		} else {
			s.note(p, open("no "+p.needs+" was accepted"))
		}
		s.keep()
	}
}

// has reports whether something that probes need is accepted. It is tried once in a process.
func (s *session) has(what string) bool {
	if _, tried := s.proven[what]; !tried {
		switch what {
		case "verification":
			s.proven[what], _ = s.transact("verification", kindHarmless, s.verification())
		case "agreement":
			s.proven[what], s.agreed = unclear, answer{}
			if s.has("customer") {
				s.proven[what], s.agreed = judge(func() answer { return s.tryAgreement(func(object) {}) })
			}
		case "customer":
			s.proven[what] = s.makeCustomer()
		default:
			s.proven[what] = accepts
		}
	}
	return s.proven[what] == accepts
}

// note notes the results of a probe, for those of its questions without an answer.
func (s *session) note(p probe, results ...result) {
	for i, name := range p.names {
		if s.Findings[name].Name == "" {
			s.answered(name, p.how, results[min(i, len(results)-1)])
		}
	}
}

// answered notes the result of a question.
func (s *session) answered(name, how string, r result) {
	if s.err == nil && r != (result{}) {
		s.Findings[name] = sandbox.FacilityFinding{Name: name, Value: r.value, Other: r.other, Open: r.open, How: how, At: time.Now().UTC()}
	}
}

// missing reports whether one of the probes has no answer.
func (s *session) missing(probes ...probe) bool {
	return slices.ContainsFunc(probes, func(p probe) bool {
		return slices.ContainsFunc(p.names, func(name string) bool { return s.Findings[name].Name == "" })
	})
}

// value is a value that has been found, or "".
func (s *session) value(name string) string { return s.Findings[name].Value }
