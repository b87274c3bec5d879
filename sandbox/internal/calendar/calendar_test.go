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
