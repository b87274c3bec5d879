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
	return submit(ctx, s, "Transactions.Preauthorise", params, preauthoriseRules, PreauthoriseParams.wire, opts)
}

// Prepare returns the parameters with their reference filled in, and the intent
// to store before they are sent.
func (p PreauthoriseParams) Prepare() (PreauthoriseParams, PaymentIntent) {
	p.PaymentReferenceNumber = unique(p.PaymentReferenceNumber)
	return p, prepared(p.wire())
}

func (p PreauthoriseParams) wire() transactionJSON {
	body := transactionJSON{
		TransactionType: TransactionTypePreauth, SupplierBusinessCode: p.SupplierBusinessCode,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
		ECI: p.ECI, IPAddress: address(p.IPAddress), StoredCredentialData: p.StoredCredential, ThreeDS2: p.ThreeDS2,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: unique(p.PaymentReferenceNumber),
		Comment: p.Comment, Metadata: p.Metadata,
	}
	body.setSource(sourceOf(p.Source))
	return body
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
	return submit(ctx, s, "Transactions.VerifyAccount", params, verifyAccountRules, VerifyAccountParams.wire, opts)
}

// Prepare returns the parameters with their reference filled in, and the intent
// to store before they are sent.
func (p VerifyAccountParams) Prepare() (VerifyAccountParams, PaymentIntent) {
	p.PaymentReferenceNumber = unique(p.PaymentReferenceNumber)
	return p, prepared(p.wire())
}

func (p VerifyAccountParams) wire() transactionJSON {
	currency := p.Currency
	if currency == "" {
		currency = CurrencyAUD
	}
	body := transactionJSON{
		TransactionType: TransactionTypeAccountVerification, SupplierBusinessCode: p.SupplierBusinessCode, Currency: currency,
		ECI: p.ECI, IPAddress: address(p.IPAddress), StoredCredentialData: p.StoredCredential, ThreeDS2: p.ThreeDS2,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: unique(p.PaymentReferenceNumber),
		Comment: p.Comment, Metadata: p.Metadata,
	}
	body.setSource(sourceOf(p.Source))
	return body
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
	return submit(ctx, s, "Transactions.TopUp", params, preauthFollowUpRules, followUp(AuthorisationTypeIncremental), opts)
}

// Reauthorise authorises an expired original pre-authorisation of a Visa card
// again, for the full amount.
//
// POST /transactions (PREAUTH, REAUTHORISATION) with the secret key, and errors
// as for Pay.
func (s *TransactionsService) Reauthorise(ctx context.Context, params PreauthFollowUpParams, opts ...CallOption) (*Transaction, error) {
	return submit(ctx, s, "Transactions.Reauthorise", params, preauthFollowUpRules, followUp(AuthorisationTypeReauthorisation), opts)
}

// Prepare returns the parameters with their reference filled in, and the intent
// to store before they are sent.
func (p PreauthFollowUpParams) Prepare() (PreauthFollowUpParams, PaymentIntent) {
	p.PaymentReferenceNumber = unique(p.PaymentReferenceNumber)
	return p, prepared(followUp("")(p))
}

func followUp(kind AuthorisationType) func(PreauthFollowUpParams) transactionJSON {
	return func(p PreauthFollowUpParams) transactionJSON {
		return transactionJSON{
			TransactionType: TransactionTypePreauth, AuthorisationType: kind, OriginalReceiptNumber: p.OriginalReceiptNumber,
			PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
			CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: unique(p.PaymentReferenceNumber),
			Comment: p.Comment, Metadata: p.Metadata,
		}
	}
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
	return submit(ctx, s, "Transactions.Extend", params, extendRules, ExtendParams.wire, opts)
}

// Prepare returns the parameters with their reference filled in, and the intent
// to store before they are sent.
func (p ExtendParams) Prepare() (ExtendParams, PaymentIntent) {
	p.PaymentReferenceNumber = unique(p.PaymentReferenceNumber)
	return p, prepared(p.wire())
}

func (p ExtendParams) wire() transactionJSON {
	return followUp(AuthorisationTypeExtension)(p.followUp())
}

// followUp returns the parameters with the amount that an extension has, which
// is sent and not left out.
func (p ExtendParams) followUp() PreauthFollowUpParams {
	return PreauthFollowUpParams{
		OriginalReceiptNumber: p.OriginalReceiptNumber, Currency: p.Currency,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}
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
	return submit(ctx, s, "Transactions.Capture", params, captureRules, CaptureParams.wire, opts)
}

// Prepare returns the parameters with their reference filled in, and the intent
// to store before they are sent.
func (p CaptureParams) Prepare() (CaptureParams, PaymentIntent) {
	p.PaymentReferenceNumber = unique(p.PaymentReferenceNumber)
	return p, prepared(p.wire())
}

func (p CaptureParams) wire() transactionJSON {
	return transactionJSON{
		TransactionType: TransactionTypeCapture, OriginalReceiptNumber: receiptOf(p.OriginalReceiptNumber, p.Original),
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency, StoredCredentialData: p.StoredCredential,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: unique(p.PaymentReferenceNumber),
		Comment: p.Comment, Metadata: p.Metadata,
	}
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
	return submit(ctx, s, "Transactions.CancelPreauthorisation", params, cancelPreauthorisationRules, CancelPreauthorisationParams.wire, opts)
}

// Prepare returns the parameters with their reference filled in, and the intent
// to store before they are sent.
func (p CancelPreauthorisationParams) Prepare() (CancelPreauthorisationParams, PaymentIntent) {
	p.PaymentReferenceNumber = unique(p.PaymentReferenceNumber)
	return p, prepared(p.wire())
}

func (p CancelPreauthorisationParams) wire() transactionJSON {
	return transactionJSON{
		TransactionType: TransactionTypePreauthCancellation, CancellationType: p.Type, OriginalReceiptNumber: p.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: unique(p.PaymentReferenceNumber),
		Comment: p.Comment, Metadata: p.Metadata,
	}
}

// receiptOf returns the receipt number, or that of the object that was given in
// its place.
func receiptOf(receiptNumber string, original *Transaction) string {
	if receiptNumber == "" && original != nil {
		return original.ReceiptNumber
	}
	return receiptNumber
}
