package quickstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

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

// ByReference returns the transactions with a reference: a receipt number, a customer or payment
// reference number, or the end-to-end identifier of a PayTo payment. The service ignores case, so
// compare a match again.
//
// GET /transactions/for-reference-number. If nothing is found, the list is empty or the error
// matches [ErrNotFound]: after an unknown outcome both mean "not found yet". Other errors can match
// [ErrUnauthorized] or [ErrInvalid].
func (s *TransactionsService) ByReference(referenceNumber string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.ByReference", url.Values{"referenceNumber": {referenceNumber}}, func(f *findings) {
		f.require(referenceNumber != "", "list.referenceNumber.required", "referenceNumber", "is required")
		f.require(isASCII(referenceNumber), "list.referenceNumber.ascii", "referenceNumber", "must consist of ASCII characters")
	}, opts)
}

// BySettlementDate returns the transactions that settle on a Sydney date.
//
// GET /transactions/for-settlement-date. An error can match [ErrUnauthorized], [ErrNotFound] or
// [ErrInvalid].
func (s *TransactionsService) BySettlementDate(settlementDate Date, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.BySettlementDate", url.Values{"settlementDate": {settlementDate.String()}}, func(f *findings) {
		f.require(settlementDate.IsValid(), "list.settlementDate.required", "settlementDate", "is required and must be a date of the calendar")
	}, opts)
}

// ByAccount returns the transactions of a registered account.
//
// GET /transactions/for-account-token. Errors as for BySettlementDate.
func (s *TransactionsService) ByAccount(accountToken string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.ByAccount", url.Values{"accountToken": {accountToken}}, func(f *findings) {
		f.require(accountToken != "", "list.accountToken.required", "accountToken", "is required")
		f.require(isASCII(accountToken), "list.accountToken.ascii", "accountToken", "must consist of ASCII characters")
	}, opts)
}

// ByCreditCard returns the transactions of cards with these first six and last three
// digits. Several cards can have them.
//
// GET /transactions/for-credit-card. Errors as for List.
func (s *TransactionsService) ByCreditCard(firstSix, lastThree string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.ByCreditCard", url.Values{"firstSix": {firstSix}, "lastThree": {lastThree}}, func(f *findings) {
		f.require(isDigits(firstSix) && len(firstSix) == 6, "list.firstSix.digits", "firstSix", "must have 6 digits")
		f.require(isDigits(lastThree) && len(lastThree) == 3, "list.lastThree.digits", "lastThree", "must have 3 digits")
	}, opts)
}

// ByBankAccount returns the transactions of an Australian bank account, with a number of 6 to 9
// digits. The request's address contains it: keep addresses out of the logs of proxies.
//
// GET /transactions/for-bank-account. Errors as for List.
func (s *TransactionsService) ByBankAccount(bsb string, accountNumber Secret, opts ...CallOption) List[Transaction] {
	number := accountNumber.text()
	return list[Transaction](s.client, "Transactions.ByBankAccount", url.Values{"bsb": {bsb}, "accountNumber": {number}}, func(f *findings) {
		f.require(bsb != "", "list.bsb.required", "bsb", "is required")
		f.require(isASCII(bsb), "list.bsb.ascii", "bsb", "must consist of ASCII characters")
		f.require(isDigits(number) && lengthWithin(number, 6, 9), "list.accountNumber.digits", "accountNumber", "must have 6 to 9 digits")
	}, opts)
}

// ByNZBankAccount returns the transactions of a New Zealand bank account: bank code of 2 digits,
// branch code of 4, account number of 7 or 8 without suffix. The request's address contains it.
//
// GET /transactions/for-nz-bank-account. Errors as for List.
func (s *TransactionsService) ByNZBankAccount(bankCode, branchCode string, accountNumber Secret, opts ...CallOption) List[Transaction] {
	number := accountNumber.text()
	query := url.Values{"bankCode": {bankCode}, "branchCode": {branchCode}, "accountNumber": {number}}
	return list[Transaction](s.client, "Transactions.ByNZBankAccount", query, func(f *findings) {
		f.require(isDigits(bankCode) && len(bankCode) == 2, "list.bankCode.digits", "bankCode", "must have 2 digits")
		f.require(isDigits(branchCode) && len(branchCode) == 4, "list.branchCode.digits", "branchCode", "must have 4 digits")
		f.require(isDigits(number) && lengthWithin(number, 7, 8), "list.nzAccountNumber.digits", "accountNumber", "must have 7 or 8 digits")
	}, opts)
}

