package resolve

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Stage is how far the procedure has come.
type Stage string

// The stages. The last four are final.
const (
	StageLooking     Stage = "looking"       // not found yet
	StageHeld        Stage = "held"          // waits for a cut-off, a retry, the payer or the portal
	StageAfterCutOff Stage = "after cut-off" // was looked at after the cut-off
	StageNextDay     Stage = "next day"      // was looked at on the next day
	StageSettled     Stage = "settled"
	StageAbsent      Stage = "absent"
	StageEscalated   Stage = "escalated"
	// StageTwice: more than one transaction of the intent is approved. Nothing gives
	// money back by itself.
	StageTwice Stage = "charged twice"
)

// Final reports whether the merchant may act on the stage. The state may still be
// looked at, and then changes when a charge is found late: see State.NextLook.
func (s Stage) Final() bool {
	return s == StageSettled || s == StageAbsent || s == StageEscalated || s == StageTwice
}

// Look is one entry of the evidence: looks that saw the same are one.
type Look struct {
	At    time.Time `json:"at"`   // the first time
	Last  time.Time `json:"last"` // the last time
	Count int       `json:"count"`
	Observation
}

// maxLooks bounds the evidence. A further look takes the place of the last one.
const maxLooks = 64

// StateVersion is the version of the states that this package makes. It refuses those
// of any other.
const StateVersion = 1

// State is where the resolution of one payment stands. Store it as JSON.
type State struct {
	Version int                `json:"version"`
	Intent  quickstream.Intent `json:"intent"`
	Stage   Stage              `json:"stage"`
	// NextLook is when to look next. It is zero when all is over, and only in a final
	// stage: what is absent or escalated is looked at daily until Until.
	NextLook time.Time `json:"nextLook,omitzero"`
	// Until is when a final stage is looked at last.
	Until time.Time `json:"until,omitzero"`
	// Outcome is what became of the payment, in [StageSettled] and [StageTwice].
	Outcome quickstream.Outcome `json:"outcome,omitempty"`
	// Seen is the transaction as it was seen last; in [StageSettled] the one that settled
	// it, with the response code and the next step.
	Seen Observation `json:"seen,omitzero"`
	// Looks are all look-ups so far, the evidence for technical support: what was seen
	// last comes last.
	Looks []Look `json:"looks,omitempty"`
	// Misses counts looks in a row that found nothing.
	Misses int `json:"misses,omitempty"`
	// Failing is since when every look-up has failed.
	Failing time.Time `json:"failing,omitzero"`
}

// Begin returns the state of a write whose answer was lost, to be looked for at once:
// a transaction, a refund or a void. A void settles as voided, and is absent when it
// has not come by the end: the transaction stands.
//
// The intent is that of the UnknownOutcomeError, or the stored one. The stored one does
// not say how many requests were sent, and a decline is then held until the cut-off.
func Begin(intent quickstream.Intent, now time.Time) State {
	if intent.NotBefore.IsZero() {
		intent.NotBefore = now
	}
	intent.NotBefore = intent.NotBefore.Round(0)
	return State{Version: StateVersion, Intent: intent, Stage: StageLooking, NextLook: now.Round(0)}
}

// BeginTransaction returns the state of a transaction that was answered, to be read
// again at once: one without a final status, such as a pending payment by PayTo, or a
// decline that the service may retry.
func BeginTransaction(t *quickstream.Transaction, now time.Time) State {
	sent := t.TransactionTime.Time
	if sent.IsZero() || sent.After(now) {
		sent = now
	}
	s := Begin(quickstream.Intent{
		Version: quickstream.IntentVersion, Operation: "Transactions.Pay", Reference: t.PaymentReferenceNumber,
		ReceiptNumber: t.ReceiptNumber, NotBefore: sent,
	}, now)
	s.Stage = StageHeld
	return s
}

// Receipts returns the receipt numbers of all transactions that were seen, which
// technical support will ask for. There can be several where several attempts
// were sent.
func (s State) Receipts() []string {
	var receipts []string
	add := func(receipt string) {
		if receipt != "" && !slices.Contains(receipts, receipt) {
			receipts = append(receipts, receipt)
		}
	}
	add(s.Intent.ReceiptNumber)
	for _, look := range s.Looks {
		add(look.ReceiptNumber)
		for _, candidate := range look.Candidates {
			add(candidate)
		}
	}
	return receipts
}

// UnmarshalJSON reads a state, and refuses one that this package does not know in
// full. A state that holds an intent and was never begun is read as it is.
func (s *State) UnmarshalJSON(data []byte) error {
	type plain State
	var read plain
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	if begun := read.Version != 0 || read.Stage != "" || read.Looks != nil; begun {
		if err := State(read).known(); err != nil {
			return err
		}
	}
	*s = State(read)
	return nil
}

