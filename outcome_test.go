package quickstream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestOutcomeTable has the outcome for every status, with every summary code, with and without the
// response code of fraud screening. Every other combination is unknown.
func TestOutcomeTable(t *testing.T) {
	letters := map[string]quickstream.Outcome{
		"A": quickstream.OutcomeApproved, "D": quickstream.OutcomeDeclined, "R": quickstream.OutcomeRejected, "P": quickstream.OutcomePending,
		"S": quickstream.OutcomeSuspended, "V": quickstream.OutcomeVoided, "?": quickstream.OutcomeUnknown,
	}
	summaries := []quickstream.SummaryCode{"", "0", "1", "2", "3", "9", "00", "\uff10"}
	rows := map[string]string{
		"":          "? ? D ? R ? ? ?  S ? S S S S S S",
		"Approved":  "? A ? ? ? ? ? ?  ? ? ? ? ? ? ? ?",
		"Approved*": "? A ? ? ? ? ? ?  ? ? ? ? ? ? ? ?",
		"Declined":  "? ? D ? R ? ? ?  S ? S S S S S S",
		"Pending":   "P P ? ? ? ? ? ?  S ? S S S S S S",
		"Voided":    "? V ? ? V ? ? ?  ? ? ? ? ? ? ? ?",
		"Suspended": "S ? S S S S S S  S ? S S S S S S",
		"Brand new": "? ? D ? R ? ? ?  S ? S S S S S S",
		"Approved ": "? ? D ? R ? ? ?  S ? S S S S S S",
		// A Cyrillic letter, a full-width one, an invisible one, and one that turns the text.
		"\u0410pproved":  "? ? D ? R ? ? ?  S ? S S S S S S",
		"\uff21pproved":  "? ? D ? R ? ? ?  S ? S S S S S S",
		"Approved\u200b": "? ? D ? R ? ? ?  S ? S S S S S S",
		"\u202eApproved": "? ? D ? R ? ? ?  S ? S S S S S S",
	}
	for _, listed := range []string{"Approved", "Approved*", "Declined", "Pending", "Voided", "Suspended"} {
		rows[strings.ToUpper(listed)], rows[strings.ToLower(listed)] = rows[listed], rows[listed]
	}
	cells := 0
	for status, row := range rows {
		want := strings.Fields(row)
		require.Len(t, want, 2*len(summaries))
		for i, letter := range want {
			tx := &quickstream.Transaction{Status: quickstream.TransactionStatus(status), SummaryCode: summaries[i%len(summaries)]}
			responses := []string{"", "08", "00", "51", "G", "340", "034"}
			if i >= len(summaries) {
				responses = []string{"34"}
			}
			for _, tx.ResponseCode = range responses {
				cells++
				outcome := tx.Outcome()
				assert.Equal(t, letters[letter], outcome, "status %q, summary code %q, response code %q", status, tx.SummaryCode, tx.ResponseCode)
				assert.Equal(t, strings.Contains("ADRV", letter), outcome.Final(), outcome)
			}
		}
	}
	t.Logf("%d cells", cells)
}

// TestPendingPayTo: until the payer has answered, the service does not know the outcome, and its
// summary code adds nothing to the status. For other accounts, and with other summary codes, the
// outcome is unknown.
func TestPendingPayTo(t *testing.T) {
	payTo, card := &quickstream.PayToData{AgreementToken: "A1"}, (*quickstream.PayToData)(nil)
	for _, c := range []struct {
		source  *quickstream.PayToData
		status  quickstream.TransactionStatus
		summary quickstream.SummaryCode
		outcome quickstream.Outcome
		next    quickstream.NextStep
	}{
		{payTo, "Pending", "", quickstream.OutcomePending, quickstream.NextStepWait},
		{payTo, "Pending", "0", quickstream.OutcomePending, quickstream.NextStepWait},
		{payTo, "Pending", "2", quickstream.OutcomePending, quickstream.NextStepWait},
		{payTo, "PENDING", "2", quickstream.OutcomePending, quickstream.NextStepWait},
		{payTo, "Pending", "1", quickstream.OutcomeUnknown, quickstream.NextStepResolve},
		{payTo, "Pending", "3", quickstream.OutcomeUnknown, quickstream.NextStepResolve},
		{payTo, "Approved", "2", quickstream.OutcomeUnknown, quickstream.NextStepResolve},
		{payTo, "", "2", quickstream.OutcomeUnknown, quickstream.NextStepResolve},
		{card, "Pending", "2", quickstream.OutcomeUnknown, quickstream.NextStepResolve},
	} {
		tx := &quickstream.Transaction{Status: c.status, SummaryCode: c.summary, ResponseCode: "PDNG", PayToData: c.source}
		assert.Equal(t, c.outcome, tx.Outcome(), "%+v", c)
		assert.Equal(t, c.next, tx.NextStep(), "%+v", c)
	}
}

