package quickstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream/internal/transport"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// PayParams describes a payment.
type PayParams struct {
	// SupplierBusinessCode is required, here or by [WithSupplierBusinessCode].
	SupplierBusinessCode string
	// Source is the account that pays: singleUseTokenId, customerId, accountToken, creditCard, bankAccount or
	// nzBankAccount. Required. For PayTo see [PayToService.Collect].
	Source AccountSource
	// PrincipalAmount is the amount before surcharge in dollars, with at most two decimals. Required.
	// 0.00 is refused for a refund and a capture; otherwise it is sent, and the service judges it.
	PrincipalAmount decimal.Decimal
	// Currency is required, here or by [WithCurrency].
	Currency Currency
	// ECI says how the customer ordered. Required for cards.
	ECI ECI
	// IPAddress is the customer's public address, never the merchant's. Required with a single-use
	// token, and for account details with [ECIInternet]. Omit it if the order did not come over the
	// Internet.
	IPAddress netip.Addr
	// StoredCredential is storedCredentialData, required for cards. If it is nil and ECI is
	// [ECIInternet], [ECIPhone], [ECIMail], [ECI5], [ECI6] or [ECI7], it is [EntryModeManual] for a
	// card's details, and for a single-use token that is not declared as a bank account's.
	StoredCredential *StoredCredentialData
	// ThreeDS2 is true if the token's card was authenticated with 3D Secure. Optional.
	ThreeDS2 *bool
	// DebtRepayment is true if the payment repays a debt. Optional.
	DebtRepayment *bool
	// CustomerReferenceNumber has up to 100 ASCII characters. If it is a customer number,
	// the customer's history shows the transaction. Optional.
	CustomerReferenceNumber string
	// PaymentReferenceNumber has up to 100 ASCII characters. A lost payment is found by
	// it: make it unique and store it first. If empty, a unique one is made.
	PaymentReferenceNumber string
	// Comment is free text. Optional.
	Comment string
	// Metadata are the merchant's texts by name, which the service returns. Optional.
	Metadata map[string]string
	// MPGSData is for recurring payments and instalments with the Mastercard Payment Gateway. Its
	// members are not published; the service makes it if it is empty.
	MPGSData map[string]any
}

type transactionJSON struct {
	TransactionType         TransactionType       `json:"transactionType"`
	AuthorisationType       AuthorisationType     `json:"authorisationType,omitempty"`
	CancellationType        CancellationType      `json:"cancellationType,omitempty"`
	OriginalReceiptNumber   string                `json:"originalReceiptNumber,omitempty"`
	SupplierBusinessCode    string                `json:"supplierBusinessCode,omitempty"`
	PrincipalAmount         *wire.Number          `json:"principalAmount,omitempty"`
	Currency                Currency              `json:"currency,omitempty"`
	ECI                     ECI                   `json:"eci,omitempty"`
	IPAddress               string                `json:"ipAddress,omitempty"`
	CustomerReferenceNumber string                `json:"customerReferenceNumber,omitempty"`
	PaymentReferenceNumber  string                `json:"paymentReferenceNumber,omitempty"`
	Comment                 string                `json:"comment,omitempty"`
	Metadata                map[string]string     `json:"metadata,omitempty"`
	StoredCredentialData    *StoredCredentialData `json:"storedCredentialData,omitempty"`
	MPGSData                map[string]any        `json:"mpgsData,omitempty"`
	ThreeDS2                *bool                 `json:"threeDS2,omitempty"`
	DebtRepayment           *bool                 `json:"debtRepayment,omitempty"`
	Cryptogram              string                `json:"cryptogram,omitempty"`

	SingleUseTokenID string             `json:"singleUseTokenId,omitempty"`
	CustomerID       string             `json:"customerId,omitempty"`
	AccountToken     string             `json:"accountToken,omitempty"`
	CreditCard       *cardJSON          `json:"creditCard,omitempty"`
	BankAccount      *bankAccountJSON   `json:"bankAccount,omitempty"`
	NZBankAccount    *nzBankAccountJSON `json:"nzBankAccount,omitempty"`
	PayToData        *payToDataJSON     `json:"payToData,omitempty"`
}

