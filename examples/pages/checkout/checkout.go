// Package checkout is the program of the tutorial.
package checkout

import (
	"context"
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

// Shop takes payments for one business of the facility.
type Shop struct {
	Client   *quickstream.Client
	Business string
	// Keep inserts the intent into your table. It returns an error if the order has a row already.
	Keep func(ctx context.Context, order string, intent quickstream.Intent) error
}

// Pay takes one payment for an order, with the token that the customer's browser made.
// After an error only quickstream.ErrNotSent permits the same call again.
func (s Shop) Pay(ctx context.Context, order Order, token string) (quickstream.Outcome, error) {
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
		return s.Keep(ctx, order.Number, intent)
	}))
	if err != nil {
		return quickstream.OutcomeUnknown, err
	}
	return payment.Outcome()
}
