package quickstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ReportVersion is the layout of a transaction report.
type ReportVersion string

// The layouts. The first is archived, by the vendor's public pages.
const (
	ReportVersion1 ReportVersion = "1"
	ReportVersion2 ReportVersion = "2"
)

// ReportParams selects what a transaction report holds.
type ReportParams struct {
	// Version is [ReportVersion2] if it is empty.
	Version ReportVersion `url:"version"`
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
	// Columns are headings of the version, in order; metadata_ and the key for metadata. Optional:
	// none means all columns, to which the service may add.
	Columns []string `url:"columns,comma,omitempty"`
}

func (p ReportParams) check(f *findings) {
	f.require(p.Version == "" || p.Version == ReportVersion1 || p.Version == ReportVersion2, "report.version", "version", "must be 1 or 2")
	f.require(p.SettlementDate.IsValid(), "report.settlementDate.required", "settlementDate", "is required and must be a date of the calendar")
	status := p.TransactionStatus
	f.require(status == "" || status == TransactionStatusApproved || status == TransactionStatusDeclined,
		"report.transactionStatus", "transactionStatus", "must be Approved or Declined")
	f.require(!slices.ContainsFunc(p.Sources, notElement), "report.source.elements", "source", "must hold codes that are not empty and have no comma")
	f.require(!slices.ContainsFunc(p.Columns, notElement), "report.columns.elements", "columns", "must hold headings that are not empty and have no comma")
}

// notElement reports whether a text cannot stand in a list joined by commas.
func notElement(text string) bool { return text == "" || strings.Contains(text, ",") }

// DownloadReport requests the transactions of a settlement date as CSV once, and writes them as
// they arrive, in constant memory. It returns the bytes written, also with an error. Package
// csvreport reads reports.
//
// GET /transactions/csv. The service makes a report on the first request; until it is ready the
// error matches [ErrReportNotReady]. Others match [ErrInvalid] or [ErrUnauthorized]. A report that
// breaks off is a [NetworkError]; an error of the writer is wrapped. Nothing is repeated after the
// first byte: discard what was written.
func (s *TransactionsService) DownloadReport(ctx context.Context, to io.Writer, params ReportParams, opts ...CallOption) (int64, error) {
	return s.report("Transactions.DownloadReport", params, opts).fetch(ctx, &download{accept: textPlain, to: to, headed: true})
}

// ReportWait says how to wait for a report.
type ReportWait struct {
	// Interval is the pause between requests; a minute, as the service asks, if zero.
	Interval time.Duration
	// Progress is called with the number of requests and the bytes written, after each request
	// before the report is ready, and while it arrives. Optional.
	Progress func(requests int, written int64)
}

// AwaitReport repeats DownloadReport until the report is ready or the context ends. [WithTimeout]
// limits each request.
//
// GET /transactions/csv, every minute. Errors as for DownloadReport. If the context ends in a pause,
// the error matches [ErrReportNotReady] and the context's error. Any other error ends the waiting.
func (s *TransactionsService) AwaitReport(ctx context.Context, to io.Writer, params ReportParams, wait ReportWait, opts ...CallOption) (int64, error) {
	call := s.report("Transactions.AwaitReport", params, opts)
	requests := 0
	notify := func(written int64) {
		if wait.Progress != nil {
			wait.Progress(requests, written)
		}
	}
	report := &download{accept: textPlain, to: to, headed: true, arrived: notify}
	for {
		requests++
		written, err := call.fetch(ctx, report)
		if !errors.Is(err, ErrReportNotReady) {
			return written, err
		}
		notify(written)
		if ended := pause(ctx, wait.Interval); ended != nil {
			return written, fmt.Errorf("%w: %w", err, ended)
		}
	}
}

const textPlain = "text/plain"

func (s *TransactionsService) report(name Operation, params ReportParams, opts []CallOption) *call {
	call := s.client.begin(name, opts)
	call.check(params.check)
	if params.Version == "" {
		params.Version = ReportVersion2
	}
	call.query(params)
	return call
}

// pollInterval is how long the service asks to wait before asking again.
const pollInterval = time.Minute

var errNotReport = errors.New("the answer is not a report")

// download is an answer of any size that is written to a writer while it arrives.
type download struct {
	accept  string
	to      io.Writer
	headed  bool                // it has a header record
	any     bool                // it may be JSON, or nothing
	arrived func(written int64) // may be nil
	written int64
	pending bool  // the service is still making it
	err     error // of the writer
}

// sink takes a report. HTML or JSON is no report, whatever the status says.
func (d *download) sink(status int, header http.Header) io.Writer {
	kind, _, _ := mime.ParseMediaType(header.Get("Content-Type"))
	if status != http.StatusOK || kind == "text/html" || kind == "application/json" && !d.any {
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
	if d.arrived != nil {
		d.arrived(d.written)
	}
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
		if d.pending = status == http.StatusAccepted; d.pending || d.any && status == http.StatusNoContent {
			return nil
		}
		return errNotReport
	})
	return d.written, err
}

// conclude returns what a call for a report returns, whose error is err.
func (d *download) conclude(c *call, err error) error {
	switch {
	case d.err != nil:
		return fmt.Errorf("quickstream: %s: the report could not be written: %w", c.op.name, d.err)
	case err == nil && d.pending:
		return fmt.Errorf("quickstream: %s: %w", c.op.name, ErrReportNotReady)
	case err == nil && d.headed && d.written == 0:
		return c.decodeError(errors.New("the report is empty: it lacks its header record"))
	}
	return err
}

// pause waits between two requests, for a minute if no interval was chosen.
func pause(ctx context.Context, interval time.Duration) error {
	if interval <= 0 {
		interval = pollInterval
	}
	timer := time.NewTimer(interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
