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
	made *thing
	at   time.Time // by the service's clock
	date string
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
	var samples []sample
	for _, minute := range []int{16*60 - 1, 16*60 + 1, 18*60 - 1, 18*60 + 1, 20*60 - 1, 20*60 + 1, 22*60 - 1, 22*60 + 1, 24*60 - 1, 24*60 + 1} {
		s.wait(time.Date(date.Year(), date.Month(), date.Day(), 0, minute, 0, 0, date.Location()).Add(-ahead))
		t := s.transact(kindHarmless, s.verification())
		samples = append(samples, sample{made: t, at: time.Now().Add(ahead)})
	}
	s.found()
	for i := range samples {
		tx, _ := s.read(samples[i].made)
		if samples[i].date = tx.get("settlementDate").text(); samples[i].date == "" {
			return open("some settlement dates cannot be read")
		}
	}
	return cutOff(samples)
}

// cutOff finds when the settlement date changes in the day of the samples.
func cutOff(samples []sample) result {
	for i := 1; i < len(samples); i++ {
		from, to := sydney(samples[i-1].at), sydney(samples[i].at)
		switch {
		case samples[i-1].date == samples[i].date:
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
