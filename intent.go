package quickstream

import (
	"crypto/rand"
	"time"

	"github.com/shopspring/decimal"
)

// PaymentIntent is what a merchant stores before a transaction is sent, so that
// it can be found again after a lost answer or a crash. It can be marshalled and
// stored as it is: it holds no card or bank details and no hash of them.
//
//	params, intent := params.Prepare()
//	store(intent) // before the payment
//	tx, err := client.Transactions.Pay(ctx, params, quickstream.WithIntent(intent))
//
// After a crash, give the stored intent to Transactions.Reconcile. Nothing sends
// a stored intent by itself: what was sent is looked up, and what is not found
// is not found yet.
type PaymentIntent struct {
	TransactionType TransactionType `json:"transactionType"`
	// IdempotencyKey is what WithIntent sends the transaction with.
	IdempotencyKey string `json:"idempotencyKey,omitempty"`
	// PaymentReferenceNumber is what the transaction is found by. It must not have
	// been used before.
	PaymentReferenceNumber  string          `json:"paymentReferenceNumber"`
	CustomerReferenceNumber string          `json:"customerReferenceNumber,omitempty"`
	EndToEndID              string          `json:"endToEndId,omitempty"` // of a PayTo payment
	SupplierBusinessCode    string          `json:"supplierBusinessCode,omitempty"`
	PrincipalAmount         decimal.Decimal `json:"principalAmount"`
	Currency                Currency        `json:"currency,omitempty"`
	OriginalReceiptNumber   string          `json:"originalReceiptNumber,omitempty"`
	// Source is the account, where it is known by a handle; nil for a card or
	// bank account that was given by its details.
	Source *IntentSource `json:"source,omitempty"`
	// FirstSent is when the transaction was prepared or first sent, by this
	// machine's clock. Older transactions are not taken for this one.
	FirstSent time.Time `json:"firstSent"`
	// Attempts is how many requests were sent before the outcome became unknown; 0
	// when that is not known, as after a crash. Unless it is one, a decline that is
	// found may be that of one attempt while another is approved and not visible
	// yet.
	Attempts int `json:"attempts,omitempty"`
	// ReceiptNumber is set once it is known. It is the best thing to look up.
	ReceiptNumber string `json:"receiptNumber,omitempty"`
}

// IntentSource is an account known by a handle. One member is set.
type IntentSource struct {
	SingleUseTokenID string `json:"singleUseTokenId,omitempty"`
	CustomerID       string `json:"customerId,omitempty"`
	AccountToken     string `json:"accountToken,omitempty"`
	AgreementToken   string `json:"agreementToken,omitempty"`
}

// intentOf describes the transaction that a body makes.
func intentOf(b transactionJSON, key string, sent time.Time) PaymentIntent {
	intent := PaymentIntent{
		TransactionType: b.TransactionType, IdempotencyKey: key, PaymentReferenceNumber: b.PaymentReferenceNumber,
		CustomerReferenceNumber: b.CustomerReferenceNumber, SupplierBusinessCode: b.SupplierBusinessCode,
		Currency: b.Currency, OriginalReceiptNumber: b.OriginalReceiptNumber, FirstSent: sent,
	}
	if b.PrincipalAmount != nil {
		intent.PrincipalAmount = b.PrincipalAmount.Decimal()
	}
	source := IntentSource{SingleUseTokenID: b.SingleUseTokenID, CustomerID: b.CustomerID, AccountToken: b.AccountToken}
	if b.PayToData != nil {
		source.AgreementToken, intent.EndToEndID = b.PayToData.AgreementToken, b.PayToData.EndToEndID
	}
	if source != (IntentSource{}) {
		intent.Source = &source
	}
	return intent
}

// prepared returns the intent of a body that has not been sent yet.
func prepared(b transactionJSON) PaymentIntent { return intentOf(b, rand.Text(), time.Now()) }

// WithIntent sends a transaction as the intent that was stored for it says: with
// its idempotency key.
func WithIntent(intent PaymentIntent) CallOption {
	return WithIdempotencyKey(intent.IdempotencyKey)
}
