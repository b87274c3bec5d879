package resolve_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// wednesday is when the payments of these tests are sent.
func wednesday() time.Time { return at("2026-06-10 09:00") }

func begun(intent quickstream.Intent) resolve.Case {
	intent.MadeAt = wednesday()
	return resolve.Begin(intent, wednesday())
}

func policy() resolve.Policy { return resolve.DefaultPolicy(resolve.ServiceRetriesOff()) }

func found(t *quickstream.Transaction) resolve.Observation { return resolve.Observe(t, nil) }

func several(receipts ...string) resolve.Observation {
	return resolve.Observation{Result: resolve.LookupAmbiguous, Candidates: alike(receipts...)}
}

func alike(receipts ...string) (all []resolve.Candidate) {
	for _, receipt := range receipts {
		all = append(all, resolve.Candidate{ReceiptNumber: receipt})
	}
	return all
}

// over looks up in time until the case is over, and returns the times.
func over(t *testing.T, p resolve.Policy, s resolve.Case, o resolve.Observation) (days []string, end resolve.Case) {
	t.Helper()
	for !s.NextLook.IsZero() {
		days = append(days, s.NextLook.In(location).Format("01-02 15:04"))
		s = p.Next(s, o, s.NextLook)
		require.Less(t, len(days), 60)
	}
	return days, s
}

func TestWatch(t *testing.T) {
	for name, o := range map[string]resolve.Observation{"not_found": foundNothing(), "escalated": found(unsettled("R1"))} {
		t.Run(name, func(t *testing.T) {
			_, s := looksBy(policy(), begun(quickstream.Intent{}), o)
			require.Equal(t, name, string(s.Status))
			ended := s.Lookups[len(s.Lookups)-1].Last
			assert.Equal(t, ended.AddDate(0, 0, 1), s.NextLook)
			days, end := over(t, policy(), s, o)
			assert.Len(t, days, 14)
			assert.Equal(t, s.Status, end.Status)
			assert.Equal(t, ended.AddDate(0, 0, 14), end.Lookups[len(end.Lookups)-1].Last)
			late := policy().Next(end, found(approved("R1")), ended.AddDate(0, 1, 0))
			assert.Equal(t, resolve.StatusSettled, late.Status, "whenever it is seen")
			assert.Equal(t, end.NextLook, policy().Next(end, resolve.Observation{Result: resolve.LookupFailed}, ended.AddDate(0, 0, 14)).NextLook, "over is over")

			slow := policy().Next(s, o, ended.AddDate(0, 0, 13).Add(3*time.Hour))
			assert.Equal(t, slow.Until, slow.NextLook, "the last look is not left out")
			failing := policy().Next(s, resolve.Observation{Result: resolve.LookupFailed}, s.NextLook)
			assert.Equal(t, s.NextLook.AddDate(0, 0, 1), failing.NextLook, "one that fails is made next day")
			assert.Equal(t, s.Status, failing.Status)
			gone := policy().Next(s, resolve.Observation{Result: resolve.LookupFailed}, s.Until)
			assert.True(t, gone.NextLook.IsZero())
			assert.Equal(t, s.Status, gone.Status)
		})
	}
	t.Run("absent is no more, when something turns up", func(t *testing.T) {
		_, absent := looksBy(policy(), begun(quickstream.Intent{}), foundNothing())
		near := foundNothing()
		near.Candidates = alike("C1")
		for _, o := range []resolve.Observation{near, found(unsettled("R1")), several("R1", "R2")} {
			s := policy().Next(absent, o, absent.NextLook.Add(-time.Hour))
			assert.Equal(t, resolve.StatusEscalated, s.Status)
			assert.Equal(t, s.Until, s.Lookups[len(s.Lookups)-1].Last.Add(14*24*time.Hour))
		}
	})
	t.Run("a near miss is not absent, and not the payment", func(t *testing.T) {
		near := foundNothing()
		near.Candidates = alike("")
		s := policy().Next(begun(quickstream.Intent{}), near, wednesday())
		assert.Equal(t, openSoon, progressOf(s), "it ends nothing")
		_, s = looksBy(policy(), s, foundNothing())
		assert.Equal(t, resolve.StatusEscalated, s.Status)
		s = policy().Next(s, found(declined("R1", "54")), s.NextLook)
		assert.Equal(t, resolve.StatusEscalated, s.Status, "the near miss may be approved")
		assert.Equal(t, resolve.StatusSettled, policy().Next(s, found(approved("R1")), s.NextLook).Status)
	})
}

