// Command webhooks is the program of docs/webhooks.md.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// inbox stands for a table with a unique key of id and digest.
type inbox map[[2]string][]byte

// keep runs in the request. It stores, and does nothing else.
func (in inbox) keep(_ context.Context, n *webhooks.Notification) error {
	conflict := false
	for known := range in {
		conflict = conflict || known[0] == n.ID && known[1] != n.Digest()
	}
	in[[2]string{n.ID, n.Digest()}] = n.Raw()
	if conflict {
		return webhooks.ErrConflict // stored, for a person to look at
	}
	return nil
}

// act gets what the API says now. It may run again for the same agreement or payment.
func act(_ context.Context, n *webhooks.Notification) error {
	event, err := n.Event()
	switch event := event.(type) {
	case *webhooks.AgreementEvent:
		fmt.Println(n.EventType, "and the API says", event.Agreement().Status)
	case *webhooks.PaymentEvent:
		t := event.Transaction()
		fmt.Println(n.EventType, "and the API says", t.Outcome()) // whose intent has t's PaymentReferenceNumber?
	}
	return err
}

func run(ctx context.Context) error {
	box, client, err := sandboxtest.Open()
	if err != nil {
		return err
	}
	defer box.Close()
	const secret = "the subscription's secret" // from the portal
	scheme := signature.AssumedHMAC{}          // an assumption: see below
	verifier, err := signature.NewVerifier(scheme, []string{secret})
	if err != nil {
		return err
	}
	table := inbox{}
	endpoint := webhooks.NewInbox(verifier, table.keep) // an http.Handler: mount it at an address of your server

	if err := box.Subscribe(sandbox.Subscription{Handler: endpoint, Secret: secret, Scheme: scheme}); err != nil { // in the portal
		return err
	}

	box.NextDelivery(sandbox.DeliveryFault{Twice: true}) // the service delivers at least once
	customer, err := client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: "C-1001", CustomerName: "Ann Example"})
	if err != nil {
		return err
	}
	agreement, err := client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		PayeeReference: "BROADBAND-1001",
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeUtility, Description: "Broadband", StartDate: quickstream.DateOf(time.Now().Add(48 * time.Hour)), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150.00")),
		},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: "C-1001", Name: "Ann Example",
			PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("ann@example.com"),
		},
	})
	if err != nil {
		return err
	}
	if err := box.Payer(agreement.AgreementToken, sandbox.ConfirmAgreement); err != nil { // in the payer's banking app
		return err
	}
	if err := box.Flush(ctx); err != nil { // until the notifications have arrived
		return err
	}
	fmt.Println("stored:", len(table))

	// A job, not the request, reads the table. What fails stays for its next run.
	handle := webhooks.ConfirmWith(client, act)
	for _, body := range table {
		n, err := webhooks.Parse(body)
		if err != nil {
			return err
		}
		if err := handle(ctx, n); err != nil {
			return err
		}
	}
	return nil
}
