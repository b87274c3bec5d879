package resolve_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/leaktest"
	"github.com/quickstream-go/quickstream/resolve"
)

// TestMain fails when goroutines outlive the tests.
func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

var location = func() *time.Location {
	l, err := time.LoadLocation("Australia/Sydney")
	if err != nil {
		panic(err)
	}
	return l
}()

func at(text string) time.Time {
	t, err := time.ParseInLocation("2006-01-02 15:04", text, location)
	if err != nil {
		panic(err)
	}
	return t
}

// counted returns the number of look-ups in the evidence.
func counted(s resolve.Case) (n int) {
	for _, look := range s.Lookups {
		n += look.Count
	}
	return n
}

func foundNothing() resolve.Observation { return resolve.Observation{Result: resolve.LookupNone} }

// looksBy drives a state with one kind of observation and returns the times of the look-ups.
func looksBy(p resolve.Policy, s resolve.Case, o resolve.Observation) (times []time.Time, end resolve.Case) {
	for !s.Status.Final() {
		if len(times) > 1000 {
			panic("it never ends")
		}
		now := s.NextLook
		times = append(times, now)
		s = p.Next(s, o, now)
	}
	return times, s
}

// run drives a case until its status is final, or another one.
func run(t *testing.T, service resolve.Service, c resolve.Case) resolve.Case {
	t.Helper()
	for begun := c.Status; !c.NextLook.IsZero() && (!c.Status.Final() || c.Status == begun); {
		<-time.After(time.Until(c.NextLook))
		c = policy().Next(c, policy().LookUp(t.Context(), service, c), time.Now())
	}
	return c
}

var _ resolve.Service = (*quickstream.TransactionsService)(nil)

// progress returns how far an open case has come.
type progress string

const (
	openSoon        progress = "open 0"
	openHeld        progress = "open 1"
	openAfterCutOff progress = "open 2"
	openDaily       progress = "open 3"
)

func progressOf(c resolve.Case) progress { return progress(fmt.Sprint(c.Status, " ", c.Step)) }

// TestPendingTransaction: a payment that waits for its payer is looked up from seconds on, less and less often, and then after the
// cut-off.
func TestPendingTransaction(t *testing.T) {
	sent := at("2026-06-12 19:00")
	s := resolve.After(payTo("R1", "A-1"), nil, sent)
	times, _ := looksBy(policy(), *s.Case, resolve.Observation{
		Result: resolve.LookupPending, Outcome: quickstream.OutcomePending, ReceiptNumber: "R1", SettlementDate: quickstream.NewDate(2026, time.June, 15),
	})
	var got []string
	for _, at := range times[:8] {
		got = append(got, at.In(location).Format("02 15:04:05"))
	}
	assert.Equal(t, "12 19:00:00, 12 19:00:05, 12 19:00:20, 12 19:01:20, 12 19:05:20, 12 19:21:20, 12 20:25:20, 15 18:30:00", strings.Join(got, ", "))
}

func TestErredTransaction(t *testing.T) {
	for name, tt := range map[string]struct {
		sent       string
		settlement quickstream.Date
		looks      string
	}{
		"just before the cut-off":                   {"06-10 17:59", quickstream.NewDate(2026, time.June, 10), "06-10 17:59, 06-10 18:30, 06-11 18:30, 06-12 17:59"},
		"before a weekend":                          {"06-12 20:00", quickstream.NewDate(2026, time.June, 15), "06-12 20:00, 06-15 18:30, 06-16 18:30"},
		"over the 25-hour day":                      {"04-04 09:00", quickstream.NewDate(2026, time.April, 4), "04-04 09:00, 04-04 18:30, 04-05 18:30, 04-06 08:00"},
		"without a settlement date, at the cut-off": {"06-10 18:00", quickstream.Date{}, "06-10 18:00, 06-11 18:30, 06-12 18:30"},
		"with a settlement date that never comes":   {"06-10 09:00", quickstream.NewDate(2099, time.June, 10), "06-10 09:00, 06-24 09:00, 06-25 09:00"},
	} {
		t.Run(name, func(t *testing.T) {
			sent := at("2026-" + tt.sent)
			s := resolve.After(&quickstream.Transaction{
				ReceiptNumber: "R1", TransactionTime: quickstream.Timestamp{Time: sent},
			}, nil, sent)
			times, end := looksBy(policy(), *s.Case, resolve.Observation{
				Result: resolve.LookupPending, Outcome: quickstream.OutcomeUnknown, ReceiptNumber: "R1", SettlementDate: tt.settlement,
			})
			var got []string
			for _, at := range times {
				got = append(got, at.In(location).Format("01-02 15:04"))
			}
			assert.Equal(t, tt.looks, strings.Join(got, ", "))
			assert.Equal(t, resolve.StatusEscalated, end.Status)
			assert.Equal(t, "R1", end.Intent.ReceiptNumber)
			assert.Equal(t, len(got), counted(end), "the evidence")
		})
	}
}
