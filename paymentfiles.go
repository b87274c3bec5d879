package quickstream

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"
)

// PaymentFilesService holds the operations on payment files: many payments in
// one upload, which the service processes in batches.
type PaymentFilesService struct{ client *Client }

// PaymentFileStatus is how far the processing of a payment file is.
type PaymentFileStatus string

// The statuses. Those other than COMPLETE are described in the vendor's public
// pages.
const (
	PaymentFileStatusQueued     PaymentFileStatus = "QUEUED"
	PaymentFileStatusProcessing PaymentFileStatus = "PROCESSING"
	// PaymentFileStatusAwaitingClearance: other institutions have to answer, which
	// takes up to 5 business days for bank accounts.
	PaymentFileStatusAwaitingClearance PaymentFileStatus = "AWAITING_CLEARANCE"
	// PaymentFileStatusComplete: read the batches and their transactions.
	PaymentFileStatusComplete PaymentFileStatus = "COMPLETE"
	// PaymentFileStatusError: the file is faulty. Make sure that no batch of it was
	// processed before a corrected one is uploaded under a new name.
	PaymentFileStatusError PaymentFileStatus = "ERROR"
)

// Final reports whether the status can change no more. A status that this
// package does not know is not final.
func (s PaymentFileStatus) Final() bool {
	return s == PaymentFileStatusComplete || s == PaymentFileStatusError
}

// PaymentFile is an uploaded payment file. Members that are not published are in
// Extra.
type PaymentFile struct {
	PaymentFileID string            `json:"paymentFileId,omitempty" wire:"identifies"`
	Status        PaymentFileStatus `json:"status,omitempty" wire:"decides"`
	Links         []Link            `json:"links,omitempty"`

	envelope
}

func (f *PaymentFile) identifier() string { return f.PaymentFileID }

// PaymentBatch is the payments of a file that are of one kind, business and
// currency. The specification names no member: that of the identifier is inferred
// and unconfirmed, the others are in Extra.
type PaymentBatch struct {
	PaymentBatchID string `json:"paymentBatchId,omitempty" wire:"identifies"`
	Links          []Link `json:"links,omitempty" wire:"decides"` // as the identifier may be missing

	envelope
}

// identifier is the batch itself where its member has another name.
func (b *PaymentBatch) identifier() string { return cmp.Or(b.PaymentBatchID, string(b.Raw())) }

// Get returns a payment file with its latest status.
//
// GET /payment-files/{id}. An unknown identifier is an [APIError] that matches
// [ErrNotFound]. The vendor's public pages describe the operation; its path is
// inferred and unconfirmed.
func (s *PaymentFilesService) Get(ctx context.Context, paymentFileID string, opts ...CallOption) (*PaymentFile, error) {
	return get[PaymentFile](ctx, s.client, "PaymentFiles.Get", opts, paymentFileID)
}

// PaymentFileWait says how to wait for a payment file.
type PaymentFileWait struct {
	// Interval is the pause between two questions; a minute, as the service asks,
	// when it is zero.
	Interval time.Duration
	// Progress is called with every answer. It may be nil.
	Progress func(*PaymentFile)
}

// Wait asks for a payment file until its status is final, which can take days, or
// until the context ends, whose error the returned one then matches. A file with
// [PaymentFileStatusError] is not an error. Every other error ends the waiting too;
// it can be taken up again at any time. [WithTimeout] limits each question.
//
// GET /payment-files/{id}, every minute.
func (s *PaymentFilesService) Wait(ctx context.Context, paymentFileID string, wait PaymentFileWait, opts ...CallOption) (*PaymentFile, error) {
	opts = named("PaymentFiles.Wait").with(opts)
	for {
		file, err := s.Get(ctx, paymentFileID, opts...)
		if err != nil {
			return nil, err
		}
		if wait.Progress != nil {
			wait.Progress(file)
		}
		if file.Status.Final() {
			return file, nil
		}
		if err := pause(ctx, wait.Interval); err != nil {
			return nil, fmt.Errorf("quickstream: PaymentFiles.Wait: the status is not final: %w", err)
		}
	}
}

