package quickstream

import (
	"context"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PreauthoriseParams describes an initial pre-authorisation of a card.
type PreauthoriseParams struct {
	// SupplierBusinessCode is required, here or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Source is the card. Required.
	Source CardSource
	// PrincipalAmount is as in [PayParams].
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// ECI is required, and is not 5, 6 or 7.
	ECI ECI
	// IPAddress is as in [PayParams].
	IPAddress netip.Addr
	// StoredCredential is as in [PayParams].
	StoredCredential *StoredCredentialData
	// ThreeDS2 is optional, as in [PayParams].
	ThreeDS2 *bool
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// Preauthorise reserves an amount on a card, to be captured later.
//
// POST /transactions (PREAUTH). Errors as for Pay.
func (s *TransactionsService) Preauthorise(ctx context.Context, params PreauthoriseParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p PreauthoriseParams) body() transactionBody {
	body := transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePreauth, SupplierBusinessCode: p.SupplierBusinessCode,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
		ECI: p.ECI, IPAddress: address(p.IPAddress), StoredCredentialData: p.StoredCredential, ThreeDS2: p.ThreeDS2,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}}
	body.setSource(p.Source)
	return body
}

// TopUpParams describes a top-up.
type TopUpParams struct {
	// OriginalReceiptNumber is that of the original, approved pre-authorisation. Required.
	OriginalReceiptNumber string
	// PrincipalAmount is as in [PayParams].
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// SupplierBusinessCode is the original's if it is empty, also with [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// TopUp adds an amount to a pre-authorisation.
//
// POST /transactions (PREAUTH, INCREMENTAL). Errors as for Pay.
func (s *TransactionsService) TopUp(ctx context.Context, params TopUpParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p TopUpParams) body() transactionBody {
	body := ReauthoriseParams(p).body()
	body.AuthorisationType = AuthorisationTypeIncremental
	return body
}

// ReauthoriseParams describes a re-authorisation.
type ReauthoriseParams struct {
	// OriginalReceiptNumber is that of the original, approved and expired pre-authorisation.
	// Required.
	OriginalReceiptNumber string
	// PrincipalAmount is the full amount, as in [PayParams].
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// SupplierBusinessCode is the original's if it is empty, also with [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// Reauthorise authorises an expired original pre-authorisation of a Visa card
// again, for the full amount.
//
// POST /transactions (PREAUTH, REAUTHORISATION). Errors as for Pay.
func (s *TransactionsService) Reauthorise(ctx context.Context, params ReauthoriseParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p ReauthoriseParams) body() transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePreauth, AuthorisationType: AuthorisationTypeReauthorisation, OriginalReceiptNumber: p.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata, SupplierBusinessCode: p.SupplierBusinessCode,
	}}
}

// ExtendParams describes an extension.
type ExtendParams struct {
	// OriginalReceiptNumber is that of the original, approved pre-authorisation. Required.
	OriginalReceiptNumber string
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// SupplierBusinessCode is the original's if it is empty, also with [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// Extend prolongs a pre-authorisation of a Mastercard. It sends the amount 0.00, as the
// service requires.
//
// POST /transactions (PREAUTH, EXTENSION). Errors as for Pay.
func (s *TransactionsService) Extend(ctx context.Context, params ExtendParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p ExtendParams) body() transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePreauth, AuthorisationType: AuthorisationTypeExtension, OriginalReceiptNumber: p.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(new(decimal.Decimal)), Currency: p.Currency, // 0.00 is sent, and not left out
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata, SupplierBusinessCode: p.SupplierBusinessCode,
	}}
}

// CaptureParams describes the capture of a pre-authorisation.
type CaptureParams struct {
	// OriginalReceiptNumber is that of a pre-authorisation or a re-authorisation. Required without
	// Original.
	OriginalReceiptNumber string
	// Original is the pre-authorisation, to check its type and currency before sending. Optional.
	Original *Transaction
	// PrincipalAmount is above zero, and otherwise as in [PayParams]. At most double the pre-authorised amount; the service
	// checks that, because the original does not show top-ups.
	PrincipalAmount decimal.Decimal
	// Currency is required without an Original that shows it, here or by [WithCurrency].
	Currency Currency
	// StoredCredential is required.
	StoredCredential *StoredCredentialData
	// SupplierBusinessCode is the original's if it is empty, also with [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// Capture takes the money of a pre-authorisation. A pre-authorisation can be captured
// once.
//
// POST /transactions (CAPTURE). Errors as for Pay.
func (s *TransactionsService) Capture(ctx context.Context, params CaptureParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p CaptureParams) body() transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypeCapture, OriginalReceiptNumber: receiptOf(p.OriginalReceiptNumber, p.Original),
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency, StoredCredentialData: p.StoredCredential,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata, SupplierBusinessCode: p.SupplierBusinessCode,
	}, original: p.Original}
}

func (b *transactionBody) checkCapture(f *findings) {
	stored := b.StoredCredentialData
	f.require(stored != nil, "capture.storedCredentialData.required", "storedCredentialData", "is required for cards")
	f.require(stored == nil || stored.EntryMode != "",
		"capture.storedCredentialData.entryMode", "storedCredentialData.entryMode", "is required")
	f.require(b.original == nil || b.original.TransactionType == "" || sameText(string(b.original.TransactionType), string(TransactionTypePreauth)),
		"capture.original.preauth", "originalReceiptNumber", "must be a pre-authorisation")
}

// CancelPreauthorisationParams describes the cancellation of a pre-authorisation.
type CancelPreauthorisationParams struct {
	// OriginalReceiptNumber is that of the original, approved pre-authorisation. Required.
	OriginalReceiptNumber string
	// Type is required.
	Type CancellationType
	// PrincipalAmount is as in [PayParams]: the original amount with [CancellationTypeFull], the
	// outstanding part to cancel with [CancellationTypePartial].
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// SupplierBusinessCode is the original's if it is empty, also with [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Optional, as in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// CancelPreauthorisation releases the reserved amount, or a part of it.
//
// POST /transactions (PREAUTH_CANCELLATION). Errors as for Pay.
func (s *TransactionsService) CancelPreauthorisation(ctx context.Context, params CancelPreauthorisationParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p CancelPreauthorisationParams) body() transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePreauthCancellation, CancellationType: p.Type, OriginalReceiptNumber: p.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata, SupplierBusinessCode: p.SupplierBusinessCode,
	}}
}
