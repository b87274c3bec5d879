package resolve_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// wednesday is when the payments of these tests are sent.
func wednesday() time.Time { return at("2026-06-10 09:00") }

func begun(intent quickstream.Intent) resolve.State {
	intent.NotBefore = wednesday()
	return resolve.Begin(intent, wednesday())
}

func policy() resolve.Policy { return resolve.DefaultPolicy(resolve.ServiceRetriesOff()) }

func found(t *quickstream.Transaction) resolve.Observation { return resolve.ObserveTransaction(t) }

func several(receipts ...string) resolve.Observation {
	return resolve.Observation{Sighting: resolve.SawSeveral, Candidates: receipts}
}

// over looks in time until all is over, and returns when it looked.
func over(t *testing.T, p resolve.Policy, s resolve.State, o resolve.Observation) (days []string, end resolve.State) {
	t.Helper()
	for !s.NextLook.IsZero() {
		days = append(days, s.NextLook.In(location).Format("01-02 15:04"))
		s = p.Next(s, o, s.NextLook)
		require.Less(t, len(days), 60)
	}
	return days, s
}

func TestWatch(t *testing.T) {
	for name, o := range map[string]resolve.Observation{"absent": sawNothing(), "escalated": found(unsettled("R1"))} {
		t.Run(name, func(t *testing.T) {
			_, s := looks(begun(quickstream.Intent{}), o)
			require.Equal(t, name, string(s.Stage))
			ended := s.Looks[len(s.Looks)-1].Last
			assert.Equal(t, ended.AddDate(0, 0, 1), s.NextLook)
			days, end := over(t, policy(), s, o)
			assert.Len(t, days, 14)
			assert.Equal(t, s.Stage, end.Stage)
			assert.Equal(t, ended.AddDate(0, 0, 14), end.Looks[len(end.Looks)-1].Last)
			late := policy().Next(end, found(approved("R1")), ended.AddDate(0, 1, 0))
			assert.Equal(t, resolve.StageSettled, late.Stage, "whenever it is seen")
			assert.Equal(t, end.NextLook, policy().Next(end, resolve.Observation{Sighting: resolve.SawError}, ended.AddDate(0, 0, 14)).NextLook, "over is over")

			slow := policy().Next(s, o, ended.AddDate(0, 0, 13).Add(3*time.Hour))
			assert.Equal(t, slow.Until, slow.NextLook, "the last look is not left out")
			failing := policy().Next(s, resolve.Observation{Sighting: resolve.SawError}, s.NextLook)
			assert.Equal(t, s.NextLook.Add(30*time.Second), failing.NextLook, "one that fails is made again")
			failing = policy().Next(failing, resolve.Observation{Sighting: resolve.SawError}, failing.Failing.Add(30*time.Hour))
			assert.False(t, failing.NextLook.IsZero(), "for as long as the days last")
			asleep, failed := s.Until.Add(time.Hour), resolve.Observation{Sighting: resolve.SawError}
			failing = policy().Next(s, failed, asleep)
			assert.Equal(t, asleep.Add(30*time.Second), failing.NextLook)
			assert.False(t, policy().Next(failing, failed, asleep.Add(24*time.Hour)).NextLook.IsZero())
			gone := policy().Next(failing, failed, asleep.Add(24*time.Hour+1))
			assert.True(t, gone.NextLook.IsZero())
			assert.Equal(t, s.Stage, gone.Stage)
		})
	}
	t.Run("absent is no more, when something turns up", func(t *testing.T) {
		_, absent := looks(begun(quickstream.Intent{}), sawNothing())
		near := sawNothing()
		near.Candidates = []string{"C1"}
		for _, o := range []resolve.Observation{near, found(unsettled("R1")), several("R1", "R2")} {
			s := policy().Next(absent, o, absent.NextLook.Add(-time.Hour))
			assert.Equal(t, resolve.StageEscalated, s.Stage)
			assert.Equal(t, s.Until, s.Looks[len(s.Looks)-1].Last.Add(14*24*time.Hour))
		}
	})
	t.Run("a near miss is not absent, and not the payment", func(t *testing.T) {
		near := sawNothing()
		near.Candidates = []string{""}
		s := policy().Next(begun(quickstream.Intent{}), near, wednesday())
		assert.Equal(t, resolve.StageLooking, s.Stage, "it ends nothing")
		_, s = looks(s, sawNothing())
		assert.Equal(t, resolve.StageEscalated, s.Stage)
		s = policy().Next(s, found(declined("R1", "54")), s.NextLook)
		assert.Equal(t, resolve.StageEscalated, s.Stage, "the near miss may be approved")
		assert.Equal(t, resolve.StageSettled, policy().Next(s, found(approved("R1")), s.NextLook).Stage)
	})
}

