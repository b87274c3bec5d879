package resolve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

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

// counted is how many looks the evidence holds.
func counted(s resolve.Case) (n int) {
	for _, look := range s.Lookups {
		n += look.Count
	}
	return n
}

func foundNothing() resolve.Observation { return resolve.Observation{Result: resolve.LookupNone} }

func erred(settlement quickstream.Date) resolve.Observation {
	return resolve.Observation{
		Result: resolve.LookupPending, Outcome: quickstream.OutcomeUnknown, ReceiptNumber: "R1",
		SettlementDate: settlement, AccountType: quickstream.AccountTypeCreditCard,
	}
}

// looks drives a state with one kind of observation and returns when it looked.
func looks(s resolve.Case, o resolve.Observation) (times []time.Time, end resolve.Case) {
	return looksBy(resolve.DefaultPolicy(resolve.ServiceRetriesOff()), s, o)
}

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

func TestErredTransaction(t *testing.T) {
	tests := []struct {
		name, sent string
		settlement quickstream.Date
		looks      []string
	}{
		{
			"in the morning", "2026-06-10 09:00", quickstream.NewDate(2026, time.June, 10),
			[]string{"2026-06-10 09:00", "2026-06-10 18:30", "2026-06-11 18:30", "2026-06-12 09:00"},
		},
		{
			"just before the cut-off", "2026-06-10 17:59", quickstream.NewDate(2026, time.June, 10),
			[]string{"2026-06-10 17:59", "2026-06-10 18:30", "2026-06-11 18:30", "2026-06-12 17:59"},
		},
		{
			"just after the cut-off", "2026-06-10 18:01", quickstream.NewDate(2026, time.June, 11),
			[]string{"2026-06-10 18:01", "2026-06-11 18:30", "2026-06-12 18:30"},
		},
		{
			"before a weekend", "2026-06-12 20:00", quickstream.NewDate(2026, time.June, 15),
			[]string{"2026-06-12 20:00", "2026-06-15 18:30", "2026-06-16 18:30"},
		},
		{
			"over the 25-hour day", "2026-04-04 09:00", quickstream.NewDate(2026, time.April, 4),
			[]string{"2026-04-04 09:00", "2026-04-04 18:30", "2026-04-05 18:30", "2026-04-06 08:00"},
		},
		{
			"over the 23-hour day", "2026-10-03 09:00", quickstream.NewDate(2026, time.October, 3),
			[]string{"2026-10-03 09:00", "2026-10-03 18:30", "2026-10-04 18:30", "2026-10-05 10:00"},
		},
		{
			"with a settlement date that is past", "2026-04-04 19:00", quickstream.NewDate(2026, time.April, 4),
			[]string{"2026-04-04 19:00", "2026-04-05 18:30", "2026-04-06 18:30"},
		},
		{
			"without a settlement date, at the cut-off", "2026-06-10 18:00",
			quickstream.Date{},
			[]string{"2026-06-10 18:00", "2026-06-11 18:30", "2026-06-12 18:30"},
		},
		{
			"with a settlement date that never comes", "2026-06-10 09:00", quickstream.NewDate(2099, time.June, 10),
			[]string{"2026-06-10 09:00", "2026-06-24 09:00", "2026-06-25 09:00"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sent := at(tt.sent)
			s := resolve.BeginTransaction(&quickstream.Transaction{
				ReceiptNumber: "R1", TransactionTime: quickstream.Timestamp{Time: sent},
			}, sent)
			times, end := looks(s, erred(tt.settlement))
			var got []string
			for _, at := range times {
				got = append(got, at.In(location).Format("2006-01-02 15:04"))
			}
			assert.Equal(t, tt.looks, got)
			assert.Equal(t, resolve.StatusEscalated, end.Status)
			assert.Equal(t, "R1", end.Intent.ReceiptNumber)
			assert.Equal(t, len(tt.looks), counted(end), "the evidence")
		})
	}
}

