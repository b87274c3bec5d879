// Command recurring charges a membership every month: the customer pays for the
// first one, which registers the card, and the merchant makes the following
// payments by itself. Where a payment is soft-declined the service may retry it,
// so that its retries are read before anything is paid again.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() { demo.Main("recurring", run) }

const (
	day   = 24 * time.Hour
	month = 30 * day
)

// membership is what the merchant stores: handles, and no card.
type membership struct {
	*demo.Shop
	customer *quickstream.Customer
	account  string // its account token
}

func run(ctx context.Context, s *demo.Shop) error {
	m := &membership{Shop: s}
	for _, step := range []func(context.Context) error{m.join, m.secondMonth, m.thirdMonth, m.fourthMonth, m.extra} {
		if err := step(ctx); err != nil {
			return err
		}
		s.Clock.Advance(month)
	}
	return m.history(ctx)
}

// join takes the first payment, which the customer makes, and registers the card
// that was approved.
func (m *membership) join(ctx context.Context) (err error) {
	fmt.Println("The customer joins, and pays the first fee over the Internet.")
	m.customer, err = m.Client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "CUST-1001", CustomerName: "Ann Example"})
	if err != nil {
		return err
	}
	token, err := sandboxtest.CardToken(ctx, m.Client, demo.Visa)
	if err != nil {
		return err
	}
	first := demo.Payment(token, "FEE-1", "19.90")
	first.CustomerReferenceNumber = m.customer.CustomerNumber
	payment, err := m.Client.Transactions.Pay(ctx, first)
	if payment, err = demo.Expect(payment, err, quickstream.OutcomeApproved); err != nil {
		return err
	}
	fmt.Printf("   %s %s, receipt %s\n", payment.Status, payment.TotalAmount, payment.ReceiptNumber)
	return m.register(ctx, quickstream.RegistrationFromReceipt(payment.ReceiptNumber)) // the token is used up
}

// register registers a card of the customer. After a lost answer it would be
// looked for in Accounts.List.
func (m *membership) register(ctx context.Context, from quickstream.RegistrationSource) error {
	account, err := m.Client.Accounts.Register(ctx, m.customer.CustomerID, quickstream.RegisterAccountParams{Source: from})
	if err != nil {
		return err
	}
	m.account = account.AccountToken
	fmt.Printf("   registered the %s card %s, good until %s/%s\n", account.CardScheme, account.CardNumber, account.ExpiryDateMonth, account.ExpiryDateYear)
	return nil
}

// charge makes a payment that the merchant initiates, with the stored card. It has
// no IPAddress, because no customer is there, and its reference is unique: one
// month cannot be mistaken for another when an answer is lost.
func (m *membership) charge(ctx context.Context, reference, amount string, usage quickstream.CredentialUsage) (*quickstream.Transaction, error) {
	payment, err := m.Client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		Source:               quickstream.FromAccount(m.account, quickstream.AccountTypeCreditCard),
		PrincipalAmount:      decimal.RequireFromString(amount), Currency: quickstream.CurrencyAUD,
		ECI:                     quickstream.ECIRecurring,
		StoredCredential:        &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential, Usage: usage},
		CustomerReferenceNumber: m.customer.CustomerNumber, PaymentReferenceNumber: reference,
	})
	if err != nil {
		return nil, err
	}
	fmt.Printf("   %s is %s (%s, %s); next: %s\n", reference, payment.Status, payment.ResponseCode, payment.ResponseDescription, payment.NextStep().Text())
	return payment, nil
}

func (m *membership) secondMonth(ctx context.Context) error {
	fmt.Println("The second month: the merchant charges the stored card.")
	payment, err := m.charge(ctx, "FEE-2", "19.90", quickstream.CredentialUsageRecurring)
	_, err = demo.Expect(payment, err, quickstream.OutcomeApproved)
	return err
}

func (m *membership) thirdMonth(ctx context.Context) error {
	fmt.Println("The third month: a soft decline, which the service retries by itself.")
	m.Box.NextTransaction(sandbox.Declined("01").ThenRetried(day, sandbox.Approved()))
	retried, err := m.softDeclined(ctx, "FEE-3")
	if err != nil {
		return err
	}
	if retried.NextStep() != quickstream.NextStepNone {
		return fmt.Errorf("the retry ends in %s", retried.NextStep().Text())
	}
	fmt.Println("   paying again would have charged the customer twice")
	return nil
}

