package durable

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	ourClaim = "claim of the sender"
	receipt  = "1001"
)

// standingIn returns the standing whose Text it is.
func standingIn(text string) Standing {
	reversed := func(r Reversal) Standing { return Standing{StateSettled, quickstream.OutcomeApproved, r} }
	switch text {
	case "approved", "declined":
		return settledAs(quickstream.Outcome(text))
	case "voided":
		return reversed(ReversalVoided)
	case "returned":
		return reversed(ReversalReturned)
	default:
		return standing(State(strings.ReplaceAll(text, " ", "_")))
	}
}

// begun is a payment that was claimed once, and stands somewhere.
func begun(text string, now time.Time) row {
	r := row{claim: ourClaim, kind: kindPayment, intent: quickstream.Intent{
		Version: quickstream.IntentVersion, Operation: quickstream.OperationPay, Reference: "R-1", IdempotencyKey: "KEY-1", ID: "I-1", NotBefore: now, Complete: true,
		MetadataName: "intentId", Request: []byte(`{"transactionType":"PAYMENT","metadata":{"intentId":"I-1"}}`),
	}}
	r.Standing, r.Written, r.Changed, r.Sends, r.lastSent = standingIn(text), now, now, 1, now
	if text == "queued" {
		r.claim, r.Sends, r.lastSent = "", 0, time.Time{}
	}
	return r
}

func saw(outcome quickstream.Outcome) observed {
	return observed{Kind: sawTransaction, Receipt: receipt, Seen: resolve.Observation{Result: resolve.LookupSettled, Outcome: outcome, ReceiptNumber: receipt}}
}

func (o observed) by(claim string) observed {
	o.Claim = claim
	return o
}

// TestTransitions: what an observation makes of a payment wherever it stands. A known outcome is not
// changed by a weaker observation, and only the claim's holder makes it be sent again.
func TestTransitions(t *testing.T) {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	nothing := observed{Kind: sawTransaction, Seen: resolve.Observation{Result: resolve.LookupNone}}
	failed := observed{Kind: sawTransaction, Seen: resolve.Observation{Result: resolve.LookupFailed}}
	refused, notExecuted := observed{Kind: sawRefusal}, observed{Kind: sawPermit, Permit: permitNotExecuted}
	limited := observed{Kind: sawPermit, Permit: permitRefused}
	for _, c := range []struct {
		name   string
		o      observed
		before []string
		after  string
	}{
		{"the answer is an approval", saw(quickstream.OutcomeApproved).by(ourClaim), []string{"sending", "resolving", "declined", "not found", "escalated", "refused", "not sent"}, "approved"},
		{"the answer is a decline", saw(quickstream.OutcomeDeclined).by(ourClaim), []string{"sending"}, "declined"},
		{"the answer is lost", failed.by(ourClaim), []string{"sending"}, "resolving"},
		{"the answer is a refusal", refused.by(ourClaim), []string{"sending", "resolving"}, "refused"},
		{"no byte was sent", notExecuted.by(ourClaim), []string{"sending", "resolving"}, "queued"},
		{"the answer permits another send", limited.by(ourClaim), []string{"sending", "resolving"}, "queued"},
		{"nothing was found", nothing, []string{"sending"}, "resolving"},
		{"the look-up failed", failed, []string{"sending"}, "resolving"},
		{"it came back", observed{Kind: sawReturn}, []string{"approved", "resolving"}, "returned"},
		{"it is too late", observed{Kind: sawTooLate}, []string{"queued"}, "not sent"},
		{"it cannot be made", refused, []string{"queued"}, "refused"},
	} {
		for _, before := range c.before {
			now := time.Now()
			after := begun(before, now).after(c.o, policy, now.Add(time.Second))
			assert.Equal(t, c.after, after.Text(), "%s, %s", before, c.name)
		}
	}
	ended := []string{"approved", "declined", "refused", "not sent", "voided", "returned"}
	for _, c := range []struct {
		name  string
		o     observed
		stays []string
	}{
		{"nothing was found", nothing, ended},
		{"the look-up failed", failed, ended},
		{"another claim was refused", refused.by("another claim"), append(ended, "sending", "resolving")},
		{"another claim's request was not executed", notExecuted.by("another claim"), append(ended, "sending", "resolving")},
		{"no claim's request was executed", notExecuted, append(ended, "sending", "resolving")},
		{"it is too late", observed{Kind: sawTooLate, Sends: 1}, append(ended, "sending", "resolving", "not found", "escalated")},
		{"it came back", observed{Kind: sawReturn}, []string{"declined", "voided", "refused", "returned"}},
		{"an older reading", saw(quickstream.OutcomeDeclined), []string{"approved"}},
	} {
		for _, text := range c.stays {
			now := time.Now()
			before := begun(text, now)
			before.ReceiptNumber = receipt
			after := before.after(c.o, policy, now.Add(time.Second))
			assert.Equal(t, text, after.Text(), "%s, %s", text, c.name)
		}
	}
}

