package calendar_test

import (
	"testing"
	"time"
	_ "time/tzdata" // the rule is checked against the database; the package itself does without

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream/sandbox/internal/calendar"
)

func TestSydneyRuleAgreesWithTheDatabase(t *testing.T) {
	zone, err := time.LoadLocation("Australia/Sydney")
	require.NoError(t, err)
	for at := time.Date(2008, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() < 2038; at = at.Add(6 * time.Hour) {
		_, want := at.In(zone).Zone()
		if _, got := calendar.Sydney(at).Zone(); got != want {
			t.Fatalf("%v: offset %d, want %d", at, got, want)
		}
	}
	// The changes themselves, to the second.
	for _, change := range []string{
		"2008-04-05T16:00:00Z", "2026-04-04T16:00:00Z", "2026-10-03T16:00:00Z",
	} {
		at, err := time.Parse(time.RFC3339, change)
		require.NoError(t, err)
		offset := func(at time.Time) int { _, o := calendar.Sydney(at).Zone(); return o }
		assert.NotEqual(t, offset(at.Add(-time.Second)), offset(at), change)
		assert.Equal(t, at.In(zone).Format(time.RFC3339), calendar.Sydney(at).Format(time.RFC3339))
	}
}

func TestNationalHolidays(t *testing.T) {
	for year, want := range map[int][]string{
		2024: {"01-01", "01-26", "03-29", "04-01", "04-25", "12-25", "12-26"},
		2026: {"01-01", "01-26", "04-03", "04-06", "04-25", "12-25", "12-26", "12-28"},
		2027: {"01-01", "01-26", "03-26", "03-29", "04-25", "12-25", "12-26", "12-27", "12-28"},
		2028: {"01-01", "01-03", "01-26", "04-14", "04-17", "04-25", "12-25", "12-26"},
	} {
		var got []string
		for day := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() == year; day = day.AddDate(0, 0, 1) {
			if calendar.IsNationalHoliday(day) {
				got = append(got, day.Format("01-02"))
			}
		}
		assert.Equal(t, want, got, year)
	}
}
