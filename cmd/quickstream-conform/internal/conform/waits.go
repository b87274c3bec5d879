package conform

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // Sydney, on machines without a time zone database
)

const (
	day        = 24 * time.Hour
	untilRetry = 25 * time.Hour // a service that retries by itself has done so
	needsDays  = "needs -wait 72h or more"
)

// watch looks at a thing a second before and after each age that an assumption lists, until it sees a change. look
// returns known as false if no usable answer came.
func (s *session) watch(t *thing, name string, look func() (seen, known bool)) result {
	listed := assumption(name).Worlds
	ages := []time.Duration{time.Second}
	for _, text := range listed {
		if d, _ := time.ParseDuration(text); d > 0 {
			ages = append(ages, d-time.Second, d+time.Second)
		}
	}
	slices.Sort(ages)
	before, answered := time.Duration(-1), true // how old the thing was when the change was not yet seen
	for _, age := range slices.Compact(ages) {
		due := t.Answered.Add(age)
		if !s.can(time.Until(due)) {
			return open(fmt.Sprintf("needs a -wait that is longer than %s", age))
		}
		if !s.wait(due) {
			return open(unusable)
		}
		begun := time.Now()
		seen, known := look()
		if seen && known {
			return pick(before, time.Since(t.Sent), listed)
		}
		if answered = known; known {
			before = begun.Sub(t.Answered)
		}
	}
	if !answered {
		return open(unusable)
	}
	return other("longer than " + ages[len(ages)-1].String())
}

