package sandbox

import (
	"net/http"
	"time"
)

//nolint:gochecknoglobals // immutable zones
var (
	standardTime = time.FixedZone("AEST", 10*60*60)
	daylightTime = time.FixedZone("AEDT", 11*60*60)
)

// inSydney converts to Sydney time by rule, for the years from 1996. It spares
// merchants' test binaries the time zone database. Clocks change at 02:00
// standard time: since 2008 on the first Sundays of April and October, before on
// the last ones of March and October, with two years of games as exceptions.
func inSydney(t time.Time) time.Time {
	local := t.In(standardTime)
	year := local.Year()
	end, start := lastSunday(year, time.March), lastSunday(year, time.October)
	switch {
	case year >= 2008:
		end, start = firstSunday(year, time.April), firstSunday(year, time.October)
	case year == 2006:
		end = firstSunday(year, time.April)
	case year == 2000:
		start = lastSunday(year, time.August)
	}
	if local.Before(end) || !local.Before(start) {
		return t.In(daylightTime)
	}
	return local
}

// firstSunday is 02:00 standard time on the first Sunday of a month.
func firstSunday(year int, month time.Month) time.Time {
	day := time.Date(year, month, 1, 2, 0, 0, 0, standardTime)
	return day.AddDate(0, 0, (7-int(day.Weekday()))%7)
}

func lastSunday(year int, month time.Month) time.Time {
	return firstSunday(year, month+1).AddDate(0, 0, -7)
}

// settlementDate is the day to which a transaction at t belongs: the next one
// from the cut-off on. Weekends and holidays are days like others.
func (b *Sandbox) settlementDate(t time.Time) string {
	local := inSydney(t.Add(b.skew()))
	if local.Hour() >= b.assume.CutOffHour {
		local = local.AddDate(0, 0, 1)
	}
	return local.Format(time.DateOnly)
}

// reformatDate writes a settlement date in another layout.
func reformatDate(date, layout string) string {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil { // it is our own
		return date
	}
	return day.Format(layout)
}

func (b *Sandbox) timestamp(t time.Time) string {
	return inSydney(t.Add(b.assume.ClockSkew)).Format(timestampLayout)
}

// skew is how far the service as a whole is ahead: nothing when its times alone are.
func (b *Sandbox) skew() time.Duration {
	if b.assume.DateHeaderRight {
		return 0
	}
	return b.assume.ClockSkew
}

// dateHeader is the time of an answer.
func (b *Sandbox) dateHeader() string {
	return b.clock.Now().Add(b.skew()).UTC().Format(http.TimeFormat)
}