// MonthParams selects the transactions of a month.
type MonthParams struct {
	// Month is required.
	Month YearMonth `url:"month,omitempty"`
	// SupplierBusinessCode is required for Suspended.
	SupplierBusinessCode string `url:"supplierBusinessCode,omitempty"`
}

// Suspended returns the transactions of a business that fraud screening holds, for this month in
// Sydney or one of the 6 before.
//
// GET /transactions/suspended. An error can match [ErrUnauthorized] or [ErrNotFound].
func (s *TransactionsService) Suspended(params MonthParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.Suspended", params, func(f *findings) {
		f.require(params.SupplierBusinessCode != "", "list.supplierBusinessCode.required", "supplierBusinessCode", "is required")
		params.check(f)
	}, opts)
}

// Refunds returns the refunds of a payment, most recent first.
//
// GET /transactions/{receiptNumber}/refunds. Errors as for Suspended.
func (s *TransactionsService) Refunds(receiptNumber string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.Refunds", nil, nil, opts, receiptNumber)
}

// Retries returns the retries of a soft-declined payment, manual or scheduled. Read them with
// [List.ReadAll] before you pay again: one may be approved. A declined retry may have retries too.
//
// GET /transactions/{receiptNumber}/retries. Errors as for Suspended.
func (s *TransactionsService) Retries(receiptNumber string, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.Retries", nil, nil, opts, receiptNumber)
}

// ReturnedParams narrows the list of returned transactions.
type ReturnedParams struct {
	// Date is the day of the return. Required.
	Date                 Date   `url:"date"`
	SupplierBusinessCode string `url:"supplierBusinessCode,omitempty"`
}

// Returned returns the transactions of Australian bank accounts that the customers' banks declined on a date,
// after their approval.
//
// GET /transactions/returns. Errors as for Suspended.
func (s *TransactionsService) Returned(params ReturnedParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.Returned", params, func(f *findings) {
		f.require(params.Date.IsValid(), "list.date.required", "date", "is required and must be a date of the calendar")
	}, opts)
}

// OpenPreauths returns the pre-authorisations and re-authorisations that can be captured, most
// recent first, without those that fraud screening holds.
//
// GET /transactions/open-preauths. Errors as for List.
func (s *TransactionsService) OpenPreauths(params MonthParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "Transactions.OpenPreauths", params, params.check, opts)
}

func (p MonthParams) check(f *findings) {
	m := p.Month
	isMonth := m.Year >= 1 && m.Year <= 9999 && m.Month >= time.January && m.Month <= time.December
	f.require(isMonth, "list.month.required", "month", "is required and must be a month of the calendar")
}

// ReportParams selects what a transaction report holds.
type ReportParams struct {
	// SettlementDate is the Sydney date to report. Required.
	SettlementDate Date `url:"settlementDate"`
	// TransactionStatus is [TransactionStatusApproved] or [TransactionStatusDeclined].
	// Optional: both are reported if it is empty.
	TransactionStatus    TransactionStatus `url:"transactionStatus,omitempty"`
	SupplierBusinessCode string            `url:"supplierBusinessCode,omitempty"`
	// Sources are source codes, such as RESTAPI. Optional: none means all.
	Sources []string `url:"source,comma,omitempty"`
	// ExcludePreauths is true to leave pre-authorisations out. Optional.
	ExcludePreauths *bool `url:"excludePreAuths,omitempty"`
	// Columns are headings, in order; that of metadata is metadata_ and the key. Optional: none
	// means all columns, to which the service may add.
	Columns []string `url:"columns,comma,omitempty"`
}

// reportQuery asks for version 2: the vendor's public pages call the first layout archived.
type reportQuery struct {
	Version int `url:"version"`
	ReportParams
}

func (p ReportParams) check(f *findings) {
	f.require(p.SettlementDate.IsValid(), "report.settlementDate.required", "settlementDate", "is required and must be a date of the calendar")
	status := p.TransactionStatus
	f.require(status == "" || status == TransactionStatusApproved || status == TransactionStatusDeclined,
		"report.transactionStatus", "transactionStatus", "must be Approved or Declined")
	f.require(!slices.ContainsFunc(p.Sources, notElement), "report.source.elements", "source", "must hold codes that are not empty and have no comma")
	f.require(!slices.ContainsFunc(p.Columns, notElement), "report.columns.elements", "columns", "must hold headings that are not empty and have no comma")
}

