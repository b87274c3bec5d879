package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/webhooks"
)

// The states of an agreement, as the shop stores them beside the service's.
const (
	agreementAsked  = "ASKED"  // the service's answer may be lost: its events say what became of it
	agreementFailed = "FAILED" // there is none
	agreementUnused = "UNUSED" // the order was paid another way: nothing is collected
)

// agreement is what the payer is asked to confirm in their banking app. It takes no money by itself.
type agreement struct{ Reference, Order, Attempt, Status string }

// Waits reports whether the payer may still confirm it.
func (a agreement) Waits() bool {
	return a.Status == agreementAsked || a.Status == string(quickstream.AgreementStatusCreated) || a.Status == string(quickstream.AgreementStatusPending)
}

// Ended reports whether the agreement can no longer lead to a payment.
func (a agreement) Ended() bool {
	return !a.Waits() && a.Status != string(quickstream.AgreementStatusActive)
}

// ask asks a payer for an agreement over one payment. The form contains its reference, which is stored first, so that a
// second click does not ask again.
func (s *shop) ask(ctx context.Context, a agreement, name, payID string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	stored, err := s.db.ExecContext(ctx, "INSERT INTO shop_agreement (reference, order_id, attempt, status) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
		a.Reference, a.Order, a.Attempt, agreementAsked)
	if err != nil {
		return err
	}
	if n, err := stored.RowsAffected(); n == 0 || err != nil {
		return err // the first click has stored it
	}
	status := agreementFailed
	made, err := s.agree(ctx, a, name, payID)
	switch {
	case err == nil:
		status = string(made.Status)
	case errors.Is(err, quickstream.ErrOutcomeUnknown):
		return nil // it is there or not: an event says so, and nothing is collected without one
	}
	_, failed := s.db.ExecContext(ctx, "UPDATE shop_agreement SET status = $1 WHERE reference = $2 AND status = $3", status, a.Reference, agreementAsked)
	if failed == nil && errors.Is(err, quickstream.ErrInvalid) {
		return nil // the page says that it failed
	}
	return errors.Join(err, failed)
}

// agree makes the agreement: one payment of the price, today.
func (s *shop) agree(ctx context.Context, a agreement, name, payID string) (*quickstream.Agreement, error) {
	customer, err := s.client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: a.Reference, CustomerName: name})
	if err != nil {
		return nil, fmt.Errorf("the customer: %s", err) //nolint:errorlint // a customer of unknown outcome is no agreement of unknown outcome
	}
	amount, today := price(), quickstream.DateOf(s.clock.Now().In(s.sydney))
	return s.client.PayTo.Create(ctx, customer.CustomerID, quickstream.CreateAgreementParams{
		PayeeReference: a.Reference,
		Payment:        quickstream.AgreementPaymentDetails{Purpose: quickstream.AgreementPurposeRetail, Description: product + ", " + a.Order, StartDate: today, EndDate: today.AddDays(7)},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.AgreementFrequencyAdhoc, NumberOfPaymentsPermitted: new(int64(1)), Type: quickstream.AgreementTypeFixed, PaymentAmount: &amount,
		},
		Payer: quickstream.AgreementPayerParams{
			Type: quickstream.PayerTypePerson, ID: a.Reference, Name: name, PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(payID),
		},
	})
}

// collect stores the status of an agreement, and its payment if it was confirmed. It is the engine's OnEvent: its writes
// commit with the end of the notification, so that no event is lost and none collects twice.
func (s *shop) collect(ctx context.Context, tx *sql.Tx, n *webhooks.Notification) error {
	event, err := n.Event()
	if err != nil {
		return err
	}
	about, is := event.(*webhooks.AgreementEvent)
	if !is {
		return nil
	}
	made := about.Agreement()
	a := agreement{Status: string(made.Status)}
	err = tx.QueryRowContext(ctx, "SELECT reference, order_id, attempt FROM shop_agreement WHERE reference = $1", made.PayeeReference).Scan(&a.Reference, &a.Order, &a.Attempt)
	if err != nil {
		return err
	}
	if made.Status == quickstream.AgreementStatusActive {
		_, _, err = s.engine.Load().Pay(ctx, tx, durable.NewWrite{ID: a.Attempt, Order: a.Order, Title: product}, quickstream.CollectParams{
			AgreementToken: made.AgreementToken, PrincipalAmount: price(), CustomerReferenceNumber: a.Order, RemittanceInformation1: a.Order, FinalPayment: new(true),
		})
		switch {
		case errors.Is(err, durable.ErrOrderOpen), errors.Is(err, durable.ErrIDReused):
			a.Status = agreementUnused
		case err != nil:
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "UPDATE shop_agreement SET status = $1 WHERE reference = $2 AND status <> $3", a.Status, a.Reference, agreementUnused)
	return err
}

// answerBank does what the payer does in their banking app.
func (s *shop) answerBank(reference string, confirm bool) error {
	action := sandbox.DeclineAgreement
	if confirm {
		action = sandbox.ConfirmAgreement
	}
	for _, a := range s.box.Agreements() {
		if a.PayeeReference == reference {
			return s.box.Payer(a.AgreementToken, action)
		}
	}
	return errors.New("the bank has no such agreement")
}

// agreements returns all agreements, the oldest first.
func (s *shop) agreements(ctx context.Context) ([]agreement, error) {
	return query(ctx, s.db, "SELECT reference, order_id, attempt, status FROM shop_agreement ORDER BY rowid", func(scan func(...any) error) (a agreement, err error) {
		err = scan(&a.Reference, &a.Order, &a.Attempt, &a.Status)
		return a, err
	})
}