func TestTwice(t *testing.T) {
	s := begun(quickstream.Intent{})
	both := resolve.Observe(nil, open(match(approved("R1")), match(approved("R2"))))
	twice := policy().Next(s, both, wednesday())
	assert.Equal(t, resolve.StageTwice, twice.Stage, "said at once")
	assert.True(t, twice.Stage.Final())
	assert.True(t, twice.NextLook.IsZero())
	assert.Equal(t, quickstream.OutcomeApproved, twice.Outcome)
	assert.Equal(t, []string{"R1", "R2"}, twice.Receipts())
	assert.Equal(t, twice, policy().Next(twice, found(declined("R3", "54")), wednesday()))

	first := policy().Next(s, found(approved("R1")), wednesday())
	assert.Equal(t, first, policy().Next(first, found(approved("R1")), wednesday()), "the same again")
	assert.Equal(t, first, policy().Next(first, found(declined("R2", "54")), wednesday()))
	for _, o := range []resolve.Observation{both, found(approved("R2"))} {
		second := policy().Next(first, o, wednesday().AddDate(0, 1, 0))
		assert.Equal(t, resolve.StageTwice, second.Stage)
		assert.Equal(t, []string{"R1", "R2"}, second.Receipts())
	}
	for _, receipt := range []string{"R1", "R2"} {
		s := policy().Next(begun(quickstream.Intent{Attempts: 1}), found(declined("R1", "54")), wednesday())
		require.Equal(t, quickstream.OutcomeDeclined, s.Outcome)
		require.Equal(t, "54", s.Seen.ResponseCode)
		require.Equal(t, quickstream.NextStepPayAgain, s.Seen.NextStep)
		s = policy().Next(s, found(approved(receipt)), wednesday().Add(time.Hour))
		assert.Equal(t, resolve.StageSettled, s.Stage)
		assert.Equal(t, quickstream.OutcomeApproved, s.Outcome, "what was declined is charged after all")
		assert.Equal(t, receipt, s.Intent.ReceiptNumber)
	}
}

// TestSeveralAndThenOne: an event tells of one of several that match, and nobody knows
// about the other.
func TestSeveralAndThenOne(t *testing.T) {
	s := policy().Next(begun(quickstream.Intent{}), several("R1", "R2"), wednesday())
	require.Equal(t, resolve.StageEscalated, s.Stage)
	assert.Equal(t, wednesday().AddDate(0, 0, 1), s.NextLook)
	early := policy().Next(s, found(approved("R1")), wednesday().Add(time.Minute))
	assert.Equal(t, s.NextLook, early.NextLook)
	for _, settled := range []resolve.State{early, policy().Next(s, found(approved("R1")), s.NextLook)} {
		assert.Equal(t, resolve.StageSettled, settled.Stage)
		assert.Empty(t, settled.Intent.ReceiptNumber, "both are looked for")
		assert.Equal(t, "R1", settled.Seen.ReceiptNumber)
		watched := policy().Next(settled, several("R1", "R2"), settled.NextLook)
		assert.Equal(t, resolve.StageSettled, watched.Stage)
		assert.True(t, watched.NextLook.After(settled.NextLook))
		watched = policy().Next(watched, found(unsettled("R2")), watched.NextLook)
		watched = policy().Next(watched, found(declined("R2", "54")), watched.NextLook)
		assert.Equal(t, "R1", watched.Seen.ReceiptNumber)
		assert.Equal(t, quickstream.OutcomeApproved, watched.Outcome)
		assert.Equal(t, resolve.StageTwice, policy().Next(watched, found(approved("R2")), watched.NextLook).Stage)
		days, end := over(t, policy(), watched, found(approved("R1")))
		assert.LessOrEqual(t, len(days), 14)
		assert.Equal(t, resolve.StageSettled, end.Stage)
	}
}

