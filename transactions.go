package quickstream

import (
	"context"
	"encoding/json"

	"github.com/quickstream-go/quickstream/internal/wire"
)

// TransactionsService has the operations on transactions.
type TransactionsService struct{ client *Client }

// TransactionType is what a transaction does.
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

// TransactionStatus is the status of a transaction, which does not settle what happened: read
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

// Transaction is a transaction as the service reports it. Read what became of it from
// [Transaction.Outcome]. Unconfirmed members are from third parties' models of the service.
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
	// OriginalReceiptNumber is the refunded or retried payment, or the captured pre-authorisation.
	// Unconfirmed.
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

	meaning     Outcome // of a status that this package does not know
	retries     serviceRetries
	environment string  // of the client that read it
	intent      *Intent // of the call that was answered with it
	differences []string
	candidates  []Candidate // what the Resume that returned it found beside it

	envelope
}

// Intent returns the intent of the call that was answered with the transaction, with its Attempts. That
// of a transaction that was read has its type, reference, amount and receipt.
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
		body.PrincipalAmount, body.Currency = wire.OptionalNumber(&p.Amount), p.Currency
	}
	return &Intent{
		Version: IntentVersion, Environment: t.environment, Operation: operationOf(body), Reference: t.PaymentReferenceNumber, OwnReference: true,
		ReceiptNumber: t.ReceiptNumber, Answered: true, NotBefore: t.TransactionTime.Time, Request: requestOf(body),
	}
}

// Candidates returns what the Resume that returned the transaction found beside it, such as an approved one
// without the intent's id; nil for any other transaction.
func (t *Transaction) Candidates() []Candidate {
	if t == nil {
		return nil
	}
	return t.candidates
}

// Differences names the members that the answer to a call shows in another form than they were sent,
// such as "paymentReferenceNumber" for a shortened one. Nil for a transaction that was read.
func (t *Transaction) Differences() []string {
	if t == nil {
		return nil
	}
	return t.differences
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

// MarshalJSON writes what UnmarshalJSON reads.
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