// Pay takes a payment. The error is nil if and only if it is approved. Every call is a new payment.
//
// POST /transactions (PAYMENT). After a [DeclinedError] nothing was paid. After a [PendingError] or
// an [UnknownOutcomeError] the payment may be taken: do not pay again, but give the error to After
// of package resolve. A [ValidationError], [NetworkError] or [APIError] means that this call took
// nothing; an APIError can match [ErrInvalid], [ErrUnauthorized] or [ErrUnavailable].
func (s *TransactionsService) Pay(ctx context.Context, params PayParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p PayParams) body() transactionBody {
	details := FollowUpDetails{p.SupplierBusinessCode, p.CustomerReferenceNumber, p.PaymentReferenceNumber, p.Comment, p.Metadata}
	body := details.of(TransactionTypePayment, "", p.PrincipalAmount, p.Currency)
	body.ECI, body.IPAddress, body.StoredCredentialData, body.ThreeDS2 = p.ECI, address(p.IPAddress), p.StoredCredential, p.ThreeDS2
	body.DebtRepayment, body.MPGSData = p.DebtRepayment, p.MPGSData
	body.setSource(p.Source)
	return body
}

// VerifyAccountParams describes a verification of an account. Members without a comment are as in
// [PayParams].
type VerifyAccountParams struct {
	SupplierBusinessCode string
	// Source is the account, which need not be a card. Required.
	Source CardSource
	// Currency is by default that of [WithCurrency], or else [CurrencyAUD].
	Currency Currency
	// ECI is required for cards, and is not 5, 6 or 7.
	ECI                     ECI
	IPAddress               netip.Addr
	StoredCredential        *StoredCredentialData
	ThreeDS2                *bool
	CustomerReferenceNumber string
	PaymentReferenceNumber  string
	Comment                 string
	Metadata                map[string]string
}

// VerifyAccount checks that an account can be used. It takes no money.
//
// POST /transactions (ACCOUNT_VERIFICATION). Errors as for Pay.
func (s *TransactionsService) VerifyAccount(ctx context.Context, params VerifyAccountParams, opts ...CallOption) (*Transaction, error) {
	return s.send(ctx, params, opts)
}

func (p VerifyAccountParams) body() transactionBody {
	body := PreauthoriseParams{
		p.SupplierBusinessCode, p.Source, decimal.Zero, p.Currency, p.ECI, p.IPAddress, p.StoredCredential, p.ThreeDS2,
		p.CustomerReferenceNumber, p.PaymentReferenceNumber, p.Comment, p.Metadata,
	}.body()
	body.TransactionType, body.PrincipalAmount = TransactionTypeAccountVerification, nil
	return body
}

func (b *transactionBody) setSource(from AccountSource) {
	s := sourceOf(from)
	b.kind = s.kind
	b.SingleUseTokenID, b.CustomerID, b.AccountToken = s.token, s.customerID, s.accountToken
	b.CreditCard, b.BankAccount, b.NZBankAccount = s.card.wire(), s.bank.wire(), s.nzBank.wire()
	if s.card != nil {
		b.Cryptogram = s.card.Cryptogram.text()
	}
}

// setDefaults fills in the business, the currency and the stored credential. A transaction that
// follows another keeps the original's business, and an agreement gets the business of its payment.
func (b *transactionBody) setDefaults(c *callConfig) {
	if b.OriginalReceiptNumber == "" {
		b.SupplierBusinessCode = cmp.Or(b.SupplierBusinessCode, c.business)
	}
	b.Currency = cmp.Or(b.Currency, c.currency)
	if b.TransactionType == TransactionTypeAccountVerification {
		b.Currency = cmp.Or(b.Currency, CurrencyAUD)
	}
	if b.StoredCredentialData == nil && b.isManual() {
		b.StoredCredentialData = &StoredCredentialData{EntryMode: EntryModeManual}
	}
	if b.PayToData != nil && b.PayToData.PayToAgreement != nil {
		agreement := b.PayToData.PayToAgreement
		agreement.SupplierBusinessCode = cmp.Or(agreement.SupplierBusinessCode, b.SupplierBusinessCode)
	}
}

