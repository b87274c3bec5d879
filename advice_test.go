package quickstream_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

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
		"no funds":                  {card("Declined", "1", "51"), quickstream.NextStepCheckRetries},
		"expired":                   {card("Declined", "1", "54"), quickstream.NextStepPayAgain},
		"soft, as a number":         {card("Declined", "1", "1"), quickstream.NextStepCheckRetries},
		"soft decline":              {card("Declined", "1", "01"), quickstream.NextStepCheckRetries},
		"stolen":                    {card("Declined", "1", "43"), quickstream.NextStepContactSupport},
		"unknown code":              {card("Declined", "1", "X7"), quickstream.NextStepCheckRetries},
		"gateway":                   {card("Declined", "1", "QY"), quickstream.NextStepPayAgain},
		"gateway, to be retried":    {card("Declined", "1", "QR"), quickstream.NextStepCheckRetries},
		"gateway, successful":       {card("Declined", "1", "QS"), quickstream.NextStepCheckRetries},
		"gateway, unknown code":     {card("Declined", "1", "QAA"), quickstream.NextStepCheckRetries},
		"rejected":                  {card("Declined", "3", "QA"), quickstream.NextStepCorrectRequest},
		"rejected, configuration":   {card("Declined", "3", "QG"), quickstream.NextStepContactSupport},
		"suspended":                 {card("Suspended", "1", "34"), quickstream.NextStepReviewInPortal},
		"suspended, said declined":  {card("Declined", "1", "34"), quickstream.NextStepReviewInPortal},
		"pending":                   {card("Pending", "0", "PDNG"), quickstream.NextStepWait},
		"PayTo without funds":       {payTo("1", "AM04"), quickstream.NextStepPayAgain},
		"PayTo, a card's soft code": {payTo("1", "01"), quickstream.NextStepPayAgain},
		"bank account, closed":      {bank("3"), quickstream.NextStepPayAgain},
		"bank account, deceased":    {bank("4"), quickstream.NextStepContactSupport},
	}
	for name, tt := range tests {
		assert.Equal(t, tt.want, tt.tx.NextStep(), name)
	}
}

func TestCodeSetsAreKeptApart(t *testing.T) {
	closed := &quickstream.Transaction{Status: "Declined", SummaryCode: "1", ResponseCode: "AC05", PayToData: &quickstream.PayToData{}}
	assert.Equal(t, quickstream.NextStepPayAgain, closed.NextStep())
	closed.PayToData = nil
	assert.Equal(t, quickstream.NextStepCheckRetries, closed.NextStep(), "a PayTo code means nothing for a card")
}

func TestRequireApproved(t *testing.T) {
	approved := &quickstream.Transaction{Status: "Approved", SummaryCode: "0"}
	tx, err := quickstream.RequireApproved(approved, nil)
	require.NoError(t, err)
	assert.Same(t, approved, tx)

	failure := errors.New("no")
	tx, err = quickstream.RequireApproved(nil, failure)
	assert.Nil(t, tx)
	require.ErrorIs(t, err, failure)

	declined := &quickstream.Transaction{Status: "Declined", SummaryCode: "1", ResponseCode: "51"}
	tx, err = quickstream.RequireApproved(declined, nil)
	assert.Same(t, declined, tx)
	refused, ok := errors.AsType[*quickstream.DeclinedError](err)
	require.True(t, ok)
	assert.Same(t, declined, refused.Transaction)
	assert.Contains(t, err.Error(), "declined")
	assert.Contains(t, err.Error(), "51")
}
