package clienttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quickstream-go/quickstream"
)

// defaulted are the members that have defaults.
type defaulted struct {
	Currency quickstream.Currency              `json:"currency"`
	Stored   *quickstream.StoredCredentialData `json:"storedCredentialData"`
}

// sentAs returns what a call sends, and that its intent holds the same; or the error of one that sends nothing.
func sentAs(t *testing.T, params quickstream.TransactionParams, opts ...quickstream.ClientOption) (sent defaulted, err error) {
	t.Helper()
	var body []byte
	var intent quickstream.Intent
	client := clientOf(t, func(r *http.Request) (*http.Response, error) {
		body, _ = io.ReadAll(r.Body)
		return answer(422, errorBody), nil
	}, opts...)
	store := quickstream.WithBeforeSend(func(_ context.Context, i quickstream.Intent) error { intent = i; return nil })
	_, err = making(t, params).callWith(t.Context(), client, "", reflect.ValueOf(params), store)
	if body == nil {
		return sent, err
	}
	require.NoError(t, json.Unmarshal(body, &sent))
	var stored defaulted
	require.NoError(t, json.Unmarshal(intent.Request, &stored))
	assert.Equal(t, sent, stored, "the stored intent has it written out")
	if intent.Complete {
		planned, err := client.Transactions.Plan(t.Context(), params)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(planned.Request, &stored))
		assert.Equal(t, sent, stored, "a plan carries it")
		elsewhere := clientOf(t, func(r *http.Request) (*http.Response, error) {
			again, _ := io.ReadAll(r.Body)
			assert.JSONEq(t, string(planned.Request), string(again), "and sends it")
			return answer(422, errorBody), nil
		}, quickstream.WithCurrency("USD"))
		_, err = elsewhere.Transactions.Submit(t.Context(), planned, func(context.Context) error { return nil })
		require.ErrorIs(t, err, quickstream.ErrInvalid)
	}
	return sent, nil
}

// TestStoredCredentialIsManualByItself for the details of a card, and for a single-use token that is not said
// to be a bank account's, if the customer ordered. Else it stays required for cards.
func TestStoredCredentialIsManualByItself(t *testing.T) {
	const card, bank, apple = quickstream.AccountTypeCreditCard, quickstream.AccountTypeDirectDebit, quickstream.AccountTypeApplePay
	const none, manual, required = "none", "MANUAL", "transaction.storedCredentialData.required"
	ordered := []quickstream.ECI{quickstream.ECIInternet, quickstream.ECIPhone, quickstream.ECIMail, quickstream.ECI5, quickstream.ECI6, quickstream.ECI7}
	for name, c := range map[string]struct {
		source      quickstream.CardSource
		does, later string // if the customer orders, and with any other ECI
	}{
		"card":                    {quickstream.FromCard(approvedCard()), manual, required},
		"token":                   {quickstream.FromSingleUseToken("S-1"), manual, none},
		"token of a card":         {quickstream.FromSingleUseToken("S-1", card), manual, required},
		"token of a wallet":       {quickstream.FromSingleUseToken("S-1", apple), manual, required},
		"token of another wallet": {quickstream.FromSingleUseToken("S-1", quickstream.AccountTypeGooglePay), manual, required},
		"token of a bank account": {quickstream.FromSingleUseToken("S-1", bank), none, none},
		"account":                 {quickstream.FromAccount("T-1"), none, none},
		"account of a card":       {quickstream.FromAccount("T-1", card), required, required},
		"customer":                {quickstream.FromCustomer("C-1"), none, none},
		"customer with a card":    {quickstream.FromCustomer("C-1", card), required, required},
	} {
		for _, eci := range append(slices.Clone(ordered), quickstream.ECIRecurring, quickstream.ECIInstalment, "NEW") {
			for _, own := range []*quickstream.StoredCredentialData{nil, {EntryMode: quickstream.EntryModeStoredCredential}} {
				want := c.later
				if slices.Contains(ordered, eci) {
					want = c.does
				}
				if own != nil {
					want = string(own.EntryMode)
				}
				pay := payment()
				pay.Source, pay.ECI, pay.StoredCredential = c.source, eci, own
				requests := []quickstream.TransactionParams{pay}
				if eci != quickstream.ECI5 && eci != quickstream.ECI6 && eci != quickstream.ECI7 && name != "token of a bank account" {
					requests = append(requests, quickstream.PreauthoriseParams{
						SupplierBusinessCode: "SHOP", Source: c.source, PrincipalAmount: pay.PrincipalAmount, Currency: pay.Currency,
						ECI: eci, IPAddress: pay.IPAddress, StoredCredential: own,
					})
				}
				for _, params := range requests {
					if _, isPay := params.(quickstream.PayParams); !isPay && want == none {
						continue // a pre-authorisation is of a card, whatever the handle
					}
					sent, err := sentAs(t, params)
					does := none
					if invalid, ok := errors.AsType[*quickstream.ValidationError](err); ok {
						require.Len(t, invalid.Findings, 1, "%s, %s", name, eci)
						does = invalid.Findings[0].Rule
					} else if sent.Stored != nil {
						does = string(sent.Stored.EntryMode)
					}
					assert.Equal(t, want, does, "%T, %s, %s", params, name, eci)
				}
			}
		}
	}
	for _, bankAccount := range []quickstream.ECI{"", quickstream.ECIInternet} {
		params := bankDebit("SHOP")
		params.ECI, params.IPAddress = bankAccount, netip.MustParseAddr("203.0.113.7")
		sent, err := sentAs(t, params)
		require.NoError(t, err)
		assert.Nil(t, sent.Stored)
	}
}

