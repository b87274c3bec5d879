package quickstream

import "time"

// The lists of transactions. Those that the service sorts newest first can shift
// while they are read page by page.

// ListTransactionsParams filters the recent transactions; the zero value lists all.
type ListTransactionsParams struct {
	SupplierBusinessCode string `url:"supplierBusinessCode,omitempty"`
}

// List returns up to 20 of the latest transactions of the current settlement date, most recent
// first.
//
// GET /transactions. An error can match [ErrUnauthorized] or [ErrInvalid].
func (s *TransactionsService) List(params ListTransactionsParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.List", params, nil, opts)
}

type referenceQuery struct {
	ReferenceNumber string `url:"referenceNumber"`
}

// ByReference returns the transactions with a reference: a receipt number, a customer or payment
// reference number, or the end-to-end identifier of a PayTo payment. The service ignores case, so
// compare a match again.
//
// GET /transactions/for-reference-number. Nothing found is an empty list or matches [ErrNotFound].
// After an unknown outcome both mean "not found yet". Other errors can match [ErrUnauthorized] or
// [ErrInvalid].
func (s *TransactionsService) ByReference(referenceNumber string, opts ...CallOption) List[Transaction] {
	q := referenceQuery{referenceNumber}
	return list[Transaction](s.client, "Transactions.ByReference", q, q.check, opts)
}

func (q referenceQuery) check(f *findings) {
	f.require(q.ReferenceNumber != "", "list.referenceNumber.required", "referenceNumber", "is required")
	f.require(isASCII(q.ReferenceNumber), "list.referenceNumber.ascii", "referenceNumber", "must consist of ASCII characters")
}

type settlementDateQuery struct {
	SettlementDate Date `url:"settlementDate"`
}

// BySettlementDate returns the transactions that settle on a Sydney date.
//
// GET /transactions/for-settlement-date. An error can match [ErrUnauthorized], [ErrNotFound] or
// [ErrInvalid].
func (s *TransactionsService) BySettlementDate(settlementDate Date, opts ...CallOption) List[Transaction] {
	q := settlementDateQuery{settlementDate}
	return list[Transaction](s.client, "Transactions.BySettlementDate", q, q.check, opts)
}

func (q settlementDateQuery) check(f *findings) {
	f.require(q.SettlementDate.IsValid(), "list.settlementDate.required", "settlementDate", "is required and must be a date of the calendar")
}

type accountTokenQuery struct {
	AccountToken string `url:"accountToken"`
}

// ByAccount returns the transactions of a registered account.
//
// GET /transactions/for-account-token. Errors as for BySettlementDate.
func (s *TransactionsService) ByAccount(accountToken string, opts ...CallOption) List[Transaction] {
	q := accountTokenQuery{accountToken}
	return list[Transaction](s.client, "Transactions.ByAccount", q, q.check, opts)
}

func (q accountTokenQuery) check(f *findings) {
	f.require(q.AccountToken != "", "list.accountToken.required", "accountToken", "is required")
	f.require(isASCII(q.AccountToken), "list.accountToken.ascii", "accountToken", "must consist of ASCII characters")
}

type creditCardQuery struct {
	FirstSix  string `url:"firstSix"`
	LastThree string `url:"lastThree"`
}

// ByCreditCard returns the transactions of cards with these first six and last three
// digits. Several cards can have them.
//
// GET /transactions/for-credit-card. Errors as for List.
func (s *TransactionsService) ByCreditCard(firstSix, lastThree string, opts ...CallOption) List[Transaction] {
	q := creditCardQuery{firstSix, lastThree}
	return list[Transaction](s.client, "Transactions.ByCreditCard", q, q.check, opts)
}

func (q creditCardQuery) check(f *findings) {
	f.require(isDigits(q.FirstSix) && len(q.FirstSix) == 6, "list.firstSix.digits", "firstSix", "must have 6 digits")
	f.require(isDigits(q.LastThree) && len(q.LastThree) == 3, "list.lastThree.digits", "lastThree", "must have 3 digits")
}

type bankAccountQuery struct {
	BSB           string `url:"bsb"`
	AccountNumber string `url:"accountNumber"`
}

// ByBankAccount returns the transactions of an Australian bank account, with a number of 6 to 9
// digits. The request's address contains it: keep addresses out of the logs of proxies.
//
// GET /transactions/for-bank-account. Errors as for List.
func (s *TransactionsService) ByBankAccount(bsb string, accountNumber Secret, opts ...CallOption) List[Transaction] {
	q := bankAccountQuery{bsb, accountNumber.text()}
	return list[Transaction](s.client, "Transactions.ByBankAccount", q, q.check, opts)
}

func (q bankAccountQuery) check(f *findings) {
	f.require(q.BSB != "", "list.bsb.required", "bsb", "is required")
	f.require(isASCII(q.BSB), "list.bsb.ascii", "bsb", "must consist of ASCII characters")
	f.require(isDigits(q.AccountNumber) && lengthWithin(q.AccountNumber, 6, 9),
		"list.accountNumber.digits", "accountNumber", "must have 6 to 9 digits")
}