func TestEarlyLooks(t *testing.T) {
	s := policy().Next(begun(quickstream.Intent{Attempts: 2}), sawNothing(), wednesday())
	for _, o := range []resolve.Observation{
		sawNothing(), found(unsettled("R1")),
		{Sighting: resolve.SawError},
		{Sighting: "unheard of"},
		found(declined("R1", "54")),
		{Sighting: resolve.SawOutcome, Outcome: quickstream.OutcomeApproved},
		{Sighting: resolve.SawOutcome, Outcome: "split", ReceiptNumber: "R1"},
	} {
		next := policy().Next(s, o, s.NextLook.Add(-1))
		assert.Equal(t, counted(s)+1, counted(next))
		next.Looks, next.Seen = s.Looks, s.Seen
		assert.Equal(t, s, next)
	}
	next := policy().Next(s, found(unsettled("R1")), s.NextLook)
	assert.Equal(t, resolve.StageHeld, next.Stage, "in time it counts")
	assert.Zero(t, next.Misses)
	assert.Empty(t, next.Intent.ReceiptNumber)
	for _, o := range []resolve.Observation{found(approved("R1")), several("R1", "R2")} {
		assert.True(t, policy().Next(s, o, s.NextLook.Add(-1)).Stage.Final())
	}
}

func TestRefusals(t *testing.T) {
	cutOff := at("2026-06-10 18:30")
	own := quickstream.Intent{Attempts: 1, OwnReference: true}
	doubtful := resolve.Observe(nil, open(match(declined("R1", "54"))))
	assert.Equal(t, resolve.StageHeld, policy().Next(begun(own), doubtful, wednesday()).Stage, "Resume has not believed it")
	assert.Equal(t, resolve.StageSettled, policy().Next(begun(own), doubtful, cutOff).Stage)
	assert.Equal(t, resolve.StageHeld, policy().Next(begun(own), doubtful, cutOff.Add(-1)).Stage)

	past := found(declined("R1", "54"))
	past.SettlementDate = quickstream.NewDate(2026, time.June, 9)
	assert.Equal(t, cutOff, policy().Next(begun(quickstream.Intent{}), past, wednesday()).NextLook, "a settlement date that is past settles nothing")
	past.SettlementDate = quickstream.NewDate(2026, time.June, 12)
	assert.Equal(t, at("2026-06-12 18:30"), policy().Next(begun(quickstream.Intent{}), past, wednesday()).NextLook)

	known := begun(quickstream.Intent{ReceiptNumber: "R1"})
	assert.Equal(t, resolve.StageSettled, policy().Next(known, found(declined("R1", "54")), wednesday()).Stage)
	assert.Equal(t, resolve.StageHeld, policy().Next(known, found(declined("R2", "54")), wednesday()).Stage, "another one's")

	s := policy().Next(begun(quickstream.Intent{}), found(unsettled("R2")), wednesday())
	s = policy().Next(s, found(declined("R1", "54")), cutOff)
	assert.Equal(t, resolve.StageAfterCutOff, s.Stage, "another one was seen, and nobody knows of it")
	assert.Equal(t, resolve.StageSettled, policy().Next(s, found(approved("R2")), cutOff).Stage)
	_, end := looks(s, found(declined("R1", "54")))
	assert.Equal(t, resolve.StageEscalated, end.Stage)

	for _, intent := range []quickstream.Intent{{Attempts: 1}, {Attempts: 1, OwnReference: true, ID: "I1"}} {
		assert.Equal(t, "R1", policy().Next(begun(intent), found(unsettled("R1")), wednesday()).Intent.ReceiptNumber)
	}
	assert.Empty(t, policy().Next(begun(own), found(unsettled("R1")), wednesday()).Intent.ReceiptNumber, "it may be another one's")
	assert.Equal(t, "R1", policy().Next(known, found(unsettled("R2")), wednesday()).Intent.ReceiptNumber)
	retry := found(unsettled("R2"))
	retry.Retryable = true
	assert.Empty(t, policy().Next(begun(quickstream.Intent{Attempts: 1}), retry, wednesday()).Intent.ReceiptNumber, "the retries are those of the first")
}

