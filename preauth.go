package quickstream

import (
	"context"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PreauthoriseParams describes an initial pre-authorisation of a card. The
// members are as in [PayParams].
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
// POST /transactions (PREAUTH), and errors as for Pay.
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

// TopUpParams names a pre-authorisation and what to add to it.
type TopUpParams struct {
	// OriginalReceiptNumber is the receipt of the original, successful
	// pre-authorisation. Required.
	OriginalReceiptNumber string
	// PrincipalAmount is what is added. Required, with at most two decimals.
	PrincipalAmount decimal.Decimal
	// Currency is required.
	Currency                Currency
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in [PayParams].
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// TopUp adds an amount to a pre-authorisation.
//
// POST /transactions (PREAUTH, INCREMENTAL), and errors as for Pay.
func (s *TransactionsService) TopUp(ctx context.Context, params TopUpParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p TopUpParams) body() transactionBody {
	body := ReauthoriseParams(p).body()
	body.AuthorisationType = AuthorisationTypeIncremental
	return body
}

// ReauthoriseParams names an expired pre-authorisation and the amount to authorise
// again.
type ReauthoriseParams struct {
	// OriginalReceiptNumber is the receipt of the original pre-authorisation, which
	// was successful and has expired. Required.
	OriginalReceiptNumber string
	// PrincipalAmount is the full amount. Required, with at most two decimals.
	PrincipalAmount decimal.Decimal
	// Currency is required.
	Currency                Currency
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in [PayParams].
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// Reauthorise authorises an expired original pre-authorisation of a Visa card
// again, for the full amount.
//
// POST /transactions (PREAUTH, REAUTHORISATION), and errors as for Pay.
func (s *TransactionsService) Reauthorise(ctx context.Context, params ReauthoriseParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p ReauthoriseParams) body() transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePreauth, AuthorisationType: AuthorisationTypeReauthorisation, OriginalReceiptNumber: p.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}}
}

// ExtendParams names the pre-authorisation to extend.
type ExtendParams struct {
	// OriginalReceiptNumber is the receipt of the original, successful
	// pre-authorisation. Required.
	OriginalReceiptNumber string
	// Currency is required.
	Currency                Currency
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in [PayParams].
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// Extend prolongs a pre-authorisation of a Mastercard. Its amount is 0.00 by the
// service's rules, which this package sends.
//
// POST /transactions (PREAUTH, EXTENSION), and errors as for Pay.
func (s *TransactionsService) Extend(ctx context.Context, params ExtendParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p ExtendParams) body() transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePreauth, AuthorisationType: AuthorisationTypeExtension, OriginalReceiptNumber: p.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(new(decimal.Decimal)), Currency: p.Currency, // 0.00 is sent, and not left out
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}}
}

// CaptureParams describes the capture of a pre-authorisation.
type CaptureParams struct {
	// OriginalReceiptNumber is the receipt of an initial pre-authorisation or a
	// re-authorisation. Required unless Original is given.
	OriginalReceiptNumber string
	// Original is optional: with the pre-authorisation as it was read, what is no
	// pre-authorisation or in another currency is found before sending.
	Original *Transaction
	// PrincipalAmount is at most double what is pre-authorised. Only the service
	// knows that: it counts top-ups, which the original does not show. Required,
	// with at most two decimals.
	PrincipalAmount decimal.Decimal
	// Currency and StoredCredential are required.
	Currency                Currency
	StoredCredential        *StoredCredentialData
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in [PayParams].
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// Capture takes the money of a pre-authorisation. It is possible once.
//
// POST /transactions (CAPTURE), and errors as for Pay.
func (s *TransactionsService) Capture(ctx context.Context, params CaptureParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p CaptureParams) body() transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypeCapture, OriginalReceiptNumber: receiptOf(p.OriginalReceiptNumber, p.Original),
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency, StoredCredentialData: p.StoredCredential,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}, original: p.Original}
}

func (b *transactionBody) checkCapture(f *findings) {
	stored := b.StoredCredentialData
	f.require(stored != nil, "capture.storedCredentialData.required", "storedCredentialData", "is required for cards")
	f.require(stored == nil || stored.EntryMode != "",
		"capture.storedCredentialData.entryMode", "storedCredentialData.entryMode", "is required")
	f.require(b.original == nil || b.original.TransactionType == TransactionTypePreauth,
		"capture.original.preauth", "originalReceiptNumber", "must be a pre-authorisation")
}

// CancelPreauthorisationParams describes the cancellation of a
// pre-authorisation.
type CancelPreauthorisationParams struct {
	// OriginalReceiptNumber is the receipt of the original, successful
	// pre-authorisation. Required.
	OriginalReceiptNumber string
	// Type is required.
	Type CancellationType
	// PrincipalAmount is the full original amount with [CancellationTypeFull], and
	// the outstanding part to cancel with [CancellationTypePartial]. Required, with
	// at most two decimals.
	PrincipalAmount decimal.Decimal
	// Currency is required.
	Currency                Currency
	CustomerReferenceNumber string
	// PaymentReferenceNumber is made when it is empty, as in [PayParams].
	PaymentReferenceNumber string
	Comment                string
	Metadata               map[string]string
}

// CancelPreauthorisation releases what was reserved, or a part of it.
//
// POST /transactions (PREAUTH_CANCELLATION), and errors as for Pay.
func (s *TransactionsService) CancelPreauthorisation(ctx context.Context, params CancelPreauthorisationParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p CancelPreauthorisationParams) body() transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: TransactionTypePreauthCancellation, CancellationType: p.Type, OriginalReceiptNumber: p.OriginalReceiptNumber,
		PrincipalAmount: wire.OptionalNumber(&p.PrincipalAmount), Currency: p.Currency,
		CustomerReferenceNumber: p.CustomerReferenceNumber, PaymentReferenceNumber: p.PaymentReferenceNumber,
		Comment: p.Comment, Metadata: p.Metadata,
	}}
}