// TestSeenAgain: an approval that is seen again does not undo what came after it, and another one is a
// double charge, for ever.
func TestSeenAgain(t *testing.T) {
	for _, since := range []string{"voided", "returned"} {
		now := time.Now()
		policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		r := begun("sending", now).after(saw(quickstream.OutcomeApproved).by(ourClaim), policy, now)
		assert.Equal(t, "approved", r.Text())
		r = r.ended(standingIn(since))
		assert.Equal(t, since, r.after(saw(quickstream.OutcomeApproved), policy, now.Add(time.Hour)).Text())
		another := saw(quickstream.OutcomeApproved)
		another.Receipt, another.Seen.ReceiptNumber = "1002", "1002"
		r = r.after(another, policy, now.Add(time.Hour))
		assert.Equal(t, StateDoubleCharged, r.State)
		assert.Equal(t, StateDoubleCharged, r.after(saw(quickstream.OutcomeApproved), policy, now.Add(2*time.Hour)).State)
	}
}

// TestSecondSend: after an answer that permitted another send only an approval settles the write at
// once. It is looked up again, and what an earlier look-up did not find says nothing.
func TestSecondSend(t *testing.T) {
	now := time.Now()
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	second := begun("sending", now)
	second.Sends = 2
	for name, o := range map[string]observed{"decline": saw(quickstream.OutcomeDeclined), "refusal": {Kind: sawRefusal}} {
		assert.Equal(t, "resolving", second.after(o.by(ourClaim), policy, now).Text(), name)
	}
	approved := second.after(saw(quickstream.OutcomeApproved).by(ourClaim), policy, now)
	assert.Equal(t, "approved", approved.Text())
	assert.Equal(t, receipt, approved.ReceiptNumber)
	assert.False(t, approved.Due.IsZero(), "the first send may be approved too")
	resent := saw(quickstream.OutcomeApproved).by(ourClaim)
	resent.Resent = true
	assert.False(t, begun("sending", now).after(resent, policy, now).Due.IsZero(), "the client has sent it twice in one call")
	nothing := observed{Kind: sawTransaction, Sends: 1, Seen: resolve.Observation{Result: resolve.LookupNone}}
	for name, meanwhile := range map[string]observed{"a look-up that finds nothing": nothing, "a look-up that finds it": saw(quickstream.OutcomeApproved)} {
		r := begun("sending", now).after(meanwhile, policy, now).after(resent, policy, now.Add(time.Second))
		assert.Equal(t, "approved", r.Text(), name)
		assert.False(t, r.Due.IsZero(), "%s comes before the answer", name)
		again := r.after(resent, policy, now.Add(2*time.Second))
		assert.Equal(t, r.lookups.Until, again.lookups.Until, "the answer is stored twice")
	}
	assert.False(t, second.after(saw(quickstream.OutcomeApproved), policy, now).Due.IsZero(), "a look-up has found one of two sends")
	twice := observed{Kind: sawTransaction, Seen: resolve.Observation{Result: resolve.LookupDoubleCharged, Candidates: []resolve.Candidate{{ReceiptNumber: receipt}, {ReceiptNumber: "1002"}}}}
	assert.Equal(t, StateDoubleCharged, approved.after(twice, policy, now.Add(time.Minute)).State)
	earlier := observed{Kind: sawTransaction, Sends: 1, Seen: resolve.Observation{Result: resolve.LookupNone}}
	assert.Equal(t, second, second.after(earlier, policy, now))
	tooLate := begun("queued", now)
	tooLate.Sends = 2
	assert.Equal(t, "queued", tooLate.after(observed{Kind: sawTooLate, Sends: 1}, policy, now).Text())
}

