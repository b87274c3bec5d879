package quickstream

import (
	"context"
	"net/netip"
)

// VerifyAccountParams describes a verification of an account. The members are as
// in [PayParams].
type VerifyAccountParams struct {
	// SupplierBusinessCode and Source are required, [ECI] and StoredCredential for
	// cards.
	SupplierBusinessCode string
	// Source need not be a card: the service judges which accounts it verifies.
	Source CardSource
	// Currency is [CurrencyAUD] when empty.
	Currency                Currency
	ECI                     ECI
	IPAddress               netip.Addr
	StoredCredential        *StoredCredentialData
	ThreeDS2                *bool
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// VerifyAccount checks that an account can be used, without taking money.
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