func TestLostPayment(t *testing.T) {
	sent := at("2026-06-10 09:00")
	begin := resolve.Begin(quickstream.Intent{Reference: "ORDER-1", NotBefore: sent}, sent)

	t.Run("never found is absent, after 48 hours and no earlier", func(t *testing.T) {
		p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		p.CutOff = resolve.TimeOfDay{Hour: 8}
		p.Calendar = resolve.Calendar{Business: func(quickstream.Date) bool { return true }, Until: quickstream.NewDate(2026, time.June, 12)}
		begin := resolve.Begin(begin.Intent, sent)
		times, end := looksBy(p, begin, foundNothing())
		assert.Equal(t, resolve.StatusNotFound, end.Status)
		assert.Equal(t, 48*time.Hour, times[len(times)-1].Sub(sent), "and not at the cut-off before")
	})
	t.Run("never found is absent after the third weekday's cut-off", func(t *testing.T) {
		times, end := looks(begin, foundNothing())
		assert.Equal(t, resolve.StatusNotFound, end.Status)
		assert.Equal(t, sent, times[0], "at once")
		assert.Equal(t, at("2026-06-15 18:30"), times[len(times)-1])
		assert.Contains(t, times, at("2026-06-10 18:30"))
		assert.Contains(t, times, at("2026-06-11 18:30"))
		assert.Len(t, times, 12, "six in the first hours, and then daily")
	})
	t.Run("known receipt is never absent", func(t *testing.T) {
		s := begin
		s.Intent.ReceiptNumber = "R1"
		_, end := looks(s, foundNothing())
		assert.Equal(t, resolve.StatusEscalated, end.Status)
	})
	t.Run("found later", func(t *testing.T) {
		p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		s := p.Next(begin, foundNothing(), sent)
		s = p.Next(s, resolve.Observation{Result: resolve.LookupSettled, Outcome: quickstream.OutcomeApproved, ReceiptNumber: "R1"}, s.NextLook)
		assert.Equal(t, resolve.StatusSettled, s.Status)
		assert.Equal(t, quickstream.OutcomeApproved, s.Outcome)
		assert.Equal(t, "R1", s.Intent.ReceiptNumber)
		assert.True(t, s.NextLook.IsZero())
	})
	t.Run("a decline after several attempts waits for the cut-off", func(t *testing.T) {
		p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		declined := resolve.Observation{
			Result: resolve.LookupSettled, Outcome: quickstream.OutcomeDeclined, ReceiptNumber: "R2",
			SettlementDate: quickstream.NewDate(2026, time.June, 10),
		}
		s := begin
		s.Intent.Attempts = 1
		assert.Equal(t, resolve.StatusSettled, p.Next(s, declined, sent).Status, "after one attempt it is the whole story")
		s.Intent.Attempts = 0 // not known, after a crash
		assert.Equal(t, openHeld, progressOf(p.Next(s, declined, sent)))
		s.Intent.Attempts = 2
		s = p.Next(s, declined, sent)
		require.Equal(t, openHeld, progressOf(s))
		assert.Empty(t, s.Intent.ReceiptNumber, "it goes on looking by reference")
		assert.Equal(t, at("2026-06-10 18:30"), s.NextLook.In(location))
		assert.Equal(t, resolve.StatusSettled, p.Next(s, declined, s.NextLook).Status)
		approved := declined
		approved.Outcome = quickstream.OutcomeApproved
		assert.Equal(t, resolve.StatusSettled, p.Next(s, approved, sent.Add(time.Minute)).Status)
		assert.Equal(t, resolve.StatusEscalated, p.Next(s, resolve.Observation{Result: resolve.LookupAmbiguous}, s.NextLook).Status, "both turned up")
	})
	t.Run("a payment without a status after several attempts is not pinned", func(t *testing.T) {
		p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		s := begin
		s.Intent.Attempts = 2
		s = p.Next(s, erred(quickstream.NewDate(2026, time.June, 10)), sent)
		require.Equal(t, openHeld, progressOf(s))
		assert.Empty(t, s.Intent.ReceiptNumber, "another attempt's may turn up beside it")
		_, end := looks(s, foundNothing())
		assert.Equal(t, resolve.StatusEscalated, end.Status, "and what was seen once is not absent")
	})
	t.Run("a decline that the service may retry is held until it has given up", func(t *testing.T) {
		const days = 3 * 24 * time.Hour
		p := resolve.DefaultPolicy(resolve.ServiceRetriesFor(days))
		soft := resolve.Observation{Result: resolve.LookupSettled, Outcome: quickstream.OutcomeDeclined, ReceiptNumber: "R1", Retryable: true}
		s := begin
		s.Intent.Attempts = 1
		assert.Equal(t, resolve.StatusSettled, resolve.DefaultPolicy(resolve.ServiceRetriesOff()).Next(s, soft, sent).Status, "at once where it does not")
		for now := sent; now.Before(sent.Add(days + 24*time.Hour)); now = s.NextLook {
			s = p.Next(s, soft, now)
			require.Equal(t, openHeld, progressOf(s))
			require.LessOrEqual(t, s.NextLook.Sub(now), 25*time.Hour)
		}
		unsaid := resolve.DefaultPolicy(resolve.ServiceRetries{})
		assert.Equal(t, openHeld, progressOf(unsaid.Next(begin, soft, sent.Add(47*time.Hour))), "nobody has said that it does not")
		_, err := resolve.Run(t.Context(), &answers{}, unsaid, begin, nil)
		assert.ErrorContains(t, err, "does not say")
		retried := resolve.Observation{Result: resolve.LookupSettled, Outcome: quickstream.OutcomeApproved, ReceiptNumber: "R2"}
		assert.Equal(t, quickstream.OutcomeApproved, p.Next(s, retried, s.NextLook).Outcome)
		assert.Equal(t, quickstream.OutcomeDeclined, p.Next(s, soft, s.NextLook).Outcome, "nothing can follow any more")
	})
	t.Run("several match", func(t *testing.T) {
		s := resolve.DefaultPolicy(resolve.ServiceRetriesOff()).Next(begin, resolve.Observation{Result: resolve.LookupAmbiguous, Candidates: []string{"R1", "R2"}}, sent)
		assert.Equal(t, resolve.StatusEscalated, s.Status)
		assert.Equal(t, []string{"R1", "R2"}, s.Lookups[0].Candidates)
		assert.Equal(t, []string{"R1", "R2"}, s.Receipts())
	})
	t.Run("a process that slept for a week looks twice, a day apart", func(t *testing.T) {
		p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		late := sent.Add(7 * 24 * time.Hour)
		s := p.Next(begin, foundNothing(), late)
		require.False(t, s.Status.Final())
		assert.Equal(t, 24*time.Hour, s.NextLook.Sub(late))
		assert.Equal(t, resolve.StatusNotFound, p.Next(s, foundNothing(), s.NextLook).Status)
	})
	t.Run("failed look-ups prove nothing", func(t *testing.T) {
		times, end := looks(begin, resolve.Observation{Result: resolve.LookupFailed})
		assert.Equal(t, resolve.StatusEscalated, end.Status)
		assert.Greater(t, times[len(times)-1].Sub(sent), 72*time.Hour)
		p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		for i := 1; i < len(times); i++ {
			assert.LessOrEqual(t, times[i].Sub(times[i-1]), p.MaxRetryDelay)
		}
	})
}

