package resolve

import (
	"errors"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
)

// LookupResult is what one look-up found.
type LookupResult string

// The results of a look-up. Any other one counts as a look-up that failed.
const (
	LookupNone          LookupResult = "none"           // nothing that may be the payment
	LookupPending       LookupResult = "pending"        // a transaction without a final status
	LookupSettled       LookupResult = "settled"        // a transaction with a final status
	LookupAmbiguous     LookupResult = "ambiguous"      // several transactions match
	LookupDoubleCharged LookupResult = "double_charged" // several match and are approved
	LookupFailed        LookupResult = "failed"
)

// Text returns the result in words, for a person.
func (r LookupResult) Text() string {
	switch r {
	case LookupNone:
		return "not found"
	case LookupPending:
		return "found, without a final status"
	case LookupSettled:
		return "found, with a final status"
	case LookupAmbiguous:
		return "several match"
	case LookupDoubleCharged:
		return "several match and are approved"
	case LookupFailed:
		return "look-up failed"
	default:
		return string(r)
	}
}

// Observation is the result of one look-up.
type Observation struct {
	Result         LookupResult            `json:"result"`
	Outcome        quickstream.Outcome     `json:"outcome,omitempty"`
	ReceiptNumber  string                  `json:"receiptNumber,omitempty"`
	ResponseCode   string                  `json:"responseCode,omitempty"`
	NextStep       quickstream.NextStep    `json:"nextStep,omitempty"`
	SettlementDate quickstream.Date        `json:"settlementDate,omitzero"`
	AccountType    quickstream.AccountType `json:"accountType,omitempty"`
	// Agreement is the status of a pending PayTo payment's agreement, RespondBy until when its
	// payer can answer. Zero means unknown.
	Agreement quickstream.AgreementStatus `json:"agreement,omitempty"`
	RespondBy time.Time                   `json:"respondBy,omitzero"`
	// Retryable means that the service may retry the decline.
	Retryable bool `json:"retryable,omitempty"`
	// Doubtful means that Resume found an outcome that may not be the only one.
	Doubtful bool `json:"doubtful,omitempty"`
	// Scanned means that nothing was found in the complete lists of the settlement dates either.
	Scanned bool `json:"scanned,omitempty"`
	// Matches are the receipt numbers of several matches, which Candidates has too.
	Matches []string `json:"matches,omitempty"`
	// Candidates are the receipt numbers of several matches, or of similar transactions that do not
	// match; "" for one without a receipt.
	Candidates []string `json:"candidates,omitempty"`
}

// Observe describes the result of Transactions.Resume. An error of the payment itself, such as an
// APIError, counts as a failed look-up.
func Observe(t *quickstream.Transaction, err error) Observation {
	o, _ := observe(t, err)
	return o
}

// observe also returns the transactions that match.
func observe(t *quickstream.Transaction, err error) (Observation, []*quickstream.Transaction) {
	if err == nil {
		return ObserveTransaction(t), []*quickstream.Transaction{t}
	}
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok || lost.Cause != nil {
		return Observation{Result: LookupFailed}, nil
	}
	if lost.Intent != nil && lost.Intent.Operation == quickstream.OperationVoid && len(lost.Candidates) == 1 {
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
	o.Doubtful = o.Result == LookupSettled
	o.Candidates = receipts(append(o.Candidates, near...))
	return o, matches
}

// among describes all matching transactions. There should be one.
func among(matches []*quickstream.Transaction) Observation {
	switch len(matches) {
	case 0:
		return Observation{Result: LookupNone}
	case 1:
		return ObserveTransaction(matches[0])
	}
	approved, unpaid := 0, 0
	var last Observation
	o := Observation{Result: LookupAmbiguous}
	for _, t := range matches {
		seen := ObserveTransaction(t)
		switch {
		case seen.Outcome == quickstream.OutcomeApproved:
			approved++
		case tookNoMoney(seen.Outcome):
			unpaid++
			seen.Retryable = seen.Retryable || last.Retryable
			last = seen
		}
		o.Candidates = append(o.Candidates, t.ReceiptNumber)
	}
	switch {
	case unpaid == len(matches): // one for each attempt or retry
		return last
	case approved > 1:
		o.Result = LookupDoubleCharged
	}
	o.Candidates = receipts(o.Candidates)
	o.Matches = slices.Clone(o.Candidates)
	return o
}

// maxCandidates bounds what one look-up adds to a Case.
const maxCandidates = 20

// receipts sorts receipt numbers, so that equal look-ups are equal.
func receipts(numbers []string) []string {
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	return numbers[:min(len(numbers), maxCandidates)]
}

// ObserveTransaction describes a transaction.
func ObserveTransaction(t *quickstream.Transaction) Observation {
	if t == nil {
		return Observation{Result: LookupFailed}
	}
	outcome := t.Outcome()
	o := Observation{
		Result: LookupPending, Outcome: outcome, ReceiptNumber: t.ReceiptNumber, ResponseCode: t.ResponseCode, NextStep: t.NextStep(),
		SettlementDate: t.SettlementDate, AccountType: accountType(t),
	}
	o.Retryable = o.NextStep == quickstream.NextStepCheckRetries
	if outcome.Final() {
		o.Result = LookupSettled
	}
	return o
}

// tookNoMoney reports whether an outcome is final and the customer has not paid.
func tookNoMoney(o quickstream.Outcome) bool {
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

// of returns the observation as it concerns an intent. A transaction that is still approved says
// nothing about a lost void. One that is neither approved nor voided may be a form of the void.
func (o Observation) of(intent quickstream.Intent) Observation {
	switch o.Result {
	case LookupSettled, LookupPending, LookupAmbiguous, LookupDoubleCharged:
		if intent.Operation == quickstream.OperationVoid && o.Outcome != quickstream.OutcomeVoided {
			seen := Observation{Result: LookupNone}
			if o.Outcome != quickstream.OutcomeApproved && o.ReceiptNumber != "" {
				seen.Candidates = []string{o.ReceiptNumber}
			}
			return seen
		}
		if o.Result == LookupSettled && (!o.Outcome.Final() || o.ReceiptNumber == "") {
			return Observation{Result: LookupFailed}
		}
		return o
	case LookupNone:
		return o
	default:
		return Observation{Result: LookupFailed}
	}
}

// same reports whether two observations show the same transactions in the same state.
func (o Observation) same(other Observation) bool {
	return o.Result == other.Result && o.Outcome == other.Outcome && o.ReceiptNumber == other.ReceiptNumber &&
		o.ResponseCode == other.ResponseCode && o.Retryable == other.Retryable && o.Scanned == other.Scanned && slices.Equal(o.Candidates, other.Candidates)
}
