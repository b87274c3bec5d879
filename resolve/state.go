package resolve

import (
	"errors"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Stage is how far the procedure has come.
type Stage string

// The stages. The last three are final.
const (
	StageLooking     Stage = "looking"       // not found yet
	StageHeld        Stage = "held"          // known, without a final status
	StageAfterCutOff Stage = "after cut-off" // was looked at after the cut-off
	StageNextDay     Stage = "next day"      // was looked at on the next day
	StageSettled     Stage = "settled"
	StageAbsent      Stage = "absent"
	StageEscalated   Stage = "escalated"
)

// Final reports whether the procedure is over.
func (s Stage) Final() bool {
	return s == StageSettled || s == StageAbsent || s == StageEscalated
}

// Sighting is what a look-up found.
type Sighting string

// The sightings.
const (
	SawNothing   Sighting = "not found"
	SawNoOutcome Sighting = "found, without a final status"
	SawOutcome   Sighting = "found, with a final status"
	SawSeveral   Sighting = "several match"
	SawError     Sighting = "look-up failed"
)

// Observation is the result of one look-up.
type Observation struct {
	Sighting       Sighting                `json:"sighting"`
	Outcome        quickstream.Outcome     `json:"outcome,omitempty"`
	ReceiptNumber  string                  `json:"receiptNumber,omitempty"`
	SettlementDate quickstream.Date        `json:"settlementDate,omitzero"`
	AccountType    quickstream.AccountType `json:"accountType,omitempty"`
	// Retryable tells that the service may retry the decline, where it is let.
	Retryable bool `json:"retryable,omitempty"`
	// Candidates are the receipt numbers when several transactions match, or of those
	// that do not match and are too like to be overlooked.
	Candidates []string `json:"candidates,omitempty"`
}

// Observe describes what Transactions.Resume returned, and nothing else: an error of
// the payment itself, such as an APIError, counts as a look-up that failed.
func Observe(t *quickstream.Transaction, err error) Observation {
	if err == nil {
		return ObserveTransaction(t)
	}
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	switch {
	case !ok || lost.Cause != nil:
		return Observation{Sighting: SawError}
	case lost.Intent != nil && lost.Intent.Operation == "Transactions.Void":
		return Observation{Sighting: SawNothing} // the candidate is what was to be voided
	case len(lost.Candidates) == 1 && lost.Candidates[0].Matches:
		return ObserveTransaction(lost.Candidates[0].Transaction)
	}
	o := Observation{Sighting: SawNothing}
	for _, candidate := range lost.Candidates {
		o.Candidates = append(o.Candidates, candidate.Transaction.ReceiptNumber)
		if candidate.Matches {
			o.Sighting = SawSeveral
		}
	}
	return o
}

// ObserveTransaction describes a transaction that was read.
func ObserveTransaction(t *quickstream.Transaction) Observation {
	if t == nil {
		return Observation{Sighting: SawError}
	}
	outcome, err := t.Outcome()
	o := Observation{
		Sighting: SawOutcome, Outcome: outcome, ReceiptNumber: t.ReceiptNumber,
		SettlementDate: t.SettlementDate, AccountType: accountType(t),
		Retryable: t.NextStep() == quickstream.NextStepReadRetries,
	}
	if err != nil {
		o.Sighting = SawNoOutcome
	}
	return o
}

func accountType(t *quickstream.Transaction) quickstream.AccountType {
	switch {
	case t.CreditCard != nil:
		return quickstream.AccountTypeCreditCard
	case t.PayToData != nil:
		return quickstream.AccountTypePayTo
	case t.BankAccount != nil:
		return quickstream.AccountTypeDirectDebit
	case t.NZBankAccount != nil:
		return quickstream.AccountTypeDirectDebitNZ
	}
	return ""
}

// Look is one entry of the evidence.
type Look struct {
	At time.Time `json:"at"`
	Observation
}

// State is where the resolution of one payment stands. Store it as JSON.
type State struct {
	Intent quickstream.Intent `json:"intent"`
	Stage  Stage              `json:"stage"`
	// NextLook is when to look next; zero in a final stage.
	NextLook time.Time `json:"nextLook,omitzero"`
	// Outcome is what became of the payment, in StageSettled.
	Outcome quickstream.Outcome `json:"outcome,omitempty"`
	// Looks are all look-ups so far, the evidence for technical support.
	Looks []Look `json:"looks,omitempty"`
	// Misses counts looks in a row that found nothing, Failures those that failed.
	Misses   int `json:"misses,omitempty"`
	Failures int `json:"failures,omitempty"`
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
	return State{Intent: intent, Stage: StageLooking, NextLook: now}
}

// BeginTransaction returns the state of a transaction that was answered, to be read
// again at once: one without a final status, such as a pending payment by PayTo, or a
// decline that the service may retry.
func BeginTransaction(t *quickstream.Transaction, now time.Time) State {
	sent := t.TransactionTime.Time
	if sent.IsZero() {
		sent = now
	}
	return State{Stage: StageHeld, NextLook: now, Intent: quickstream.Intent{
		Version: quickstream.IntentVersion, Operation: "Transactions.Pay", Reference: t.PaymentReferenceNumber,
		ReceiptNumber: t.ReceiptNumber, NotBefore: sent,
	}}
}
