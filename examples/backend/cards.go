package main

import (
	"context"
	"errors"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// ErrNotAuthenticated means that 3D Secure said no.
var ErrNotAuthenticated = errors.New("the cardholder was not authenticated")

// Visitor is a customer at the checkout.
type Visitor struct {
	IP      netip.Addr
	Address quickstream.ThreeDSAddress
	// Challenge shows the bank's challenge for a token in the visitor's browser,
	// and returns when it is over.
	Challenge func(singleUseTokenID string) error
}

// PayByCard takes an order's payment from a card behind a single-use token.
func (s *Shop) PayByCard(ctx context.Context, order string, amount decimal.Decimal, token string, v Visitor) (Row, error) {
	params, err := s.byCard(ctx, amount, token, v)
	if err != nil {
		return Row{}, err
	}
	return s.collect(ctx, order, params)
}

// byCard authenticates the cardholder, and describes the payment.
func (s *Shop) byCard(ctx context.Context, amount decimal.Decimal, token string, v Visitor) (quickstream.PayParams, error) {
	err := s.authenticate(ctx, token, v, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryPayment,
		Purpose:         quickstream.ThreeDSPurposePayment,
		PrincipalAmount: &amount,
		Currency:        quickstream.CurrencyAUD,
		BillingAddress:  v.Address,
	})
	return quickstream.PayParams{
		Source:           quickstream.FromSingleUseToken(token, quickstream.AccountTypeCreditCard),
		PrincipalAmount:  amount,
		ECI:              quickstream.ECIInternet,
		IPAddress:        v.IP,
		ThreeDS2:         new(true),
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}, err
}

// StoreCard registers the card behind a single-use token for a customer, and
// returns the account token. Made again after a lost answer it may leave a
// second account, which costs nobody anything.
func (s *Shop) StoreCard(ctx context.Context, customerID, token string, v Visitor) (string, error) {
	err := s.authenticate(ctx, token, v, quickstream.AuthenticateParams{
		MessageCategory: quickstream.ThreeDSMessageCategoryStoring,
		Purpose:         quickstream.ThreeDSPurposeAddCard,
	})
	if err != nil {
		return "", err
	}
	account, err := s.Client.Accounts.Register(ctx, customerID, quickstream.RegisterAccountParams{
		Source:   quickstream.RegistrationFromSingleUseToken(token),
		ThreeDS2: new(true),
	})
	if err != nil {
		return "", err
	}
	return account.AccountToken, nil
}

// PayByStoredCard takes an order's payment from a registered card, with the
// customer at the checkout.
func (s *Shop) PayByStoredCard(ctx context.Context, order string, amount decimal.Decimal, account string, v Visitor) (Row, error) {
	return s.collect(ctx, order, quickstream.PayParams{
		Source:           quickstream.FromAccount(account, quickstream.AccountTypeCreditCard),
		PrincipalAmount:  amount,
		ECI:              quickstream.ECIInternet,
		IPAddress:        v.IP,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeStoredCredential},
	})
}

// Customer returns the service's id of a customer, who is created at the first
// call.
func (s *Shop) Customer(ctx context.Context, number, name string) (string, error) {
	found, err := s.Client.Customers.GetByNumber(ctx, number)
	if errors.Is(err, quickstream.ErrNotFound) {
		found, err = s.Client.Customers.Create(ctx, quickstream.CreateCustomerParams{CustomerNumber: number, CustomerName: name})
	}
	if err != nil {
		return "", err
	}
	return found.CustomerID, nil
}

func (s *Shop) authenticate(ctx context.Context, token string, v Visitor, params quickstream.AuthenticateParams) error {
	result, err := s.Client.SingleUseTokens.Authenticate(ctx, token, params)
	if err == nil && result.TransStatus.Next() == quickstream.ThreeDSStepChallenge {
		if err = v.Challenge(token); err == nil {
			result, err = s.Client.SingleUseTokens.Authenticate(ctx, token, params)
		}
	}
	if err != nil {
		return err
	}
	if result.TransStatus.Next() != quickstream.ThreeDSStepProceed {
		return ErrNotAuthenticated
	}
	return nil
}
