package quickstream

import "net/http"

// TransactionListParams narrows the list of recent transactions.
type TransactionListParams struct {
	// SupplierBusinessCode is optional.
	SupplierBusinessCode string `url:"supplierBusinessCode,omitempty"`
}

// List returns up to 20 of the most recent transactions of the current
// settlement date, most recent first.
//
// GET /transactions with the secret key.
func (s *TransactionsService) List(params TransactionListParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, operation{name: "Transactions.List", method: http.MethodGet, route: "/transactions"}, params, nil, opts)
}

type byReferenceQuery struct {
	ReferenceNumber string `url:"referenceNumber"`
}

//nolint:gochecknoglobals // an immutable table
var byReferenceRules = []rule[byReferenceQuery]{
	{
		"reads.referenceNumber.required", local, "referenceNumber", "is required",
		func(q byReferenceQuery) bool { return q.ReferenceNumber == "" },
	},
	{
		"reads.referenceNumber.ascii", local, "referenceNumber", "must consist of printable ASCII characters",
		func(q byReferenceQuery) bool { return !isASCII(q.ReferenceNumber) },
	},
}

// ByReference returns the transactions with a reference: a receipt number, a
// customer or payment reference number, or the end-to-end identifier of a PayTo
// payment. References are compared without regard to case, so that a match has
// to be compared again before it is taken for one's own.
//
// GET /transactions/for-reference-number with the secret key. Nothing found may
// be an empty list or an APIError that matches ErrNotFound; after an unknown
// outcome both mean "not found yet".
func (s *TransactionsService) ByReference(referenceNumber string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, operation{
		name: "Transactions.ByReference", method: http.MethodGet, route: "/transactions/for-reference-number",
	}, byReferenceQuery{referenceNumber}, byReferenceRules, opts)
}
