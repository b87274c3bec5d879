package main

import (
	"context"
	"errors"
	"net/http"
	"time"
	_ "time/tzdata" // for machines without zone data

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/webhooks"
)

// ErrNoAgreement means that the payer has not agreed, or no longer does.
var ErrNoAgreement = errors.New("there is no active agreement")

// AskToAgree asks a payer for an agreement, which is confirmed or not by an event.
// The reference is unique and the shop's own.
func (s *Shop) AskToAgree(ctx context.Context, customerID, reference string, payer quickstream.PayToPayerParams, most decimal.Decimal) error {
	sydney, err := time.LoadLocation("Australia/Sydney") // where the service's dates are from
	if err != nil {
		return err
	}
	agreement, err := s.Client.PayTo.Create(ctx, customerID, quickstream.CreateAgreementParams{
		SupplierBusinessCode: s.Business,
		PayeeReference:       reference,
		Payment: quickstream.AgreementPaymentParams{
			Purpose:          quickstream.PayToPurposeRetail,
			Description:      "Orders",
			StartDate:        quickstream.DateOf(s.Now().In(sydney)),
			AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency:                 quickstream.PayToFrequencyAdhoc,
			NumberOfPaymentsPermitted: new(int64(12)),
			Type:                      quickstream.PayToAgreementTypeVariable,
			MaximumPaymentAmount:      &most,
		},
		Payer: payer,
	}, quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error { return s.Store.AddMandate(intent) }))
	switch {
	case err == nil:
		return s.Store.SetMandate(agreement)
	case errors.Is(err, quickstream.ErrOutcomeUnknown):
		return nil // the event or the nightly job finds it
	case errors.Is(err, ErrBusy):
		return err
	default:
		s.Store.DropMandate(reference)
		return err
	}
}

// PayByPayTo takes an order's payment against an agreement.
func (s *Shop) PayByPayTo(ctx context.Context, order string, amount decimal.Decimal, reference string) (Row, error) {
	mandate := s.Store.Mandates()[reference]
	if mandate.Status != quickstream.AgreementStatusActive {
		return Row{}, ErrNoAgreement
	}
	return s.collect(ctx, order, quickstream.PayParams{
		Source:          quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: mandate.Token}),
		PrincipalAmount: amount,
	})
}

// Webhooks is the endpoint for notifications. The effect of one is the same
// however often it arrives, so that none need be remembered, and the verifier may
// take old signatures.
func (s *Shop) Webhooks(verifier *webhooks.Verifier) http.Handler {
	return webhooks.NewHandler(verifier, webhooks.ConfirmWith(s.Client, s.onEvent))
}

func (s *Shop) onEvent(_ context.Context, n *webhooks.Notification) error {
	event, err := n.Event()
	switch event := event.(type) {
	case *webhooks.AgreementEvent:
		err = s.Store.SetMandate(event.Agreement())
	case *webhooks.PaymentEvent:
		_, err = s.learn(event.Transaction().PaymentReferenceNumber, event.Transaction())
	}
	return err
}