func TestTwice(t *testing.T) {
	s := begun(quickstream.Intent{})
	both := resolve.Observe(nil, open(match(approved("R1")), match(approved("R2"))))
	twice := policy().Next(s, both, wednesday())
	assert.Equal(t, resolve.StatusDoubleCharged, twice.Status, "said at once")
	assert.True(t, twice.Status.Final())
	assert.True(t, twice.NextLook.IsZero())
	assert.Equal(t, quickstream.OutcomeApproved, twice.Outcome)
	assert.Equal(t, []string{"R1", "R2"}, twice.Receipts())
	assert.Equal(t, twice, policy().Next(twice, found(declined("R3", "54")), wednesday()))

	first := policy().Next(s, found(approved("R1")), wednesday())
	assert.Equal(t, first, policy().Next(first, found(approved("R1")), wednesday()), "the same again")
	assert.Equal(t, first, policy().Next(first, found(declined("R2", "54")), wednesday()))
	for _, o := range []resolve.Observation{both, found(approved("R2"))} {
		second := policy().Next(first, o, wednesday().AddDate(0, 1, 0))
		assert.Equal(t, resolve.StatusDoubleCharged, second.Status)
		assert.Equal(t, []string{"R1", "R2"}, second.Receipts())
	}
	for _, receipt := range []string{"R1", "R2"} {
		s := policy().Next(begun(quickstream.Intent{Attempts: 1}), found(declined("R1", "54")), wednesday())
		require.Equal(t, quickstream.OutcomeDeclined, s.Outcome)
		require.Equal(t, "54", s.Seen.ResponseCode)
		require.Equal(t, quickstream.NextStepPayAgain, s.Seen.NextStep)
		s = policy().Next(s, found(approved(receipt)), wednesday().Add(time.Hour))
		assert.Equal(t, resolve.StatusSettled, s.Status)
		assert.Equal(t, quickstream.OutcomeApproved, s.Outcome, "what was declined is charged after all")
		assert.Equal(t, receipt, s.Seen.ReceiptNumber)
		assert.True(t, s.Changed)
		assert.True(t, policy().Next(s, found(approved(receipt)), s.NextLook).Changed)
	}
}

// TestSeveralAndThenOne: an event tells of one of several matches, and says nothing about the
// other.
func TestSeveralAndThenOne(t *testing.T) {
	s := policy().Next(begun(quickstream.Intent{}), several("R1", "R2"), wednesday())
	require.Equal(t, openHeld, progressOf(s))
	assert.Equal(t, []string{"R1", "R2"}, s.Receipts())
	once := policy().Next(begun(quickstream.Intent{Attempts: 1}), several("R1", "R2"), wednesday())
	once = policy().Next(once, found(approved("R1")), once.NextLook)
	once = policy().Next(once, found(declined("R2", "54")), once.NextLook)
	assert.Equal(t, quickstream.OutcomeApproved, once.Outcome, "a decline takes no approval back")
	early := policy().Next(s, found(approved("R1")), wednesday().Add(time.Minute))
	for _, settled := range []resolve.Case{early, policy().Next(s, found(approved("R1")), s.NextLook)} {
		assert.Equal(t, resolve.StatusSettled, settled.Status)
		assert.Empty(t, settled.Intent.ReceiptNumber, "both are looked for")
		assert.Equal(t, "R1", settled.Seen.ReceiptNumber)
		watched := policy().Next(settled, several("R1", "R2"), settled.NextLook)
		assert.Equal(t, resolve.StatusSettled, watched.Status)
		assert.True(t, watched.NextLook.After(settled.NextLook))
		watched = policy().Next(watched, found(unsettled("R2")), watched.NextLook)
		watched = policy().Next(watched, found(declined("R2", "54")), watched.NextLook)
		assert.Equal(t, "R1", watched.Seen.ReceiptNumber)
		assert.Equal(t, quickstream.OutcomeApproved, watched.Outcome)
		assert.Equal(t, resolve.StatusDoubleCharged, policy().Next(watched, found(approved("R2")), watched.NextLook).Status)
		days, end := over(t, policy(), watched, found(approved("R1")))
		assert.LessOrEqual(t, len(days), 14)
		assert.Equal(t, resolve.StatusSettled, end.Status)
	}
}

