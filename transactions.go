package quickstream

import (
	"context"
	"encoding/json"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// TransactionsService has the operations on transactions.
type TransactionsService struct{ client *Client }

// TransactionType is the kind of a transaction.
type TransactionType string

// The transaction types.
const (
	TransactionTypePayment             TransactionType = "PAYMENT"
	TransactionTypeRefund              TransactionType = "REFUND"
	TransactionTypePreauth             TransactionType = "PREAUTH"
	TransactionTypeCapture             TransactionType = "CAPTURE"
	TransactionTypePreauthCancellation TransactionType = "PREAUTH_CANCELLATION"
	TransactionTypeAccountVerification TransactionType = "ACCOUNT_VERIFICATION"
)

// AuthorisationType is the kind of a pre-authorisation that follows another.
type AuthorisationType string

// The kinds of following pre-authorisation.
const (
	AuthorisationTypeIncremental     AuthorisationType = "INCREMENTAL"
	AuthorisationTypeExtension       AuthorisationType = "EXTENSION"
	AuthorisationTypeReauthorisation AuthorisationType = "REAUTHORISATION"
)

// CancellationType says how much of a pre-authorisation is cancelled.
type CancellationType string

// The kinds of cancellation.
const (
	CancellationTypeFull    CancellationType = "FULL"
	CancellationTypePartial CancellationType = "PARTIAL"
)

// TransactionStatus is the status of a transaction. It does not settle the outcome: read
// [Transaction.Outcome].
type TransactionStatus string

// The statuses of a transaction. All but Approved and Declined are from third parties' models of
// the service; unconfirmed. [TransactionStatusApprovedReturnable] probably marks a bank account
// payment that may still be returned.
const (
	TransactionStatusApproved           TransactionStatus = "Approved"
	TransactionStatusApprovedReturnable TransactionStatus = "Approved*"
	TransactionStatusPending            TransactionStatus = "Pending"
	TransactionStatusDeclined           TransactionStatus = "Declined"
	TransactionStatusVoided             TransactionStatus = "Voided"
	TransactionStatusSuspended          TransactionStatus = "Suspended"
)

// SummaryCode sums up what became of a transaction.
type SummaryCode string

// The summary codes.
const (
	SummaryCodeApproved SummaryCode = "0"
	SummaryCodeDeclined SummaryCode = "1" // by the financial institution
	SummaryCodeErred    SummaryCode = "2" // status unknown
	SummaryCodeRejected SummaryCode = "3" // by the service
)

// Transaction is a transaction as the service reports it. [Transaction.Outcome] says what became of
// it. Unconfirmed members are from third parties' models of the service.
//
// Two decoded Transactions are never reflect.DeepEqual: compare ReceiptNumber and Outcome.
type Transaction struct {
	// ReceiptNumber identifies the transaction in other operations. Store it.
	ReceiptNumber       string            `json:"receiptNumber,omitempty" wire:"identifies"`
	TransactionType     TransactionType   `json:"transactionType,omitempty" wire:"decides"`
	Status              TransactionStatus `json:"status,omitempty" wire:"decides"`
	SummaryCode         SummaryCode       `json:"summaryCode,omitempty" wire:"decides"`
	ResponseCode        string            `json:"responseCode,omitempty" wire:"decides"`
	ResponseDescription string            `json:"responseDescription,omitempty"`
	// FraudGuardResult is the result of fraud screening: "" without screening, "OK" if passed
	// (unconfirmed), another text, or the JSON of an object.
	FraudGuardResult        FraudGuardResult `json:"fraudGuardResult,omitempty"`
	CustomerReferenceNumber string           `json:"customerReferenceNumber,omitempty"`
	PaymentReferenceNumber  string           `json:"paymentReferenceNumber,omitempty" wire:"decides"`
	Comment                 string           `json:"comment,omitempty"`
	// Source is where the transaction came from; RESTAPI for this interface.
	Source          string    `json:"source,omitempty"`
	SettlementDate  Date      `json:"settlementDate,omitzero"`
	TransactionTime Timestamp `json:"transactionTime,omitzero"`
	// Refundable and Voidable say whether a refund or a void may be made now.
	Refundable bool `json:"refundable,omitempty"`
	Voidable   bool `json:"voidable,omitempty"`
	// TotalAmount is the principal plus the surcharge.
	PrincipalAmount      *Amount               `json:"principalAmount,omitempty" wire:"decides"`
	SurchargeAmount      *Amount               `json:"surchargeAmount,omitempty" wire:"decides"`
	TotalAmount          *Amount               `json:"totalAmount,omitempty" wire:"decides"`
	IPAddress            string                `json:"ipAddress,omitempty"`
	DebtRepayment        bool                  `json:"debtRepayment,omitempty"`
	SupplierBusinessCode string                `json:"supplierBusinessCode,omitempty"`
	MerchantAccount      *MerchantAccount      `json:"merchantAccount,omitempty"`
	CreditCard           *CreditCard           `json:"creditCard,omitempty"`
	BankAccount          *BankAccount          `json:"bankAccount,omitempty"`          // unconfirmed
	NZBankAccount        *NZBankAccount        `json:"nzBankAccount,omitempty"`        // unconfirmed
	DirectEntryAccount   *DirectEntryAccount   `json:"directEntryAccount,omitempty"`   // unconfirmed
	NZDirectEntryAccount *NZDirectEntryAccount `json:"nzDirectEntryAccount,omitempty"` // unconfirmed
	PayToData            *PayToData            `json:"payToData,omitempty" wire:"decides"`
	PayToPayeeAccount    *PayToPayeeAccount    `json:"payToPayeeAccount,omitempty"`
	PayToPayerAccount    *PayToPayerAccount    `json:"payToPayerAccount,omitempty"`
	Metadata             map[string]string     `json:"metadata,omitempty" wire:"decides"`
	AuthorisationType    AuthorisationType     `json:"authorisationType,omitempty" wire:"decides"` // unconfirmed
	CancellationType     CancellationType      `json:"cancellationType,omitempty" wire:"decides"`  // unconfirmed
	// OriginalReceiptNumber is that of the refunded or retried payment, or of the captured
	// pre-authorisation. Unconfirmed.
	OriginalReceiptNumber string `json:"originalReceiptNumber,omitempty" wire:"identifies"`
	AuthorisationCode     string `json:"authorisationCode,omitempty"`    // unconfirmed
	AuthorisationTraceID  string `json:"authorisationTraceId,omitempty"` // unconfirmed; NetworkTransactionID replaces it
	NetworkTransactionID  string `json:"networkTransactionId,omitempty"` // unconfirmed
	MerchantAdviceCode    string `json:"merchantAdviceCode,omitempty"`   // unconfirmed
	// The merchant descriptors of aggregators; unconfirmed.
	MerchantName          string `json:"merchantName,omitempty"`
	MerchantStreetAddress string `json:"merchantStreetAddress,omitempty"`
	MerchantLocation      string `json:"merchantLocation,omitempty"`
	MerchantState         string `json:"merchantState,omitempty"`
	MerchantCountry       string `json:"merchantCountry,omitempty"`
	MerchantPostCode      string `json:"merchantPostCode,omitempty"`
	SubMerchantID         string `json:"subMerchantId,omitempty"`
	Links                 []Link `json:"links,omitempty"`

	meaning       Outcome     // of a status that this package does not know
	finalDeclines bool        // the client was told that the service retries no declines
	environment   string      // of the client that read it
	intent        *Intent     // of the call that was answered with it
	candidates    []Candidate // the others that the Resume which returned it found

	envelope
}

// Intent returns the intent of the call that the transaction answers, with its Attempts. For a
// transaction that was read it has the type, reference, amount and receipt number.
func (t *Transaction) Intent() *Intent {
	if t == nil {
		return nil
	}
	if t.intent != nil {
		return t.intent
	}
	body := transactionJSON{
		TransactionType: t.TransactionType, AuthorisationType: t.AuthorisationType, OriginalReceiptNumber: t.OriginalReceiptNumber,
		PaymentReferenceNumber: t.PaymentReferenceNumber, CustomerReferenceNumber: t.CustomerReferenceNumber,
	}
	if p := t.PrincipalAmount; p != nil {
		body.PrincipalAmount, body.Currency = wire.NewNumber(p.Amount), p.Currency
	}
	return &Intent{
		Version: IntentVersion, Environment: t.environment, Operation: operationOf(body), Reference: t.PaymentReferenceNumber, OwnReference: true,
		ReceiptNumber: t.ReceiptNumber, Answered: true, MadeAt: t.TransactionTime.Time, Request: requestOf(body),
	}
}

// Candidates returns the other transactions that Resume found when it returned this one, such as an
// approved one without the intent's id; nil if Resume did not return it.
func (t *Transaction) Candidates() []Candidate {
	if t == nil {
		return nil
	}
	return t.candidates
}

// UnmarshalJSON reads a transaction. Identifiers, references, types, status, codes, amounts and
// metadata have to be readable and occur once. Other unreadable members are zero, and in Extra.
func (t *Transaction) UnmarshalJSON(data []byte) error { return decode(data, t) }

// MarshalJSON writes the transaction with its unknown members.
func (t Transaction) MarshalJSON() ([]byte, error) {
	type plain Transaction
	return encode(plain(t), t.envelope)
}

func (t *Transaction) identifier() string { return t.ReceiptNumber }

// FraudGuardResult is a text or the JSON of an object: the specification says object, clients have
// seen texts.
type FraudGuardResult string

// UnmarshalJSON reads a text, null or any other JSON.
func (r *FraudGuardResult) UnmarshalJSON(data []byte) error {
	text, err := wire.AnyText(data)
	if err == nil {
		*r = FraudGuardResult(text)
	}
	return err
}

// MarshalJSON writes the form that UnmarshalJSON reads.
func (r FraudGuardResult) MarshalJSON() ([]byte, error) {
	if wire.IsObject([]byte(r)) && json.Valid([]byte(r)) {
		return []byte(r), nil
	}
	return wire.Marshal(string(r))
}

// Get returns a transaction with its latest state.
//
// GET /transactions/{receiptNumber}. An unknown receipt number matches [ErrNotFound], a wrong key
// [ErrUnauthorized].
func (s *TransactionsService) Get(ctx context.Context, receiptNumber string, opts ...CallOption) (*Transaction, error) {
	return get[Transaction](ctx, s.client, "Transactions.Get", opts, receiptNumber)
}

// Void cancels a transaction before it is settled, if its Voidable is true. Neither the customer's
// statement nor the settlement then shows it.
//
// POST /transactions/{receiptNumber}/void. Errors as for Pay. An unknown receipt number matches
// [ErrNotFound]. An answer that does not show this transaction as [OutcomeVoided] is an
// [UnknownOutcomeError]. Do not refund before that is settled: both could happen.
func (s *TransactionsService) Void(ctx context.Context, receiptNumber string, opts ...CallOption) (*Transaction, error) {
	return s.sendVoid(ctx, s.void(receiptNumber, opts), receiptNumber)
}

func (s *TransactionsService) sendVoid(ctx context.Context, call *call, receiptNumber string) (*Transaction, error) {
	call.answer = new(Transaction)
	if err := call.do(ctx, decoding(call, call.answer, identifiedBy[Transaction](receiptNumber))); err != nil {
		return nil, err
	}
	return call.answer, nil
}

func (s *TransactionsService) void(receiptNumber string, opts []CallOption) *call {
	call := s.client.begin(OperationVoid, opts, receiptNumber)
	call.reference = receiptNumber
	call.intent = &Intent{Target: receiptNumber, Complete: true}
	return call
}

// MerchantAccount is the merchant's side of a transaction.
type MerchantAccount struct {
	MerchantID              string   `json:"merchantId,omitempty"`
	MerchantName            string   `json:"merchantName,omitempty"`
	SettlementBSB           string   `json:"settlementBsb,omitempty"`
	SettlementAccountNumber string   `json:"settlementAccountNumber,omitempty"`
	DisplayName             string   `json:"displayName,omitempty"`
	AcquiringInstitution    string   `json:"acquiringInstitution,omitempty"`
	Currency                Currency `json:"currency,omitempty"`
	// The account for surcharges, if it is a separate one; unconfirmed.
	SettlementSurchargeBSB           string `json:"settlementSurchargeBsb,omitempty"`
	SettlementSurchargeAccountNumber string `json:"settlementSurchargeAccountNumber,omitempty"`
}

// CreditCard is the masked card of a transaction.
type CreditCard struct {
	AccountType AccountType `json:"accountType,omitempty"`
	// AccountToken identifies the card if it is registered.
	AccountToken   string `json:"accountToken,omitempty" wire:"identifies"`
	CustomerID     string `json:"customerId,omitempty" wire:"identifies"` // unconfirmed
	DefaultAccount bool   `json:"defaultAccount,omitempty"`
	MaskedCard
	PANType        string         `json:"panType,omitempty"`        // FPAN, the card's own number, or DPAN, a device's; unconfirmed
	WalletProvider WalletProvider `json:"walletProvider,omitempty"` // unconfirmed
	Links          []Link         `json:"links,omitempty"`
}

// BankAccount is the masked Australian bank account of a transaction. From third parties' models of
// the service; unconfirmed.
type BankAccount struct {
	AccountType    AccountType `json:"accountType,omitempty"`
	AccountToken   string      `json:"accountToken,omitempty" wire:"identifies"`
	CustomerID     string      `json:"customerId,omitempty" wire:"identifies"`
	DefaultAccount bool        `json:"defaultAccount,omitempty"`
	MaskedBankAccount
	DisplayName string   `json:"displayName,omitempty"`
	Currency    Currency `json:"currency,omitempty"`
	Links       []Link   `json:"links,omitempty"`
}

// NZBankAccount is the masked New Zealand bank account of a transaction. From third parties' models
// of the service; unconfirmed.
type NZBankAccount struct {
	AccountType    AccountType `json:"accountType,omitempty"`
	AccountToken   string      `json:"accountToken,omitempty" wire:"identifies"`
	CustomerID     string      `json:"customerId,omitempty" wire:"identifies"`
	DefaultAccount bool        `json:"defaultAccount,omitempty"`
	MaskedNZBankAccount
	DisplayName string   `json:"displayName,omitempty"`
	Currency    Currency `json:"currency,omitempty"`
	Links       []Link   `json:"links,omitempty"`
}

// DirectEntryAccount is the merchant's side of an Australian bank account transaction. From third
// parties' models of the service; unconfirmed.
type DirectEntryAccount struct {
	DisplayName             string   `json:"displayName,omitempty"`
	Currency                Currency `json:"currency,omitempty"`
	DirectEntryUserID       string   `json:"directEntryUserId,omitempty"`
	DirectEntryUserName     string   `json:"directEntryUserName,omitempty"`
	AccountName             string   `json:"accountName,omitempty"`
	SettlementBSB           string   `json:"settlementBsb,omitempty"`
	SettlementAccountNumber string   `json:"settlementAccountNumber,omitempty"`
	RemitterName            string   `json:"remitterName,omitempty"`
}

// NZDirectEntryAccount is the merchant's side of a New Zealand bank account transaction. From third
// parties' models of the service; unconfirmed.
type NZDirectEntryAccount struct {
	DisplayName string   `json:"displayName,omitempty"`
	Currency    Currency `json:"currency,omitempty"`
	DebitUserID string   `json:"debitUserId,omitempty"`
	MaskedNZBankAccount
}

// PayToData is the PayTo part of a transaction.
type PayToData struct {
	AgreementToken         string `json:"agreementToken,omitempty" wire:"identifies"`
	EndToEndID             string `json:"endToEndId,omitempty" wire:"decides"`
	Priority               string `json:"priority,omitempty"` // NORM is known
	RemittanceInformation1 string `json:"remittanceInformation1,omitempty"`
	RemittanceInformation2 string `json:"remittanceInformation2,omitempty"`
}

// PayToPayeeAccount is the merchant's masked account of a PayTo payment.
type PayToPayeeAccount struct {
	DisplayName string   `json:"displayName,omitempty"`
	Currency    Currency `json:"currency,omitempty"`
}

// PayToPayerAccount is the payer's masked account of a PayTo payment.
type PayToPayerAccount struct {
	AccountType         AccountType `json:"accountType,omitempty"`
	CustomerID          string      `json:"customerId,omitempty" wire:"identifies"`
	PayerType           PayerType   `json:"payerType,omitempty"`
	PayerID             string      `json:"payerId,omitempty"`
	PayerName           string      `json:"payerName,omitempty"`
	UltimatePayerName   string      `json:"ultimatePayerName,omitempty"`
	MaskedAccountNumber string      `json:"maskedAccountNumber,omitempty"`
	PayIDType           PayIDType   `json:"payIdType,omitempty"`
	PayID               string      `json:"payId,omitempty"`
}
