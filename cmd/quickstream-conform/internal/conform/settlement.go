package conform

import (
	"fmt"
	"slices"
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
	due, at time.Time // at is by the service's clock
	number  int
	date    string
}

// planDays decides which samples the run can wait for.
func (s *session) planDays() {
	if !s.missing(row("CutOffHour")) || !s.has("verification") {
		return
	}
	ahead := s.date.middle()
	now := sydney(time.Now().Add(ahead))
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	first := midnight
	for now.After(first.Add(15*time.Hour+50*time.Minute)) || weekend(first) || holiday(first) {
		first = first.AddDate(0, 0, 1)
	}
	var times []time.Time
	for _, hour := range []int{16, 18, 20, 22, 24} {
		at := time.Date(first.Year(), first.Month(), first.Day(), hour, 0, 0, 0, first.Location())
		times = append(times, at.Add(-time.Minute), at.Add(time.Minute))
	}
	sampled := map[time.Weekday]bool{}
	for i := range 8 { // both days of a weekend, and holidays
		noon := time.Date(midnight.Year(), midnight.Month(), midnight.Day()+i, 12, 1, 0, 0, midnight.Location())
		if noon.After(now) && (weekend(noon) && !sampled[noon.Weekday()] || !weekend(noon) && holiday(noon)) {
			sampled[noon.Weekday()] = true
			times = append(times, noon)
		}
	}
	for _, at := range times {
		if due := at.Add(-ahead); due.After(time.Now()) && !due.After(s.until) {
			s.samples = append(s.samples, sample{due: due})
		}
	}
	slices.SortFunc(s.samples, func(a, b sample) int { return a.due.Compare(b.due) })
}

func weekend(day time.Time) bool {
	return day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
}

// holiday reports the national holidays whose dates are fixed.
func holiday(day time.Time) bool {
	return slices.Contains([]string{"01-01", "01-26", "04-25", "12-25", "12-26"}, day.Format("01-02"))
}

// take makes a sample.
func (s *session) take(p *sample) {
	_, a := judge(func() (a answer) {
		p.number, a = s.make(kindHarmless, "POST", "/transactions", s.verification())
		return a
	})
	if p.at = time.Now().Add(s.date.middle()); a.accepted() {
		p.date = dateText(a.body)
	}
}

func dateText(tx value) string {
	if date, ok := dateOf(tx); ok {
		return date.Format(time.DateOnly)
	}
	return ""
}

// settlement compares the dates of all samples.
func (s *session) settlement() []result {
	var known []sample
	for _, p := range s.samples {
		if receipt := s.Made[p.number].Handle; p.date == "" && receipt != "" {
			p.date = dateText(s.transactionOf(receipt).body)
		}
		if p.date != "" {
			known = append(known, p)
		}
	}
	if len(known) == 0 {
		return []result{open("no settlement date can be read")}
	}
	hour, late := cutOff(known)
	if len(known) < len(s.samples) && hour.value == "" {
		hour, late = open("some settlement dates cannot be read"), open("some settlement dates cannot be read")
	}
	return []result{hour, late, settlementDays(known)}
}

// cutOff finds when the settlement date changes in the day of the close samples.
func cutOff(samples []sample) (hour, late result) {
	hour, late = open("needs a whole weekday"), open("needs a whole weekday")
	for i := 1; i < len(samples); i++ {
		from, to := sydney(samples[i-1].at), sydney(samples[i].at)
		switch {
		case from.Hour() < 15 || to.Sub(from) > 3*time.Hour || samples[i-1].date == samples[i].date:
		case to.Sub(from) > 5*time.Minute:
			return other(fmt.Sprintf("between %s and %s", from.Format("15:04"), to.Format("15:04"))), is("false")
		case to.Hour() == 0:
			return open("the date changes at midnight"), is("true")
		default:
			return is(fmt.Sprint(to.Hour())), is("false")
		}
	}
	return hour, late
}

// settlementDays looks at noon, before any cut-off.
func settlementDays(samples []sample) result {
	weekends, days, holidays := map[string]bool{}, map[time.Weekday]bool{}, ""
	for _, p := range samples {
		at := sydney(p.at)
		if at.Hour() != 12 {
			continue
		}
		moved := map[bool]string{true: "same", false: "moved"}[at.Format(time.DateOnly) == p.date]
		switch {
		case weekend(at):
			weekends[moved] = true
			days[at.Weekday()] = true
		case holiday(at):
			holidays = moved
		case moved == "moved":
			return other("a working day has the date of another")
		}
	}
	switch {
	case len(days) < 2:
		return open("needs a weekend")
	case len(weekends) == 2:
		return other("one day of the weekend")
	case weekends["same"] && holidays != "moved":
		return is("every")
	case weekends["same"]:
		return other("weekends, but not holidays")
	case holidays == "same":
		return is("weekdays")
	case holidays == "moved":
		return is("business")
	default:
		return open("no weekend; the wait had no national holiday")
	}
}