func TestRefusals(t *testing.T) {
	cutOff := at("2026-06-10 18:30")
	own := quickstream.Intent{Attempts: 1, OwnReference: true}
	doubtful := resolve.Observe(nil, open(match(declined("R1", "54"))))
	assert.Equal(t, openHeld, progressOf(policy().Next(begun(own), doubtful, wednesday())), "Resume has not believed it")
	assert.Equal(t, resolve.StatusSettled, policy().Next(begun(own), doubtful, cutOff).Status)
	assert.Equal(t, openHeld, progressOf(policy().Next(begun(own), doubtful, cutOff.Add(-1))))

	past := found(declined("R1", "54"))
	past.SettlementDate = quickstream.NewDate(2026, time.June, 9)
	assert.Equal(t, cutOff, policy().Next(begun(quickstream.Intent{}), past, wednesday()).NextLook, "a settlement date that is past settles nothing")
	past.SettlementDate = quickstream.NewDate(2026, time.June, 12)
	assert.Equal(t, at("2026-06-12 18:30"), policy().Next(begun(quickstream.Intent{}), past, wednesday()).NextLook)

	known := begun(quickstream.Intent{ReceiptNumber: "R1"})
	assert.Equal(t, resolve.StatusSettled, policy().Next(known, found(declined("R1", "54")), wednesday()).Status)
	assert.Equal(t, openHeld, progressOf(policy().Next(known, found(declined("R2", "54")), wednesday())), "another one's")
	keyed := begun(quickstream.Intent{ReceiptNumber: "R1", OwnKey: true})
	assert.Equal(t, openHeld, progressOf(policy().Next(keyed, found(declined("R1", "54")), wednesday())), "an earlier process may have been approved")

	s := policy().Next(begun(quickstream.Intent{}), found(unsettled("R1")), wednesday())
	assert.Equal(t, resolve.StatusSettled, policy().Next(s, found(declined("R1", "54")), cutOff).Status, "the same one was pending")
	odd := resolve.Observation{Result: resolve.LookupPending, Outcome: quickstream.OutcomeApproved, ReceiptNumber: "R1"}
	assert.Equal(t, openHeld, progressOf(policy().Next(begun(quickstream.Intent{}), odd, wednesday())), "an approval is settled")
	retrying := resolve.DefaultPolicy(resolve.ServiceRetriesFor(time.Hour))
	once := begun(quickstream.Intent{Attempts: 1})
	assert.Equal(t, resolve.StatusSettled, retrying.Next(once, found(declined("R1", "54")), wednesday()).Status, "nothing retries this code")
	assert.Equal(t, openHeld, progressOf(retrying.Next(once, found(declined("R1", "51")), wednesday())))

	s = policy().Next(begun(quickstream.Intent{}), found(unsettled("R2")), wednesday())
	s = policy().Next(s, found(declined("R1", "54")), cutOff)
	assert.Equal(t, openAfterCutOff, progressOf(s), "another one was seen, and nobody knows of it")
	assert.Equal(t, resolve.StatusSettled, policy().Next(s, found(approved("R2")), cutOff).Status)
	_, end := looksBy(policy(), s, found(declined("R1", "54")))
	assert.Equal(t, resolve.StatusEscalated, end.Status)

	assert.Empty(t, policy().Next(once, found(unsettled("R1")), wednesday()).Intent.ReceiptNumber, "another one may appear under the reference")
}

