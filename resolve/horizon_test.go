package resolve_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// closed returns a calendar of weekdays without some days.
func closed(until quickstream.Date, holidays ...quickstream.Date) resolve.Calendar {
	return resolve.Calendar{Until: until, IsBusinessDay: func(d quickstream.Date) bool {
		day := d.In(time.UTC).Weekday()
		return day != time.Saturday && day != time.Sunday && !slices.Contains(holidays, d)
	}}
}

func TestAbsentNotBefore(t *testing.T) {
	friday, monday := quickstream.NewDate(2026, time.April, 3), quickstream.NewDate(2026, time.April, 6) // of Easter
	year := quickstream.NewDate(2026, time.December, 31)
	everyDay := resolve.Calendar{Until: year, IsBusinessDay: func(quickstream.Date) bool { return true }}
	for name, tt := range map[string]struct {
		sent     string
		calendar resolve.Calendar
		want     string
	}{
		"on Monday":                             {"2026-06-15 09:00", resolve.Calendar{}, "2026-06-22 18:30"},
		"on Sunday":                             {"2026-06-14 09:00", resolve.Calendar{}, "2026-06-19 18:30"},
		"before Easter":                         {"2026-04-02 20:00", resolve.Calendar{}, "2026-04-09 18:30"},
		"before Easter, by a calendar":          {"2026-04-02 20:00", closed(year, friday, monday), "2026-04-08 18:30"},
		"on Monday, by a calendar":              {"2026-06-15 09:00", closed(year), "2026-06-17 18:30"},
		"on Friday, by a calendar":              {"2026-06-12 09:00", closed(year), "2026-06-16 18:30"},
		"48 hours, where every day is one":      {"2026-06-12 20:00", everyDay, "2026-06-14 20:00"},
		"by a calendar to the day":              {"2026-06-12 09:00", closed(quickstream.NewDate(2026, time.June, 16)), "2026-06-16 18:30"},
		"by a calendar that ends a day before":  {"2026-06-12 09:00", closed(quickstream.NewDate(2026, time.June, 15)), "2026-06-19 18:30"},
		"by a calendar that ends on a Saturday": {"2026-06-11 09:00", closed(quickstream.NewDate(2026, time.June, 13)), "2026-06-18 18:30"},
		"by a calendar without an end":          {"2026-06-12 09:00", closed(quickstream.Date{}), "2026-06-19 18:30"},
		"when summer time ends":                 {"2026-04-01 09:00", resolve.Calendar{}, "2026-04-08 18:30"},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy()
			p.Calendar = tt.calendar
			if business := tt.calendar.IsBusinessDay; business != nil {
				p.Calendar.IsBusinessDay = func(d quickstream.Date) bool {
					assert.LessOrEqual(t, d.Compare(tt.calendar.Until), 0, "%s is not asked for", d)
					return business(d)
				}
			}
			times, end := looksBy(p, resolve.Begin(quickstream.Intent{}, at(tt.sent)), foundNothing())
			assert.Equal(t, resolve.StatusNotFound, end.Status)
			assert.Equal(t, tt.want, times[len(times)-1].In(location).Format("2006-01-02 15:04"))

			if tt.want[11:] != "18:30" {
				return // 48 hours are later
			}
			p.CutOff = resolve.TimeOfDay{Hour: 22, Minute: 15}
			times, _ = looksBy(p, resolve.Begin(quickstream.Intent{}, at(tt.sent)), foundNothing())
			assert.Equal(t, "22:45", times[len(times)-1].In(location).Format("15:04"))
		})
	}
}

func TestCutOffs(t *testing.T) {
	p := policy()
	p.CutOff = resolve.TimeOfDay{Hour: 21}
	for sent, want := range map[string]string{
		"2026-06-10 20:59": "2026-06-10 21:30", "2026-06-10 21:00": "2026-06-11 21:30", "2026-06-10 21:01": "2026-06-11 21:30",
	} {
		s := p.Next(resolve.Begin(quickstream.Intent{}, at(sent)), found(declined("R1", "54")), at(sent))
		assert.Equal(t, want, s.NextLook.In(location).Format("2006-01-02 15:04"))
	}
	// The delays end before the cut-off.
	just := at("2026-06-10 18:30").Add(-5 * time.Second)
	assert.Equal(t, openHeld, progressOf(policy().Next(resolve.Begin(quickstream.Intent{MadeAt: just.Add(-time.Hour)}, just), foundNothing(), just)))
	s := resolve.Begin(quickstream.Intent{}, at("2026-06-10 17:25"))
	for range 5 {
		s = policy().Next(s, foundNothing(), s.NextLook)
		assert.Equal(t, openSoon, progressOf(s))
	}
	s = policy().Next(s, foundNothing(), s.NextLook)
	assert.Equal(t, openHeld, progressOf(s))
	assert.Equal(t, at("2026-06-10 18:30"), s.NextLook)
}