// TestWithCurrency: parameters win, then the client.
func TestWithCurrency(t *testing.T) {
	ten := decimal.New(10, 0)
	pay, debit, collect := payment(), bankDebit("SHOP"), payToPayment("A-1", "10")
	for name, c := range map[string]struct {
		with       func(quickstream.Currency) quickstream.TransactionParams
		unset, set quickstream.Currency // without and with WithCurrency("NZD")
	}{
		"payment": {func(c quickstream.Currency) quickstream.TransactionParams { pay.Currency = c; return pay }, "", "NZD"},
		"debit":   {func(c quickstream.Currency) quickstream.TransactionParams { debit.Currency = c; return debit }, "", "NZD"},
		"PayTo":   {func(c quickstream.Currency) quickstream.TransactionParams { collect.Currency = c; return collect }, "", "NZD"},
		"verification": {func(c quickstream.Currency) quickstream.TransactionParams {
			return quickstream.VerifyAccountParams{SupplierBusinessCode: "SHOP", Source: quickstream.FromSingleUseToken("S-1"), ECI: quickstream.ECIPhone, Currency: c}
		}, "AUD", "NZD"},
		"top-up": {func(c quickstream.Currency) quickstream.TransactionParams {
			return quickstream.TopUpParams{OriginalReceiptNumber: "R-1", PrincipalAmount: ten, Currency: c}
		}, "", "NZD"},
		"extension": {func(c quickstream.Currency) quickstream.TransactionParams {
			return quickstream.ExtendParams{OriginalReceiptNumber: "R-1", Currency: c}
		}, "", "NZD"},
		"refund": {func(c quickstream.Currency) quickstream.TransactionParams {
			return quickstream.RefundParams{OriginalReceiptNumber: "R-1", PrincipalAmount: ten, Currency: c}
		}, "", "NZD"},
	} {
		sent, err := sentAs(t, c.with(""))
		if c.unset == "" {
			require.ErrorContains(t, err, "transaction.currency.required", name)
		}
		assert.Equal(t, c.unset, sent.Currency, name)
		sent, err = sentAs(t, c.with(""), quickstream.WithCurrency("NZD"))
		require.NoError(t, err, name)
		assert.Equal(t, c.set, sent.Currency, name)
		sent, err = sentAs(t, c.with("USD"), quickstream.WithCurrency("NZD"))
		require.NoError(t, err, name)
		assert.Equal(t, quickstream.Currency("USD"), sent.Currency, name)
	}
	_, err := quickstream.NewClient(quickstream.CustomURL(baseURL), testKeys(), quickstream.WithCurrency(""))
	assert.ErrorContains(t, err, "WithCurrency")
}
