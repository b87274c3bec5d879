package store

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// payer is who is asked at the bank. A PayID is personal: it is sent, and not stored.
func payer(r *http.Request, o order) quickstream.PayToPayerParams {
	return quickstream.PayToPayerParams{
		Type: quickstream.PayerTypePerson, ID: o.Visitor, Name: strings.TrimSpace(r.PostFormValue("name")),
		PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret(strings.TrimSpace(r.PostFormValue("payid"))),
	}
}

// payByPayTo takes an order's payment from a bank account: the customer agrees to it in
// the bank's app. The request holds the PayID, so that it is made at once, and only its
// intent is stored.
func (s *server) payByPayTo(w http.ResponseWriter, r *http.Request, o order) {
	params := s.params(o)
	params.Source = quickstream.FromPayToWithAgreement(quickstream.PayToPaymentWithAgreement{
		Purpose: quickstream.PayToPurposeRetail, Description: o.Item, Payer: payer(r, o),
	})
	err := s.soon(r.Context(), func(ctx context.Context) error {
		_, err := s.db.ExecContext(ctx, "UPDATE shop_order SET state = ? WHERE id = ? AND "+payable, statePaying, o.ID)
		if err == nil {
			err = s.begun(ctx, s.db, o.ID)
		}
		if err != nil {
			return err
		}
		_, err = durable.Send(ctx, s.engine, durable.NewWrite{ID: o.Payment, Order: o.ID}, func(stored quickstream.CallOption) (*quickstream.Transaction, error) {
			return s.client.Transactions.Pay(ctx, params, stored)
		})
		if errors.Is(err, quickstream.ErrNotSent) && !isPaid(err) { // of what was sent OnOutcome is notified
			_, back := s.db.ExecContext(ctx, "UPDATE shop_order SET state = ? WHERE id = ? AND state = ?", stateNew, o.ID, statePaying)
			err = errors.Join(err, back)
		}
		return err
	})
	if errors.Is(err, quickstream.ErrInvalid) {
		back(w, r, o, "bank-gone")
		return
	}
	if errors.Is(err, quickstream.ErrNotSent) && !isPaid(err) {
		back(w, r, o, "busy")
		return
	}
	toOrder(w, r, o) // which says how it stands, whatever the error was
}

// soon runs what is sent at once, to its end though the customer may go away, and returns
// its error if it comes in time for a page.
func (s *server) soon(ctx context.Context, send func(ctx context.Context) error) error {
	done := make(chan error, 1)
	s.running.Go(func() { done <- send(context.WithoutCancel(ctx)) })
	limit := time.NewTimer(moment)
	defer limit.Stop()
	select {
	case err := <-done:
		return err
	case <-limit.C:
		return nil
	}
}

// askToAgree asks the customer's bank for an agreement to collect an order's amount each
// month.
func (s *server) askToAgree(w http.ResponseWriter, r *http.Request) {
	r.SetPathValue("order", r.PostFormValue("order"))
	o, err := s.orderOf(r)
	if err != nil {
		s.missing(w, r, err)
		return
	}
	if !o.Product().Monthly {
		s.notFound(w, r)
		return
	}
	if o.Payment = paymentIn(r, o); o.Payment == "" {
		back(w, r, o, "incomplete")
		return
	}
	if err := s.ensureCustomer(r.Context(), o.Visitor); err != nil {
		back(w, r, o, "busy")
		return
	}
	a, there, err := s.beginAgreement(r.Context(), o)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !there {
		payer := payer(r, o)
		err = s.soon(r.Context(), func(ctx context.Context) error { return s.sendAgreement(ctx, a, payer) })
	}
	if errors.Is(err, quickstream.ErrInvalid) {
		back(w, r, o, "bank-gone")
		return
	}
	http.Redirect(w, r, "/payto/"+a.Reference, http.StatusSeeOther)
}