// List returns the files of the last 365 days.
//
// GET /payment-files. The vendor's public pages describe the operation; its path is
// inferred and unconfirmed.
func (s *PaymentFilesService) List(opts ...CallOption) List[PaymentFile] {
	return list[PaymentFile](s.client, "PaymentFiles.List", noQuery{}, nil, opts)
}

// Batches returns the batches of a payment file.
//
// GET /payment-files/{id}/payment-batches. An unknown identifier is an [APIError]
// that matches [ErrNotFound]; unconfirmed.
func (s *PaymentFilesService) Batches(paymentFileID string, opts ...CallOption) List[PaymentBatch] {
	return list[PaymentBatch](s.client, "PaymentFiles.Batches", noQuery{}, nil, opts, paymentFileID)
}

// Batch returns a batch.
//
// GET /payment-batches/{id}. An unknown identifier is an [APIError] that matches
// [ErrNotFound]. The vendor's public pages describe the operation; its path is
// inferred and unconfirmed.
func (s *PaymentFilesService) Batch(ctx context.Context, paymentBatchID string, opts ...CallOption) (*PaymentBatch, error) {
	return send[PaymentBatch](ctx, s.client.begin("PaymentFiles.Batch", opts, paymentBatchID))
}

// BatchTransactionsParams narrows a list of transactions; the zero value lists
// all.
type BatchTransactionsParams struct {
	// Status is a status code, whose values are not published.
	Status string `url:"status,omitempty"`
}

// BatchTransactions returns the transactions of a batch.
//
// GET /payment-batches/{id}/transactions. An unknown identifier is an [APIError]
// that matches [ErrNotFound]; unconfirmed.
func (s *PaymentFilesService) BatchTransactions(paymentBatchID string, params BatchTransactionsParams, opts ...CallOption) List[Transaction] {
	return list[Transaction](s.client, "PaymentFiles.BatchTransactions", params, nil, opts, paymentBatchID)
}

// DownloadFlatFile writes the results of a payment file, in the layout of a flat
// file, to a writer. It writes as Transactions.DownloadReport does.
//
// GET /payment-files/{id}/flat-file. A file that is unknown, not processed yet or
// of another format is an [APIError] that matches [ErrNotFound]; unconfirmed.
func (s *PaymentFilesService) DownloadFlatFile(ctx context.Context, to io.Writer, paymentFileID string, opts ...CallOption) (int64, error) {
	return s.report(ctx, to, "PaymentFiles.DownloadFlatFile", paymentFileID, opts)
}

// DownloadCSV writes the results of a payment file, as CSV, to a writer. It writes
// as Transactions.DownloadReport does.
//
// GET /payment-files/{id}/csv. A file that is unknown, not processed yet or of
// another format is an [APIError] that matches [ErrNotFound]; unconfirmed.
func (s *PaymentFilesService) DownloadCSV(ctx context.Context, to io.Writer, paymentFileID string, opts ...CallOption) (int64, error) {
	return s.report(ctx, to, "PaymentFiles.DownloadCSV", paymentFileID, opts)
}

// DownloadMTSRejects writes the rejected payments of an MTS payment file to a
// writer. It writes as Transactions.DownloadReport does.
//
// GET /payment-files/{id}/mts-rejects. A file that is unknown, not processed yet or
// of another format is an [APIError] that matches [ErrNotFound]; unconfirmed.
func (s *PaymentFilesService) DownloadMTSRejects(ctx context.Context, to io.Writer, paymentFileID string, opts ...CallOption) (int64, error) {
	return s.report(ctx, to, "PaymentFiles.DownloadMTSRejects", paymentFileID, opts)
}

func (s *PaymentFilesService) report(ctx context.Context, to io.Writer, name Operation, paymentFileID string, opts []CallOption) (int64, error) {
	return s.client.begin(name, opts, paymentFileID).fetch(ctx, &download{accept: "*/*", to: to})
}
