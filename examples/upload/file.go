package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"strconv"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// payer is a customer with a registered account. The kind is that of the file's
// lines: C is a card, B an Australian bank account.
type payer struct{ kind, customer, account string }

// register makes customers with cards, which come as tokens from the browser, and
// with bank accounts.
func register(ctx context.Context, s *demo.Shop) ([]payer, error) {
	var payers []payer
	add := func(number, kind string, from quickstream.RegistrationSource) error {
		customer, err := s.Client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: number})
		if err != nil {
			return err
		}
		account, err := s.Client.Accounts.Register(ctx, customer.CustomerID, quickstream.RegisterAccountParams{Source: from})
		if err != nil {
			return err
		}
		payers = append(payers, payer{kind, number, account.AccountToken})
		return nil
	}
	for _, card := range []string{demo.Visa, demo.Mastercard, demo.NoFunds} {
		token, err := sandboxtest.CardToken(ctx, s.Client, card)
		if err != nil {
			return nil, err
		}
		if err := add("CARD-"+card[len(card)-4:], "C", quickstream.RegistrationFromSingleUseToken(token)); err != nil {
			return nil, err
		}
	}
	// The vendor's public test accounts: payments from the second one are returned.
	for _, bank := range [][2]string{{"032-002", "123465"}, {"032-053", "111114"}} {
		if err := add("BANK-"+bank[0], "B", quickstream.RegistrationFromBankAccount(quickstream.BankAccountDetails{
			AccountName: "Ann Example", BSB: bank[0], AccountNumber: quickstream.NewSecret(bank[1]),
		})); err != nil {
			return nil, err
		}
	}
	return payers, nil
}

type line struct {
	payer
	reference string
	amount    decimal.Decimal
}

// paymentFile is a file in the format CSV_TOKENS, which has account tokens and
// so no card number in it.
type paymentFile struct {
	community string
	date      quickstream.Date
	lines     []line
}

// bytes writes the file. Of its records only the header and the kinds are public:
// the members of the lines and of the trailer are the sandbox's own, and have to be
// replaced by those in the vendor's description of your format.
func (f *paymentFile) bytes() ([]byte, error) {
	var out bytes.Buffer
	records := csv.NewWriter(&out)
	records.UseCRLF = true
	all := [][]string{{"H", f.community, f.date.String(), "2"}}
	total := decimal.Zero
	for _, l := range f.lines {
		all = append(all, []string{
			l.kind, sandbox.DefaultBusiness, string(quickstream.CurrencyAUD), l.amount.StringFixed(2), l.customer, l.reference, l.account,
		})
		total = total.Add(l.amount)
	}
	all = append(all, []string{"T", strconv.Itoa(len(f.lines)), total.StringFixed(2)})
	err := records.WriteAll(all)
	return out.Bytes(), err
}
