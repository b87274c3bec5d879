package conformance

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

func (s *stage) upload(name string, format quickstream.PaymentFileFormat, content string) (*quickstream.PaymentFile, error) {
	return s.client.PaymentFiles.Upload(s.Context(), quickstream.UploadPaymentFileParams{
		FileName: name, Format: format, Content: strings.NewReader(content), Size: int64(len(content)),
	})
}

func (s *stage) files(account string) {
	files := s.client.PaymentFiles
	header := "H,SANDBOX," + today(s).String() + ",2\n"
	whole := header + "C," + shop + ",AUD,10.50,C-1,F-1," + visa + ",02,2031,Sam Sample\n" +
		"B," + shop + ",AUD,20.00,C-1,F-2,032-002,123465,Sam Sample\nT,2,30.50\n"
	file := must(s.upload("payments.csv", quickstream.PaymentFileFormatCSV2, whole))(s)
	rejects := must(s.upload("payments.mts", quickstream.PaymentFileFormatMTSTokens, header+"C,"+shop+",AUD,10.50,C-1,F-3,"+account+"\nT,1,10.50\n"))(s)
	must(s.upload("faulty.csv", quickstream.PaymentFileFormatCSV, "nothing"))(s)
	if _, err := s.upload("payments.csv", quickstream.PaymentFileFormatCSV2, whole); !errors.Is(err, quickstream.ErrInvalid) {
		s.Errorf("the same name again: %v", err)
	}
	must(files.Get(s.Context(), file.PaymentFileID))(s)
	must(files.Wait(s.Context(), file.PaymentFileID, quickstream.PaymentFileWait{Interval: time.Hour}))(s)
	all(s, files.List())
	for _, batch := range all(s, files.Batches(file.PaymentFileID)) {
		must(files.Batch(s.Context(), batch.PaymentBatchID))(s)
		all(s, files.BatchTransactions(batch.PaymentBatchID, quickstream.BatchTransactionsParams{Status: "0"}))
	}
	must(files.DownloadCSV(s.Context(), io.Discard, file.PaymentFileID))(s)
	must(files.DownloadFlatFile(s.Context(), io.Discard, file.PaymentFileID))(s)
	must(files.DownloadMTSRejects(s.Context(), io.Discard, rejects.PaymentFileID))(s)
	s.refused(http.StatusForbidden, "POST", "/payment-files", []byte("nothing"))
}

func (s *stage) schedules(customer *quickstream.Customer, account string) {
	id := must(s.box.CreateSchedule(sandbox.Schedule{
		CustomerID: customer.CustomerID, AccountToken: account, SupplierBusinessCode: shop, Amount: 1000, Frequency: sandbox.Weekly, Payments: 3,
	}))(s)
	s.wait(10 * 24 * time.Hour)
	must(s.client.RecurringPayments.Get(s.Context(), id))(s)
	all(s, s.client.RecurringPayments.Transactions(id))
	all(s, s.client.RecurringPayments.List(customer.CustomerID))
}

func (s *stage) businesses() {
	must(s.client.Businesses.Get(s.Context(), shop))(s)
	all(s, s.client.Businesses.List())
	all(s, s.client.Businesses.CardSurcharges(shop))
	all(s, s.client.Businesses.PublicCardSurcharges(shop))
	all(s, s.client.Businesses.AcceptedCards(shop))
	must(s.client.Businesses.QueryCardSurcharge(s.Context(), shop, quickstream.NewSecret(visa)))(s)
	must(s.client.Businesses.CardScheme(s.Context(), visa[:6]))(s)
}

// report downloads the CSV report of a date.
func (s *stage) report() {
	params := quickstream.ReportParams{
		SettlementDate: today(s), TransactionStatus: quickstream.TransactionStatusApproved, SupplierBusinessCode: shop,
		Sources: []string{"RESTAPI", "FILE"}, ExcludePreauths: new(true),
	}
	if _, err := s.client.Transactions.DownloadReport(s.Context(), io.Discard, params); !errors.Is(err, quickstream.ErrReportNotReady) {
		s.Errorf("a new report: %v", err)
	}
	must(s.client.Transactions.AwaitReport(s.Context(), io.Discard, params, quickstream.ReportWait{}))(s)
	s.refused(http.StatusNotAcceptable, "GET", "/transactions/csv?version=2&settlementDate="+today(s).String(), nil, "Accept", "text/csv")
	s.refused(http.StatusUnprocessableEntity, "GET", "/transactions/csv?version=3", nil)
}

// faults are the answers of a service in trouble.
func (s *stage) faults() {
	for _, fault := range []sandbox.FaultKind{
		sandbox.RateLimited("1"), sandbox.Status(http.StatusForbidden, sandbox.ServiceError),
		sandbox.Status(http.StatusInternalServerError, sandbox.Empty), sandbox.Status(http.StatusServiceUnavailable, sandbox.ServiceError),
	} {
		s.check(s.box.Inject(sandbox.Fault{Times: 1, Kind: fault}))
		s.refused(0, "GET", "/transactions", nil)
	}
}

// renewal gets a new secret key with the one in use.
func (s *stage) renewal() { must(s.client.APIKeys.Renew(s.Context()))(s) }
