package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // for machines without zone data

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// merchant is a shop that collects by PayTo.
type merchant struct {
	client   *quickstream.Client
	business string
	poll     time.Duration
	inbox    *inbox
	timeline *timeline
	// payer answers in the banking app; nil where a real payer or the test
	// environment does.
	payer func(agreementToken string) error

	number string
}

// customerNumber is the merchant's own identifier of the customer.
func (m *merchant) customerNumber() string {
	if m.number == "" {
		m.number = "PAYTO-" + rand.Text()[:10]
	}
	return m.number
}

func (m *merchant) collect(ctx context.Context) error {
	customer, err := m.findOrCreateCustomer(ctx)
	if err != nil {
		return fmt.Errorf("customer: %w", err)
	}
	agreement, err := m.agree(ctx, customer)
	if err != nil {
		return fmt.Errorf("agreement: %w", err)
	}
	payment, err := m.pay(ctx, agreement)
	if err != nil {
		return fmt.Errorf("payment: %w", err)
	}
	if err := m.approved(ctx, payment); err != nil {
		return fmt.Errorf("approval: %w", err)
	}
	m.timeline.step("Done", "the collection is complete", "")
	return nil
}

func (m *merchant) findOrCreateCustomer(ctx context.Context) (*quickstream.Customer, error) {
	customer, err := m.client.Customers.GetByNumber(ctx, m.customerNumber())
	if errors.Is(err, quickstream.ErrNotFound) {
		customer, err = m.client.Customers.Create(ctx, quickstream.CreateCustomerParams{
			CustomerNumber: m.customerNumber(), CustomerName: "Ann Example",
		})
		if errors.Is(err, quickstream.ErrOutcomeUnknown) {
			// The number is unique: whoever created it, it is our customer.
			customer, err = m.client.Customers.GetByNumber(ctx, m.customerNumber())
		}
	}
	if err != nil {
		return nil, err
	}
	m.timeline.step("Customer", customer.CustomerNumber, "customerId "+customer.CustomerID)
	return customer, nil
}

// agree asks the payer and waits for the answer.
func (m *merchant) agree(ctx context.Context, customer *quickstream.Customer) (*quickstream.Agreement, error) {
	sydney, err := time.LoadLocation("Australia/Sydney") // the service's dates are Sydney's
	if err != nil {
		return nil, err
	}
	today := quickstream.DateOf(time.Now().In(sydney))
	agreement, err := m.client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		SupplierBusinessCode: m.business,
		PayeeReference:       rand.Text()[:20], // unique: an agreement whose answer is lost is found by it
		Payment: quickstream.AgreementPaymentParams{
			Purpose: quickstream.PayToPurposeUtility, Description: "Broadband, monthly", StartDate: today, AutomaticRenewal: true,
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.PayToFrequencyMonthly, Type: quickstream.PayToAgreementTypeVariable,
			MaximumPaymentAmount: new(decimal.RequireFromString("150.00")),
		},
		Payer: quickstream.PayToPayerParams{
			Type: quickstream.PayerTypePerson, ID: customer.CustomerNumber, Name: customer.CustomerName,
			BSB: "650000", AccountNumber: quickstream.NewSecret("111111"),
		},
	})
	if err != nil {
		return nil, err
	}
	token := agreement.AgreementToken
	m.timeline.step("Agreement", string(agreement.Status)+", the payer has until "+agreement.RespondByTime.Format("2 January 15:04"), "agreementToken "+token)

	if m.payer != nil && agreement.Status == quickstream.AgreementStatusPending {
		go func() {
			if err := m.payer(token); err != nil {
				m.timeline.note("the payer could not answer: " + err.Error())
			}
		}()
	}
	for {
		switch agreement.Status {
		case quickstream.AgreementStatusActive:
			if agreement.AgreementToken != token {
				return nil, errors.New("the confirmation is for another agreement")
			}
			m.timeline.step("Confirmed", "by the payer, seen by "+m.inbox.lastSource(), "status ACTIVE")
			return agreement, nil
		case quickstream.AgreementStatusRejected:
			return nil, fmt.Errorf("rejected on its way to the payer: %s", agreement.RejectionReason)
		case quickstream.AgreementStatusCancelled:
			return nil, errors.New("the payer declined, or did not answer in time")
		case quickstream.AgreementStatusCreated, quickstream.AgreementStatusPending:
			// wait
		default:
			return nil, fmt.Errorf("unexpected status %s", agreement.Status)
		}
		agreement, err = next(ctx, m.poll, m.inbox, m.inbox.agreements, token, func(ctx context.Context) (*quickstream.Agreement, error) {
			return m.client.PayTo.Get(ctx, token)
		})
		if err != nil {
			return nil, err
		}
	}
}

// pay takes the payment. The intent is stored right before it is sent: after a crash
// or a lost answer it is all that is needed to find out what happened.
func (m *merchant) pay(ctx context.Context, agreement *quickstream.Agreement) (*quickstream.Transaction, error) {
	payment, err := m.client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode:    m.business,
		Source:                  quickstream.FromPayTo(quickstream.PayToPayment{AgreementToken: agreement.AgreementToken, RemittanceInformation1: "Invoice 1042"}),
		PrincipalAmount:         decimal.RequireFromString("89.90"),
		Currency:                quickstream.CurrencyAUD,
		CustomerReferenceNumber: m.customerNumber(),
	}, quickstream.WithBeforeSend(m.store))
	if lost, ok := errors.AsType[*quickstream.UnknownOutcomeError](err); ok {
		m.timeline.note("the answer was lost; looking the payment up until it is settled")
		policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff()) // PayTo payments are not retried by the service
		state, err := resolve.Run(ctx, m.client.Transactions, policy, resolve.Begin(*lost.Intent, time.Now()), nil)
		if err != nil || state.Status != resolve.StatusSettled {
			return nil, fmt.Errorf("the payment is %s, a person has to look at it: %w", state.Status, err)
		}
		payment, err = m.client.Transactions.Get(ctx, state.Intent.ReceiptNumber)
		if err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	m.timeline.step("Payment", string(payment.Status)+" ("+payment.ResponseCode+")", "receiptNumber "+payment.ReceiptNumber)
	return payment, nil
}

// store stands in for the merchant's database.
func (m *merchant) store(_ context.Context, intent quickstream.Intent) error {
	stored, err := json.Marshal(intent)
	if err != nil {
		return err
	}
	m.timeline.step("Intent", "89.90 AUD, not sent yet", fmt.Sprintf("the intent (%d bytes of JSON, no account details), reference %s", len(stored), intent.Reference))
	return nil
}

// approved waits for the payment's final outcome and checks it.
func (m *merchant) approved(ctx context.Context, payment *quickstream.Transaction) error {
	receipt := payment.ReceiptNumber
	for {
		_, err := quickstream.RequireApproved(payment, nil)
		switch {
		case err == nil:
			if payment.ReceiptNumber != receipt {
				return errors.New("the approval is for another receipt")
			}
			m.timeline.step("Approved", fmt.Sprintf("%s on %s, seen by %s", payment.TotalAmount, payment.SettlementDate, m.inbox.lastSource()), "outcome and settlement date")
			return nil
		case payment.NextStep() != quickstream.NextStepWait:
			return err
		}
		payment, err = next(ctx, m.poll, m.inbox, m.inbox.payments, receipt, func(ctx context.Context) (*quickstream.Transaction, error) {
			return m.client.Transactions.Get(ctx, receipt)
		})
		if err != nil {
			return err
		}
	}
}
