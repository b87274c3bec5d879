// Package calendar knows Sydney's time and the days on which banks settle, without the
// time zone database.
package calendar

import "time"

//nolint:gochecknoglobals // immutable zones
var (
	standardTime = time.FixedZone("AEST", 10*60*60)
	daylightTime = time.FixedZone("AEDT", 11*60*60)
)

// Sydney converts a time to Sydney time, by the rule of the years from 2008: clocks change at 02:00
// standard time on the first Sundays of April and October. Tests whose fake clock begins in 2000 have
// the same rule.
func Sydney(t time.Time) time.Time {
	local := t.In(standardTime)
	if local.Before(firstSunday(local.Year(), time.April)) || !local.Before(firstSunday(local.Year(), time.October)) {
		return t.In(daylightTime)
	}
	return local
}

// firstSunday is 02:00 standard time on the first Sunday of a month.
func firstSunday(year int, month time.Month) time.Time {
	day := time.Date(year, month, 1, 2, 0, 0, 0, standardTime)
	return day.AddDate(0, 0, (7-int(day.Weekday()))%7)
}

// Settlement is how transactions get their settlement date.
type Settlement struct {
	CutOffHour int    // of the day, in Sydney, at which the next date begins
	Days       string // on which transactions settle: every, weekdays or business
}

// Date returns the settlement date of a transaction made at t, as YYYY-MM-DD.
func (s Settlement) Date(t time.Time) string {
	day := Sydney(t)
	if day.Hour() >= s.CutOffHour {
		day = day.AddDate(0, 0, 1)
	}
	for !s.settlesOn(day) {
		day = day.AddDate(0, 0, 1)
	}
	return day.Format(time.DateOnly)
}

func (s Settlement) settlesOn(day time.Time) bool {
	isWeekend := day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
	switch s.Days {
	case "weekdays":
		return !isWeekend
	case "business":
		return !isWeekend && !IsNationalHoliday(day)
	default:
		return true
	}
}

// IsNationalHoliday reports whether a day is a holiday in all of Australia, or the
// weekday that replaces a holiday on a weekend.
func IsNationalHoliday(day time.Time) bool {
	year, month, date := day.Date()
	easter := easterSunday(year)
	switch of := time.Date(year, month, date, 0, 0, 0, 0, time.UTC); {
	case of.Equal(easter.AddDate(0, 0, -2)), of.Equal(easter.AddDate(0, 0, 1)):
		return true
	case month == time.April:
		return date == 25
	case month == time.December && (date == 27 || date == 28): // in place of Christmas or Boxing Day
		return day.AddDate(0, 0, -2).Weekday() == time.Saturday || day.AddDate(0, 0, -2).Weekday() == time.Sunday
	case month == time.January && (date == 1 || date == 26), month == time.December && (date == 25 || date == 26):
		return true
	default: // the Monday after 1 or 26 January on a weekend
		return month == time.January && day.Weekday() == time.Monday && (date == 2 || date == 3 || date == 27 || date == 28)
	}
}

// easterSunday returns the date of Easter in the Gregorian calendar.
func easterSunday(year int) time.Time {
	century, golden := year/100, year%19
	epact := (century - century/4 - (8*century+13)/25 + 19*golden + 15) % 30
	moon := epact - (epact/28)*(1-(29/(epact+1))*((21-golden)/11))
	weekday := (year + year/4 + moon + 2 - century + century/4) % 7
	days := moon - weekday // after 28 March
	return time.Date(year, time.March, 28+days, 0, 0, 0, 0, time.UTC)
}