// isManual reports whether the customer gives a card's details for this transaction.
func (b *transactionBody) isManual() bool {
	switch b.ECI {
	case ECIInternet, ECIPhone, ECIMail, ECI5, ECI6, ECI7:
		return b.CreditCard != nil || b.SingleUseTokenID != "" && (b.kind == "" || b.kind.isCard())
	default:
		return false
	}
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.Unmap().String()
}

// TransactionParams is one of [PayParams], [CollectParams], [RefundParams], [PreauthoriseParams], [TopUpParams],
// [ReauthoriseParams], [ExtendParams], [CaptureParams], [CancelPreauthorisationParams] or
// [VerifyAccountParams].
type TransactionParams interface{ body() transactionBody }

// transactionBody is a transaction that is about to be sent.
type transactionBody struct {
	transactionJSON
	kind         AccountType // of the account behind a handle, from the caller; it is not sent
	ownReference bool
	ownKey       bool
	intentName   string
}

func (s *TransactionsService) send(ctx context.Context, params TransactionParams, opts []CallOption) (*Transaction, error) {
	call, body := s.begin(params, opts)
	return s.post(ctx, call, body)
}

func (s *TransactionsService) begin(params TransactionParams, opts []CallOption) (*call, transactionBody) {
	if params == nil { // an error instead of a panic
		call := s.client.begin("Transactions.Submit", madeBy("Transactions.Plan").with(opts))
		call.refuse(errors.New("the parameters are nil"))
		return call, transactionBody{}
	}
	body := params.body()
	call := s.client.begin(operationOf(body.transactionJSON), opts)
	name := call.config.intentName
	body.setDefaults(&call.config)
	body.Metadata = call.config.withMetadata(body.Metadata)
	call.check(func(f *findings) {
		body.check(f)
		_, exists := body.Metadata[name]
		f.require(name == "" || !exists, "transaction.metadata.intent", "metadata", "must not hold the member that the intent's id is sent in")
	})
	derive := call.derivation(body)
	body.ownReference, body.ownKey = body.PaymentReferenceNumber != "", call.config.key != ""
	body.PaymentReferenceNumber = cmp.Or(body.PaymentReferenceNumber, call.config.reference, derive("reference"))
	if body.PayToData != nil {
		body.PayToData.EndToEndID = cmp.Or(body.PayToData.EndToEndID, call.config.reference, derive("endToEndId"))
	}
	id := derive("id")
	if name != "" {
		body.intentName, body.Metadata[name] = name, id
	}
	return call, body
}

// withoutSecrets returns the transaction without its secrets and without members that may hold some,
// and whether it is complete.
func (b transactionJSON) withoutSecrets() (stored transactionJSON, complete bool) {
	stored = b
	stored.CreditCard, stored.BankAccount, stored.NZBankAccount, stored.Cryptogram, stored.MPGSData = nil, nil, nil, "", nil
	if b.CreditCard.isExpiry() { // of a refund
		stored.CreditCard = b.CreditCard
	}
	complete = stored.CreditCard == b.CreditCard && b.BankAccount == nil && b.NZBankAccount == nil && b.Cryptogram == "" && b.MPGSData == nil
	if b.PayToData != nil && b.PayToData.PayToAgreement != nil {
		data := *b.PayToData
		data.PayToAgreement = nil
		stored.PayToData, complete = &data, false
	}
	return stored, complete
}

// transaction gives a call its body, and its intent.
func (c *call) transaction(body transactionBody) {
	stored, complete := body.withoutSecrets()
	c.reference, c.body, c.stored = body.PaymentReferenceNumber, body.transactionJSON, stored
	c.intent = &Intent{
		Reference: body.PaymentReferenceNumber, OwnReference: body.ownReference, OwnKey: body.ownKey,
		ID: body.Metadata[body.intentName], MetadataName: body.intentName,
		Complete: complete,
	}
}