// notElement reports whether a text cannot be an element of a list joined by commas.
func notElement(text string) bool { return text == "" || strings.Contains(text, ",") }

// DownloadReport requests the transactions of a settlement date as CSV once, and writes them as
// they arrive, in constant memory. It returns the bytes written, also with an error. Package
// csvreport reads reports.
//
// GET /transactions/csv. The service makes a report on the first request; until it is ready the
// error matches [ErrReportNotReady]. Others match [ErrInvalid] or [ErrUnauthorized]. A report that
// breaks off is a [NetworkError]; an error of the writer is wrapped. After the first byte nothing
// is repeated: after an error discard the bytes written.
func (s *TransactionsService) DownloadReport(ctx context.Context, to io.Writer, params ReportParams, opts ...CallOption) (int64, error) {
	return s.report("Transactions.DownloadReport", params, opts).fetch(ctx, &download{accept: textPlain, to: to, hasHeader: true})
}

// AwaitReport repeats DownloadReport at an interval until the report is ready or the context ends. Zero is a minute, as the
// service asks for, and less than a second is a second. [WithTimeout] limits each request.
//
// GET /transactions/csv. Errors as for DownloadReport. If the context ends in a pause, the error
// matches [ErrReportNotReady] and the context's error. Any other error ends the waiting.
func (s *TransactionsService) AwaitReport(ctx context.Context, to io.Writer, params ReportParams, every time.Duration, opts ...CallOption) (int64, error) {
	call := s.report("Transactions.AwaitReport", params, opts)
	report := &download{accept: textPlain, to: to, hasHeader: true}
	for {
		written, err := call.fetch(ctx, report)
		if !errors.Is(err, ErrReportNotReady) {
			return written, err
		}
		select {
		case <-time.After(max(cmp.Or(every, time.Minute), time.Second)):
		case <-ctx.Done():
			return written, fmt.Errorf("%w: %w", err, ctx.Err())
		}
	}
}

const textPlain = "text/plain"

func (s *TransactionsService) report(name Operation, params ReportParams, opts []CallOption) *call {
	call := s.client.begin(name, opts)
	call.check(params.check)
	call.query(reportQuery{2, params})
	return call
}

var errNotReport = errors.New("the answer is not a report")

// download is an answer of any size that is written to a writer while it arrives.
type download struct {
	accept    string
	to        io.Writer
	hasHeader bool // the report has a header record
	anyForm   bool // the report may be JSON, or nothing
	written   int64
	pending   bool  // the service is still making it
	err       error // of the writer
}

// sink takes a report. HTML or JSON is no report, whatever the status says.
func (d *download) sink(status int, header http.Header) io.Writer {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if status != http.StatusOK || kind == "text/html" || kind == "application/json" && !d.anyForm {
		return nil
	}
	return d
}

// Write writes what has arrived, and keeps the writer's errors apart from the network's.
func (d *download) Write(p []byte) (int, error) {
	n, err := d.to.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	d.written += int64(max(n, 0))
	d.err = err
	return n, err
}

// fetch sends the call and writes the report. It returns how much was written,
// also with an error.
func (c *call) fetch(ctx context.Context, d *download) (int64, error) {
	if d.to == nil && c.ended == nil {
		c.ended = &ValidationError{Operation: c.op.name, Findings: []Finding{{
			Rule: "report.writer.required", Path: "(writer)", Message: "is required",
		}}}
	}
	d.pending, c.report = false, d
	err := c.do(ctx, func(status int, _ []byte) error {
		if d.pending = status == http.StatusAccepted; d.pending || d.anyForm && status == http.StatusNoContent {
			return nil
		}
		return errNotReport
	})
	return d.written, err
}

// conclude returns the error of a call for a report. err is that of its request.
func (d *download) conclude(c *call, err error) error {
	switch {
	case d.err != nil:
		return fmt.Errorf("quickstream: %s: the report could not be written: %w", c.op.name, d.err)
	case err == nil && d.pending:
		return fmt.Errorf("quickstream: %s: %w", c.op.name, ErrReportNotReady)
	case err == nil && d.hasHeader && d.written == 0:
		return c.decodeError(errors.New("the report is empty: it lacks its header record"))
	}
	return err
}
