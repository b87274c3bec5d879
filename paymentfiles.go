package quickstream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// PaymentFilesService has the operations on payment files: many payments in one upload, processed
// in batches. Get, List and Batch are from the vendor's public pages; their paths are inferred and
// unconfirmed.
type PaymentFilesService struct{ client *Client }

// PaymentFileStatus is the progress of a payment file.
type PaymentFileStatus string

// The statuses. All but COMPLETE are from the vendor's public pages.
const (
	PaymentFileStatusQueued     PaymentFileStatus = "QUEUED"
	PaymentFileStatusProcessing PaymentFileStatus = "PROCESSING"
	// PaymentFileStatusAwaitingClearance: other institutions have to answer, up to 5 business days
	// for bank accounts.
	PaymentFileStatusAwaitingClearance PaymentFileStatus = "AWAITING_CLEARANCE"
	// PaymentFileStatusComplete: the batches and their transactions can be read.
	PaymentFileStatusComplete PaymentFileStatus = "COMPLETE"
	// PaymentFileStatusError: the file is faulty. Check that no batch of it was processed before
	// you upload a corrected one under a new name.
	PaymentFileStatusError PaymentFileStatus = "ERROR"
)

// Final reports whether the status can no longer change. Unknown statuses are not final.
func (s PaymentFileStatus) Final() bool {
	return s == PaymentFileStatusComplete || s == PaymentFileStatusError
}

// PaymentFile is an uploaded payment file. Unpublished members are in Extra.
type PaymentFile struct {
	PaymentFileID string            `json:"paymentFileId,omitempty" wire:"identifies"`
	Status        PaymentFileStatus `json:"status,omitempty" wire:"decides"`
	Links         []Link            `json:"links,omitempty"`

	envelope
}

func (f *PaymentFile) identifier() string { return f.PaymentFileID }

// PaymentBatch holds the payments of a file with the same kind, business and currency. The
// specification names no members: the identifier's name is inferred and unconfirmed, and the others
// are in Extra.
type PaymentBatch struct {
	PaymentBatchID string `json:"paymentBatchId,omitempty" wire:"identifies"`
	Links          []Link `json:"links,omitempty" wire:"decides"` // decides, because the identifier may be missing

	envelope
}

// identifier falls back to the whole batch, because the member may have another name.
func (b *PaymentBatch) identifier() string { return cmp.Or(b.PaymentBatchID, string(b.Raw())) }

// Get returns a payment file with its latest status.
//
// GET /payment-files/{id}. An unknown identifier matches [ErrNotFound].
func (s *PaymentFilesService) Get(ctx context.Context, paymentFileID string, opts ...CallOption) (*PaymentFile, error) {
	return get[PaymentFile](ctx, s.client, "PaymentFiles.Get", opts, paymentFileID)
}

// List returns the files of the last 365 days.
//
// GET /payment-files. A wrong key matches [ErrUnauthorized].
func (s *PaymentFilesService) List(opts ...CallOption) List[PaymentFile] {
	return list[PaymentFile](s.client, "PaymentFiles.List", nil, nil, opts)
}

// Batches returns the batches of a payment file.
//
// GET /payment-files/{id}/payment-batches. An unknown identifier matches [ErrNotFound];
// unconfirmed.
func (s *PaymentFilesService) Batches(paymentFileID string, opts ...CallOption) List[PaymentBatch] {
	return list[PaymentBatch](s.client, "PaymentFiles.Batches", nil, nil, opts, paymentFileID)
}

// Batch returns a batch.
//
// GET /payment-batches/{id}. An unknown identifier matches [ErrNotFound].
func (s *PaymentFilesService) Batch(ctx context.Context, paymentBatchID string, opts ...CallOption) (*PaymentBatch, error) {
	return sendChecked(ctx, s.client.begin("PaymentFiles.Batch", opts, paymentBatchID), func(b *PaymentBatch) error {
		if b.PaymentBatchID != "" && !sameText(b.PaymentBatchID, paymentBatchID) {
			return errNotAsked
		}
		return nil
	})
}

// BatchTransactions returns the transactions of a batch with a status code, or all of them if
// status is empty. The status codes are not published.
//
// GET /payment-batches/{id}/transactions. An unknown identifier matches [ErrNotFound]; unconfirmed.
func (s *PaymentFilesService) BatchTransactions(paymentBatchID, status string, opts ...CallOption) List[Transaction] {
	query := struct {
		Status string `url:"status,omitempty"`
	}{status}
	return list[Transaction](s.client, "PaymentFiles.BatchTransactions", query, nil, opts, paymentBatchID)
}

// DownloadFlatFile writes the results of a payment file as a flat file. See
// [TransactionsService.DownloadReport].
//
// GET /payment-files/{id}/flat-file. A file that is unknown, unprocessed or of another format
// matches [ErrNotFound], and one that is not ready (202) [ErrReportNotReady]; unconfirmed.
func (s *PaymentFilesService) DownloadFlatFile(ctx context.Context, to io.Writer, paymentFileID string, opts ...CallOption) (int64, error) {
	return s.report(ctx, to, "PaymentFiles.DownloadFlatFile", paymentFileID, opts)
}

// DownloadCSV writes the results of a payment file as CSV.
//
// GET /payment-files/{id}/csv. Errors as for DownloadFlatFile.
func (s *PaymentFilesService) DownloadCSV(ctx context.Context, to io.Writer, paymentFileID string, opts ...CallOption) (int64, error) {
	return s.report(ctx, to, "PaymentFiles.DownloadCSV", paymentFileID, opts)
}