// TestQueuedAgain: intent and references stay, and the pause grows.
func TestQueuedAgain(t *testing.T) {
	now := time.Now()
	for p, sends := range map[permit]int{permitNotExecuted: 0, permitRefused: 1, permitUnavailable: 1} {
		before := begun("sending", now)
		last := time.Duration(0)
		for range 3 {
			after := before.after(observed{Kind: sawPermit, Permit: p, Claim: ourClaim}, resolve.Policy{}, now)
			require.Equal(t, "queued", after.Text())
			assert.Equal(t, before.intent, after.intent)
			assert.Equal(t, sends, after.Sends)
			assert.Greater(t, after.Due.Sub(now), last)
			last = after.Due.Sub(now)
			before = after
			before.Standing, before.Sends = standing(StateSending), 1
		}
	}
}

// TestNextSend: what comes before the next send.
func TestNextSend(t *testing.T) {
	now := time.Now()
	sent := func(p permit, ago time.Duration) *row {
		r := begun("queued", now)
		r.claim, r.Sends, r.permit = ourClaim, 1, p
		r.lastSent, r.keySent = now.Add(-ago), now.Add(-ago)
		return &r
	}
	notSent := sent(permitNotExecuted, 0)
	notSent.Sends = 0
	fresh, old := begun("queued", now), begun("queued", now)
	old.age = time.Hour
	for name, c := range map[string]struct {
		r     *row
		given bool
		next  nextSend
	}{
		"new":                                   {r: &fresh},
		"queued for long":                       {r: &old, next: nextSend{lookUp: true}},
		"never sent":                            {r: notSent},
		"never sent, and given up":              {r: notSent, given: true, next: nextSend{wait: lookupLag}},
		"429, at once":                          {r: sent(permitRefused, time.Second), next: nextSend{lookUp: true}},
		"429, and the key is forgotten":         {r: sent(permitRefused, 2*time.Minute), next: nextSend{wait: 13 * time.Minute}},
		"429, and look-ups show everything":     {r: sent(permitRefused, 16*time.Minute), next: nextSend{lookUp: true, newKey: true}},
		"503":                                   {r: sent(permitUnavailable, 20*time.Second), next: nextSend{lookUp: true}},
		"503 again":                             {r: sent(permitUnavailableAgain, 20*time.Second), next: nextSend{wait: lookupLag - 20*time.Second}},
		"503 again, and 15 minutes have passed": {r: sent(permitUnavailableAgain, 15*time.Minute), next: nextSend{lookUp: true, newKey: true}},
		"429, and given up":                     {r: sent(permitRefused, time.Second), given: true, next: nextSend{wait: lookupLag - time.Second}},
	} {
		passed := func(t time.Time) time.Duration { return now.Sub(t) }
		assert.Equal(t, c.next, c.r.nextSend(passed, c.given), name)
	}
}

// TestResendRulesAreDocumented compares the table in doc.go with the rules.
func TestResendRulesAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	rules := resendRules()
	require.Len(t, rules, 4)
	for _, rule := range rules {
		assert.Contains(t, string(doc), rule.documented(), rule.permit)
	}
	assert.Equal(t, 20*time.Second, permitUnavailable.rule().pause)
	assert.Equal(t, 15*time.Minute, permitUnavailableAgain.rule().pause)
}