func TestVoidsOfWhatStands(t *testing.T) {
	void := begun(quickstream.Intent{Operation: "Transactions.Void", Target: "R1"})
	for _, o := range []resolve.Observation{found(approved("R1")), several("R1", "R2"), {Sighting: resolve.SawTwice}} {
		s := policy().Next(void, o, wednesday())
		assert.Equal(t, resolve.StageLooking, s.Stage)
		assert.Empty(t, s.Receipts())
	}
	for _, status := range []quickstream.TransactionStatus{"VOIDED", "Reversed", quickstream.TransactionStatusPending, ""} {
		odd := transaction("R1", status, quickstream.SummaryCodeApproved, "00")
		lost := &quickstream.UnknownOutcomeError{Intent: &void.Intent, Candidates: []quickstream.Candidate{{Transaction: odd, Matches: true}}}
		_, end := looksBy(policy(), void, resolve.Observe(nil, lost))
		assert.Equal(t, resolve.StageEscalated, end.Stage, "%q may be the service's word for it", status)
		assert.Equal(t, []string{"R1"}, end.Receipts())
	}
	voided := found(transaction("R1", quickstream.TransactionStatusVoided, quickstream.SummaryCodeApproved, "00"))
	s := policy().Next(void, voided, wednesday())
	assert.Equal(t, resolve.StageSettled, s.Stage, "at once")
	assert.Equal(t, s, policy().Next(s, voided, wednesday()))
}

func TestSuspended(t *testing.T) {
	suspended := found(transaction("R1", quickstream.TransactionStatusSuspended, quickstream.SummaryCodeDeclined, "34"))
	require.Equal(t, quickstream.OutcomeSuspended, suspended.Outcome)
	s := begun(quickstream.Intent{Attempts: 1})
	for range 60 {
		now := s.NextLook
		s = policy().Next(s, suspended, now)
		require.Equal(t, resolve.StageHeld, s.Stage)
		require.Equal(t, now.In(location).AddDate(0, 0, 1), s.NextLook)
	}
	failed := policy().Next(s, resolve.Observation{Sighting: resolve.SawError}, s.NextLook)
	assert.Equal(t, resolve.StageHeld, failed.Stage, "one failure says nothing")
	missed := policy().Next(s, sawNothing(), s.NextLook)
	assert.Equal(t, resolve.StageAfterCutOff, missed.Stage)
	assert.Equal(t, resolve.StageHeld, policy().Next(missed, suspended, missed.NextLook).Stage)
	assert.Equal(t, resolve.StageEscalated, policy().Next(missed, sawNothing(), missed.NextLook).Stage)
	assert.Equal(t, resolve.StageSettled, policy().Next(s, found(declined("R1", "54")), s.NextLook).Stage)

	_, end := looks(begun(quickstream.Intent{}), found(unsettled("R1")))
	end = policy().Next(end, suspended, end.Until.Add(time.Hour))
	assert.Equal(t, end.Looks[len(end.Looks)-1].Last.In(location).AddDate(0, 0, 1), end.NextLook, "watched for as long as it is")
}

func TestFailures(t *testing.T) {
	failed := resolve.Observation{Sighting: resolve.SawError}
	var pauses []time.Duration
	s := begun(quickstream.Intent{})
	for range 9 {
		now := s.NextLook
		s = policy().Next(s, failed, now)
		pauses = append(pauses, s.NextLook.Sub(now))
	}
	assert.Equal(t, "[30s 30s 1m0s 2m0s 4m0s 8m0s 16m0s 30m0s 30m0s]", fmt.Sprint(pauses))
	assert.Equal(t, wednesday(), s.Failing)
	worked := policy().Next(s, sawNothing(), s.NextLook)
	assert.Zero(t, worked.Failing)

	edge := wednesday().Add(72 * time.Hour)
	assert.Equal(t, resolve.StageLooking, policy().Next(s, failed, edge).Stage)
	assert.Equal(t, resolve.StageEscalated, policy().Next(s, failed, edge.Add(1)).Stage)
	late := policy().Next(worked, failed, wednesday().AddDate(0, 0, 9))
	assert.Equal(t, resolve.StageLooking, late.Stage, "not by the first failure, however late")
	assert.Equal(t, resolve.StageEscalated, policy().Next(late, failed, late.Failing.Add(24*time.Hour+1)).Stage)
}