// beginAgreement writes an agreement under the id of the form, unless the order has one that has not
// failed, or that form has made one.
func (s *server) beginAgreement(ctx context.Context, o order) (a agreement, there bool, err error) {
	a = agreement{
		Reference: o.Payment, OrderID: o.ID, Visitor: o.Visitor, Item: o.Item, Amount: o.Amount,
		Started: s.today(),
	}
	err = s.within(ctx, func(tx *sql.Tx) error {
		old, err := scanAgreement(tx.QueryRowContext(ctx, "SELECT "+agreementColumns+` FROM shop_agreement
			WHERE reference = ?1 OR reference = (SELECT agreement FROM shop_order WHERE id = ?2) ORDER BY reference = ?1 DESC`, a.Reference, o.ID).Scan)
		if err == nil && (old.Reference == a.Reference || !old.Ended()) {
			a, there = old, true
			return nil
		}
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO shop_agreement (reference, order_id, visitor, item, amount, started, created) VALUES (?, ?, ?, ?, ?, ?, ?)",
			a.Reference, a.OrderID, a.Visitor, a.Item, a.Amount, a.Started.String(), micros(s.clock.Now()))
		if err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE shop_order SET agreement = ? WHERE id = ?", a.Reference, o.ID)
		}
		return err
	})
	return a, there, err
}

// sendAgreement asks the bank. An agreement whose answer is lost is looked for by durable.
func (s *server) sendAgreement(ctx context.Context, a agreement, payer quickstream.PayToPayerParams) error {
	customer, err := s.customerOf(ctx, a.Visitor)
	if err != nil {
		return err
	}
	if err := s.begun(ctx, s.db, a.Reference); err != nil {
		return err
	}
	amount := decimal.New(a.Amount, -2)
	made, err := durable.Send(ctx, s.engine, durable.NewWrite{ID: a.Reference, Order: a.Reference}, func(stored quickstream.CallOption) (*quickstream.Agreement, error) {
		return s.client.PayTo.Create(ctx, customer, quickstream.CreateAgreementParams{
			PayeeReference: a.Reference,
			Payment: quickstream.AgreementPaymentParams{
				Purpose: quickstream.PayToPurposeRetail, Description: a.Item, StartDate: a.Started, AutomaticRenewal: true,
			},
			Terms: quickstream.AgreementTermsParams{
				Frequency: quickstream.PayToFrequencyMonthly, Type: quickstream.PayToAgreementTypeFixed, PaymentAmount: &amount,
			},
			Payer: payer,
		}, stored)
	})
	switch {
	case err == nil:
		return s.learn(ctx, s.db, made)
	case errors.Is(err, quickstream.ErrOutcomeUnknown):
		return nil // OnOutcome is notified
	default:
		_, stored := s.db.ExecContext(ctx, "UPDATE shop_agreement SET status = ? WHERE reference = ?", statusRefused, a.Reference)
		return errors.Join(err, stored)
	}
}

// agreed stores the token of an agreement that was made.
func (s *server) agreed(ctx context.Context, tx *sql.Tx, w durable.OtherWrite) (err error) {
	switch {
	case w.Approved():
		_, err = tx.ExecContext(ctx, "UPDATE shop_agreement SET token = ?, status = CASE status WHEN '' THEN 'PENDING' ELSE status END WHERE reference = ?", w.ReceiptNumber, w.ID)
	case !w.State.Open():
		_, err = tx.ExecContext(ctx, "UPDATE shop_agreement SET status = ? WHERE reference = ?", statusRefused, w.ID)
	}
	return err
}

// learn stores what the service says of an agreement.
func (s *server) learn(ctx context.Context, in executor, a *quickstream.Agreement) error {
	_, err := in.ExecContext(ctx, "UPDATE shop_agreement SET token = ?, status = ? WHERE reference = ? AND "+going, a.AgreementToken, string(a.Status), a.PayeeReference)
	return err
}

// today is the day at the service.
func (s *server) today() quickstream.Date { return quickstream.DateOf(s.clock.Now().In(s.sydney)) }