// documented is the rule as a line of the table in doc.go.
func (r resendRule) documented() string {
	pause := "a pause"
	switch {
	case r.pause >= time.Minute:
		pause = fmt.Sprintf("%d minutes", int(r.pause.Minutes()))
	case r.pause >= 20*time.Second:
		pause = fmt.Sprintf("%d seconds", int(r.pause.Seconds()))
	}
	lookUp, key := "", "same"
	if r.lookUp {
		lookUp = " and a look-up"
	}
	if r.newKey {
		key = "next"
	}
	return fmt.Sprintf("%-34s  %s%s; the %s key", r.answer, pause, lookUp, key)
}

// TestAnOlderDecline: a look-up that began before a service retry was approved tells of the first,
// declined transaction, and changes neither the receipt nor the outcome.
func TestAnOlderDecline(t *testing.T) {
	now := time.Now()
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesFor(24 * time.Hour))
	first := saw(quickstream.OutcomeDeclined)
	first.Receipt, first.Seen.ReceiptNumber, first.Seen.Retryable = "1000", "1000", true
	r := begun("sending", now).after(first.by(ourClaim), policy, now)
	require.Equal(t, "resolving", r.Text())
	now = now.Add(25 * time.Hour)
	r = r.after(saw(quickstream.OutcomeApproved), policy, now)
	for range 2 {
		now = now.Add(time.Second)
		first.At = now
		r = r.after(first, policy, now)
		assert.Equal(t, "approved", r.Text())
		assert.Equal(t, receipt, r.ReceiptNumber)
	}
}

// TestTimesAhead: what a clock that was a year ahead has written neither puts look-ups off nor keeps them
// from an end.
func TestTimesAhead(t *testing.T) {
	now := time.Now()
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	r := begun("sending", now.AddDate(1, 0, 0)).after(observed{Kind: sawTransaction, Seen: resolve.Observation{Result: resolve.LookupNone}}, policy, now.AddDate(1, 0, 0))
	require.Equal(t, "resolving", r.Text())
	for days := 0; r.Text() == "resolving"; days++ {
		require.Less(t, days, 10)
		now = now.AddDate(0, 0, 1)
		r = r.after(observed{Kind: sawTransaction, Seen: resolve.Observation{Result: resolve.LookupNone}}, policy, now)
	}
	assert.Equal(t, "not found", r.Text())
	assert.True(t, breaker{Since: now, Until: now.Add(time.Minute)}.rests(now))
	assert.False(t, breaker{Since: now, Until: now.AddDate(1, 0, 0)}.rests(now))
}

// TestReceiptOfAnUnusableAnswer: it may be another payment's, whose events and returns would then be taken for this
// write's. It is only where to look first.
func TestReceiptOfAnUnusableAnswer(t *testing.T) {
	now := time.Now()
	voided := &quickstream.Transaction{Status: quickstream.TransactionStatusVoided, SummaryCode: quickstream.SummaryCodeApproved, ReceiptNumber: receipt}
	unusable := &quickstream.UnknownOutcomeError{Intent: &quickstream.Intent{ReceiptNumber: receipt}, Transaction: voided}
	r := begun("sending", now).after(ofAnswer(nil, unusable, ourClaim, now), resolve.DefaultPolicy(resolve.ServiceRetriesOff()), now)
	assert.Equal(t, "resolving", r.Text())
	assert.Empty(t, r.ReceiptNumber)
	assert.Equal(t, receipt, r.lookups.Intent.ReceiptNumber)
}