// TestAllRefused: an attempt and the service's own retry of it, both declined, need no person. They
// count after the cut-off, like one decline that is not alone.
func TestAllRefused(t *testing.T) {
	both := []quickstream.Candidate{{Transaction: declined("R1", "54"), Matches: true}, {Transaction: declined("R2", "54"), Matches: true}}
	o := resolve.Observe(nil, &quickstream.UnknownOutcomeError{Candidates: both})
	assert.Equal(t, resolve.LookupSettled, o.Result)
	assert.True(t, o.Doubtful)
	_, end := looksBy(policy(), begun(quickstream.Intent{Attempts: 1}), o)
	assert.Equal(t, resolve.StatusSettled, end.Status)
	assert.Equal(t, quickstream.OutcomeDeclined, end.Outcome)
	assert.False(t, end.Lookups[len(end.Lookups)-1].Last.Before(at("2026-06-10 18:30")), "not before the cut-off")
	both[1].Transaction = approved("R2")
	assert.Equal(t, resolve.LookupAmbiguous, resolve.Observe(nil, &quickstream.UnknownOutcomeError{Candidates: both}).Result)
}

// TestTimeForRetries: a retry by the service has the same time as a payment.
func TestTimeForRetries(t *testing.T) {
	p := resolve.DefaultPolicy(resolve.ServiceRetriesFor(4 * 24 * time.Hour))
	retry := found(unsettled("R2"))
	retry.Retryable = true
	times, end := looksBy(p, begun(quickstream.Intent{ReceiptNumber: "R1"}), retry)
	assert.Equal(t, resolve.StatusEscalated, end.Status)
	assert.Equal(t, wednesday().AddDate(0, 0, 6), times[len(times)-1])
	soft := found(declined("R1", "01"))
	_, end = looksBy(p, begun(quickstream.Intent{}), soft)
	assert.Equal(t, resolve.StatusSettled, end.Status)
	assert.Equal(t, wednesday().AddDate(0, 0, 5), end.Lookups[0].Last, "the last retry may be visible a day later")
}

// TestClockBehindTheTransaction: a transaction with a later time than the clock's counts as sent now.
func TestClockBehindTheTransaction(t *testing.T) {
	paid := payTo("R1", "A")
	paid.TransactionTime = quickstream.Timestamp{Time: wednesday()}
	for now, sent := range map[time.Time]time.Time{wednesday().Add(time.Hour): wednesday(), wednesday().Add(-time.Hour): wednesday().Add(-time.Hour)} {
		assert.Equal(t, sent, resolve.After(paid, nil, now).Case.Intent.MadeAt)
	}
}

// TestClockBehindTheSender: look-ups become rarer although the machine that sent is ahead.
func TestClockBehindTheSender(t *testing.T) {
	c, looks := resolve.Begin(quickstream.Intent{MadeAt: wednesday().Add(5 * time.Minute)}, wednesday()), 0
	for ; c.NextLook.Before(wednesday().Add(5 * time.Minute)); looks++ {
		c = policy().Next(c, foundNothing(), c.NextLook)
	}
	assert.LessOrEqual(t, looks, 6)
}

// TestOutcomeAfterTheEnd: a webhook may bring an outcome that two days of look-ups did not find.
func TestOutcomeAfterTheEnd(t *testing.T) {
	policy := policy()
	sent := at("2026-06-10 09:00")
	later := at("2026-06-16 09:00")
	approved := resolve.Observation{Result: resolve.LookupSettled, Outcome: quickstream.OutcomeApproved, ReceiptNumber: "R1"}
	_, absent := looksBy(policy, resolve.Begin(quickstream.Intent{Reference: "ORDER-1", MadeAt: sent}, sent), foundNothing())
	today := approved
	today.SettlementDate = quickstream.DateOf(later)
	assert.Equal(t, resolve.StatusSettled, policy.Next(absent, today, later).Status, "an approval waits for no cut-off")
	today.Outcome = quickstream.OutcomeDeclined
	assert.Equal(t, resolve.StatusEscalated, policy.Next(absent, today, later).Status, "a decline of one of several attempts does, and is not nothing")
	assert.Equal(t, resolve.StatusSettled, policy.Next(absent, today, later.Add(24*time.Hour)).Status)
	soft := today
	soft.Retryable = true
	retrying := resolve.DefaultPolicy(resolve.ServiceRetriesFor(10 * 24 * time.Hour))
	assert.Equal(t, resolve.StatusEscalated, retrying.Next(absent, soft, later.Add(24*time.Hour)).Status, "the service may retry it")
}