// TestProperties drives random sequences of observations and checks what has to
// hold whatever happens.
func TestProperties(t *testing.T) {
	p := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		sent := at("2026-01-01 00:00").Add(time.Duration(rng.IntN(365*24*60)) * time.Minute)
		s := resolve.Begin(quickstream.Intent{Reference: "X", NotBefore: sent}, sent)
		lastNothing := time.Time{}
		for step := 0; !s.Status.Final(); step++ {
			require.Less(t, step, 1000, "seed %d: it ends", seed)
			now := s.NextLook.Add(time.Duration(rng.IntN(90)) * time.Minute) // a slow engine
			o := random(rng, sent)
			if rng.IntN(4) == 0 { // a restart in between
				data, err := json.Marshal(s)
				require.NoError(t, err)
				restored := resolve.Case{}
				require.NoError(t, json.Unmarshal(data, &restored))
				assert.Equal(t, fmt.Sprint(progressOf(p.Next(s, o, now)), p.Next(s, o, now).NextLook.Unix()),
					fmt.Sprint(progressOf(p.Next(restored, o, now)), p.Next(restored, o, now).NextLook.Unix()), "seed %d", seed)
				s = restored
			}
			before := counted(s)
			next := p.Next(s, o, now)
			require.Equal(t, before, counted(s), "seed %d: the given state is left alone", seed)
			require.Equal(t, before+1, counted(next))
			if !next.Status.Final() {
				require.True(t, next.NextLook.After(now), "seed %d: it never looks twice at once", seed)
			}
			if o.Result == resolve.LookupNone {
				lastNothing = now
			}
			s = next
		}
		last := s.Lookups[len(s.Lookups)-1]
		switch s.Status {
		case resolve.StatusSettled:
			require.Equal(t, resolve.LookupSettled, last.Result, "seed %d", seed)
		case resolve.StatusNotFound:
			require.Equal(t, resolve.LookupNone, last.Result, "seed %d", seed)
			require.GreaterOrEqual(t, lastNothing.Sub(sent), p.Limit, "seed %d", seed)
			for _, look := range s.Lookups {
				require.Empty(t, look.ReceiptNumber, "seed %d: what was seen is not absent", seed)
			}
		case resolve.StatusEscalated:
			require.NotEqual(t, resolve.LookupSettled, last.Result, "seed %d", seed)
		default:
			t.Fatalf("seed %d ended in %s", seed, s.Status)
		}
		require.Equal(t, s.Status, p.Next(s, foundNothing(), time.Now()).Status, "a final state stays")
	}
}

