// Command payto takes a whole PayTo collection: it finds or creates the customer,
// asks the payer for an agreement, waits for the confirmation, takes a payment
// against the agreement and waits for its approval. Events report both.
//
// merchant.go is the code to copy. The service and the payer are a sandbox in this
// process, whose clock this program moves.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func main() {
	demo.Main("payto", run)
}

func run(ctx context.Context, s *demo.Shop) error {
	m := &merchant{client: s.Client, inbox: make(chan *webhooks.Notification, 10)}
	if err := subscribe(s, m); err != nil {
		return err
	}

	customer, err := m.customer(ctx, "C-1001", "Ann Example")
	if err != nil {
		return fmt.Errorf("customer: %w", err)
	}
	fmt.Printf("Customer     %s, store customerId %s\n", customer.CustomerNumber, customer.CustomerID)

	agreement, err := m.agree(ctx, customer, s.Box.Now())
	if err != nil {
		return fmt.Errorf("agreement: %w", err)
	}
	fmt.Printf("Agreement    %s, the payer has until %s, store agreementToken %s\n",
		agreement.Status, agreement.RespondByTime.Format("2 January 15:04"), agreement.AgreementToken)

	s.Clock.Advance(time.Minute) // the payer opens the banking app
	if err := s.Box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement); err != nil {
		return err
	}
	if err := errors.Join(s.Box.Flush(ctx), m.work(ctx, show)); err != nil { // when the event is delivered
		return err
	}
	if agreement, err = m.confirmed(ctx, agreement.AgreementToken); err != nil {
		return fmt.Errorf("confirmation: %w", err)
	}
	fmt.Printf("Confirmed    %s\n", agreement.Status)

	payment, err := m.pay(ctx, agreement, "INVOICE-1042")
	if err != nil {
		return fmt.Errorf("payment: %w", err)
	}
	fmt.Printf("Payment      %s (%s), store receiptNumber %s\n", payment.Status, payment.ResponseCode, payment.ReceiptNumber)

	s.Clock.Advance(5 * time.Minute) // the payer's bank pays
	if err := errors.Join(s.Box.Flush(ctx), m.work(ctx, show)); err != nil {
		return err
	}
	if payment, err = m.approved(ctx, payment.ReceiptNumber); err != nil {
		return fmt.Errorf("approval: %w", err)
	}
	fmt.Printf("Approved     %s, settled on %s\n", payment.TotalAmount, payment.SettlementDate)

	// The ledger has what really happened, whatever the answers said.
	if charged := s.Box.Ledger().Charged("INVOICE-1042"); len(charged) != 1 {
		return fmt.Errorf("the sandbox's ledger has %d payments instead of one", len(charged))
	}
	return nil
}

// subscribe makes the sandbox deliver events to the merchant's endpoint, which a real merchant
// serves at a public address.
func subscribe(s *demo.Shop, m *merchant) error {
	secret := rand.Text()
	verifier, err := signature.NewVerifier(signature.AssumedHMAC{}, []string{secret}, signature.WithClock(s.Clock.Now))
	if err != nil {
		return err
	}
	return s.Box.Subscribe(sandbox.Subscription{Handler: m.endpoint(verifier), Secret: secret, Scheme: signature.AssumedHMAC{}})
}

// show is what the job does with an event: it says what to read.
func show(_ context.Context, n *webhooks.Notification) error {
	fmt.Printf("Event        %s\n", n.EventType)
	return nil
}
