package csvreport

import (
	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Transaction reads a row of a transaction report by the names of its fields.
// Which columns these are is, but for a few, an assumption of the Layout; where
// it does not hold, the method returns a KindNoColumn and never an empty value.
type Transaction struct{ row *Row }

// Transaction returns the row as a transaction. It is good as long as the row.
func (row *Row) Transaction() Transaction { return Transaction{row} }

// ReceiptNumber returns the transaction's receipt number.
func (t Transaction) ReceiptNumber() (string, error) {
	return t.row.Text(t.row.field(ReceiptNumber))
}

// OriginalReceiptNumber returns the receipt number of the transaction that this one follows.
func (t Transaction) OriginalReceiptNumber() (string, error) {
	return t.row.Text(t.row.field(OriginalReceiptNumber))
}

// TransactionType returns the type, such as PAYMENT or REFUND.
func (t Transaction) TransactionType() (string, error) {
	return t.row.Text(t.row.field(TransactionType))
}

// Status returns the status, such as Approved or Declined.
func (t Transaction) Status() (string, error) {
	return t.row.Text(t.row.field(Status))
}

// SummaryCode returns the summary code.
func (t Transaction) SummaryCode() (string, error) {
	return t.row.Text(t.row.field(SummaryCode))
}

// ResponseCode returns the response code.
func (t Transaction) ResponseCode() (string, error) {
	return t.row.Text(t.row.field(ResponseCode))
}

// ResponseDescription returns the response code in words.
func (t Transaction) ResponseDescription() (string, error) {
	return t.row.Text(t.row.field(ResponseDescription))
}

// Source returns where the transaction came from.
func (t Transaction) Source() (string, error) {
	return t.row.Text(t.row.field(Source))
}

// SettlementDate returns the settlement date.
func (t Transaction) SettlementDate() (quickstream.Date, error) {
	return t.row.Date(t.row.field(SettlementDate))
}

// TransactionTime returns when the transaction took place.
func (t Transaction) TransactionTime() (quickstream.Timestamp, error) {
	return t.row.Timestamp(t.row.field(TransactionTime))
}

// Currency returns the ISO 4217 code of the amounts.
func (t Transaction) Currency() (string, error) {
	return t.row.Text(t.row.field(Currency))
}

// PrincipalAmount returns the amount before surcharge.
func (t Transaction) PrincipalAmount() (decimal.Decimal, error) {
	return t.row.Decimal(t.row.field(PrincipalAmount))
}

// SurchargeAmount returns the surcharge.
func (t Transaction) SurchargeAmount() (decimal.Decimal, error) {
	return t.row.Decimal(t.row.field(SurchargeAmount))
}

// TotalAmount returns the principal amount plus the surcharge.
func (t Transaction) TotalAmount() (decimal.Decimal, error) {
	return t.row.Decimal(t.row.field(TotalAmount))
}

// CustomerReferenceNumber returns the customer reference number.
func (t Transaction) CustomerReferenceNumber() (string, error) {
	return t.row.Text(t.row.field(CustomerReferenceNumber))
}

// PaymentReferenceNumber returns the payment reference number.
func (t Transaction) PaymentReferenceNumber() (string, error) {
	return t.row.Text(t.row.field(PaymentReferenceNumber))
}

// CustomerNumber returns the customer number.
func (t Transaction) CustomerNumber() (string, error) {
	return t.row.Text(t.row.field(CustomerNumber))
}

// CommunityCode returns the community code; in version 1.
func (t Transaction) CommunityCode() (string, error) {
	return t.row.Text(t.row.field(CommunityCode))
}

// SupplierBusinessCode returns the supplier business code, in version 1 called business code.
func (t Transaction) SupplierBusinessCode() (string, error) {
	return t.row.Text(t.row.field(SupplierBusinessCode))
}

// BusinessName returns the name of the business; in version 1.
func (t Transaction) BusinessName() (string, error) {
	return t.row.Text(t.row.field(BusinessName))
}

// Comment returns the comment.
func (t Transaction) Comment() (string, error) {
	return t.row.Text(t.row.field(Comment))
}