func random(rng *rand.Rand, sent time.Time) resolve.Observation {
	switch n := rng.IntN(40); {
	case n < 22:
		return foundNothing()
	case n < 34:
		return erred(quickstream.DateOf(sent.In(location)).AddDays(rng.IntN(4)))
	case n < 38:
		return resolve.Observation{Result: resolve.LookupFailed}
	case n < 39:
		return resolve.Observation{Result: resolve.LookupAmbiguous}
	default:
		return resolve.Observation{Result: resolve.LookupSettled, Outcome: quickstream.OutcomeDeclined, ReceiptNumber: "R1"}
	}
}

// answers is a service that answers from a script, then with its last entry.
type answers struct {
	script []resolve.LookupResult
	calls  int
}

func (a *answers) Resume(context.Context, quickstream.Intent, ...quickstream.CallOption) (*quickstream.Transaction, error) {
	if a.calls > 1000 {
		panic("it never ends")
	}
	result := a.script[min(a.calls, len(a.script)-1)]
	a.calls++
	tx := &quickstream.Transaction{ReceiptNumber: "R1", Status: quickstream.TransactionStatusApproved, SummaryCode: quickstream.SummaryCodeApproved}
	open := new(quickstream.UnknownOutcomeError)
	switch result {
	case resolve.LookupSettled:
		return tx, nil
	case resolve.LookupFailed:
		open.Cause = errors.New("no answer")
	case resolve.LookupAmbiguous:
		open.Candidates = []quickstream.Candidate{{Transaction: tx}, {Transaction: tx}}
	case resolve.LookupPending:
		tx.SummaryCode = quickstream.SummaryCodeErred
		open.Candidates = []quickstream.Candidate{{Transaction: tx}}
	case resolve.LookupNone, resolve.LookupDoubleCharged:
	}
	return nil, open
}

func (a *answers) Retries(string, ...quickstream.CallOption) quickstream.List[quickstream.Transaction] {
	panic("nothing was declined")
}

func TestRun(t *testing.T) {
	tests := []struct {
		script []resolve.LookupResult
		status resolve.Status
	}{
		{[]resolve.LookupResult{resolve.LookupSettled}, resolve.StatusSettled},
		{[]resolve.LookupResult{resolve.LookupNone, resolve.LookupFailed, resolve.LookupPending, resolve.LookupSettled}, resolve.StatusSettled},
		{[]resolve.LookupResult{resolve.LookupNone}, resolve.StatusNotFound},
		{[]resolve.LookupResult{resolve.LookupPending}, resolve.StatusEscalated},
		{[]resolve.LookupResult{resolve.LookupNone, resolve.LookupAmbiguous}, resolve.StatusEscalated},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			saved := 0
			start := time.Now()
			looked := &answers{script: tt.script}
			end, err := resolve.Run(t.Context(), looked, resolve.DefaultPolicy(resolve.ServiceRetriesOff()),
				resolve.Begin(quickstream.Intent{Reference: "X"}, start), func(resolve.Case) error { saved++; return nil })
			require.NoError(t, err)
			assert.Equal(t, tt.status, end.Status)
			assert.Equal(t, looked.calls, saved)
			assert.Equal(t, looked.calls, counted(end))
			assert.LessOrEqual(t, time.Since(start), 6*24*time.Hour)
		})
	}
	t.Run("the context ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			end, err := resolve.Run(ctx, &answers{script: []resolve.LookupResult{resolve.LookupNone}}, resolve.DefaultPolicy(resolve.ServiceRetriesOff()),
				resolve.Begin(quickstream.Intent{Reference: "X"}, time.Now()), nil)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			assert.False(t, end.Status.Final())
			assert.NotEmpty(t, end.Lookups)
		})
	})
	t.Run("a state that cannot be saved ends it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			full := errors.New("disk full")
			_, err := resolve.Run(t.Context(), &answers{script: []resolve.LookupResult{resolve.LookupNone}}, resolve.DefaultPolicy(resolve.ServiceRetriesOff()),
				resolve.Begin(quickstream.Intent{Reference: "X"}, time.Now()), func(resolve.Case) error { return full })
			assert.ErrorIs(t, err, full)
		})
	})
}