// pick returns the only listed duration between two ages, if they are close enough to prove more than
// "nearest": at most 4 seconds apart, or 15 from a minute on.
func pick(before, after time.Duration, listed []string) result {
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

// lookupLag measures how long reads do not find a new verification.
func (s *session) lookupLag() result {
	if s.probe = s.transact(kindHarmless, s.verification()); s.probe == nil {
		return open("no verification was accepted")
	}
	return s.watch(s.probe, "LookupLag", func() (seen, known bool) {
		a := s.transactionOf(s.probe.Handle)
		if a.accepted() {
			s.lag = time.Since(s.probe.Sent)
		}
		return a.accepted(), a.accepted() || a.status == http.StatusNotFound
	})
}

// found waits until reads find everything that was made so far.
func (s *session) found() bool { return s.lag >= 0 && s.can(s.lag) && s.pause(s.lag) }

// keyLifetime sends a verification again, which takes no money however often it is made.
func (s *session) keyLifetime() result {
	t := s.transact(kindHarmless, s.verification())
	if t == nil {
		return open("no verification was accepted")
	}
	return s.watch(t, "KeyLifetime", func() (seen, known bool) {
		body := s.verification()
		body["paymentReferenceNumber"] = t.Reference
		receipt := s.send(http.MethodPost, "/transactions", body, t.Key).member("receiptNumber")
		return receipt != t.Handle, receipt != ""
	})
}

// payTo pays against an agreement when its payer has confirmed, and waits for the approval.
func (s *session) payTo() result {
	customer := s.create(kindCustomer, "/customers", object{
		"customerName": "Conform Probe", "emailAddress": "conform@example.com", "phoneNumber": "+61255501234",
	})
	if customer == nil {
		return open("no customer was accepted")
	}
	agreement := s.create(kindAgreement, "/customers/"+url.PathEscape(customer.Handle)+"/payto-agreements", s.agreement())
	if agreement == nil {
		return open("no agreement was accepted")
	}
	var t *thing
	for n := 0; t == nil && n < 5; n++ {
		s.pause(3 * time.Second)
		t = s.transact(kindPayment, s.payment("1.07", object{"payToData": object{"agreementToken": agreement.Handle, "endToEndId": rand.Text()}}))
	}
	switch {
	case t == nil:
		return open("no payment against an agreement was accepted")
	case isApproved(t.answer):
		return is("0s")
	}
	return s.watch(t, "PayToApprovedAfter", func() (seen, known bool) {
		tx, read := s.read(t)
		return isApproved(tx), read && tx.get("summaryCode").text() != "1" // a declined payment is not approved later
	})
}

// isApproved reports whether a transaction shows an approval in a known form. The summary code alone
// counts only without a status: a pending payment may have the code of an approval.
func isApproved(tx value) bool {
	word, code := strings.ToLower(tx.get("status").text()), tx.get("summaryCode").text()
	return code == "0" && word == "" || slices.Contains([]string{"", "0"}, code) && slices.Contains([]string{"approved", "approved*", "settled"}, word)
}

// retries reads which of the declined payments were retried.
func (s *session) retries() result {
	if len(s.declines) == 0 || !s.can(untilRetry-time.Since(s.begun)) || !s.wait(s.begun.Add(untilRetry)) || !s.found() {
		return open(needsDays)
	}
	var declined, again []string
	for _, t := range s.declines {
		tx, ok := s.read(t)
		if !ok {
			return open("not all declined payments can be read")
		}
		code := tx.get("responseCode").text()
		a := s.page("/transactions/"+url.PathEscape(t.Handle)+"/retries", nil)
		if code == "" || !a.accepted() && a.status != http.StatusNotFound {
			return open("the retries of a declined payment cannot be read")
		}
		declined = append(declined, code)
		if len(a.body.get("data").items()) > 0 {
			again = append(again, code)
		}
	}
	return softDeclines(declined, again)
}

// softDeclines names the codes that were retried. The listed values are about four codes: if the
// cards were declined with others, the result is another one.
func softDeclines(declined, again []string) result {
	if len(again) == 0 {
		return open("nothing was retried within a day")
	}
	slices.Sort(declined)
	slices.Sort(again)
	found, all := strings.Join(again, ","), strings.Join(declined, ",")
	if all != "01,05,51,91" {
		return other(found + " of " + all)
	}
	return one(found, "01", all)
}

func sydney(t time.Time) time.Time {
	zone, err := time.LoadLocation("Australia/Sydney")
	if err != nil { // it is embedded
		return t
	}
	return t.In(zone)
}

// settlement makes verifications a minute before and after some hours of the next weekday, and compares
// their dates.
func (s *session) settlement() result {
	ahead := s.ahead
	now := sydney(time.Now().Add(ahead))
	date := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	for now.After(date.Add(15*time.Hour+50*time.Minute)) || date.Weekday() == time.Saturday || date.Weekday() == time.Sunday {
		date = date.AddDate(0, 0, 1)
	}
	if s.lag < 0 || !s.can(time.Until(date.Add(25*time.Hour+s.lag))) {
		return open(needsDays)
	}
	var made []*thing
	var times []time.Time // of the things, by the service's clock
	for _, hour := range []int{16, 18, 20, 22, 24} {
		for _, minute := range []int{-1, 1} {
			s.wait(time.Date(date.Year(), date.Month(), date.Day(), hour, minute, 0, 0, date.Location()).Add(-ahead))
			made = append(made, s.transact(kindHarmless, s.verification()))
			times = append(times, sydney(time.Now().Add(ahead)))
		}
	}
	s.found()
	var dates []string
	for _, t := range made {
		tx, _ := s.read(t)
		if dates = append(dates, tx.get("settlementDate").text()); slices.Contains(dates, "") {
			return open("some settlement dates cannot be read")
		}
	}
	return cutOff(times, dates)
}

// cutOff finds the hour at which the settlement date of things that were made at some times changes.
func cutOff(times []time.Time, dates []string) result {
	for i := 1; i < len(times); i++ {
		from, to := times[i-1], times[i]
		switch {
		case dates[i-1] == dates[i]:
		case to.Sub(from) > 5*time.Minute:
			return other(fmt.Sprintf("between %s and %s", from.Format("15:04"), to.Format("15:04")))
		case to.Hour() == 0:
			return other("midnight")
		default:
			return is(fmt.Sprint(to.Hour()))
		}
	}
	return open("the settlement date does not change from 16:00 to midnight: perhaps a holiday")
}
