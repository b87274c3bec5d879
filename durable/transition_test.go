package durable

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	ourClaim = "claim of the sender"
	ourKey   = "KEY-1"
	receipt  = "1001"
)

// begun is a payment that was claimed, and is in a state.
func begun(state State, now time.Time) row {
	r := row{claim: ourClaim, intent: quickstream.Intent{
		Version: quickstream.IntentVersion, Operation: quickstream.OperationPay, Reference: "R-1", IdempotencyKey: ourKey, ID: "I-1", NotBefore: now, Complete: true,
		MetadataName: "intentId", Request: []byte(`{"transactionType":"PAYMENT","metadata":{"intentId":"I-1"}}`),
	}}
	r.State, r.Written, r.Changed = state, now, now
	if state == StatePrepared {
		r.claim = ""
	}
	return r
}

func saw(outcome quickstream.Outcome) observed {
	return observed{Kind: sawTransaction, Of: ourKey, Receipt: receipt, Seen: resolve.Observation{Result: resolve.LookupSettled, Outcome: outcome, ReceiptNumber: receipt}}
}

func (o observed) by(claim string) observed {
	o.Claim = claim
	return o
}

// TestTransitions: what an observation makes of a payment in each state. A payment whose
// outcome is known is not changed by a weaker word, and nobody but who has claimed it makes
// it be sent again.
func TestTransitions(t *testing.T) {
	nothing := observed{Kind: sawTransaction, Of: ourKey, Seen: resolve.Observation{Result: resolve.LookupNone}}
	failed := observed{Kind: sawTransaction, Of: ourKey, Seen: resolve.Observation{Result: resolve.LookupFailed}}
	refused, notDone := observed{Kind: sawRefusal, Of: ourKey}, observed{Kind: sawNotDone, Of: ourKey}
	for _, c := range []struct {
		name   string
		o      observed
		before []State
		after  State
	}{
		{"the answer is an approval", saw(quickstream.OutcomeApproved).by(ourClaim), []State{StateSending, StateUnknown, StateDeclined, StateAbsent, StateEscalated, StateRefused, StateNotSent}, StateApproved},
		{"the answer is a decline", saw(quickstream.OutcomeDeclined).by(ourClaim), []State{StateSending}, StateDeclined},
		{"the answer is lost", failed.by(ourClaim), []State{StateSending}, StateUnknown},
		{"the answer is a refusal", refused.by(ourClaim), []State{StateSending}, StateRefused},
		{"nothing was carried out", notDone.by(ourClaim), []State{StateSending}, StatePrepared},
		{"nothing was found", nothing, []State{StateSending}, StateUnknown},
		{"the look failed", failed, []State{StateSending}, StateUnknown},
		{"it came back", observed{Kind: sawReturn}, []State{StateApproved, StateUnknown}, StateReturned},
		{"it is too late", observed{Kind: sawTooLate}, []State{StatePrepared}, StateNotSent},
		{"it cannot be made", refused, []State{StatePrepared}, StateRefused},
	} {
		for _, before := range c.before {
			now := time.Now()
			after := begun(before, now).after(c.o, resolve.DefaultPolicy(resolve.ServiceRetriesOff()), now.Add(time.Second))
			assert.Equal(t, c.after, after.State, "%s, %s", before, c.name)
		}
	}
	settled := []State{StateApproved, StateDeclined, StateRefused, StateNotSent, StateVoided, StateReturned}
	for _, c := range []struct {
		name   string
		o      observed
		states []State
	}{
		{"nothing was found", nothing, settled},
		{"the look failed", failed, settled},
		{"somebody else's claim was refused", refused.by("another claim"), append(settled, StateSending, StateUnknown)},
		{"somebody else's claim came to nothing", notDone.by("another claim"), append(settled, StateSending, StateUnknown)},
		{"no claim came to nothing", notDone, append(settled, StateSending, StateUnknown)},
		{"another intent was not found", observed{Kind: sawTransaction, Of: "KEY-0", Seen: resolve.Observation{Result: resolve.LookupNone}}, append(settled, StatePrepared, StateSending, StateUnknown)},
		{"it is too late", observed{Kind: sawTooLate}, append(settled, StateSending, StateUnknown, StateAbsent, StateEscalated)},
		{"it came back", observed{Kind: sawReturn}, []State{StateDeclined, StateVoided, StateRefused, StateReturned}},
		{"an older reading", saw(quickstream.OutcomeDeclined), []State{StateApproved}},
	} {
		for _, state := range c.states {
			now := time.Now()
			before := begun(state, now)
			before.ReceiptNumber = receipt
			after := before.after(c.o, resolve.DefaultPolicy(resolve.ServiceRetriesOff()), now.Add(time.Second))
			assert.Equal(t, state, after.State, "%s, %s", state, c.name)
		}
	}
}

// TestSeenAgain: an approval that is seen again does not undo what came after it, and
// another one is a second charge, for ever.
func TestSeenAgain(t *testing.T) {
	for _, since := range []State{StateVoided, StateReturned} {
		now := time.Now()
		policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff())
		r := begun(StateSending, now).after(saw(quickstream.OutcomeApproved).by(ourClaim), policy, now)
		assert.Equal(t, StateApproved, r.State)
		r = r.ended(since)
		assert.Equal(t, since, r.after(saw(quickstream.OutcomeApproved), policy, now.Add(time.Hour)).State)
		another := saw(quickstream.OutcomeApproved)
		another.Receipt, another.Seen.ReceiptNumber = "1002", "1002"
		r = r.after(another, policy, now.Add(time.Hour))
		assert.Equal(t, StateTwice, r.State)
		assert.Equal(t, StateTwice, r.after(saw(quickstream.OutcomeApproved), policy, now.Add(2*time.Hour)).State)
	}
}

// TestRenewed: what is sent again is another intent, with a pause that grows.
func TestRenewed(t *testing.T) {
	now := time.Now()
	before := begun(StateSending, now)
	last := time.Duration(0)
	for range 5 {
		after := before.after(observed{Kind: sawNotDone, Of: before.intent.IdempotencyKey, Claim: ourClaim}, resolve.Policy{}, now)
		assert.NotEqual(t, before.intent.IdempotencyKey, after.intent.IdempotencyKey)
		assert.Greater(t, after.Due.Sub(now), last)
		last = after.Due.Sub(now)
		before = after
		before.State, before.claim = StateSending, ourClaim
	}
}
