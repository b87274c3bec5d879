// Package checkout is the program of the tutorial.
package checkout

import (
	"context"
	"errors"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Order is what a customer wants to pay for.
type Order struct {
	Number string
	Amount decimal.Decimal
	IP     netip.Addr // the customer's
}

// Intents is your table of intents. The order is its key.
type Intents interface {
	Insert(ctx context.Context, order string, intent quickstream.Intent) error // fails if the order has a row
	Delete(ctx context.Context, order string) error
}

// Shop takes payments for one business of the facility.
type Shop struct {
	Client   *quickstream.Client
	Business string
	Intents  Intents
}

// Pay takes one payment for an order, with the token that the customer's browser made. The order can be paid again after a
// decline, and after an error only if it matches quickstream.ErrNotSent.
func (s Shop) Pay(ctx context.Context, order Order, token string) (quickstream.Outcome, error) {
	inserted := false
	payment, err := s.Client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode:    s.Business,
		Source:                  quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		PrincipalAmount:         order.Amount,
		Currency:                quickstream.CurrencyAUD,
		ECI:                     quickstream.ECIInternet,
		IPAddress:               order.IP,
		StoredCredential:        &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
		CustomerReferenceNumber: order.Number,
	}, quickstream.WithBeforeSend(func(ctx context.Context, intent quickstream.Intent) error {
		err := s.Intents.Insert(ctx, order.Number, intent)
		inserted = err == nil
		return err
	}))
	outcome := quickstream.OutcomeUnknown
	if err == nil {
		outcome, err = payment.Outcome()
	}
	declined := err == nil && outcome != quickstream.OutcomeApproved
	if declined || inserted && errors.Is(err, quickstream.ErrNotSent) {
		return outcome, errors.Join(err, s.Intents.Delete(ctx, order.Number))
	}
	return outcome, err
}
