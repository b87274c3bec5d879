// Command cardonfile is the program of docs/card-on-file.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// join takes the first payment with the token of the browser, and keeps the card. A payment that it returns is paid, whatever
// the error: register again, and do not call join again. store inserts the customer's row: if there is one, its error ends the call.
func join(ctx context.Context, client *quickstream.Client, number, token string, from netip.Addr,
	store func(context.Context, quickstream.Intent) error,
) (payment *quickstream.Transaction, accountToken string, err error) {
	customer, err := client.Customers.GetByNumber(ctx, number)
	if errors.Is(err, quickstream.ErrNotFound) {
		customer, err = client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: "Ann Example"})
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: the customer: %s", quickstream.ErrNotSent, err.Error()) // nothing was paid
	}
	payment, err = client.Transactions.Pay(ctx, quickstream.PayParams{
		Source: quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard), PrincipalAmount: decimal.RequireFromString("9.90"),
		ECI: quickstream.ECIInternet, IPAddress: from, CustomerReferenceNumber: number,
	}, quickstream.WithBeforeSend(store))
	if err != nil {
		return nil, "", err // the table of README says what each error means
	}
	account, err := client.Accounts.Register(ctx, customer.CustomerID, quickstream.RegisterAccountParams{ReceiptNumber: payment.ReceiptNumber})
	if err != nil {
		return payment, "", err
	}
	return payment, account.AccountToken, nil // store it, with the card's last digits and expiry; if empty, see Accounts.List
}

// charge takes a month's payment. store inserts the row of customer and month. A lost answer is looked up.
func charge(ctx context.Context, client *quickstream.Client, number, accountToken string, store func(context.Context, quickstream.Intent) error) error {
	_, err := client.Transactions.Pay(ctx, quickstream.PayParams{
		Source: quickstream.FromAccount(accountToken, quickstream.AccountTypeCreditCard), PrincipalAmount: decimal.RequireFromString("9.90"),
		ECI: quickstream.ECIRecurring, CustomerReferenceNumber: number,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential, Usage: quickstream.CredentialUsageRecurring},
	}, quickstream.WithBeforeSend(store), quickstream.WithoutResend())
	return err
}

func run(ctx context.Context) error {
	box, client, err := sandboxtest.Open()
	if err != nil {
		return err
	}
	defer box.Close()
	token, err := sandboxtest.CardToken(ctx, client, "4242424242424242") // in the browser
	if err != nil {
		return err
	}
	rows := map[string]bool{} // your table
	insert := func(key string) func(context.Context, quickstream.Intent) error {
		return func(context.Context, quickstream.Intent) error {
			if rows[key] {
				return errors.New("there is a row")
			}
			rows[key] = true
			return nil
		}
	}
	_, accountToken, err := join(ctx, client, "MEMBER-7", token, netip.MustParseAddr("203.0.113.10"), insert("MEMBER-7 joins"))
	if err != nil {
		return err
	}
	fmt.Println("August", charge(ctx, client, "MEMBER-7", accountToken, insert("MEMBER-7 2026-08")))
	box.NextTransaction(sandbox.Declined("54")) // the card has expired
	fmt.Println("September", charge(ctx, client, "MEMBER-7", accountToken, insert("MEMBER-7 2026-09")))
	return nil
}