// post sends a transaction that was checked.
func (s *TransactionsService) post(ctx context.Context, call *call, body transactionBody) (*Transaction, error) {
	call.transaction(body)
	call.answer = new(Transaction)
	read := decoding(call, call.answer, body.fits)
	err := call.do(ctx, func(status int, answer []byte) error {
		if err := read(status, answer); err != nil {
			return err
		}
		return unsettledBy(call.answer)
	})
	if err != nil {
		return nil, err
	}
	return call.answer, nil
}

// unsettledBy says why an answer does not settle an earlier attempt that got none. If the service
// executed both, the earlier payment may be approved although the later one is declined. Only the
// look-up by reference shows both.
func unsettledBy(t *Transaction) error {
	if outcome := t.Outcome(); outcome != OutcomeApproved {
		return transport.Unsettled{Why: fmt.Errorf("quickstream: an attempt was not answered, and a later one is %s (response code %s)",
			outcome, safeName(t.ResponseCode, 4))}
	}
	return nil
}

// maxReference bounds customer and payment reference numbers.
const maxReference = 100

// check applies the rules of its operation to a transaction, made from parameters or read from an
// intent.
func (b *transactionBody) check(f *findings) {
	operation := operationOf(b.transactionJSON)
	if operation != OperationVerifyAccount {
		b.checkAmount(f)
	}
	b.checkReferences(f)
	switch operation {
	case OperationPay, OperationCollect, OperationPreauthorise, OperationVerifyAccount:
		b.checkSource(f)
	case OperationRefund:
		b.checkFollowUp(f)
		f.require(b.CreditCard == nil || b.CreditCard.hasExpiry(),
			"refund.cardExpiry.valid", "creditCard.expiryDateMonth", "must be a month of a four-digit year")
	case OperationCapture:
		b.checkFollowUp(f)
		stored := b.StoredCredentialData
		f.require(stored != nil, "capture.storedCredentialData.required", "storedCredentialData", "is required for cards")
		f.require(stored == nil || stored.EntryMode != "",
			"capture.storedCredentialData.entryMode", "storedCredentialData.entryMode", "is required")
	case OperationCancelPreauthorisation:
		b.checkReceipt(f)
		f.require(b.CancellationType != "", "cancelPreauthorisation.cancellationType.required", "cancellationType", "is required")
	default: // a change of a pre-authorisation
		b.checkReceipt(f)
	}
}

func (b *transactionBody) checkReceipt(f *findings) {
	f.require(b.OriginalReceiptNumber != "", "transaction.originalReceiptNumber.required", "originalReceiptNumber", "is required")
}

func (b *transactionBody) checkAmount(f *findings) {
	amount := b.amount()
	f.require(b.PrincipalAmount != nil && !amount.IsNegative() && wire.HasTwoDecimals(amount), "transaction.principalAmount.money",
		"principalAmount", "is required, and must not be negative or have more than two decimals or 32 digits")
	f.require(b.Currency != "", "transaction.currency.required", "currency", "is required")
}

func (b *transactionBody) amount() decimal.Decimal {
	if b.PrincipalAmount == nil {
		return decimal.Decimal{}
	}
	return b.PrincipalAmount.Decimal()
}

func (b *transactionBody) checkReferences(f *findings) {
	const short, plain = "must not be longer than 100 characters", "must consist of ASCII characters"
	customer, payment := b.CustomerReferenceNumber, b.PaymentReferenceNumber
	f.require(len(customer) <= maxReference, "transaction.customerReferenceNumber.length", "customerReferenceNumber", short)
	f.require(isASCII(customer), "transaction.customerReferenceNumber.ascii", "customerReferenceNumber", plain)
	f.require(len(payment) <= maxReference, "transaction.paymentReferenceNumber.length", "paymentReferenceNumber", short)
	f.require(isASCII(payment), "transaction.paymentReferenceNumber.ascii", "paymentReferenceNumber", plain)
}

// checkFollowUp is for a capture and a refund.
func (b *transactionBody) checkFollowUp(f *findings) {
	b.checkReceipt(f)
	f.require(!b.amount().IsZero(), "transaction.principalAmount.positive", "principalAmount", "must be more than zero")
}
