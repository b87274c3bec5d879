package quickstream

import (
	"context"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PreauthoriseParams describes an initial pre-authorisation of a card. The
// members are as in PayParams.
type PreauthoriseParams struct {
	// SupplierBusinessCode, Source, PrincipalAmount, Currency, ECI and
	// StoredCredential are required.
	SupplierBusinessCode    string
	Source                  CardSource
	PrincipalAmount         decimal.Decimal
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

// Preauthorise reserves an amount on a card, to be captured later.
//
// POST /transactions (PREAUTH) with the secret key, and errors as for Pay.
func (s *TransactionsService) Preauthorise(ctx context.Context, params PreauthoriseParams, opts ...CallOption) (*Transaction, error) {
	call, err := s.write("Transactions.Preauthorise", opts)
	if err != nil {
		return nil, err
	}
	if err := check(call, params, preauthoriseRules); err != nil {
		return nil, err
	}
	body := transactionJSON{
		TransactionType: TransactionTypePreauth, SupplierBusinessCode: params.SupplierBusinessCode,
		PrincipalAmount: wire.OptionalNumber(&params.PrincipalAmount), Currency: params.Currency,
		ECI: params.ECI, IPAddress: address(params.IPAddress), StoredCredentialData: params.StoredCredential, ThreeDS2: params.ThreeDS2,
		CustomerReferenceNumber: params.CustomerReferenceNumber, PaymentReferenceNumber: unique(params.PaymentReferenceNumber),
		Comment: params.Comment, Metadata: params.Metadata,
	}
	body.setSource(sourceOf(params.Source))
	return call.transact(ctx, body)
}

// VerifyAccountParams describes a verification of an account. The members are as
// in PayParams.
type VerifyAccountParams struct {
	// SupplierBusinessCode, Source, ECI and StoredCredential are required.
	SupplierBusinessCode string
	Source               CardSource
	// Currency is CurrencyAUD when empty.
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
// POST /transactions (ACCOUNT_VERIFICATION) with the secret key, and errors as
// for Pay.
func (s *TransactionsService) VerifyAccount(ctx context.Context, params VerifyAccountParams, opts ...CallOption) (*Transaction, error) {
	call, err := s.write("Transactions.VerifyAccount", opts)
	if err != nil {
		return nil, err
	}
	if err := check(call, params, verifyAccountRules); err != nil {
		return nil, err
	}
	currency := params.Currency
	if currency == "" {
		currency = CurrencyAUD
	}
	body := transactionJSON{
		TransactionType: TransactionTypeAccountVerification, SupplierBusinessCode: params.SupplierBusinessCode, Currency: currency,
		ECI: params.ECI, IPAddress: address(params.IPAddress), StoredCredentialData: params.StoredCredential, ThreeDS2: params.ThreeDS2,
		CustomerReferenceNumber: params.CustomerReferenceNumber, PaymentReferenceNumber: unique(params.PaymentReferenceNumber),
		Comment: params.Comment, Metadata: params.Metadata,
	}
	body.setSource(sourceOf(params.Source))
	return call.transact(ctx, body)
}

// PreauthFollowUpParams names an earlier pre-authorisation and an amount.
type PreauthFollowUpParams struct {
	// OriginalReceiptNumber is the receipt of the original, successful
	// pre-authorisation. Required.
	OriginalReceiptNumber string
	// PrincipalAmount is what is added by a top-up, and the full amount of a
	// re-authorisation. Required, with at most two decimals.
	PrincipalAmount decimal.Decimal
	// Currency is required.
	Currency                Currency
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in PayParams.
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// TopUp adds an amount to a pre-authorisation.
//
// POST /transactions (PREAUTH, INCREMENTAL) with the secret key, and errors as
// for Pay.
func (s *TransactionsService) TopUp(ctx context.Context, params PreauthFollowUpParams, opts ...CallOption) (*Transaction, error) {
	return s.followUp(ctx, "Transactions.TopUp", AuthorisationTypeIncremental, params, preauthFollowUpRules, opts)
}

// Reauthorise authorises an expired original pre-authorisation of a Visa card
// again, for the full amount.
//
// POST /transactions (PREAUTH, REAUTHORISATION) with the secret key, and errors
// as for Pay.
func (s *TransactionsService) Reauthorise(ctx context.Context, params PreauthFollowUpParams, opts ...CallOption) (*Transaction, error) {
	return s.followUp(ctx, "Transactions.Reauthorise", AuthorisationTypeReauthorisation, params, preauthFollowUpRules, opts)
}

// ExtendParams names the pre-authorisation to extend.
type ExtendParams struct {
	// OriginalReceiptNumber is the receipt of the original, successful
	// pre-authorisation. Required.
	OriginalReceiptNumber string
	// Currency is required.
	Currency                Currency
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in PayParams.
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// Extend prolongs a pre-authorisation of a Mastercard. Its amount is 0.00 by the
// service's rules, which this package sends.
//
// POST /transactions (PREAUTH, EXTENSION) with the secret key, and errors as for
// Pay.
func (s *TransactionsService) Extend(ctx context.Context, params ExtendParams, opts ...CallOption) (*Transaction, error) {
	return s.followUp(ctx, "Transactions.Extend", AuthorisationTypeExtension, PreauthFollowUpParams{
		OriginalReceiptNumber: params.OriginalReceiptNumber, Currency: params.Currency,
		CustomerReferenceNumber: params.CustomerReferenceNumber, PaymentReferenceNumber: params.PaymentReferenceNumber,
		Comment: params.Comment, Metadata: params.Metadata,
	}, extendRules, opts)
}

func (s *TransactionsService) followUp(ctx context.Context, name string, kind AuthorisationType, params PreauthFollowUpParams, rules []rule[PreauthFollowUpParams], opts []CallOption) (*Transaction, error) {
	call, err := s.write(name, opts)
	if err != nil {
		return nil, err
	}
	if err := check(call, params, rules); err != nil {
		return nil, err
	}
	return call.transact(ctx, transactionJSON{
		TransactionType: TransactionTypePreauth, AuthorisationType: kind, OriginalReceiptNumber: params.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(&params.PrincipalAmount), Currency: params.Currency,
		CustomerReferenceNumber: params.CustomerReferenceNumber, PaymentReferenceNumber: unique(params.PaymentReferenceNumber),
		Comment: params.Comment, Metadata: params.Metadata,
	})
}

// CaptureParams describes the capture of a pre-authorisation.
type CaptureParams struct {
	// OriginalReceiptNumber is the receipt of an initial pre-authorisation or a
	// re-authorisation. Required unless Original is given.
	OriginalReceiptNumber string
	// Original is optional: with the pre-authorisation as it was read, the limit
	// of double its amount is checked before sending.
	Original *Transaction
	// PrincipalAmount is at most double the amount of the pre-authorisation.
	// Required, with at most two decimals.
	PrincipalAmount decimal.Decimal
	// Currency and StoredCredential are required.
	Currency                Currency
	StoredCredential        *StoredCredentialData
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in PayParams.
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// Capture takes the money of a pre-authorisation. It is possible once.
//
// POST /transactions (CAPTURE) with the secret key, and errors as for Pay.
func (s *TransactionsService) Capture(ctx context.Context, params CaptureParams, opts ...CallOption) (*Transaction, error) {
	call, err := s.write("Transactions.Capture", opts)
	if err != nil {
		return nil, err
	}
	if err := check(call, params, captureRules); err != nil {
		return nil, err
	}
	return call.transact(ctx, transactionJSON{
		TransactionType: TransactionTypeCapture, OriginalReceiptNumber: receiptOf(params.OriginalReceiptNumber, params.Original),
		PrincipalAmount: wire.OptionalNumber(&params.PrincipalAmount), Currency: params.Currency, StoredCredentialData: params.StoredCredential,
		CustomerReferenceNumber: params.CustomerReferenceNumber, PaymentReferenceNumber: unique(params.PaymentReferenceNumber),
		Comment: params.Comment, Metadata: params.Metadata,
	})
}

// CancelPreauthorisationParams describes the cancellation of a
// pre-authorisation.
type CancelPreauthorisationParams struct {
	// OriginalReceiptNumber is the receipt of the original, successful
	// pre-authorisation. Required.
	OriginalReceiptNumber string
	// Type is required.
	Type CancellationType
	// PrincipalAmount is the full original amount with CancellationTypeFull, and
	// the outstanding part to cancel with CancellationTypePartial. Required, with
	// at most two decimals.
	PrincipalAmount decimal.Decimal
	// Currency is required.
	Currency                Currency
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in PayParams.
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// CancelPreauthorisation releases what was reserved, or a part of it.
//
// POST /transactions (PREAUTH_CANCELLATION) with the secret key, and errors as
// for Pay.
func (s *TransactionsService) CancelPreauthorisation(ctx context.Context, params CancelPreauthorisationParams, opts ...CallOption) (*Transaction, error) {
	call, err := s.write("Transactions.CancelPreauthorisation", opts)
	if err != nil {
		return nil, err
	}
	if err := check(call, params, cancelPreauthorisationRules); err != nil {
		return nil, err
	}
	return call.transact(ctx, transactionJSON{
		TransactionType: TransactionTypePreauthCancellation, CancellationType: params.Type, OriginalReceiptNumber: params.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(&params.PrincipalAmount), Currency: params.Currency,
		CustomerReferenceNumber: params.CustomerReferenceNumber, PaymentReferenceNumber: unique(params.PaymentReferenceNumber),
		Comment: params.Comment, Metadata: params.Metadata,
	})
}

// receiptOf returns the receipt number, or that of the object that was given in
// its place.
func receiptOf(receiptNumber string, original *Transaction) string {
	if receiptNumber == "" && original != nil {
		return original.ReceiptNumber
	}
	return receiptNumber
}