func (m *membership) fourthMonth(ctx context.Context) error {
	fmt.Println("The fourth month: a soft decline, and the card has expired when it is retried.")
	m.Box.NextTransaction(sandbox.Declined("01").ThenRetried(day, sandbox.Declined("54")))
	retried, err := m.softDeclined(ctx, "FEE-4")
	if err != nil {
		return err
	}
	if retried.NextStep() != quickstream.NextStepPayAgain {
		return fmt.Errorf("the retry ends in %s", retried.NextStep().Text())
	}
	fmt.Println("   the customer is asked for another card, and registers it with a token")
	token, err := sandboxtest.CardToken(ctx, m.Client, demo.Mastercard)
	if err != nil {
		return err
	}
	if err := m.register(ctx, quickstream.RegistrationFromSingleUseToken(token)); err != nil {
		return err
	}
	payment, err := m.charge(ctx, "FEE-4-AGAIN", "19.90", quickstream.CredentialUsageRecurring)
	_, err = demo.Expect(payment, err, quickstream.OutcomeApproved)
	return err
}

// softDeclined makes a payment that is soft-declined, and follows the service's
// retries until the last one leaves nothing to come. How often a service retries
// is for its administrator to say; this one gives up within a week.
func (m *membership) softDeclined(ctx context.Context, reference string) (*quickstream.Transaction, error) {
	payment, err := m.charge(ctx, reference, "19.90", quickstream.CredentialUsageRecurring)
	if payment, err = demo.Expect(payment, err, quickstream.OutcomeDeclined); err != nil {
		return nil, err
	}
	last := payment
	for range 7 {
		if last.NextStep() != quickstream.NextStepCheckRetries {
			fmt.Printf("   its retry %s is %s; next: %s\n", last.ReceiptNumber, last.Status, last.NextStep().Text())
			return last, nil
		}
		fmt.Println("   no result yet: wait a day, and read the retries")
		m.Clock.Advance(day)
		if last, err = m.lastRetry(ctx, payment); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("the retries have not ended")
}

// lastRetry returns the attempt at a payment that counts: any that is not a mere
// decline, such as one that took money or whose outcome is unknown, and otherwise
// the latest.
func (m *membership) lastRetry(ctx context.Context, payment *quickstream.Transaction) (*quickstream.Transaction, error) {
	last := payment
	retries, err := m.Client.Transactions.Retries(payment.ReceiptNumber).ReadAll(ctx)
	if err != nil && !errors.Is(err, quickstream.ErrNotFound) { // which may mean an empty list
		return nil, err
	}
	for _, retry := range retries {
		if !isDeclined(retry) {
			return retry, nil
		}
		if retry.TransactionTime.After(last.TransactionTime.Time) {
			last = retry
		}
	}
	return last, nil
}

func isDeclined(t *quickstream.Transaction) bool {
	outcome, err := t.Outcome()
	return err == nil && outcome == quickstream.OutcomeDeclined
}

// extra charges what was not agreed by date. Which eci goes with that is not
// published; RECURRING says that the merchant makes the payment.
func (m *membership) extra(ctx context.Context) error {
	fmt.Println("A towel was not returned: an unscheduled payment, as agreed when joining.")
	payment, err := m.charge(ctx, "TOWEL-1", "12.00", quickstream.CredentialUsageUnscheduledMIT)
	_, err = demo.Expect(payment, err, quickstream.OutcomeApproved)
	return err
}

// history lists the customer's transactions, and compares what was charged with
// the sandbox's ledger: four fees and a towel, each once.
func (m *membership) history(ctx context.Context) error {
	fmt.Println("The customer's history:")
	paid := map[string]int{}
	total := decimal.Zero
	for payment, err := range m.Client.Transactions.ByReference(m.customer.CustomerNumber).All(ctx) {
		if err != nil {
			return err
		}
		fmt.Printf("   %-12s %-9s %s\n", payment.PaymentReferenceNumber, payment.Status, payment.TotalAmount)
		if outcome, err := payment.Outcome(); err == nil && outcome == quickstream.OutcomeApproved {
			paid[payment.PaymentReferenceNumber]++
			total = total.Add(payment.TotalAmount.Amount)
		}
	}
	for _, reference := range []string{"FEE-1", "FEE-2", "FEE-3", "FEE-4-AGAIN", "TOWEL-1"} {
		if paid[reference] != 1 {
			return fmt.Errorf("%s was paid %d times", reference, paid[reference])
		}
	}
	charged := decimal.New(m.Box.Ledger().Net(m.customer.CustomerNumber), -2)
	fmt.Printf("   charged: %s\n", charged.StringFixed(2))
	if len(paid) != 5 || !total.Equal(charged) || charged.String() != "91.6" {
		return fmt.Errorf("%d payments of %s were charged, %s by the ledger", len(paid), total, charged)
	}
	return nil
}
