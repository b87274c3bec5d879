package conform

import (
	"fmt"
	"time"
	_ "time/tzdata" // Sydney, on machines without a time zone database
)

func sydney(t time.Time) time.Time {
	zone, err := time.LoadLocation("Australia/Sydney")
	if err != nil { // it is embedded
		return t
	}
	return t.In(zone)
}

// sample is a verification whose settlement date is compared with its time.
type sample struct {
	at   time.Time // by the service's clock
	date string
	made *thing
}

// planSamples makes the samples that the run can wait for, and compares them afterwards.
func (s *session) planSamples() {
	ahead := s.ahead
	now := sydney(time.Now().Add(ahead))
	first := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	for now.After(first.Add(15*time.Hour+50*time.Minute)) || first.Weekday() == time.Saturday || first.Weekday() == time.Sunday {
		first = first.AddDate(0, 0, 1)
	}
	var times []time.Time
	var last time.Time
	for _, hour := range []int{16, 18, 20, 22, 24} {
		at := time.Date(first.Year(), first.Month(), first.Day(), hour, 0, 0, 0, first.Location())
		times = append(times, at.Add(-time.Minute), at.Add(time.Minute))
	}
	for _, at := range times {
		if due := at.Add(-ahead); due.After(time.Now()) && !due.After(s.until) {
			s.samples = append(s.samples, sample{})
			i := len(s.samples) - 1
			s.at(due, func() { s.take(&s.samples[i]) })
			last = due
		}
	}
	if len(s.samples) > 0 {
		s.at(last.Add(s.lagOr(day)+65*time.Second), func() { s.each(settling) })
	}
}

// take makes a sample.
func (s *session) take(p *sample) {
	p.made = s.transact(kindHarmless, s.verification())
	p.at = time.Now().Add(s.ahead)
}

// dateText is the settlement date of a transaction, or "".
func dateText(tx value) string {
	text := tx.get("settlementDate").text()
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return ""
	}
	return text
}

// settlement compares the dates of all samples.
func (s *session) settlement() result {
	var known []sample
	for _, p := range s.samples {
		if tx, ok := s.read(p.made); ok && dateText(tx) != "" {
			p.date = dateText(tx)
			known = append(known, p)
		}
	}
	if hour := cutOff(known); len(known) == len(s.samples) || hour.Value != "" {
		return hour
	}
	return open("some settlement dates cannot be read")
}

// cutOff finds when the settlement date changes in the day of the close samples.
func cutOff(samples []sample) result {
	for i := 1; i < len(samples); i++ {
		from, to := sydney(samples[i-1].at), sydney(samples[i].at)
		switch {
		case from.Hour() < 15 || to.Sub(from) > 3*time.Hour || samples[i-1].date == samples[i].date:
		case to.Sub(from) > 5*time.Minute:
			return other(fmt.Sprintf("between %s and %s", from.Format("15:04"), to.Format("15:04")))
		case to.Hour() == 0:
			return other("midnight")
		default:
			return is(fmt.Sprint(to.Hour()))
		}
	}
	return open("needs a whole weekday")
}