func TestVoidsOfWhatStands(t *testing.T) {
	void := begun(quickstream.Intent{Operation: "Transactions.Void", Target: "R1"})
	for _, o := range []resolve.Observation{found(approved("R1")), several("R1", "R2"), {Result: resolve.LookupDoubleCharged}} {
		s := policy().Next(void, o, wednesday())
		assert.Equal(t, openSoon, progressOf(s))
		assert.Empty(t, s.Receipts())
		assert.Empty(t, s.Lookups[0].Candidates)
	}
	for _, status := range []quickstream.TransactionStatus{"Cancelled", "Reversed", quickstream.TransactionStatusPending, ""} {
		odd := transaction("R1", status, quickstream.SummaryCodeApproved, "00")
		lost := &quickstream.UnknownOutcomeError{Intent: &void.Intent, Candidates: []quickstream.Candidate{near(odd)}} // as Resume returns it
		_, end := looksBy(policy(), void, resolve.Observe(nil, lost))
		assert.Equal(t, resolve.StatusEscalated, end.Status, "%q may be the service's word for it", status)
		assert.Equal(t, []string{"R1"}, end.Receipts())
	}
	voided := found(transaction("R1", quickstream.TransactionStatusVoided, quickstream.SummaryCodeApproved, "00"))
	s := policy().Next(void, voided, wednesday())
	assert.Equal(t, resolve.StatusSettled, s.Status, "at once")
	assert.Equal(t, s, policy().Next(s, voided, wednesday()))
}

func TestFailures(t *testing.T) {
	failed := resolve.Observation{Result: resolve.LookupFailed}
	for receipt, outcome := range map[string]quickstream.Outcome{"": quickstream.OutcomeApproved, "R1": "split"} { // a contradiction
		odd := policy().Next(begun(quickstream.Intent{}), resolve.Observation{Result: resolve.LookupSettled, Outcome: outcome, ReceiptNumber: receipt}, wednesday())
		assert.Equal(t, resolve.LookupFailed, odd.Lookups[0].Result)
	}
	var pauses []time.Duration
	s := begun(quickstream.Intent{})
	for range 9 {
		now := s.NextLook
		s = policy().Next(s, failed, now)
		pauses = append(pauses, s.NextLook.Sub(now))
	}
	assert.Equal(t, "[30s 30s 1m0s 2m0s 4m0s 8m0s 16m0s 30m0s 30m0s]", fmt.Sprint(pauses))
	assert.Equal(t, wednesday(), s.FailingSince)
	worked := policy().Next(s, foundNothing(), s.NextLook)
	assert.Zero(t, worked.FailingSince)

	edge := wednesday().Add(72 * time.Hour)
	assert.Equal(t, openSoon, progressOf(policy().Next(s, failed, edge)))
	assert.Equal(t, resolve.StatusEscalated, policy().Next(s, failed, edge.Add(1)).Status)
	late := policy().Next(worked, failed, wednesday().AddDate(0, 0, 9))
	assert.False(t, late.Status.Final(), "not by the first failure, however late")
	assert.Equal(t, resolve.StatusEscalated, policy().Next(late, failed, late.FailingSince.Add(24*time.Hour+1)).Status)
}

func TestEvidenceIsBounded(t *testing.T) {
	s := begun(quickstream.Intent{})
	for i := range 1000 {
		o := found(unsettled(fmt.Sprintf("R%d", i)))
		s = policy().Next(s, o, wednesday())
		s = policy().Next(s, o, wednesday().Add(time.Minute))
	}
	assert.Len(t, s.Lookups, 64)
	assert.Equal(t, "R0", s.Lookups[0].ReceiptNumber)
	assert.Equal(t, "R999", s.Lookups[63].ReceiptNumber)
	assert.Equal(t, 2, s.Lookups[63].Count)
	assert.Equal(t, wednesday(), s.Lookups[63].At)
	assert.Equal(t, wednesday().Add(time.Minute), s.Lookups[63].Last)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Less(t, len(data), 20<<10)

	one := found(declined("R1", "54"))
	retryable, rejected := one, one
	retryable.Retryable, rejected.Outcome = true, quickstream.OutcomeRejected
	near := func(receipt string, outcome quickstream.Outcome) resolve.Observation {
		return resolve.Observation{Result: resolve.LookupNone, Candidates: []resolve.Candidate{{ReceiptNumber: receipt, Outcome: outcome}}}
	}
	kinds := []resolve.Observation{
		foundNothing(), one,
		{Result: resolve.LookupFailed},
		found(declined("R2", "54")), found(declined("R1", "01")), several("R1"),
		found(&quickstream.Transaction{ReceiptNumber: "R1", ResponseCode: "54"}), retryable, rejected, found(declined("R1", "57")), several("R1", "R2"),
		near("C1", quickstream.OutcomePending), near("C1", quickstream.OutcomeDeclined), near("C2", quickstream.OutcomePending),
	}
	s = begun(quickstream.Intent{})
	for range 3 {
		for _, o := range kinds {
			s = policy().Next(s, o, wednesday().Add(-time.Hour))
		}
	}
	assert.Len(t, s.Lookups, len(kinds))
	for _, look := range s.Lookups {
		assert.Equal(t, 3, look.Count)
	}
}