// DownloadMTSRejects writes the rejected payments of an MTS file.
//
// GET /payment-files/{id}/mts-rejects. Errors as for DownloadFlatFile.
func (s *PaymentFilesService) DownloadMTSRejects(ctx context.Context, to io.Writer, paymentFileID string, opts ...CallOption) (int64, error) {
	return s.report(ctx, to, "PaymentFiles.DownloadMTSRejects", paymentFileID, opts)
}

func (s *PaymentFilesService) report(ctx context.Context, to io.Writer, name Operation, paymentFileID string, opts []CallOption) (int64, error) {
	return s.client.begin(name, opts, paymentFileID).fetch(ctx, &download{accept: "*/*", to: to})
}

// PaymentFileFormat is the layout of a payment file.
type PaymentFileFormat string

// The layouts that the vendor's public pages name.
const (
	PaymentFileFormatCSV2           PaymentFileFormat = "CSV2"
	PaymentFileFormatCSV            PaymentFileFormat = "CSV"
	PaymentFileFormatCSVTokens      PaymentFileFormat = "CSV_TOKENS"
	PaymentFileFormatFlatFile       PaymentFileFormat = "FLAT_FILE"
	PaymentFileFormatFlatFileTokens PaymentFileFormat = "FLAT_FILE_TOKENS"
	PaymentFileFormatMTS            PaymentFileFormat = "MTS"
	PaymentFileFormatMTSTokens      PaymentFileFormat = "MTS_TOKENS"
)

// UploadPaymentFileParams describes a payment file. All members are required.
type UploadPaymentFileParams struct {
	// FileName must be new: that prevents processing a file twice. It is sent unchanged, in UTF-8,
	// and has no path separators.
	FileName string
	// Format is the layout of Content.
	Format PaymentFileFormat
	// Content is read once, to its end, while it is sent. It is not closed. A Read may still be
	// running when the call ends.
	Content io.Reader
	// Size is the length of Content in bytes.
	Size int64
}

func (p UploadPaymentFileParams) check(f *findings) {
	f.require(isFileName(p.FileName), "paymentFile.fileName", "file", "must have a name without path separators and control characters")
	f.require(p.Format != "", "paymentFile.format.required", "format", "is required")
	f.require(p.Content != nil, "paymentFile.content.required", "file", "is required")
	f.require(p.Size > 0, "paymentFile.size.positive", "file", "must have a size of more than zero bytes")
}

// Upload uploads a payment file. The service then makes its payments, and Get shows when. Only the
// context and [WithTimeout] limit the upload; [WithAttemptTimeout] limits each wait for the
// service.
//
// POST /payment-files. Nothing is sent again after the first byte was read. A file name in use
// matches [ErrInvalid]. A lost answer, a success before the whole file was sent, and Content that
// fails or does not have Size bytes are an [UnknownOutcomeError]: look in List, which does not say
// which upload made a file, or in the service's portal. Upload under a new name only if the status
// is [PaymentFileStatusError] and no batch was processed.
func (s *PaymentFilesService) Upload(ctx context.Context, params UploadPaymentFileParams, opts ...CallOption) (*PaymentFile, error) {
	call := s.client.begin(OperationUploadPaymentFile, opts)
	call.check(params.check)
	call.reference = params.FileName
	upload, err := params.form()
	call.refuse(err)
	call.upload = upload
	call.intent = &Intent{Reference: params.FileName, OwnReference: true}
	call.config.addHeader("Prevent-Csrf", "true") // in canonical form
	return send[PaymentFile](ctx, call)
}

// form returns the file inside a multipart form. Only the text around the file is in memory.
func (p UploadPaymentFileParams) form() (*transport.Upload, error) {
	var around bytes.Buffer
	form := multipart.NewWriter(&around)
	if err := form.WriteField("format", string(p.Format)); err != nil {
		return nil, err
	}
	if _, err := form.CreateFormFile("file", p.FileName); err != nil {
		return nil, err
	}
	here := around.Len()
	if err := form.Close(); err != nil {
		return nil, err
	}
	before, after := around.Bytes()[:here], around.Bytes()[here:]
	file := &fileContent{content: p.Content, left: p.Size}
	return &transport.Upload{
		Content:     io.MultiReader(bytes.NewReader(before), file, bytes.NewReader(after)),
		Length:      int64(around.Len()) + p.Size,
		ContentType: form.FormDataContentType(),
	}, nil
}

var (
	errFileShort = errors.New("the content is shorter than its size says")
	errFileLong  = errors.New("the content is longer than its size says")
)

// fileContent reads a file of a known size. Another size is an error before the end of the form, so
// the service never gets a complete request.
type fileContent struct {
	content io.Reader
	left    int64
	err     error // the first error
}

func (f *fileContent) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	if f.left == 0 {
		return 0, f.end()
	}
	n, err := f.content.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if errors.Is(err, io.EOF) && f.left > 0 {
		err = errFileShort
	}
	f.err = err
	return n, err
}

func (f *fileContent) end() error {
	var one [1]byte
	n, err := f.content.Read(one[:])
	if n > 0 {
		err = errFileLong
	}
	f.err = err
	return err
}

// isFileName reports whether a name arrives unchanged in the header of a form's part, where quotes
// are escaped.
func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && utf8.ValidString(name) &&
		!strings.ContainsAny(name, `/\`) && !strings.ContainsFunc(name, unicode.IsControl)
}
