package resolve_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

func transaction(receipt string, status quickstream.TransactionStatus, summary quickstream.SummaryCode, code string) *quickstream.Transaction {
	return &quickstream.Transaction{ReceiptNumber: receipt, Status: status, SummaryCode: summary, ResponseCode: code}
}

func approved(receipt string) *quickstream.Transaction {
	return transaction(receipt, quickstream.TransactionStatusApproved, quickstream.SummaryCodeApproved, "00")
}

func declined(receipt, code string) *quickstream.Transaction {
	t := transaction(receipt, quickstream.TransactionStatusDeclined, quickstream.SummaryCodeDeclined, code)
	t.CreditCard = new(quickstream.CreditCard)
	return t
}

func unsettled(receipt string) *quickstream.Transaction {
	return transaction(receipt, "", quickstream.SummaryCodeErred, "")
}

func payTo(receipt, agreement string) *quickstream.Transaction {
	t := transaction(receipt, quickstream.TransactionStatusPending, "", "")
	t.PayToData = &quickstream.PayToData{AgreementToken: agreement}
	return t
}

func match(t *quickstream.Transaction) quickstream.Candidate {
	return quickstream.Candidate{Transaction: t, Matches: true}
}

func near(t *quickstream.Transaction) quickstream.Candidate {
	return quickstream.Candidate{Transaction: t}
}

func open(candidates ...quickstream.Candidate) error {
	return &quickstream.UnknownOutcomeError{Candidates: candidates}
}

func TestObserve(t *testing.T) {
	type row struct {
		err       error
		result    resolve.LookupResult
		receipt   string
		near      []string
		doubtful  bool
		code      string
		retryable bool
	}
	for name, tt := range map[string]row{
		"nothing":                        {err: open(), result: resolve.LookupNone},
		"near misses are not nothing":    {err: open(near(approved("R2")), near(declined("R1", "01"))), result: resolve.LookupNone, near: []string{"R1", "R2"}},
		"a near miss that is no payment": {err: open(quickstream.Candidate{Agreement: new(quickstream.Agreement), Matches: true}), result: resolve.LookupNone, near: []string{""}},
		"one without a status":           {err: open(match(unsettled("R1"))), result: resolve.LookupPending, receipt: "R1"},
		"one beside near misses":         {err: open(near(approved("R2")), match(unsettled("R1"))), result: resolve.LookupPending, receipt: "R1", near: []string{"R2"}},
		"a decline that is not believed": {err: open(match(declined("R1", "54"))), result: resolve.LookupSettled, receipt: "R1", doubtful: true, code: "54"},
		"a soft one":                     {err: open(match(declined("R1", "01"))), result: resolve.LookupSettled, receipt: "R1", doubtful: true, code: "01", retryable: true},
		"several, none approved":         {err: open(match(declined("R2", "01")), match(unsettled("R1"))), result: resolve.LookupAmbiguous, near: []string{"R1", "R2"}},
		"several, one approved":          {err: open(match(declined("R2", "01")), match(approved("R1"))), result: resolve.LookupAmbiguous, near: []string{"R1", "R2"}},
		"two approved":                   {err: open(match(approved("R2")), match(approved("R1")), match(unsettled("R3"))), result: resolve.LookupDoubleCharged, near: []string{"R1", "R2", "R3"}},
		"one approved and a near miss":   {err: open(match(unsettled("R1")), near(approved("R2")), near(approved("R2"))), result: resolve.LookupPending, receipt: "R1", near: []string{"R2"}},
		"failed":                         {err: &quickstream.UnknownOutcomeError{Cause: errors.New("reset"), Candidates: []quickstream.Candidate{match(approved("R1"))}}, result: resolve.LookupFailed},
		"another error":                  {err: quickstream.ErrNotFound, result: resolve.LookupFailed},
	} {
		o := resolve.Observe(nil, tt.err)
		assert.Equal(t, tt, row{tt.err, o.Result, o.ReceiptNumber, receipts(o), o.Doubtful, o.ResponseCode, o.Retryable}, name)
	}
	assert.Equal(t, resolve.LookupFailed, resolve.Observe(nil, nil).Result)
	found := resolve.Observe(declined("R1", "54"), nil)
	assert.Equal(t, resolve.Observation{
		Result: resolve.LookupSettled, Outcome: quickstream.OutcomeDeclined, ReceiptNumber: "R1", ResponseCode: "54", NextStep: quickstream.NextStepPayAgain,
	}, found)
	var crowd []quickstream.Candidate
	for i := range 40 {
		crowd = append(crowd, near(approved(fmt.Sprintf("R%02d", i))))
	}
	assert.Len(t, resolve.Observe(nil, open(crowd...)).Candidates, 20)
}

// receipts are the receipt numbers of the candidates.
func receipts(o resolve.Observation) (all []string) {
	for _, c := range o.Candidates {
		all = append(all, c.ReceiptNumber)
	}
	return all
}