// TestLookedUpByAPerson: a look-up counts also where none is made by itself any more. What it does not find changes
// nothing: a conflict stays one.
func TestLookedUpByAPerson(t *testing.T) {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	nothing := observed{Kind: sawTransaction, Seen: resolve.Observation{Result: resolve.LookupNone}}
	start := time.Now()
	notFound, now := begun("sending", start).after(nothing, policy, start), start
	var conflict row
	for days := 0; !notFound.lookups.NextLook.IsZero(); days++ {
		require.Less(t, days, 200)
		now = notFound.lookups.NextLook
		notFound = notFound.after(nothing, policy, now)
		if conflict.State == "" && notFound.State == StateNotFound { // look-ups go on
			conflict = notFound
			conflict.claim = ""
			conflict = conflict.after(observed{Kind: sawConflict}, policy, now)
		}
	}
	require.Equal(t, "not found", notFound.Text())
	require.Equal(t, "escalated", conflict.Text())
	never := begun("queued", start).after(observed{Kind: sawConflict}, policy, now)
	for name, before := range map[string]row{"not found": notFound, "a conflict": conflict, "a conflict, never sent": never} {
		later := now.Add(time.Hour)
		r := before.after(nothing, policy, later)
		assert.Equal(t, before.Text(), r.Text(), name)
		require.NotEmpty(t, r.Evidence, name)
		assert.True(t, r.Evidence[len(r.Evidence)-1].Last.Equal(later.Round(0)), name)
		assert.True(t, r.Due.IsZero(), "nothing is looked up by itself again")
		stored, err := json.Marshal(r.lookups)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(stored, new(resolve.Case)), name)
	}
}

// TestSeenEmpty: a look-up can end after its write was emptied, and an event can come again. Such a write cannot be
// looked up, so that neither opens it. Only a charge changes its outcome.
func TestSeenEmpty(t *testing.T) {
	now := time.Now()
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	another := saw(quickstream.OutcomeApproved)
	another.Receipt, another.Seen.ReceiptNumber = "1002", "1002"
	for _, c := range []struct {
		before string
		o      observed
		after  string
	}{
		{"declined", saw(quickstream.OutcomeDeclined), "declined"},
		{"not sent", saw(quickstream.OutcomeDeclined), "not sent"},
		{"approved", saw(quickstream.OutcomeApproved), "approved"},
		{"voided", saw(quickstream.OutcomeApproved), "voided"},
		{"declined", observed{Kind: sawTransaction, Seen: resolve.Observation{Result: resolve.LookupFailed}}, "declined"},
		{"not sent", saw(quickstream.OutcomeApproved), "approved"},
		{"approved", another, "double charged"},
	} {
		r := begun(c.before, now)
		r.ReceiptNumber, r.intent, r.claim = receipt, quickstream.Intent{}, ""
		if c.before == "not sent" {
			r.ReceiptNumber = ""
		}
		assert.Equal(t, c.after, r.after(c.o, policy, now).Text(), "%s, %s", c.before, c.o.Seen.Outcome)
	}
}

// TestLookedUpMeanwhile: a look-up can begin before an answer permits another send, and end after it. That it has found
// nothing does not keep the write from being sent.
func TestLookedUpMeanwhile(t *testing.T) {
	now := time.Now()
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	for _, result := range []resolve.LookupResult{resolve.LookupNone, resolve.LookupFailed} {
		for p, sends := range map[permit]int{permitNotExecuted: 0, permitRefused: 1, permitUnavailable: 1} {
			waits := begun("sending", now).after(observed{Kind: sawPermit, Permit: p, Claim: ourClaim}, policy, now)
			require.Equal(t, sends, waits.Sends)
			for _, kind := range []observation{sawTransaction, sawNothing} {
				found := observed{Kind: kind, Sends: 1, Seen: resolve.Observation{Result: result}}
				assert.Equal(t, waits, waits.after(found, policy, now.Add(time.Second)), "%s, %s, %s", result, p, kind)
				found.Seen.Candidates = []resolve.Candidate{{ReceiptNumber: receipt}}
				assert.Equal(t, "resolving", waits.after(found, policy, now.Add(time.Second)).Text(), "it may be the write")
			}
		}
	}
	lost := observed{Kind: sawTransaction, Claim: ourClaim, Seen: resolve.Observation{Result: resolve.LookupFailed}}
	assert.Equal(t, "resolving", begun("queued", now).after(lost, policy, now).Text(), "an answer that was lost, under a claim that is")
}