func TestCasesOfOthersAreRefused(t *testing.T) {
	_, absent := looksBy(policy(), begun(quickstream.Intent{}), foundNothing())
	text := func(s resolve.Case) string {
		data, err := json.Marshal(s)
		require.NoError(t, err)
		return string(data)
	}
	settled := policy().Next(begun(quickstream.Intent{}), found(approved("R1")), wednesday())
	looking := text(begun(quickstream.Intent{}))
	for name, data := range map[string]string{
		"version":         strings.Replace(looking, `"version":1,"intent"`, `"version":2,"intent"`, 1),
		"no version":      strings.Replace(looking, `"version":1,"intent"`, `"intent"`, 1),
		"status":          strings.Replace(text(absent), `"not_found"`, `"gone"`, 1),
		"no status":       strings.Replace(text(absent), `"not_found"`, `""`, 1),
		"neither":         strings.Replace(strings.Replace(text(absent), `"version":1,"intent"`, `"intent"`, 1), `"not_found"`, `""`, 1),
		"look-up":         strings.Replace(text(absent), `"result":"none"`, `"result":"not there"`, 1),
		"look-up outcome": strings.Replace(text(settled), `"lookups":[{`, `"lookups":[{"result":"settled","outcome":"pending"},{`, 1),
		"no time":         strings.Replace(looking, "2026-06-10T09:00:00+10:00", "0001-01-01T00:00:00Z", 1),
		"no next look":    strings.Replace(looking, `"nextLook"`, `"nextLooks"`, 1),
		"outcome":         strings.Replace(text(settled), `"outcome":"approved"`, `"outcome":"split"`, 1),
		"no outcome":      strings.Replace(text(settled), `"outcome":"approved"`, `"outcomes":"approved"`, 1),
		"another outcome": strings.Replace(text(absent), `"status"`, `"outcome":"approved","status"`, 1),
		"an open outcome": strings.Replace(text(absent), `"status"`, `"outcome":"pending","status"`, 1),
		"no JSON":         "{",
		"version alone":   `{"version":1}`,
		"look-ups alone":  `{"lookups":[]}`,
		"early step":      strings.Replace(looking, `"status":"open"`, `"status":"open","step":-1`, 1),
		"late step":       strings.Replace(looking, `"status":"open"`, `"status":"open","step":5`, 1),
		"final step":      strings.Replace(text(absent), `"status":"not_found"`, `"status":"not_found","step":1`, 1),
	} {
		s := resolve.Case{Step: 1}
		assert.Error(t, json.Unmarshal([]byte(data), &s), name)
		assert.Equal(t, resolve.Case{Step: 1}, s, name)
	}
	var s resolve.Case
	require.NoError(t, json.Unmarshal([]byte(text(resolve.Case{})), &s), "not begun")
	require.NoError(t, json.Unmarshal([]byte(text(absent)), &s))
	require.NoError(t, json.Unmarshal([]byte(text(policy().Next(settled, found(approved("R2")), wednesday()))), &s))

	for name, change := range map[string]func(*resolve.Case){
		"version":   func(s *resolve.Case) { s.Version = 2 },
		"status":    func(s *resolve.Case) { s.Status = "asleep" },
		"no status": func(s *resolve.Case) { s.Status = "" },
		"step":      func(s *resolve.Case) { s.Step = 5 },
		"no time":   func(s *resolve.Case) { s.Intent.MadeAt = time.Time{} },
		"look-up":   func(s *resolve.Case) { s.Lookups = []resolve.Lookup{{Observation: resolve.Observation{Result: "?"}}} },
	} {
		s := begun(quickstream.Intent{})
		change(&s)
		for _, o := range []resolve.Observation{foundNothing(), found(approved("R1"))} {
			next := policy().Next(s, o, wednesday())
			assert.Equal(t, wednesday().Add(30*time.Minute), next.NextLook, name)
			next.NextLook = s.NextLook
			assert.Equal(t, s, next, name)
		}
	}
}

