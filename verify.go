package quickstream

import (
	"context"
	"net/netip"
)

// VerifyAccountParams describes a verification of an account.
type VerifyAccountParams struct {
	// SupplierBusinessCode is required, here or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Source is the account. Required. It need not be a card: the service judges which
	// accounts it verifies.
	Source CardSource
	// Currency is [CurrencyAUD] if it is empty.
	Currency Currency
	// ECI is required for cards, and is not 5, 6 or 7.
	ECI ECI
	// IPAddress is required and left out as in [PayParams].
	IPAddress netip.Addr
	// StoredCredential is required for cards.
	StoredCredential *StoredCredentialData
	// ThreeDS2 is optional, as in [PayParams].
	ThreeDS2 *bool
	// CustomerReferenceNumber, PaymentReferenceNumber, Comment and Metadata are optional
	// and as in [PayParams].
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// VerifyAccount checks that an account can be used. It takes no money.
//
// POST /transactions (ACCOUNT_VERIFICATION), and errors as for Pay.
func (s *TransactionsService) VerifyAccount(ctx context.Context, params VerifyAccountParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p VerifyAccountParams) body() transactionBody {
	currency := p.Currency
	if currency == "" {
		currency = CurrencyAUD
	}
	body := transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypeAccountVerification, SupplierBusinessCode: p.SupplierBusinessCode, Currency: currency,
		ECI: p.ECI, IPAddress: address(p.IPAddress), StoredCredentialData: p.StoredCredential, ThreeDS2: p.ThreeDS2,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}}
	body.setSource(p.Source)
	return body
}
