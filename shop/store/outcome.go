package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable"
)

// onOutcome is notified of what became of a write, in the transaction that stores it, once.
func (s *server) onOutcome(ctx context.Context, tx *sql.Tx, change durable.OutcomeChange) error {
	if err := s.keep(ctx, tx, change.Write); err != nil {
		return err
	}
	switch w := change.Write.(type) {
	case durable.Payment:
		return s.settled(ctx, tx, w)
	case durable.FollowUp:
		return s.followed(ctx, tx, w)
	case durable.OtherWrite:
		if w.Operation == quickstream.OperationCreateAgreement {
			return s.agreed(ctx, tx, w)
		}
		return s.registered(ctx, tx, w)
	}
	return nil
}

// settled stores what became of an order's payment.
func (s *server) settled(ctx context.Context, tx *sql.Tx, p durable.Payment) error {
	err := s.tally(ctx, tx, p.Order, charge{ID: p.ID, State: p.Name()})
	if err != nil || p.Name() != stateApproved {
		return err
	}
	return s.keepCard(ctx, tx, p)
}

// followed stores what was refunded. Of a void, which has no receipt, the payment itself is notified.
func (s *server) followed(ctx context.Context, tx *sql.Tx, f durable.FollowUp) error {
	if !f.Approved() || f.ReceiptNumber == "" {
		return nil
	}
	return s.tally(ctx, tx, f.Order, charge{ID: f.Follows, State: stateApproved})
}

// keepCard has the card of an approved payment registered if the customer wants that: once for each
// payment, from which the id follows.
func (s *server) keepCard(ctx context.Context, tx *sql.Tx, p durable.Payment) error {
	var customer string
	err := tx.QueryRowContext(ctx, `SELECT s.customer FROM shop_order o JOIN shop_session s ON s.visitor = o.visitor
		WHERE o.id = ? AND o.save AND s.customer <> ''`, p.Order).Scan(&customer)
	if err == sql.ErrNoRows { //nolint:errorlint // Scan returns it as it is
		return nil
	}
	if err != nil {
		return err
	}
	_, _, err = s.engine.Register(ctx, tx, durable.NewWrite{ID: p.ID + "-card", Order: p.Order}, customer,
		quickstream.RegisterAccountParams{Source: quickstream.RegistrationFromReceipt(p.ReceiptNumber)})
	if errors.Is(err, durable.ErrIDReused) {
		return nil // by another receipt of the payment: the card is the same
	}
	return err
}
