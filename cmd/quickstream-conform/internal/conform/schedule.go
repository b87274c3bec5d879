package conform

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/shape"
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

const (
	day      = 24 * time.Hour
	untilLag = "LookupLag"
)

func onsets() []onset {
	return []onset{
		{
			untilLag, "a verification that is read until it is found",
			[]time.Duration{0, 2 * time.Second, 10 * time.Second, 5 * time.Minute, day},
			seconds(1, 2, 9, 10, 11, 299, 300, 302, 86399, 86400, 86402), (*session).startLag, (*session).visible,
		},
		{
			"AgreementLookupLag", "a PayTo agreement that is read until it is found",
			[]time.Duration{0, 2 * time.Second, 5 * time.Minute},
			seconds(1, 2, 3, 9, 299, 300, 302), (*session).startAgreementLag, (*session).agreementVisible,
		},
		{
			"KeyLifetime", "a verification that is sent again with its key",
			[]time.Duration{0, 2 * time.Minute, 5 * time.Minute, day},
			seconds(1, 118, 122, 298, 302, 86398, 86402), (*session).startKey, (*session).forgotten,
		},
		{
			"PayToApprovedAfter", "a PayTo payment that is read until it is approved",
			[]time.Duration{time.Minute, 15 * time.Minute, 119 * time.Hour},
			seconds(5, 12, 58, 62, 898, 902, 86410, 428398, 428402), (*session).startPayTo, (*session).approved,
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

func (s *session) startLag() (int, result) {
	if !s.has("verification") {
		return 0, open("no verification was accepted")
	}
	if v, _ := s.specimen("lag", kindHarmless, s.verification()); v != accepts {
		return 0, open(unusable)
	}
	return s.Specimens["lag"], result{}
}

func (s *session) visible(w window) (seen, known bool) {
	receipt := s.answers[w.Number].receipt()
	if receipt == "" { // in a later process
		return s.find(w.Number) != "", s.err == nil && !s.doubts[w.Number]
	}
	return found(s.get("/transactions/"+url.PathEscape(receipt), nil))
}

// found reports whether a read finds something.
func found(a answer) (seen, known bool) {
	seen = a.accepted() && !a.broken
	return seen, seen || a.status == http.StatusNotFound
}

func (s *session) startAgreementLag() (int, result) {
	if s.ours() == "" {
		return 0, open("no customer was accepted")
	}
	n, a := s.newAgreement(payerSilent, func(object) {})
	if a.body.Get("agreementToken").Empty() {
		return 0, open("no agreement was accepted")
	}
	return n, result{}
}

func (s *session) agreementVisible(w window) (seen, known bool) {
	token := s.answers[w.Number].body.Get("agreementToken").Text
	if token == "" {
		return false, false
	}
	return found(s.get("/payto-agreements/"+url.PathEscape(token), nil))
}

func (s *session) startKey() (int, result) {
	if !s.has("verification") {
		return 0, open("no verification was accepted")
	}
	if v, _ := s.transact("key", kindHarmless, s.verification()); v != accepts {
		return 0, open(unusable)
	}
	return s.Specimens["key"], result{}
}

// forgotten sends the verification again. A verification takes no money, however often it is made.
func (s *session) forgotten(w window) (seen, known bool) {
	first := s.find(w.Number)
	body := s.verification()
	body["paymentReferenceNumber"] = s.reference(w.Number)
	a := s.send(http.MethodPost, "/transactions", body, keyed(s.idempotencyKey("thing", w.Number)))
	return a.receipt() != first, first != "" && a.receipt() != ""
}

func (s *session) startPayTo() (int, result) {
	n, no := s.makeActive()
	if no != (result{}) {
		s.note(row("PayToSynchronous"), no)
		return n, no
	}
	if a := s.answers[n].body; !a.Get("status").Empty() || !a.Get("summaryCode").Empty() {
		return n, s.synchronous(a)
	}
	return n, result{}
}

// synchronous says what the first state of a payment shows: only an approval proves itself.
func (s *session) synchronous(tx shape.Value) result {
	p := row("PayToSynchronous")
	switch {
	case isPending(tx):
		s.note(p, is("false"))
	case isApproved(tx):
		s.note(p, is("true"))
		return open("payments are approved in the answer")
	default:
		s.note(p, open("the payment was neither approved nor pending"))
	}
	return result{}
}

func (s *session) approved(w window) (seen, known bool) {
	a := s.get("/transactions/"+url.PathEscape(s.find(w.Number)), nil)
	if a.body.Get("receiptNumber").Empty() {
		return false, false
	}
	done := isApproved(a.body)
	if s.Findings["PayToSynchronous"].Name == "" {
		age := a.got.Sub(s.Made[w.Number].Answered)
		switch {
		case !done || age < 30*time.Second:
			s.synchronous(a.body)
		default:
			s.note(row("PayToSynchronous"), open("the payment was found when it was approved"))
		}
	}
	if done && w.Before < 0 && s.value("PayToSynchronous") != "false" {
		s.answered("PayToApprovedAfter", "a PayTo payment that is read until it is approved", open("the payment was found when it was approved"))
		return false, false
	}
	return done, a.body.Get("summaryCode").Text != "1" // what is declined is not approved later
}

func (s *session) startReturn() (int, result) {
	if !s.can(3*day + time.Hour) {
		return 0, needs("needs -wait 80h, or the payment could not be taken back")
	}
	v, _ := s.specimen("return", kindPayment, s.transaction("PAYMENT", "1.03", "bankAccount", bank(s.bsb("032-051"))))
	if v != accepts {
		return 0, open("no bank account payment was accepted")
	}
	s.Made[s.Specimens["return"]].Keep = true
	return s.Specimens["return"], result{}
}

// returned reads whether a payment is declined. Before it is found, its answer says whether it was
// approved at first.
func (s *session) returned(w window) (seen, known bool) {
	code := s.answers[w.Number].body.Get("summaryCode").Text
	if a := s.get("/transactions/"+url.PathEscape(s.find(w.Number)), nil); !a.body.Get("summaryCode").Empty() {
		code = a.body.Get("summaryCode").Text
	} else if w.Before >= 0 {
		return false, false
	}
	if code == "1" {
		s.Made[w.Number].Keep = false
	}
	return code == "1", code != ""
}

// can reports whether the run may wait for so long from now.
func (s *session) can(d time.Duration) bool {
	return !s.cfg.Clock.Now().Add(d).After(s.until)
}

// task is something to do at a time.
type task struct {
	due  time.Time
	long bool // it makes many requests
	run  func()
}

// watch does what needs time, each thing when it is due, until nothing is left or the run may not
// wait longer.
func (s *session) watch() {
	for s.err == nil {
		tasks := s.tasks()
		if len(tasks) == 0 {
			return
		}
		t := next(tasks, s.cfg.Clock.Now(), s.until)
		if t.due.After(s.until) {
			return
		}
		if s.wait(t.due) {
			t.run()
			s.keep()
		}
	}
}

// next is the task to do first. What takes long lets those go that would come too late after it.
func next(tasks []task, now, until time.Time) task {
	byDue := func(a, b task) int { return a.due.Compare(b.due) }
	t := slices.MinFunc(tasks, byDue)
	short := slices.DeleteFunc(slices.Clone(tasks), func(t task) bool { return t.long || t.due.After(until) })
	if !t.long || len(short) == 0 {
		return t
	}
	const long = 2 * time.Minute
	if first := slices.MinFunc(short, byDue); first.due.Before(t.due.Add(long)) || first.due.Before(now.Add(long)) {
		return first
	}
	return t
}

func (s *session) tasks() (tasks []task) {
	for _, o := range onsets() {
		w, begun := s.Onsets[o.name]
		if begun && !w.Seen && w.Looked < len(o.ages) && s.Findings[o.name].Name == "" {
			due := s.Made[w.Number].Answered.Add(o.ages[w.Looked])
			tasks = append(tasks, task{due, false, func() { s.look(o) }})
		}
	}
	if s.missing(reads()...) && s.Notes["specimens"] == s.process {
		if found := s.Onsets[untilLag]; found.Seen {
			ready := s.Made[s.lastSpecimen()].Answered.Add(found.After + time.Second)
			tasks = append(tasks, task{ready, true, func() {
				s.ask(reads()...)
				delete(s.Notes, "specimens") // once: what shows nothing now shows nothing later
				s.release()
			}})
		}
	}
	return append(tasks, s.dailyTasks()...)
}

// lastSpecimen is the number of the last thing that reads are about.
func (s *session) lastSpecimen() (last int) {
	for name, n := range s.Specimens {
		if !strings.HasPrefix(name, "soft") && name != "payTo" && name != "return" {
			last = max(last, n)
		}
	}
	return last
}

// begin starts those of the named onsets that are not known. It looks for short lags before anything
// else is made: later looks would come too late.
func (s *session) begin(names ...string) {
	until := s.until
	defer func() { s.until = until }()
	for _, o := range onsets() {
		if _, begun := s.Onsets[o.name]; begun || s.Findings[o.name].Name != "" || !slices.Contains(names, o.name) {
			continue
		}
		n, no := o.start(s)
		if no != (result{}) {
			s.answered(o.name, o.how, no)
			continue
		}
		w := window{Number: n, Before: -1}
		if o.name == "BankReturnAfter" && s.answers[n].body.Get("summaryCode").Text == "0" {
			w.Before, w.Looked = 0, 4 // approved in its answer
		}
		s.Onsets[o.name] = w
		s.keep()
		if soon := s.cfg.Clock.Now().Add(14 * time.Second); soon.Before(until) {
			s.until = soon
		}
		s.watch()
		s.until = until
	}
}

// look looks once.
func (s *session) look(o onset) {
	w := s.Onsets[o.name]
	begun := s.cfg.Clock.Now()
	seen, known := o.seen(s, w)
	made := s.Made[w.Number]
	w.Looked++
	switch {
	case s.err != nil:
		return
	case !known:
	case seen:
		w.After, w.Seen = s.cfg.Clock.Now().Sub(made.Sent), true
		s.answered(o.name, o.how, w.span().pick(o.listed...))
	default:
		w.Before = max(w.Before, begun.Sub(made.Answered))
	}
	// Ages that have passed are not looked at.
	for w.Looked < len(o.ages) && o.ages[w.Looked] <= s.cfg.Clock.Now().Sub(made.Answered) {
		w.Looked++
	}
	if last := len(o.ages); !w.Seen && w.Looked >= last {
		r := open("it was not looked for in time")
		if w.Before >= o.ages[last-1]-time.Second {
			r = other("longer than " + brief(w.Before))
		}
		s.answered(o.name, o.how, r)
	}
	s.Onsets[o.name] = w
}
