package resolve

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/quickstream-go/quickstream"
)

// LookupResult is the result of one look-up.
type LookupResult string

// The results of a look-up. Any other counts as failed.
const (
	LookupNone          LookupResult = "none"           // no transaction is the payment; Candidates may be
	LookupPending       LookupResult = "pending"        // a transaction without a final status
	LookupSettled       LookupResult = "settled"        // a transaction with a final status
	LookupAmbiguous     LookupResult = "ambiguous"      // several transactions match
	LookupDoubleCharged LookupResult = "double_charged" // several match and are approved
	LookupFailed        LookupResult = "failed"
)

// Observation is the result of one look-up.
type Observation struct {
	Result         LookupResult         `json:"result"`
	Outcome        quickstream.Outcome  `json:"outcome,omitempty"`
	ReceiptNumber  string               `json:"receiptNumber,omitempty"`
	Amount         *quickstream.Amount  `json:"amount,omitempty"` // the principal, or the total in its place
	ResponseCode   string               `json:"responseCode,omitempty"`
	NextStep       quickstream.NextStep `json:"nextStep,omitempty"`
	SettlementDate quickstream.Date     `json:"settlementDate,omitzero"`
	// PayTo means a PayTo payment, whose payer may still have to answer.
	PayTo bool `json:"payTo,omitempty"`
	// Retryable means that the service may retry the decline.
	Retryable bool `json:"retryable,omitempty"`
	// Doubtful means that the intent may have another transaction.
	Doubtful bool `json:"doubtful,omitempty"`
	// Candidates are several matches, or similar transactions that do not match.
	Candidates []Candidate `json:"candidates,omitempty"`
}

// Candidate is a transaction that may be the payment.
type Candidate struct {
	ReceiptNumber string              `json:"receiptNumber,omitempty"`
	Outcome       quickstream.Outcome `json:"outcome,omitempty"`
	Amount        *quickstream.Amount `json:"amount,omitempty"`
	// Matches means that it is the payment, or one of several.
	Matches bool `json:"matches,omitempty"`
	// Differs says how it differs, or why it settles nothing.
	Differs []string `json:"differs,omitempty"`
}

// rivalled reports whether an approved candidate has the same amount as the observed transaction.
func (o Observation) rivalled() bool {
	return o.Amount != nil && slices.ContainsFunc(o.Candidates, func(c Candidate) bool {
		return c.Outcome == quickstream.OutcomeApproved && c.Amount != nil && !another(c.Amount, o.Amount)
	})
}

// Observe describes the results of Transactions.Resume, or of Intent.Match for an event's transaction. An
// error of the payment itself, such as an APIError, counts as a failed look-up.
func Observe(t *quickstream.Transaction, err error) Observation {
	o, _ := observe(t, err)
	return o
}

// observe also returns the transactions that match.
func observe(t *quickstream.Transaction, err error) (Observation, []*quickstream.Transaction) {
	if err == nil {
		o := observed(t)
		o.Candidates = candidates(t.Candidates())
		return o, []*quickstream.Transaction{t}
	}
	lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err)
	if !ok || lost.Cause != nil {
		return Observation{Result: LookupFailed}, nil
	}
	var matches []*quickstream.Transaction
	for _, candidate := range lost.Candidates {
		if candidate.Matches && candidate.Transaction != nil {
			matches = append(matches, candidate.Transaction)
		}
	}
	o := among(matches)
	o.Doubtful = o.Result == LookupSettled
	others := slices.DeleteFunc(slices.Clone(lost.Candidates), func(c quickstream.Candidate) bool { return c.Matches && c.Transaction != nil })
	o.Candidates = append(o.Candidates, candidates(others)...)
	return o, matches
}

