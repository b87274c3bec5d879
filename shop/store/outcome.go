package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// onOutcome is told what became of something, in the transaction that stores it, once.
func (s *server) onOutcome(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	p := change.Payment
	what := fmt.Sprintf("%s: %s", p.Operation, change.After)
	if p.Seen.ResponseCode != "" {
		what += " (code " + p.Seen.ResponseCode + ")"
	}
	if err := s.note(ctx, tx, p.OrderID, kindOutcome, what); err != nil {
		return err
	}
	p.State = change.After
	if err := s.keep(ctx, tx, p); err != nil {
		return err
	}
	switch {
	case p.Operation == quickstream.OperationRegisterAccount:
		return s.registered(ctx, tx, change)
	case p.Operation == quickstream.OperationCreateAgreement:
		return s.agreed(ctx, tx, change)
	case p.ReceiptOf != "":
		return s.followed(ctx, tx, change)
	default:
		return s.settled(ctx, tx, change)
	}
}

// settled writes down what became of an order's payment.
func (s *server) settled(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	p := change.Payment
	err := s.tally(ctx, tx, p.OrderID, charge{State: change.After, Receipt: p.ReceiptNumber})
	if err != nil || change.After != durable.StateApproved {
		return err
	}
	return s.keepCard(ctx, tx, p)
}

// followed writes down what was given back.
func (s *server) followed(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	p := change.Payment
	if change.After != durable.StateApproved || p.Operation == quickstream.OperationVoid {
		return nil // of a void the payment itself becomes "voided"
	}
	return s.tally(ctx, tx, p.OrderID, charge{State: durable.StateApproved, Receipt: p.ReceiptOf})
}

// keepCard has the card of an approved payment registered, where the customer wants that.
func (s *server) keepCard(ctx context.Context, tx *sql.Tx, p durable.Payment) error {
	var customer string
	err := tx.QueryRowContext(ctx, `SELECT s.customer FROM shop_order o JOIN shop_session s ON s.visitor = o.visitor
		WHERE o.id = ? AND o.save AND s.customer <> ''`, p.OrderID).Scan(&customer)
	if err == sql.ErrNoRows { //nolint:errorlint // Scan returns it as it is
		return nil
	}
	if err != nil {
		return err
	}
	_, err = s.engine.Register(forOrder(ctx, p.OrderID), tx, p.OrderID, customer,
		quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromReceipt(p.ReceiptNumber)})
	return err
}
