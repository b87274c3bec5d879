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

// settlementDate is the day to which a transaction at t belongs: from the cut-off
// on the next one.
func (b *Sandbox) settlementDate(t time.Time) string {
	local := inSydney(t.Add(b.skew()))
	if local.Hour() >= b.assume.CutOffHour && !b.assume.LateSettlementDate {
		local = local.AddDate(0, 0, 1)
	}
	for !b.settles(local) {
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

// settles reports whether a day is one on which transactions settle.
func (b *Sandbox) settles(day time.Time) bool {
	isWeekend := day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
	switch b.assume.SettlementDays {
	case "weekdays":
		return !isWeekend
	case "business":
		return !isWeekend && !nationalHoliday(day)
	default:
		return true
	}
}

// nationalHoliday knows the days off of all of Australia, and the weekdays that
// take the place of those that fall on a weekend.
func nationalHoliday(day time.Time) bool {
	year, month, date := day.Date()
	easter := easterSunday(year)
	switch of := time.Date(year, month, date, 0, 0, 0, 0, time.UTC); {
	case of.Equal(easter.AddDate(0, 0, -2)), of.Equal(easter.AddDate(0, 0, 1)):
		return true
	case month == time.April:
		return date == 25
	case month == time.December && (date == 27 || date == 28): // for Christmas or Boxing Day
		return day.AddDate(0, 0, -2).Weekday() == time.Saturday || day.AddDate(0, 0, -2).Weekday() == time.Sunday
	case month == time.January && (date == 1 || date == 26), month == time.December && (date == 25 || date == 26):
		return true
	default: // the Monday after a first or a twenty-sixth of January on a weekend
		return month == time.January && day.Weekday() == time.Monday && (date == 2 || date == 3 || date == 27 || date == 28)
	}
}

// easterSunday goes by the Gregorian calendar.
func easterSunday(year int) time.Time {
	century, golden := year/100, year%19
	epact := (century - century/4 - (8*century+13)/25 + 19*golden + 15) % 30
	moon := epact - (epact/28)*(1-(29/(epact+1))*((21-golden)/11))
	weekday := (year + year/4 + moon + 2 - century + century/4) % 7
	days := moon - weekday // after the 28th of March
	return time.Date(year, time.March, 28+days, 0, 0, 0, 0, time.UTC)
}
