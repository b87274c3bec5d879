// Command quickstart takes card payments against a sandbox in its own process:
// no account, no configuration, no network. It ends with a status other than
// zero on any surprise.
package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// The vendor's public test cards. The last two digits decide.
const (
	approvedCard = "4242424242424242"
	noFundsCard  = "4111111111444496"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "quickstart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	box := sandbox.New()
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box), quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		return err
	}
	shop := shop{box: box, client: client}
	for _, step := range []func(context.Context) error{
		shop.checkCredentials, shop.createCustomer, shop.pay, shop.loseAnAnswer, shop.declined, shop.listCustomers,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	fmt.Println("\nEverything was as expected.")
	return nil
}

type shop struct {
	box      *sandbox.Sandbox
	client   *quickstream.Client
	customer *quickstream.Customer
}

func (s *shop) checkCredentials(ctx context.Context) error {
	if err := s.client.Check(ctx); err != nil {
		return err
	}
	root, err := s.client.Root(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("1. Connected to %s with the key %q.\n", root.CommunityName, root.KeyName)
	return nil
}

func (s *shop) createCustomer(ctx context.Context) error {
	customer, err := s.client.Customers.Create(ctx, quickstream.CreateCustomerParams{
		CustomerNumber: "CUST-1001", CustomerName: "Ann Example", EmailAddress: "ann@example.com",
	})
	if err != nil {
		return err
	}
	s.customer = customer
	fmt.Printf("2. Created %s, customer number %s.\n", customer.CustomerName, customer.CustomerNumber)
	return nil
}

// token stands in for the browser, which makes tokens with the publishable key
// so that card numbers never reach the merchant's server.
func (s *shop) token(ctx context.Context, number string) (*quickstream.SingleUseToken, error) {
	return s.client.SingleUseTokens.Create(ctx, quickstream.CreateSingleUseTokenParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, Account: sandboxtest.Card(number),
	})
}

// payment describes one order. Its reference is unique and is what a lost payment
// is found by: a real shop stores it before it pays.
func (s *shop) payment(order, tokenID, amount string) quickstream.PayParams {
	return quickstream.PayParams{
		SupplierBusinessCode:    sandbox.DefaultBusiness,
		Source:                  quickstream.FromSingleUseToken(tokenID, quickstream.AccountTypeCreditCard),
		PrincipalAmount:         decimal.RequireFromString(amount),
		Currency:                quickstream.CurrencyAUD,
		ECI:                     quickstream.ECIInternet,
		IPAddress:               netip.MustParseAddr("203.0.113.10"), // the customer's
		StoredCredential:        &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		CustomerReferenceNumber: s.customer.CustomerNumber,
		PaymentReferenceNumber:  order,
	}
}

func (s *shop) pay(ctx context.Context) error {
	token, err := s.token(ctx, approvedCard)
	if err != nil {
		return err
	}
	fmt.Printf("3. Tokenised the %s card %s; the token can be used once, until %s.\n",
		token.CreditCard.CardScheme, token.CreditCard.CardNumber, token.ExpiresAt.Format(time.TimeOnly))
	payment, err := quickstream.RequireApproved(s.client.Transactions.Pay(ctx, s.payment("ORDER-1", token.SingleUseTokenID, "49.95")))
	if err != nil {
		return err
	}
	fmt.Printf("4. Paid %s: receipt %s, settles on %s.\n", payment.TotalAmount, payment.ReceiptNumber, payment.SettlementDate)

	read, err := s.read(ctx, payment.ReceiptNumber)
	if err != nil {
		return err
	}
	fmt.Printf("5. Read it back: %s (%s, %s).\n", read.Status, read.ResponseCode, read.ResponseDescription)
	return nil
}

// read waits until the transaction can be seen: the sandbox, like a service with
// replicas, shows new transactions after a while only.
func (s *shop) read(ctx context.Context, receipt string) (*quickstream.Transaction, error) {
	for {
		transaction, err := s.client.Transactions.Get(ctx, receipt)
		if !errors.Is(err, quickstream.ErrNotFound) {
			return transaction, err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// loseAnAnswer has the connection break after the service has taken the payment
// and before it has answered.
func (s *shop) loseAnAnswer(ctx context.Context) error {
	token, err := s.token(ctx, approvedCard)
	if err != nil {
		return err
	}
	if err := s.box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 1}); err != nil {
		return err
	}
	var answer quickstream.Response
	payment, err := s.client.Transactions.Pay(ctx, s.payment("ORDER-2", token.SingleUseTokenID, "20.00"), quickstream.WithResponseInto(&answer))
	if err != nil {
		return err
	}
	charged := 0
	for _, entry := range s.box.Ledger().Charged(s.customer.CustomerNumber) {
		if entry.PaymentReferenceNumber == "ORDER-2" {
			charged++
		}
	}
	fmt.Printf("6. Lost the answer to ORDER-2 on purpose: %d requests with one idempotency key, %s, charged %d time.\n",
		answer.Attempts, payment.Status, charged)
	if answer.Attempts != 2 || charged != 1 {
		return errors.New("the lost answer was not settled by the second request")
	}
	return nil
}

func (s *shop) declined(ctx context.Context) error {
	token, err := s.token(ctx, noFundsCard)
	if err != nil {
		return err
	}
	payment, err := s.client.Transactions.Pay(ctx, s.payment("ORDER-3", token.SingleUseTokenID, "10.00"))
	if err != nil {
		return err // a decline does not come here
	}
	outcome, err := payment.Outcome()
	if err != nil || outcome != quickstream.OutcomeDeclined {
		return fmt.Errorf("the payment that had to be declined is %s", outcome)
	}
	fmt.Printf("7. A decline is a result, not an error: %s, %s (%s).\n", outcome, payment.ResponseDescription, payment.ResponseCode)
	return nil
}

func (s *shop) listCustomers(ctx context.Context) error {
	for i := range 7 {
		_, err := s.client.Customers.Create(ctx, quickstream.CreateCustomerParams{
			CustomerNumber: fmt.Sprintf("CUST-%d", 2000+i), CustomerName: fmt.Sprintf("Customer %d", i),
		})
		if err != nil {
			return err
		}
	}
	customers, pages := 0, 0
	for page, err := range s.client.Customers.List(quickstream.ListCustomersParams{}).Pages(ctx) {
		if err != nil {
			return err
		}
		pages++
		customers += len(page.Data)
	}
	fmt.Printf("8. Listed %d customers on %d pages.\n", customers, pages)
	if customers != 8 || pages < 2 {
		return errors.New("the list of customers is not complete")
	}
	return nil
}