// known refuses a state that this version of the package cannot judge.
func (s State) known() error {
	switch s.Stage {
	case StageLooking, StageHeld, StageAfterCutOff, StageNextDay, StageSettled, StageAbsent, StageEscalated, StageTwice:
	default:
		return fmt.Errorf("resolve: the stage %q is not known", s.Stage)
	}
	if s.Version != StateVersion {
		return fmt.Errorf("resolve: the state has version %d, and this package knows version %d", s.Version, StateVersion)
	}
	if s.Intent.NotBefore.IsZero() || !s.Stage.Final() && s.NextLook.IsZero() {
		return errors.New("resolve: the state does not say when the payment was sent, or when to look")
	}
	if settled := s.Stage == StageSettled || s.Stage == StageTwice; settled != final(s.Outcome) || !settled && s.Outcome != "" {
		return fmt.Errorf("resolve: a payment that is %s has the outcome %q", s.Stage, s.Outcome)
	}
	for _, look := range s.Looks {
		if look.of(quickstream.Intent{}).Sighting != look.Sighting {
			return fmt.Errorf("resolve: the look %q with the outcome %q is not known", look.Sighting, look.Outcome)
		}
	}
	return nil
}

// see returns the state with a look in its evidence, and the given one as it was.
func (s State) see(o Observation, now time.Time) State {
	look := Look{At: now, Last: now, Count: 1, Observation: o}
	looks := make([]Look, 0, len(s.Looks)+1)
	for _, earlier := range s.Looks {
		if earlier.same(o) {
			look.At, look.Count = earlier.At, earlier.Count+1
			continue
		}
		looks = append(looks, earlier)
	}
	s.Looks = append(looks[:min(len(looks), maxLooks-1)], look)
	if o.ReceiptNumber != "" && s.Stage != StageSettled {
		s.Seen = o
	}
	if o.Sighting != SawError {
		s.Failing = time.Time{}
	}
	return s
}

// saw reports whether a look saw something.
func (s State) saw(something func(Look) bool) bool { return slices.ContainsFunc(s.Looks, something) }

// evident reports whether there is anything that may be the payment. Such a payment
// is never absent, wherever it may hide.
func (s State) evident() bool {
	return s.Intent.ReceiptNumber != "" || s.saw(func(l Look) bool {
		return len(l.Candidates) > 0 || l.Sighting != SawNothing && l.Sighting != SawError
	})
}

// rivalled reports whether a transaction other than the observed one may be the
// payment, and may have taken its money.
func (s State) rivalled(o Observation) bool {
	return s.saw(func(l Look) bool {
		return len(l.Candidates) > 0 || l.Sighting == SawNoOutcome && l.ReceiptNumber != o.ReceiptNumber
	})
}

// taken reports whether an observation is that of a write which was carried out.
func (s State) taken(o Observation) bool {
	wanted := quickstream.OutcomeApproved
	if s.Intent.Operation == voidOperation {
		wanted = quickstream.OutcomeVoided
	}
	return o.Sighting == SawOutcome && o.Outcome == wanted
}

// settle ends with an outcome. Where several have matched, the others are looked at
// on: one of them may be approved too.
func (s State) settle(o Observation, now time.Time) State {
	s.Stage, s.Outcome, s.Seen = StageSettled, o.Outcome, o
	if s.saw(func(l Look) bool { return l.Sighting == SawSeveral }) {
		if now.Before(s.NextLook) {
			return s
		}
		return s.watchOn(now)
	}
	s.Intent.ReceiptNumber, s.NextLook, s.Until = o.ReceiptNumber, time.Time{}, time.Time{}
	return s
}

// twice ends what was carried out more than once.
func (s State) twice() State {
	s.Stage, s.Outcome, s.NextLook, s.Until = StageTwice, quickstream.OutcomeApproved, time.Time{}, time.Time{}
	return s
}

// watch ends without an outcome, to be looked at on.
func (s State) watch(stage Stage, now time.Time) State {
	s.Stage, s.Until = stage, now.Add(watched)
	return s.watchOn(now)
}

// watchOn looks again daily, until the days are over; at what is suspended for as long
// as it is.
func (s State) watchOn(now time.Time) State {
	if s.Looks[len(s.Looks)-1].Outcome == quickstream.OutcomeSuspended {
		s.NextLook = nextDay(now)
		return s
	}
	if !now.Before(s.Until) {
		s.NextLook = time.Time{}
		return s
	}
	s.NextLook = earliest(nextDay(now), s.Until)
	return s
}
