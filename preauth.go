package quickstream

import (
	"context"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// PreauthoriseParams describes an initial pre-authorisation of a card. Members without a comment are as in
// [PayParams].
type PreauthoriseParams struct {
	SupplierBusinessCode string
	// Source is the card. Required.
	Source          CardSource
	PrincipalAmount decimal.Decimal
	Currency        Currency
	// ECI is required, and is not 5, 6 or 7.
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
// POST /transactions (PREAUTH). Errors as for Pay.
func (s *TransactionsService) Preauthorise(ctx context.Context, params PreauthoriseParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p PreauthoriseParams) body() transactionBody {
	details := FollowUpDetails{p.SupplierBusinessCode, p.CustomerReferenceNumber, p.PaymentReferenceNumber, p.Comment, p.Metadata}
	body := details.of(TransactionTypePreauth, "", p.PrincipalAmount, p.Currency)
	body.ECI, body.IPAddress, body.StoredCredentialData, body.ThreeDS2 = p.ECI, address(p.IPAddress), p.StoredCredential, p.ThreeDS2
	body.setSource(p.Source)
	return body
}

// FollowUpDetails are the optional members of a transaction that follows another. Its parameters
// embed them, and have the required members beside them, so that most literals are flat. The
// parameters of other transactions have these members themselves.
type FollowUpDetails struct {
	// SupplierBusinessCode is by default the original's, even with [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// As in [PayParams]:
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// of returns a transaction with these details; originalReceiptNumber is "" if it follows no other.
func (d FollowUpDetails) of(kind TransactionType, originalReceiptNumber string, amount decimal.Decimal, currency Currency) transactionBody {
	return transactionBody{transactionJSON: transactionJSON{
		TransactionType: kind, OriginalReceiptNumber: originalReceiptNumber,
		PrincipalAmount: wire.NewNumber(amount), Currency: currency, SupplierBusinessCode: d.SupplierBusinessCode,
		CustomerReferenceNumber: d.CustomerReferenceNumber, PaymentReferenceNumber: d.PaymentReferenceNumber,
		Comment: d.Comment, Metadata: d.Metadata,
	}}
}

// TopUpParams describes a top-up.
type TopUpParams struct {
	// OriginalReceiptNumber is that of the original, approved pre-authorisation. Required.
	OriginalReceiptNumber string
	// PrincipalAmount is as in [PayParams].
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency

	FollowUpDetails
}

// TopUp adds an amount to a pre-authorisation.
//
// POST /transactions (PREAUTH, INCREMENTAL). Errors as for Pay.
func (s *TransactionsService) TopUp(ctx context.Context, params TopUpParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p TopUpParams) body() transactionBody {
	body := p.of(TransactionTypePreauth, p.OriginalReceiptNumber, p.PrincipalAmount, p.Currency)
	body.AuthorisationType = AuthorisationTypeIncremental
	return body
}

// ReauthoriseParams describes a re-authorisation, with the members of a top-up: the receipt number
// of an expired pre-authorisation, and its full amount.
type ReauthoriseParams TopUpParams

// Reauthorise authorises an expired original pre-authorisation of a Visa card
// again, for the full amount.
//
// POST /transactions (PREAUTH, REAUTHORISATION). Errors as for Pay.
func (s *TransactionsService) Reauthorise(ctx context.Context, params ReauthoriseParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p ReauthoriseParams) body() transactionBody {
	body := TopUpParams(p).body()
	body.AuthorisationType = AuthorisationTypeReauthorisation
	return body
}

// ExtendParams describes an extension.
type ExtendParams struct {
	// OriginalReceiptNumber is that of the original, approved pre-authorisation. Required.
	OriginalReceiptNumber string
	// Currency is required, here or by [WithCurrency].
	Currency Currency

	FollowUpDetails
}

// Extend prolongs a pre-authorisation of a Mastercard. It sends the amount 0.00, as the
// service requires.
//
// POST /transactions (PREAUTH, EXTENSION). Errors as for Pay.
func (s *TransactionsService) Extend(ctx context.Context, params ExtendParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p ExtendParams) body() transactionBody {
	body := p.of(TransactionTypePreauth, p.OriginalReceiptNumber, decimal.Zero, p.Currency) // 0.00 is sent, and not left out
	body.AuthorisationType = AuthorisationTypeExtension
	return body
}

// CaptureParams describes the capture of a pre-authorisation.
type CaptureParams struct {
	// OriginalReceiptNumber is that of a pre-authorisation or a re-authorisation. Required.
	OriginalReceiptNumber string
	// PrincipalAmount is above zero, and otherwise as in [PayParams]. The service refuses more than double the
	// pre-authorised amount.
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// StoredCredential is storedCredentialData. Required.
	StoredCredential *StoredCredentialData

	FollowUpDetails
}

// Capture takes the money of a pre-authorisation. A pre-authorisation can be captured
// once.
//
// POST /transactions (CAPTURE). Errors as for Pay.
func (s *TransactionsService) Capture(ctx context.Context, params CaptureParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p CaptureParams) body() transactionBody {
	body := p.of(TransactionTypeCapture, p.OriginalReceiptNumber, p.PrincipalAmount, p.Currency)
	body.StoredCredentialData = p.StoredCredential
	return body
}

// CancelPreauthorisationParams describes the cancellation of a pre-authorisation.
type CancelPreauthorisationParams struct {
	// OriginalReceiptNumber is that of the original, approved pre-authorisation. Required.
	OriginalReceiptNumber string
	// Type is cancellationType. Required.
	Type CancellationType
	// PrincipalAmount is as in [PayParams]: the original amount with [CancellationTypeFull], the
	// outstanding part to cancel with [CancellationTypePartial].
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency

	FollowUpDetails
}

// CancelPreauthorisation releases the reserved amount, or a part of it.
//
// POST /transactions (PREAUTH_CANCELLATION). Errors as for Pay.
func (s *TransactionsService) CancelPreauthorisation(ctx context.Context, params CancelPreauthorisationParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p CancelPreauthorisationParams) body() transactionBody {
	body := p.of(TransactionTypePreauthCancellation, p.OriginalReceiptNumber, p.PrincipalAmount, p.Currency)
	body.CancellationType = p.Type
	return body
}
