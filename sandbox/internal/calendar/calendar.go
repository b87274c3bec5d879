// Package calendar knows Sydney's time without the time zone database.
package calendar

import "time"

//nolint:gochecknoglobals // immutable zones
var (
	standardTime = time.FixedZone("AEST", 10*60*60)
	daylightTime = time.FixedZone("AEDT", 11*60*60)
)

// Sydney converts a time to Sydney time, by the rule of the years from 2008: clocks change at 02:00
// standard time on the first Sundays of April and October. Earlier years have the same rule here, because
// the fake clock of tests begins in 2000.
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