type nzBankAccountQuery struct {
	BankCode      string `url:"bankCode"`
	BranchCode    string `url:"branchCode"`
	AccountNumber string `url:"accountNumber"`
}

// ByNZBankAccount returns the transactions of a New Zealand bank account: bank code of 2 digits,
// branch code of 4, account number of 7 or 8 without suffix. The request's address contains it.
//
// GET /transactions/for-nz-bank-account. Errors as for List.
func (s *TransactionsService) ByNZBankAccount(bankCode, branchCode string, accountNumber Secret, opts ...CallOption) List[Transaction] {
	q := nzBankAccountQuery{bankCode, branchCode, accountNumber.text()}
	return list[Transaction](s.client, "Transactions.ByNZBankAccount", q, q.check, opts)
}

func (q nzBankAccountQuery) check(f *findings) {
	f.require(isDigits(q.BankCode) && len(q.BankCode) == 2, "list.bankCode.digits", "bankCode", "must have 2 digits")
	f.require(isDigits(q.BranchCode) && len(q.BranchCode) == 4, "list.branchCode.digits", "branchCode", "must have 4 digits")
	f.require(isDigits(q.AccountNumber) && lengthWithin(q.AccountNumber, 7, 8),
		"list.nzAccountNumber.digits", "accountNumber", "must have 7 or 8 digits")
}

// SuspendedParams selects suspended transactions.
type SuspendedParams struct {
	// SupplierBusinessCode is the business whose transactions are listed. Required.
	SupplierBusinessCode string `url:"supplierBusinessCode,omitempty"`
	// Month is this month in Sydney or one of the 6 before. Required.
	Month YearMonth `url:"month,omitempty"`
}

// Suspended returns the transactions that fraud screening holds.
//
// GET /transactions/suspended. An error can match [ErrUnauthorized] or [ErrNotFound].
func (s *TransactionsService) Suspended(params SuspendedParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.Suspended", params, func(f *findings) { params.check(f, s.client.config.now()) }, opts)
}

func (p SuspendedParams) check(f *findings, now time.Time) {
	f.require(p.SupplierBusinessCode != "", "list.supplierBusinessCode.required", "supplierBusinessCode", "is required")
	checkMonth(f, p.Month)
	f.require(!isMonth(p.Month) || monthsAgo(now, p.Month) <= 6,
		"list.month.past", "month", "must be this month or one of the 6 before, in Sydney")
}

// Refunds returns the refunds of a payment, most recent first.
//
// GET /transactions/{receiptNumber}/refunds. Errors as for Suspended.
func (s *TransactionsService) Refunds(receiptNumber string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.Refunds", noQuery{}, nil, opts, receiptNumber)
}

// Retries returns the retries of a soft-declined payment, manual or scheduled. Read them with
// [List.ReadAll] before you pay again: one may be approved. A declined retry may have retries too.
//
// GET /transactions/{receiptNumber}/retries. Errors as for Suspended.
func (s *TransactionsService) Retries(receiptNumber string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.Retries", noQuery{}, nil, opts, receiptNumber)
}

// ReturnedParams narrows the list of returned transactions.
type ReturnedParams struct {
	// Date is the day of the return. Required.
	Date                 Date   `url:"date"`
	SupplierBusinessCode string `url:"supplierBusinessCode,omitempty"`
}

// Returned returns the approved transactions of Australian bank accounts that the customers' banks
// returned on a date.
//
// GET /transactions/returns. Errors as for Suspended.
func (s *TransactionsService) Returned(params ReturnedParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.Returned", params, params.check, opts)
}

func (p ReturnedParams) check(f *findings) {
	f.require(p.Date.IsValid(), "list.date.required", "date", "is required and must be a date of the calendar")
}

// OpenPreauthsParams selects open pre-authorisations.
type OpenPreauthsParams struct {
	// Month is the month of the pre-authorisations. Required.
	Month                YearMonth `url:"month,omitempty"`
	SupplierBusinessCode string    `url:"supplierBusinessCode,omitempty"`
}

// OpenPreauths returns the pre-authorisations and re-authorisations that can be captured, most
// recent first, without those that fraud screening holds.
//
// GET /transactions/open-preauths. Errors as for List.
func (s *TransactionsService) OpenPreauths(params OpenPreauthsParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.OpenPreauths", params, params.check, opts)
}

func (p OpenPreauthsParams) check(f *findings) { checkMonth(f, p.Month) }

type noQuery struct{}

func checkMonth(f *findings, m YearMonth) {
	f.require(isMonth(m), "list.month.required", "month", "is required and must be a month of the calendar")
}

func isMonth(m YearMonth) bool {
	return m.Year >= 1 && m.Year <= 9999 && m.Month >= time.January && m.Month <= time.December
}

// sydneyStandard is how far Sydney is ahead of UTC in winter. In summer it is an hour more, which is
// left to the service.
const sydneyStandard = 10 * time.Hour

// monthsAgo counts the months from m to the present one in Sydney.
func monthsAgo(now time.Time, m YearMonth) int {
	current := now.UTC().Add(sydneyStandard)
	return (current.Year()-m.Year)*12 + int(current.Month()) - int(m.Month)
}