func TestNextStep(t *testing.T) {
	card := func(status quickstream.TransactionStatus, summary quickstream.SummaryCode, code string) *quickstream.Transaction {
		return &quickstream.Transaction{Status: status, SummaryCode: summary, ResponseCode: code, CreditCard: &quickstream.CreditCard{}}
	}
	payTo := func(summary quickstream.SummaryCode, code string) *quickstream.Transaction {
		return &quickstream.Transaction{Status: quickstream.TransactionStatusDeclined, SummaryCode: summary, ResponseCode: code, PayToData: &quickstream.PayToData{}}
	}
	bank := func(code string) *quickstream.Transaction {
		return &quickstream.Transaction{Status: quickstream.TransactionStatusDeclined, SummaryCode: "1", ResponseCode: code, BankAccount: &quickstream.BankAccount{}}
	}
	tests := map[string]struct {
		tx   *quickstream.Transaction
		want quickstream.NextStep
	}{
		"zero":                      {&quickstream.Transaction{}, quickstream.NextStepResolve},
		"approved":                  {card("Approved", "0", "08"), quickstream.NextStepNone},
		"voided":                    {card("Voided", "0", "08"), quickstream.NextStepNone},
		"erred":                     {card("Declined", "2", "QI"), quickstream.NextStepResolve},
		"status against code":       {card("Approved", "1", "08"), quickstream.NextStepResolve},
		"soft, as a number":         {card("Declined", "1", "1"), quickstream.NextStepCheckRetries},
		"unknown code":              {card("Declined", "1", "X7"), quickstream.NextStepCheckRetries},
		"gateway":                   {card("Declined", "1", "QY"), quickstream.NextStepPayAgain},
		"rejected, configuration":   {card("Declined", "3", "QG"), quickstream.NextStepContactSupport},
		"suspended":                 {card("Suspended", "1", "34"), quickstream.NextStepReviewInPortal},
		"suspended, said declined":  {card("Declined", "1", "34"), quickstream.NextStepReviewInPortal},
		"pending":                   {card("Pending", "0", "PDNG"), quickstream.NextStepWait},
		"PayTo without funds":       {payTo("1", "AM04"), quickstream.NextStepPayAgain},
		"PayTo, a card's soft code": {payTo("1", "01"), quickstream.NextStepPayAgain},
		"PayTo, closed account":     {payTo("1", "AC05"), quickstream.NextStepPayAgain},
		"card, a PayTo code":        {card("Declined", "1", "AC05"), quickstream.NextStepCheckRetries},
		"bank account, closed":      {bank("3"), quickstream.NextStepPayAgain},
		"card, other accounts empty": {&quickstream.Transaction{
			Status: "Declined", SummaryCode: "1", ResponseCode: "51", CreditCard: &quickstream.CreditCard{}, BankAccount: &quickstream.BankAccount{}, PayToData: &quickstream.PayToData{},
		}, quickstream.NextStepCheckRetries},
	}
	for name, tt := range tests {
		assert.Equal(t, tt.want, tt.tx.NextStep(), name)
	}
	for step, codes := range map[quickstream.NextStep]string{
		quickstream.NextStepContactSupport: "03 04 07 41 43 3 4 7",
		quickstream.NextStepPayAgain:       "00 08 12 13 14 17 30 36 42 54 57 59 62 94 8 Q0 Q6 QA QQ QT QZ",
		quickstream.NextStepCheckRetries:   "01 05 51 61 91 5 Q Q7 QR QS QAB",
	} {
		for code := range strings.FieldsSeq(codes) {
			assert.Equal(t, step, card("Declined", "1", code).NextStep(), "a declined card, code %s", code)
		}
	}
	for _, code := range strings.Fields("QA QD QQ QT QW QY QZ") {
		assert.Equal(t, quickstream.NextStepCorrectRequest, card("Declined", "3", code).NextStep(), "a rejected card, code %s", code)
	}
	for _, code := range []string{"4", "8"} {
		assert.Equal(t, quickstream.NextStepContactSupport, bank(code).NextStep(), "a bank account, code %s", code)
		direct := &quickstream.Transaction{Status: quickstream.TransactionStatusDeclined, SummaryCode: "1", ResponseCode: code, DirectEntryAccount: &quickstream.DirectEntryAccount{}}
		assert.Equal(t, quickstream.NextStepContactSupport, direct.NextStep(), "direct entry, code %s", code)
	}
}

// TestUnsaidRetries: an error names the question for the bank if the bank's answer decides.
func TestUnsaidRetries(t *testing.T) {
	for code, asks := range map[string]bool{"51": true, "54": false} {
		declined := &quickstream.DeclinedError{Transaction: &quickstream.Transaction{Status: "Declined", SummaryCode: "1", ResponseCode: code}}
		assert.Equal(t, asks, strings.Contains(declined.Error(), "ask the bank whether"), declined.Error())
	}
}

// The text of an unknown outcome says what was tried, how to find out, and what not to do, for every verb.
func TestUnknownOutcomeText(t *testing.T) {
	lost := &quickstream.UnknownOutcomeError{CallInfo: quickstream.CallInfo{Operation: quickstream.OperationPay, Method: "POST", Route: "/transactions"}}
	text := "do not call again: quickstream: Transactions.Pay (POST /transactions): outcome unknown after "
	assert.Equal(t, text+"an unknown number of attempts", lost.Error())
	lost.Attempts, lost.FindOut = 2, "look again"
	assert.Equal(t, text+"2 attempt(s); look again", fmt.Sprintf("%+v", lost))
	assert.Equal(t, `"`+text+`2 attempt(s); look again"`, fmt.Sprintf("%q", lost))
}