// TestRefusedAfterItWasFound: something in between can send a request twice, and the service refuses the second in its own
// words. A look-up that has found the first one before is believed, and not the refusal.
func TestRefusedAfterItWasFound(t *testing.T) {
	now := time.Now()
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	pending := observed{Kind: sawTransaction, Sends: 1, Seen: resolve.Observation{Result: resolve.LookupPending, Outcome: quickstream.OutcomePending, ReceiptNumber: receipt}}
	found := begun("sending", now).after(pending, policy, now)
	require.Equal(t, "resolving", found.Text())
	refused := found.after(observed{Kind: sawRefusal, Claim: ourClaim, Sends: 1}, policy, now.Add(time.Second))
	assert.Equal(t, "resolving", refused.Text())
	assert.Equal(t, "approved", refused.after(saw(quickstream.OutcomeApproved), policy, now.Add(time.Minute)).Text())
}

// TestRefusedVoidIsStoredTwice: the refusal of a reversal's void is stored twice if its first commit was not confirmed. The
// reversal becomes a refund, and is not refused.
func TestRefusedVoidIsStoredTwice(t *testing.T) {
	now := time.Now()
	r := begun("sending", now)
	r.kind, r.Operation = kindFollowUp, OperationReverse
	r.intent.Operation, r.intent.Target = quickstream.OperationVoid, receipt
	refusal := observed{Kind: sawRefusal, Claim: ourClaim, Sends: 1}
	for range 2 {
		r = r.after(refusal, resolve.Policy{}, now)
		assert.Equal(t, "queued", r.Text())
		assert.Equal(t, OperationReverse, r.intent.Operation)
	}
}

// TestOneOfTwoComesBack: if two payments of an order were charged and one comes back, it has come back. If two transactions of
// one payment were, the other one has paid the order.
func TestOneOfTwoComesBack(t *testing.T) {
	now := time.Now()
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	voided := saw(quickstream.OutcomeVoided)
	voided.At = now.Add(time.Hour)
	another := saw(quickstream.OutcomeApproved)
	another.Receipt, another.Seen.ReceiptNumber = "1002", "1002"
	beside := begun("sending", now).after(saw(quickstream.OutcomeApproved).by(ourClaim), policy, now)
	twice := beside.after(another, policy, now)
	beside.Standing = standing(StateDoubleCharged) // as compareWithOrder does
	twice.ReceiptNumber = receipt
	for name, c := range map[string]struct {
		o     observed
		after string
	}{"voided": {voided, "voided"}, "returned": {observed{Kind: sawReturn, At: voided.At}, "returned"}} {
		assert.Equal(t, c.after, beside.after(c.o, policy, voided.At).Text(), name)
		assert.Equal(t, "double charged", twice.after(c.o, policy, voided.At).Text(), name)
	}
}

// TestResentAndVoided: a payment that was sent twice is approved, and comes back before it was looked up for the last time. The
// second approval is found all the same, and look-ups end.
func TestResentAndVoided(t *testing.T) {
	start := time.Now()
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
	resent := saw(quickstream.OutcomeApproved).by(ourClaim)
	resent.Resent = true
	approved := begun("sending", start).after(resent, policy, start)
	voided := saw(quickstream.OutcomeVoided)
	voided.At = start.Add(time.Minute)
	for name, back := range map[string]observed{"voided": voided, "returned": {Kind: sawReturn, At: voided.At}} {
		r := approved.after(back, policy, voided.At)
		require.Equal(t, name, r.Text())
		looks := 0
		for ; !r.Due.IsZero(); looks++ {
			require.Less(t, looks, 5, name)
			now := r.Due
			if now.Before(voided.At) {
				now = voided.At.Add(time.Second)
			}
			r = r.after(voided, policy, now)
		}
		assert.GreaterOrEqual(t, looks, 2, name)
		assert.Equal(t, name, r.Text())
		another := saw(quickstream.OutcomeApproved)
		another.Receipt, another.Seen.ReceiptNumber = "1002", "1002"
		assert.Equal(t, "double charged", r.after(another, policy, start.Add(16*time.Minute)).Text(), name)
	}
}
