package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"time"
	_ "time/tzdata" // for machines without zone data

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

// merchant is a shop that collects by PayTo. Its inbox stands for a table of notifications, by id and digest.
type merchant struct {
	client *quickstream.Client
	inbox  chan *webhooks.Notification
}

// endpoint stores notifications and answers at once. A job acts on them.
func (m *merchant) endpoint(verifier *signature.Verifier) http.Handler {
	return webhooks.NewInbox(verifier, func(ctx context.Context, n *webhooks.Notification) error {
		select {
		case m.inbox <- n:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// work is the job. The algorithm of the signature is assumed, so ConfirmWith reads the object from the API in place of
// the event's data. What fails is tried again at the next run.
func (m *merchant) work(ctx context.Context, act webhooks.Func) error {
	for {
		select {
		case n := <-m.inbox:
			if err := webhooks.ConfirmWith(m.client, act)(ctx, n); err != nil {
				m.inbox <- n
				return err
			}
		default:
			return nil
		}
	}
}

// customer finds the customer by the merchant's own number, which is unique, or creates it.
func (m *merchant) customer(ctx context.Context, number, name string) (*quickstream.Customer, error) {
	customer, err := m.client.Customers.GetByNumber(ctx, number)
	if errors.Is(err, quickstream.ErrNotFound) {
		customer, err = m.client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: name})
		if errors.Is(err, quickstream.ErrOutcomeUnknown) {
			// The number is unique: a customer with it is ours.
			customer, err = m.client.Customers.GetByNumber(ctx, number)
		}
	}
	return customer, err
}

// agree asks the payer for an agreement, in effect from the given moment.
func (m *merchant) agree(ctx context.Context, customer *quickstream.Customer, now time.Time) (*quickstream.Agreement, error) {
	sydney, err := time.LoadLocation("Australia/Sydney") // the service's dates are Sydney's
	if err != nil {
		return nil, err
	}
	return m.client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		PayeeReference:       rand.Text()[:20], // unique: an agreement whose answer is lost is found by it
		Payment: quickstream.AgreementPaymentDetails{
			Purpose: quickstream.AgreementPurposeUtility, Description: "Broadband, monthly",
			StartDate: quickstream.DateOf(now.In(sydney)), AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyMonthly, Type: quickstream.AgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150.00")),
		},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: customer.CustomerNumber, Name: customer.CustomerName,
			BSB: "650000", AccountNumber: quickstream.NewSecret("111111"),
		},
	})
}

// confirmed returns an agreement that the payer has confirmed. It reads the agreement before each payment: an event may be old.
func (m *merchant) confirmed(ctx context.Context, token string) (*quickstream.Agreement, error) {
	agreement, err := m.client.PayTo.Get(ctx, token)
	if err != nil {
		return nil, err
	}
	switch agreement.Status {
	case quickstream.AgreementStatusActive:
		return agreement, nil
	case quickstream.AgreementStatusRejected:
		return nil, fmt.Errorf("rejected on its way to the payer: %s", agreement.RejectionReason)
	case quickstream.AgreementStatusCancelled:
		return nil, errors.New("the payer declined, or did not answer in time")
	default:
		return nil, fmt.Errorf("not yet: it is %s", agreement.Status)
	}
}

// pay takes the payment, which is pending at first. The intent is stored right before it is sent: after a
// crash or an unknown outcome it is all that is needed to find out what happened.
func (m *merchant) pay(ctx context.Context, agreement *quickstream.Agreement, invoice string) (*quickstream.Transaction, error) {
	store := func(_ context.Context, intent quickstream.Intent) error {
		fmt.Printf("Intent       not sent yet, store the intent with reference %s\n", intent.Reference)
		return nil
	}
	return m.client.PayTo.Collect(ctx, quickstream.CollectParams{
		SupplierBusinessCode: sandbox.DefaultBusiness,
		AgreementToken:       agreement.AgreementToken, RemittanceInformation1: invoice,
		PrincipalAmount:         decimal.RequireFromString("89.90"),
		Currency:                quickstream.CurrencyAUD,
		CustomerReferenceNumber: invoice,
	}, quickstream.WithBeforeSend(store))
}

// approved returns a payment that is approved.
func (m *merchant) approved(ctx context.Context, receipt string) (*quickstream.Transaction, error) {
	payment, err := m.client.Transactions.Get(ctx, receipt)
	if err != nil {
		return nil, err
	}
	if outcome := payment.Outcome(); outcome != quickstream.OutcomeApproved {
		return nil, fmt.Errorf("it is %s", outcome)
	}
	return payment, nil
}
