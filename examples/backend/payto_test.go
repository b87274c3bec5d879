package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const secret = "webhook-secret"

// agree subscribes to events and has a payer agree.
func (f *fixture) agree(reference string) {
	f.t.Helper()
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(secret)}, webhooks.WithTolerance(webhooks.StoreTolerance))
	if err != nil {
		f.t.Fatal(err)
	}
	err = f.box.Subscribe(sandbox.Subscription{Handler: f.Webhooks(verifier), Secret: secret, Scheme: signature.AssumedHMAC{}})
	if err != nil {
		f.t.Fatal(err)
	}
	customer, err := f.Customer(f.t.Context(), "C-1", "Jo Citizen")
	if err != nil {
		f.t.Fatal(err)
	}
	payer := quickstream.PayToPayerParams{
		Type: quickstream.PayerTypePerson, ID: "C-1", Name: "Jo Citizen",
		PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("jo@example.com"),
	}
	if err := f.AskToAgree(f.t.Context(), customer, reference, payer, price()); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.PayByPayTo(f.t.Context(), "A", price(), reference); !errors.Is(err, ErrNoAgreement) {
		f.t.Errorf("paid without consent: %v", err)
	}
	<-time.After(time.Minute)
	agreements := f.box.Agreements()
	if len(agreements) != 1 {
		f.t.Fatalf("%d agreements", len(agreements))
	}
	if err := f.box.Payer(agreements[0].Token, sandbox.ConfirmAgreement); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

func TestPayToIsPendingUntilItsEvent(t *testing.T) {
	for name, faults := range map[string][]sandbox.Fault{
		"well": nil,
		"the agreement's answer is lost": {{
			Operation: "POST /customers/{customerId}/payto-agreements", Kind: sandbox.ResetAfterCommit(),
		}},
		"the payment's answer is lost": {{Operation: pay, Kind: sandbox.ResetAfterCommit()}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				if err := f.box.Inject(faults...); err != nil {
					t.Fatal(err)
				}
				f.agree("M-1")
				if _, err := f.PayByPayTo(t.Context(), "A", price(), "M-1"); err != nil {
					t.Fatal(err)
				}
				f.expect("A", quickstream.TransactionTypePayment, Open, 0)
				<-time.After(2 * time.Minute)
				synctest.Wait()
				f.expect("A", quickstream.TransactionTypePayment, Done, 1)
			})
		})
	}
}

func TestPayToWithoutEventsIsResolved(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.agree("M-1")
		f.box.HoldDeliveries()
		if _, err := f.PayByPayTo(t.Context(), "A", price(), "M-1"); err != nil {
			t.Fatal(err)
		}
		f.nights(2)
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestEventAfterAnEscalationCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.agree("M-1")
		f.box.NextTransaction(sandbox.Pending().ThenAfter(72*time.Hour, sandbox.Approved()))
		if _, err := f.PayByPayTo(t.Context(), "A", price(), "M-1"); err != nil {
			t.Fatal(err)
		}
		f.nights(4)
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}
