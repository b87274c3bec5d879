package conformance

import (
	"io"
	"strings"

	"github.com/quickstream-go/quickstream"
)

func fileCalls() []clientCall {
	download := func(name, report string, get func(*run, string) (int64, error)) clientCall {
		return clientCall{"PaymentFiles." + name, "GET /payment-files/{id}/" + report, "", func(r *run) (any, error) { return get(r, id("id")) }}
	}
	return []clientCall{
		{"PaymentFiles.Upload", "POST /payment-files", "", func(r *run) (any, error) {
			return r.client.PaymentFiles.Upload(r.ctx, fill(r.values, func(p *quickstream.UploadPaymentFileParams) {
				p.Content, p.Size, p.Progress = strings.NewReader("content"), int64(len("content")), func(int64) {}
			}))
		}},
		{"PaymentFiles.Get", "GET /payment-files/{id}", "", func(r *run) (any, error) {
			return r.client.PaymentFiles.Get(r.ctx, id("id"))
		}},
		{"PaymentFiles.List", "GET /payment-files", "", func(r *run) (any, error) {
			return pages(r, r.client.PaymentFiles.List())
		}},
		{"PaymentFiles.Batches", "GET /payment-files/{id}/payment-batches", "", func(r *run) (any, error) {
			return pages(r, r.client.PaymentFiles.Batches(id("id")))
		}},
		{"PaymentFiles.Batch", "GET /payment-batches/{id}", "", func(r *run) (any, error) {
			return r.client.PaymentFiles.Batch(r.ctx, id("id"))
		}},
		{"PaymentFiles.BatchTransactions", "GET /payment-batches/{id}/transactions", "", func(r *run) (any, error) {
			return pages(r, r.client.PaymentFiles.BatchTransactions(id("id"), fill[quickstream.BatchTransactionsParams](r.values)))
		}},
		download("DownloadCSV", "csv", func(r *run, file string) (int64, error) {
			return r.client.PaymentFiles.DownloadCSV(r.ctx, io.Discard, file)
		}),
		download("DownloadFlatFile", "flat-file", func(r *run, file string) (int64, error) {
			return r.client.PaymentFiles.DownloadFlatFile(r.ctx, io.Discard, file)
		}),
		download("DownloadMTSRejects", "mts-rejects", func(r *run, file string) (int64, error) {
			return r.client.PaymentFiles.DownloadMTSRejects(r.ctx, io.Discard, file)
		}),
	}
}

func recurringPaymentCalls() []clientCall {
	return []clientCall{
		{"RecurringPayments.Get", "GET /recurring-payments/{paymentScheduleId}", "", func(r *run) (any, error) {
			return r.client.RecurringPayments.Get(r.ctx, id("paymentScheduleId"))
		}},
		{"RecurringPayments.List", "GET /customers/{customerId}/recurring-payments", "", func(r *run) (any, error) {
			return pages(r, r.client.RecurringPayments.List(id("customerId")))
		}},
		{"RecurringPayments.Transactions", "GET /recurring-payments/{paymentScheduleId}/transactions", "", func(r *run) (any, error) {
			return pages(r, r.client.RecurringPayments.Transactions(id("paymentScheduleId")))
		}},
	}
}

func businessCalls() []clientCall {
	return []clientCall{
		{"Businesses.List", "GET /businesses", "", func(r *run) (any, error) {
			return pages(r, r.client.Businesses.List())
		}},
		{"Businesses.Get", "GET /businesses/{supplierBusinessCode}", "", func(r *run) (any, error) {
			return r.client.Businesses.Get(r.ctx, id("supplierBusinessCode"))
		}},
		{"Businesses.CardSurcharges", "GET /businesses/{supplierBusinessCode}/list-card-surcharges", "", func(r *run) (any, error) {
			return pages(r, r.client.Businesses.CardSurcharges(id("supplierBusinessCode")))
		}},
		{"Businesses.PublicCardSurcharges", "GET /businesses/{supplierBusinessCode}/card-surcharges", "", func(r *run) (any, error) {
			return pages(r, r.client.Businesses.PublicCardSurcharges(id("supplierBusinessCode")))
		}},
		{"Businesses.AcceptedCards", "GET /businesses/{supplierBusinessCode}/accepted-cards", "", func(r *run) (any, error) {
			return pages(r, r.client.Businesses.AcceptedCards(id("supplierBusinessCode")))
		}},
		{"Businesses.QueryCardSurcharge", "POST /businesses/{supplierBusinessCode}/query-card-surcharge", "", func(r *run) (any, error) {
			return r.client.Businesses.QueryCardSurcharge(r.ctx, id("supplierBusinessCode"), quickstream.NewSecret(formats["CardNumber"]))
		}},
		{"Businesses.CardScheme", "GET /credit-cards/card-schemes/{firstSixDigits}", "", func(r *run) (any, error) {
			return r.client.Businesses.CardScheme(r.ctx, id("firstSixDigits"))
		}},
	}
}