// TestApprovalsAreLookedUpAgain: an approval that only a look-up found is looked up after 15 minutes and
// after the cut-off. If the service takes it back, a person decides. An approval that was answered is over.
func TestApprovalsAreLookedUpAgain(t *testing.T) {
	p := policy()
	s := p.Next(begun(quickstream.Intent{Attempts: 1}), found(approved("R1")), wednesday())
	assert.Equal(t, resolve.StatusSettled, s.Status)
	assert.Equal(t, wednesday().Add(15*time.Minute), s.NextLook)
	again := p.Next(s, found(approved("R1")), s.NextLook)
	assert.Equal(t, at("2026-06-10 18:30"), again.NextLook)
	over := p.Next(again, found(approved("R1")), again.NextLook)
	assert.True(t, over.NextLook.IsZero())
	assert.False(t, over.Changed)
	var failed resolve.Case
	for _, result := range []resolve.LookupResult{resolve.LookupPending, resolve.LookupAmbiguous, resolve.LookupFailed} {
		failed = p.Next(s, resolve.Observation{Result: result}, s.NextLook)
		assert.Equal(t, resolve.StatusSettled, failed.Status)
		assert.Equal(t, s.NextLook.AddDate(0, 0, 1), failed.NextLook)
	}
	assert.True(t, p.Next(failed, found(approved("R1")), s.Intent.MadeAt.AddDate(0, 0, 14)).NextLook.IsZero())

	voided := approved("R1")
	voided.Status = quickstream.TransactionStatusVoided
	for _, late := range []resolve.Case{s, again} {
		reversed := p.Next(late, found(voided), late.NextLook)
		assert.Equal(t, resolve.StatusEscalated, reversed.Status)
		assert.True(t, reversed.Changed)
		assert.Empty(t, reversed.Outcome)
		assert.Equal(t, quickstream.OutcomeVoided, reversed.Seen.Outcome)
		assert.False(t, reversed.NextLook.IsZero())
	}
	assert.Equal(t, resolve.StatusSettled, p.Next(over, found(voided), again.NextLook.Add(time.Hour)).Status, "all is over")
	assert.Equal(t, resolve.StatusEscalated, p.Next(s, found(voided), s.NextLook.Add(-time.Minute)).Status, "an event comes before the look")
	assert.False(t, p.Next(s, found(unsettled("R1")), s.NextLook).Changed, "what has no final status takes nothing back")

	answered := resolve.After(unsettled("R1"), nil, wednesday()).Case
	require.NotNil(t, answered)
	assert.True(t, p.Next(*answered, found(approved("R1")), wednesday()).NextLook.IsZero())
	beside := found(approved("R1"))
	beside.Amount = &quickstream.Amount{Amount: decimal.New(5, 0)}
	for _, outcome := range []quickstream.Outcome{quickstream.OutcomeApproved, quickstream.OutcomeDeclined} {
		for _, amount := range []int64{5, 6} {
			beside.Candidates = []resolve.Candidate{{ReceiptNumber: "R2", Outcome: outcome, Amount: &quickstream.Amount{Amount: decimal.New(amount, 0)}}}
			rivalled := outcome == quickstream.OutcomeApproved && amount == 5
			assert.Equal(t, !rivalled, p.Next(*answered, beside, wednesday()).NextLook.IsZero(), "an approved one of the amount stands beside it")
		}
	}
	beside.Candidates = []resolve.Candidate{{ReceiptNumber: "R2", Outcome: quickstream.OutcomeApproved}}
	assert.True(t, p.Next(*answered, beside, wednesday()).NextLook.IsZero(), "one that shows no amount")
	beside.Amount, beside.Candidates[0].Amount = nil, &quickstream.Amount{Amount: decimal.New(5, 0)}
	assert.True(t, p.Next(*answered, beside, wednesday()).NextLook.IsZero(), "beside one that shows no amount")
}
