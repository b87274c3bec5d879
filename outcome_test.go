package quickstream_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// TestOutcomeTable says for every status, with every summary code, with and
// without the response code of fraud screening, what became of a transaction.
// Whatever is not written down here, or disagrees, is unknown.
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
		// A Cyrillic letter, a full-width one, one that is not seen, and one that turns the text.
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
				outcome, err := tx.Outcome()
				assert.Equal(t, letters[letter], outcome, "status %q, summary code %q, response code %q", status, tx.SummaryCode, tx.ResponseCode)
				assert.Equal(t, strings.Contains("?PS", letter), err != nil, "%s: %v", outcome, err)
			}
		}
	}
	t.Logf("%d cells", cells)
}

// TestPendingPayTo: until the payer has answered, the service does not know the outcome. Its summary
// code for that says no more than the status. Of other accounts, and of other summary codes, the
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
		outcome, err := tx.Outcome()
		assert.Equal(t, c.outcome, outcome, "%+v", c)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		assert.Equal(t, c.next, tx.NextStep(), "%+v", c)
	}
}

// TestNothingIsApprovedByDefault: what was never decoded says nothing.
func TestNothingIsApprovedByDefault(t *testing.T) {
	var none *quickstream.Transaction
	for _, tx := range []*quickstream.Transaction{none, {}} {
		outcome, err := tx.Outcome()
		assert.Equal(t, quickstream.OutcomeUnknown, outcome)
		require.ErrorIs(t, err, quickstream.ErrOutcomeUnknown)
		open, ok := errors.AsType[*quickstream.NotSettledError](err)
		require.True(t, ok)
		assert.Same(t, tx, open.Transaction)
		assert.False(t, open.NextLook.IsZero())
	}
	assert.False(t, none.MayBeReturned())
	_, err := quickstream.RequireApproved(&quickstream.Transaction{}, nil)
	assert.Error(t, err)
}

func TestMayBeReturned(t *testing.T) {
	approved := func(change func(*quickstream.Transaction)) *quickstream.Transaction {
		tx := &quickstream.Transaction{Status: "Approved", SummaryCode: "0"}
		change(tx)
		return tx
	}
	for name, change := range map[string]func(*quickstream.Transaction){
		"status":          func(tx *quickstream.Transaction) { tx.Status = quickstream.TransactionStatusApprovedReturnable },
		"upper status":    func(tx *quickstream.Transaction) { tx.Status = "APPROVED*" },
		"bank account":    func(tx *quickstream.Transaction) { tx.BankAccount = &quickstream.BankAccount{} },
		"NZ bank account": func(tx *quickstream.Transaction) { tx.NZBankAccount = &quickstream.NZBankAccount{} },
		"direct entry":    func(tx *quickstream.Transaction) { tx.DirectEntryAccount = &quickstream.DirectEntryAccount{} },
		"NZ direct entry": func(tx *quickstream.Transaction) { tx.NZDirectEntryAccount = &quickstream.NZDirectEntryAccount{} },
	} {
		tx := approved(change)
		assert.True(t, tx.MayBeReturned(), name)
		for _, tx.SummaryCode = range []quickstream.SummaryCode{"1", "2", "3", ""} {
			assert.False(t, tx.MayBeReturned(), "%s: what was not approved cannot be returned", name)
		}
	}
	assert.False(t, approved(func(tx *quickstream.Transaction) { tx.CreditCard = &quickstream.CreditCard{} }).MayBeReturned())
}