// candidates describes the candidates of a look-up, in a fixed order.
func candidates(found []quickstream.Candidate) []Candidate {
	var all []Candidate
	for _, f := range found {
		c := Candidate{Matches: f.Matches, Differs: f.Reasons}
		if t := f.Transaction; t != nil {
			c.ReceiptNumber, c.Outcome, c.Amount = t.ReceiptNumber, t.Outcome(), cmp.Or(t.PrincipalAmount, t.TotalAmount)
		}
		all = append(all, c)
	}
	all = all[:min(len(all), maxCandidates)]
	slices.SortStableFunc(all, func(a, b Candidate) int { return strings.Compare(a.ReceiptNumber, b.ReceiptNumber) })
	return slices.CompactFunc(all, func(a, b Candidate) bool { return a.ReceiptNumber == b.ReceiptNumber })
}

// among describes the matching transactions, of several as one observation.
func among(matches []*quickstream.Transaction) Observation {
	switch len(matches) {
	case 0:
		return Observation{Result: LookupNone}
	case 1:
		return observed(matches[0])
	}
	approved, unpaid := 0, 0
	var last Observation
	var all []quickstream.Candidate
	for _, t := range matches {
		all = append(all, quickstream.Candidate{Transaction: t, Matches: true, Reasons: []string{"it is not the only one"}})
		seen := observed(t)
		switch {
		case seen.Outcome == quickstream.OutcomeApproved:
			approved++
		case seen.Outcome.Final():
			unpaid++
			seen.Retryable = seen.Retryable || last.Retryable
			last = seen
		}
	}
	switch {
	case unpaid == len(matches): // one for each attempt or retry
		return last
	case approved > 1:
		return Observation{Result: LookupDoubleCharged, Candidates: candidates(all)}
	}
	return Observation{Result: LookupAmbiguous, Candidates: candidates(all)}
}

// maxCandidates bounds the candidates that one look-up adds to a Case.
const maxCandidates = 20

func observed(t *quickstream.Transaction) Observation {
	if t == nil {
		return Observation{Result: LookupFailed}
	}
	outcome := t.Outcome()
	o := Observation{
		Result: LookupPending, Outcome: outcome, ReceiptNumber: t.ReceiptNumber, Amount: cmp.Or(t.PrincipalAmount, t.TotalAmount), ResponseCode: t.ResponseCode, NextStep: t.NextStep(),
		SettlementDate: t.SettlementDate, PayTo: t.PayToData != nil,
	}
	o.Retryable = o.NextStep == quickstream.NextStepCheckRetries
	if outcome.Final() {
		o.Result = LookupSettled
	}
	return o
}

// of returns the observation as it concerns an intent: for a void only the outcome voided says
// anything. An unknown result counts as failed.
func (o Observation) of(intent quickstream.Intent) Observation {
	switch o.Result {
	case LookupNone:
	case LookupSettled, LookupPending, LookupAmbiguous, LookupDoubleCharged:
		if intent.Operation == quickstream.OperationVoid && o.Outcome != quickstream.OutcomeVoided {
			return Observation{Result: LookupNone}
		}
		if o.Result == LookupSettled && (!o.Outcome.Final() || o.ReceiptNumber == "") {
			return Observation{Result: LookupFailed}
		}
	default:
		return Observation{Result: LookupFailed}
	}
	return o
}

// same reports whether two observations show the same transactions in the same state.
func (o Observation) same(other Observation) bool {
	return o.Result == other.Result && o.Outcome == other.Outcome && o.ReceiptNumber == other.ReceiptNumber &&
		o.ResponseCode == other.ResponseCode && o.Retryable == other.Retryable &&
		slices.EqualFunc(o.Candidates, other.Candidates, func(a, b Candidate) bool {
			return a.ReceiptNumber == b.ReceiptNumber && a.Outcome == b.Outcome
		})
}

// folded returns a receipt number as Resume compares it: in lower case and without blanks around it.
func folded(receipt string) string { return strings.ToLower(strings.TrimSpace(receipt)) }

func sameReceipt(a, b string) bool { return folded(a) == folded(b) }