func TestEvidenceIsBounded(t *testing.T) {
	s := begun(quickstream.Intent{})
	for i := range 1000 {
		o := found(unsettled(fmt.Sprintf("R%d", i)))
		s = policy().Next(s, o, wednesday())
		s = policy().Next(s, o, wednesday().Add(time.Minute))
	}
	assert.Len(t, s.Looks, 64)
	assert.Equal(t, "R0", s.Looks[0].ReceiptNumber)
	assert.Equal(t, "R999", s.Looks[63].ReceiptNumber)
	assert.Equal(t, 2, s.Looks[63].Count)
	assert.Equal(t, wednesday(), s.Looks[63].At)
	assert.Equal(t, wednesday().Add(time.Minute), s.Looks[63].Last)
	data, err := json.Marshal(s)
	require.NoError(t, err)
	assert.Less(t, len(data), 20<<10)

	one := found(declined("R1", "54"))
	kinds := []resolve.Observation{sawNothing(), one, {Sighting: resolve.SawError}, found(declined("R2", "54")), found(declined("R1", "01")), several("R1")}
	kinds = append(kinds, found(&quickstream.Transaction{ReceiptNumber: "R1", ResponseCode: "54"}))
	s = begun(quickstream.Intent{})
	for range 3 {
		for _, o := range kinds {
			s = policy().Next(s, o, wednesday().Add(-time.Hour))
		}
	}
	assert.Len(t, s.Looks, len(kinds))
	for _, look := range s.Looks {
		assert.Equal(t, 3, look.Count)
	}
}

func TestStatesOfOthersAreRefused(t *testing.T) {
	_, absent := looks(begun(quickstream.Intent{}), sawNothing())
	text := func(s resolve.State) string {
		data, err := json.Marshal(s)
		require.NoError(t, err)
		return string(data)
	}
	settled := policy().Next(begun(quickstream.Intent{}), found(approved("R1")), wednesday())
	looking := text(begun(quickstream.Intent{}))
	for name, data := range map[string]string{
		"version":          strings.Replace(looking, `"version":1,"intent"`, `"version":2,"intent"`, 1),
		"no version":       strings.Replace(looking, `"version":1,"intent"`, `"intent"`, 1),
		"stage":            strings.Replace(text(absent), `"absent"`, `"gone"`, 1),
		"no stage":         strings.Replace(text(absent), `"absent"`, `""`, 1),
		"neither":          strings.Replace(strings.Replace(text(absent), `"version":1,"intent"`, `"intent"`, 1), `"absent"`, `""`, 1),
		"sighting":         strings.Replace(text(absent), `"not found"`, `"not there"`, 1),
		"sighting outcome": strings.Replace(text(settled), `"looks":[{`, `"looks":[{"sighting":"found, with a final status","outcome":"pending"},{`, 1),
		"no time":          strings.Replace(looking, "2026-06-10T09:00:00+10:00", "0001-01-01T00:00:00Z", 1),
		"no next look":     strings.Replace(looking, `"nextLook"`, `"nextLooks"`, 1),
		"outcome":          strings.Replace(text(settled), `"outcome":"approved"`, `"outcome":"split"`, 1),
		"no outcome":       strings.Replace(text(settled), `"outcome":"approved"`, `"outcomes":"approved"`, 1),
		"another outcome":  strings.Replace(text(absent), `"stage"`, `"outcome":"approved","stage"`, 1),
		"an open outcome":  strings.Replace(text(absent), `"stage"`, `"outcome":"pending","stage"`, 1),
		"no JSON":          "{",
	} {
		t.Run(name, func(t *testing.T) {
			s := resolve.State{Misses: 7}
			assert.Error(t, json.Unmarshal([]byte(data), &s))
			assert.Equal(t, resolve.State{Misses: 7}, s)
		})
	}
	var s resolve.State
	require.NoError(t, json.Unmarshal([]byte(text(resolve.State{Intent: quickstream.Intent{Reference: "ORDER-1"}})), &s), "not begun")
	assert.Equal(t, "ORDER-1", s.Intent.Reference)
	require.NoError(t, json.Unmarshal([]byte(text(absent)), &s))
	require.NoError(t, json.Unmarshal([]byte(text(policy().Next(settled, found(approved("R2")), wednesday()))), &s))

	for name, change := range map[string]func(*resolve.State){
		"version":  func(s *resolve.State) { s.Version = 2 },
		"stage":    func(s *resolve.State) { s.Stage = "asleep" },
		"no stage": func(s *resolve.State) { s.Stage = "" },
		"no time":  func(s *resolve.State) { s.Intent.NotBefore = time.Time{} },
		"sighting": func(s *resolve.State) { s.Looks = []resolve.Look{{Observation: resolve.Observation{Sighting: "?"}}} },
	} {
		t.Run("given: "+name, func(t *testing.T) {
			s := begun(quickstream.Intent{})
			change(&s)
			for _, o := range []resolve.Observation{sawNothing(), found(approved("R1"))} {
				next := policy().Next(s, o, wednesday())
				assert.Equal(t, wednesday().Add(30*time.Minute), next.NextLook)
				next.NextLook = s.NextLook
				assert.Equal(t, s, next)
			}
			_, err := resolve.Run(t.Context(), &fake{found: approved("R1")}, policy(), s, nil)
			assert.Error(t, err)
		})
	}
}

func TestRunWatchesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := &fake{err: open()}
		s := resolve.Begin(quickstream.Intent{Reference: "X"}, time.Now())
		absent, err := resolve.Run(t.Context(), service, policy(), s, nil)
		require.NoError(t, err)
		require.Equal(t, resolve.StageAbsent, absent.Stage)
		require.False(t, absent.NextLook.IsZero())
		end, err := resolve.Run(t.Context(), service, policy(), absent, nil)
		require.NoError(t, err)
		assert.Equal(t, resolve.StageAbsent, end.Stage)
		assert.True(t, end.NextLook.IsZero(), "all is over")
		again, err := resolve.Run(t.Context(), &fake{err: errors.New("not to be asked")}, policy(), end, nil)
		require.NoError(t, err)
		assert.Equal(t, end, again)
		service.err = open(near(approved("C1")))
		changed, err := resolve.Run(t.Context(), service, policy(), absent, nil)
		require.NoError(t, err)
		assert.Equal(t, resolve.StageEscalated, changed.Stage)
	})
}

// TestTimesWithoutTheMonotonicClock: it stands still while a machine is suspended.
func TestTimesWithoutTheMonotonicClock(t *testing.T) {
	now := time.Now()
	s := resolve.Begin(quickstream.Intent{}, now)
	s = policy().Next(s, sawNothing(), now)
	s = policy().Next(s, resolve.Observation{Sighting: resolve.SawError}, s.NextLook.Add(time.Since(now)))
	bound := resolve.BeginTransaction(&quickstream.Transaction{ReceiptNumber: "R1", TransactionTime: quickstream.Timestamp{Time: now.Add(time.Hour)}}, now)
	assert.True(t, bound.Intent.NotBefore.Equal(now), "a clock that is ahead of ours")
	assert.Equal(t, resolve.StageHeld, bound.Stage)
	kept := resolve.Begin(quickstream.Intent{NotBefore: now}, now)
	broken := resolve.State{}
	for _, at := range []time.Time{
		s.NextLook, s.Intent.NotBefore, s.Looks[0].At, s.Looks[0].Last, bound.NextLook, bound.Intent.NotBefore, kept.Intent.NotBefore,
		policy().Next(broken, sawNothing(), now).NextLook,
	} {
		assert.NotContains(t, at.String(), "m=")
	}
	early := resolve.BeginTransaction(&quickstream.Transaction{ReceiptNumber: "R1", TransactionTime: quickstream.Timestamp{Time: now.Add(-time.Hour)}}, now)
	assert.True(t, early.Intent.NotBefore.Equal(now.Add(-time.Hour)))
}
