package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// collectFromSandbox runs the collection against a service and a payer that live
// in this process.
func collectFromSandbox(ctx context.Context, timeline *timeline) error {
	// The sandbox's defaults are unkind: look-ups lag for seconds, approvals take a
	// minute. That is right for tests, and long for a demonstration.
	box := sandbox.New(sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
		a.AgreementLookupLag, a.LookupLag = 0, 0
		a.PayToApprovedAfter = time.Second
		a.HandleLength = 24
	}))
	defer box.Close()
	keys := box.Keys()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()),
		quickstream.Keys{Secret: quickstream.NewSecretKey(keys.Secret)}, quickstream.WithHTTPClient(box.HTTPClient()))
	if err != nil {
		return err
	}
	merchant := &merchant{client: client, business: sandbox.DefaultBusiness, poll: 5 * time.Second, inbox: newInbox(), timeline: timeline}

	secret := rand.Text()
	address, closeReceiver, err := merchant.receive(ctx, "127.0.0.1:0", secret)
	if err != nil {
		return err
	}
	defer closeReceiver()
	if err := box.Subscribe(sandbox.Subscription{
		URL: "http://" + address + "/webhooks/quickstream", Secret: secret, Scheme: signature.AssumedHMAC{},
	}); err != nil {
		return err
	}
	timeline.note("No key in the environment: using a sandbox in this process, with webhooks to " + address + ".")

	merchant.payer = func(agreementToken string) error {
		select { // the payer takes a moment to open the banking app
		case <-time.After(400 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
		return box.Payer(agreementToken, sandbox.ConfirmAgreement)
	}
	if err := merchant.collect(ctx); err != nil {
		return err
	}

	// What really happened, whatever anybody was told.
	charged := box.Ledger().Charged(merchant.customerNumber())
	if len(charged) != 1 {
		return fmt.Errorf("the sandbox's ledger has %d payments instead of one", len(charged))
	}
	timeline.note(fmt.Sprintf("The sandbox's ledger agrees: one payment of %d.%02d.", charged[0].Amount/100, charged[0].Amount%100))
	return nil
}
