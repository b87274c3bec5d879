package resolve

import (
	"errors"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// Sighting is what a look-up found.
type Sighting string

// The sightings. Any other one counts as a look-up that failed.
const (
	SawNothing   Sighting = "not found"
	SawNoOutcome Sighting = "found, without a final status"
	SawOutcome   Sighting = "found, with a final status"
	SawSeveral   Sighting = "several match"
	SawTwice     Sighting = "several match and are approved"
	SawError     Sighting = "look-up failed"
)

// Observation is the result of one look-up.
type Observation struct {
	Sighting       Sighting                `json:"sighting"`
	Outcome        quickstream.Outcome     `json:"outcome,omitempty"`
	ReceiptNumber  string                  `json:"receiptNumber,omitempty"`
	ResponseCode   string                  `json:"responseCode,omitempty"`
	NextStep       quickstream.NextStep    `json:"nextStep,omitempty"`
	SettlementDate quickstream.Date        `json:"settlementDate,omitzero"`
	AccountType    quickstream.AccountType `json:"accountType,omitempty"`
	// Agreement is the status of the agreement of a pending PayTo payment, and RespondBy
	// until when its payer can answer. Zero is not known.
	Agreement quickstream.AgreementStatus `json:"agreement,omitempty"`
	RespondBy time.Time                   `json:"respondBy,omitzero"`
	// Retryable tells that the service may retry the decline, where it is let.
	Retryable bool `json:"retryable,omitempty"`
	// Doubtful tells that Resume found the outcome and did not take it for the whole
	// story.
	Doubtful bool `json:"doubtful,omitempty"`
	// Candidates are the receipt numbers when several transactions match, and of those
	// that do not match and are too like to be overlooked; "" stands for one without.
	Candidates []string `json:"candidates,omitempty"`
}

// Observe describes what Transactions.Resume returned, and nothing else: an error of
// the payment itself, such as an APIError, counts as a look-up that failed.
func Observe(t *quickstream.Transaction, err error) Observation {
	o, _ := observe(t, err)
	return o
}

// observe returns the transaction too, where there is one.
func observe(t *quickstream.Transaction, err error) (Observation, *quickstream.Transaction) {
	if err == nil {
		return ObserveTransaction(t), t
	}
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok || lost.Cause != nil {
		return Observation{Sighting: SawError}, nil
	}
	if lost.Intent != nil && lost.Intent.Operation == voidOperation && len(lost.Candidates) == 1 {
		return ObserveTransaction(lost.Candidates[0].Transaction).of(*lost.Intent), nil // what was to be voided
	}
	var matches []*quickstream.Transaction
	var near []string
	for _, candidate := range lost.Candidates {
		if found := candidate.Transaction; found == nil {
			near = append(near, "")
		} else if candidate.Matches {
			matches = append(matches, found)
		} else {
			near = append(near, found.ReceiptNumber)
		}
	}
	o := among(matches)
	o.Doubtful = o.Sighting == SawOutcome
	o.Candidates = receipts(append(o.Candidates, near...))
	if len(matches) == 1 {
		return o, matches[0]
	}
	return o, nil
}

// among describes all transactions that match, of which there should be one.
func among(matches []*quickstream.Transaction) Observation {
	switch len(matches) {
	case 0:
		return Observation{Sighting: SawNothing}
	case 1:
		return ObserveTransaction(matches[0])
	}
	approved, refusals := 0, 0
	var last Observation
	o := Observation{Sighting: SawSeveral}
	for _, t := range matches {
		seen := ObserveTransaction(t)
		switch {
		case seen.Outcome == quickstream.OutcomeApproved:
			approved++
		case refused(seen.Outcome):
			refusals++
			seen.Retryable = seen.Retryable || last.Retryable
			last = seen
		}
		o.Candidates = append(o.Candidates, t.ReceiptNumber)
	}
	switch {
	case refusals == len(matches): // each attempt, or each retry of the service's own
		return last
	case approved > 1:
		o.Sighting = SawTwice
	}
	o.Candidates = receipts(o.Candidates)
	return o
}

// maxCandidates bounds what one look can add to a State.
const maxCandidates = 20

// receipts puts receipt numbers into one order, so that equal looks are equal.
func receipts(numbers []string) []string {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	return numbers[:min(len(numbers), maxCandidates)]
}

// ObserveTransaction describes a transaction that was read.
func ObserveTransaction(t *quickstream.Transaction) Observation {
	if t == nil {
		return Observation{Sighting: SawError}
	}
	outcome, unsettled := t.Outcome()
	o := Observation{
		Sighting: SawNoOutcome, Outcome: outcome, ReceiptNumber: t.ReceiptNumber, ResponseCode: t.ResponseCode, NextStep: t.NextStep(),
		SettlementDate: t.SettlementDate, AccountType: accountType(t),
	}
	o.Retryable = o.NextStep == quickstream.NextStepCheckRetries
	if unsettled == nil {
		o.Sighting = SawOutcome
	}
	return o
}

func final(o quickstream.Outcome) bool { return o == quickstream.OutcomeApproved || refused(o) }

// refused reports whether an outcome is final, and took no money or gave it back.
func refused(o quickstream.Outcome) bool {
	return o == quickstream.OutcomeDeclined || o == quickstream.OutcomeRejected || o == quickstream.OutcomeVoided
}

func accountType(t *quickstream.Transaction) quickstream.AccountType {
	if t.CreditCard != nil {
		return quickstream.AccountTypeCreditCard
	}
	if t.PayToData != nil {
		return quickstream.AccountTypePayTo
	}
	if t.BankAccount != nil {
		return quickstream.AccountTypeDirectDebit
	}
	if t.NZBankAccount != nil {
		return quickstream.AccountTypeDirectDebitNZ
	}
	return ""
}

// voidOperation is the one write whose success is that a transaction is voided.
const voidOperation = "Transactions.Void"

// of returns the observation as it concerns an intent. That a transaction stands says
// nothing about a void of it; that it is neither approved nor voided may be a form of
// the void. What nobody knows proves nothing.
func (o Observation) of(intent quickstream.Intent) Observation {
	switch o.Sighting {
	case SawOutcome, SawNoOutcome, SawSeveral, SawTwice:
		if intent.Operation == voidOperation && o.Outcome != quickstream.OutcomeVoided {
			seen := Observation{Sighting: SawNothing}
			if o.Outcome != quickstream.OutcomeApproved && o.ReceiptNumber != "" {
				seen.Candidates = []string{o.ReceiptNumber}
			}
			return seen
		}
		if o.Sighting == SawOutcome && (!final(o.Outcome) || o.ReceiptNumber == "") {
			return Observation{Sighting: SawError}
		}
		return o
	case SawNothing:
		return o
	default:
		return Observation{Sighting: SawError}
	}
}

// same reports whether two observations saw the same transactions in the same state.
func (o Observation) same(other Observation) bool {
	return o.Sighting == other.Sighting && o.Outcome == other.Outcome && o.ReceiptNumber == other.ReceiptNumber &&
		o.ResponseCode == other.ResponseCode && o.Retryable == other.Retryable && slices.Equal(o.Candidates, other.Candidates)
}
