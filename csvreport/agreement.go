package csvreport

import "github.com/quickstream-go/quickstream"

// Agreement reads a row of the PayTo agreements report by the names of its
// fields. A method whose column the report does not have returns a KindNoColumn.
type Agreement struct{ row *Row }

// Agreement returns the row as an agreement. It is good as long as the row.
func (row *Row) Agreement() Agreement { return Agreement{row} }

// Token returns the agreement token.
func (a Agreement) Token() (string, error) {
	return a.row.Text(a.row.field(AgreementToken))
}

// Status returns the status of the agreement.
func (a Agreement) Status() (string, error) {
	return a.row.Text(a.row.field(AgreementStatus))
}

// PayeeReference returns the payee's reference.
func (a Agreement) PayeeReference() (string, error) {
	return a.row.Text(a.row.field(PayeeReference))
}

// CustomerID returns the id of the customer.
func (a Agreement) CustomerID() (string, error) {
	return a.row.Text(a.row.field(CustomerID))
}

// CustomerNumber returns the customer number.
func (a Agreement) CustomerNumber() (string, error) {
	return a.row.Text(a.row.field(CustomerNumber))
}

// SupplierBusinessCode returns the supplier business code.
func (a Agreement) SupplierBusinessCode() (string, error) {
	return a.row.Text(a.row.field(SupplierBusinessCode))
}

// RespondByTime returns until when the payer has to respond.
func (a Agreement) RespondByTime() (quickstream.Timestamp, error) {
	return a.row.Timestamp(a.row.field(RespondByTime))
}

// Purpose returns the purpose of the agreement.
func (a Agreement) Purpose() (string, error) {
	return a.row.Text(a.row.field(Purpose))
}
