package conformance

import (
	"io"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream"
)

func cardSources() []choice[quickstream.CardSource] {
	return []choice[quickstream.CardSource]{
		{"FromCard", func(r *run) quickstream.CardSource { return quickstream.FromCard(fill(r.values, withoutWallet)) }},
		{"FromSingleUseToken", func(*run) quickstream.CardSource { return quickstream.FromSingleUseToken("token-1") }},
		{"FromCustomer", func(*run) quickstream.CardSource { return quickstream.FromCustomer("customer-1") }},
		{"FromAccount", func(*run) quickstream.CardSource { return quickstream.FromAccount("account-1") }},
	}
}

func otherSources() []choice[quickstream.AccountSource] {
	return []choice[quickstream.AccountSource]{
		{"FromBankAccount", func(r *run) quickstream.AccountSource {
			return quickstream.FromBankAccount(fill[quickstream.BankAccountDetails](r.values))
		}},
		{"FromNZBankAccount", func(r *run) quickstream.AccountSource {
			return quickstream.FromNZBankAccount(fill[quickstream.NZBankAccountDetails](r.values))
		}},
		{"FromPayTo", func(r *run) quickstream.AccountSource {
			return quickstream.FromPayTo(fill[quickstream.PayToPayment](r.values))
		}},
		{"FromPayToWithAgreement", func(r *run) quickstream.AccountSource {
			return quickstream.FromPayToWithAgreement(fill[quickstream.PayToPaymentWithAgreement](r.values))
		}},
	}
}

// authenticated is the flag that goes with single-use tokens; others send false.
func authenticated(maker string) *bool { return new(strings.HasSuffix(maker, "FromSingleUseToken")) }

func paymentCalls() []clientCall {
	sources := append(otherSources(), choice[quickstream.AccountSource]{"FromCard, of a wallet", func(r *run) quickstream.AccountSource {
		return quickstream.FromCard(fill[quickstream.CardDetails](r.values))
	}})
	for _, card := range cardSources() {
		sources = append(sources, choice[quickstream.AccountSource]{card.maker, func(r *run) quickstream.AccountSource { return card.value(r) }})
	}
	var calls []clientCall
	for _, source := range sources {
		calls = append(calls, clientCall{"Transactions.Pay", "POST /transactions", source.maker, func(r *run) (any, error) {
			return r.client.Transactions.Pay(r.ctx, fill(r.values, func(p *quickstream.PayParams) {
				p.Source, p.ThreeDS2 = source.value(r), authenticated(source.maker)
			}))
		}})
	}
	return calls
}

func cardOnlyCalls() []clientCall {
	var calls []clientCall
	for _, source := range cardSources() {
		calls = append(calls,
			clientCall{"Transactions.Preauthorise", "POST /transactions", source.maker, func(r *run) (any, error) {
				return r.client.Transactions.Preauthorise(r.ctx, fill(r.values, func(p *quickstream.PreauthoriseParams) {
					p.Source, p.ThreeDS2 = source.value(r), authenticated(source.maker)
				}))
			}},
			clientCall{"Transactions.VerifyAccount", "POST /transactions", source.maker, func(r *run) (any, error) {
				return r.client.Transactions.VerifyAccount(r.ctx, fill(r.values, func(p *quickstream.VerifyAccountParams) {
					p.Source, p.ThreeDS2 = source.value(r), authenticated(source.maker)
				}))
			}})
	}
	return calls
}

func followUpCalls() []clientCall {
	const operation = "POST /transactions"
	return []clientCall{
		{"Transactions.Refund", operation, "", func(r *run) (any, error) {
			return r.client.Transactions.Refund(r.ctx, fill[quickstream.RefundParams](r.values))
		}},
		{"Transactions.Refund", operation, "of a payment as it was read", func(r *run) (any, error) {
			payment := *r.transaction
			payment.TransactionType = quickstream.TransactionTypePayment
			return r.client.Transactions.Refund(r.ctx, fill(r.values, func(p *quickstream.RefundParams) {
				p.OriginalReceiptNumber, p.Original, p.PrincipalAmount = "", &payment, payment.PrincipalAmount.Amount
			}))
		}},
		{"Transactions.TopUp", operation, "", func(r *run) (any, error) {
			return r.client.Transactions.TopUp(r.ctx, fill[quickstream.TopUpParams](r.values))
		}},
		{"Transactions.Reauthorise", operation, "", func(r *run) (any, error) {
			return r.client.Transactions.Reauthorise(r.ctx, fill[quickstream.ReauthoriseParams](r.values))
		}},
		{"Transactions.Extend", operation, "", func(r *run) (any, error) {
			return r.client.Transactions.Extend(r.ctx, fill[quickstream.ExtendParams](r.values))
		}},
		{"Transactions.Capture", operation, "", func(r *run) (any, error) {
			return r.client.Transactions.Capture(r.ctx, fill[quickstream.CaptureParams](r.values))
		}},
		{"Transactions.Capture", operation, "of a pre-authorisation as it was read", func(r *run) (any, error) {
			preauth := *r.transaction
			preauth.TransactionType = quickstream.TransactionTypePreauth
			return r.client.Transactions.Capture(r.ctx, fill(r.values, func(p *quickstream.CaptureParams) {
				p.OriginalReceiptNumber, p.Original, p.PrincipalAmount = "", &preauth, preauth.PrincipalAmount.Amount
			}))
		}},
		{"Transactions.CancelPreauthorisation", operation, "", func(r *run) (any, error) {
			return r.client.Transactions.CancelPreauthorisation(r.ctx, fill[quickstream.CancelPreauthorisationParams](r.values))
		}},
		{"Transactions.Void", "POST /transactions/{receiptNumber}/void", "", func(r *run) (any, error) {
			return r.client.Transactions.Void(r.ctx, id("receiptNumber"))
		}},
	}
}

func transactionReads() []clientCall {
	read := func(method, operation string, list func(*run) quickstream.List[quickstream.Transaction]) clientCall {
		return clientCall{"Transactions." + method, operation, "", func(r *run) (any, error) { return pages(r, list(r)) }}
	}
	return []clientCall{
		{"Transactions.DownloadReport", "GET /transactions/csv", "", func(r *run) (any, error) {
			return r.client.Transactions.DownloadReport(r.ctx, io.Discard, report(r))
		}},
		{"Transactions.Get", "GET /transactions/{receiptNumber}", "", func(r *run) (any, error) {
			return r.client.Transactions.Get(r.ctx, id("receiptNumber"))
		}},
		read("List", "GET /transactions", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.List(fill[quickstream.ListTransactionsParams](r.values))
		}),
		read("ByReference", "GET /transactions/for-reference-number", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.ByReference("reference")
		}),
		read("BySettlementDate", "GET /transactions/for-settlement-date", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.BySettlementDate(fill[quickstream.Date](r.values))
		}),
		read("ByAccount", "GET /transactions/for-account-token", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.ByAccount("account")
		}),
		read("ByCreditCard", "GET /transactions/for-credit-card", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.ByCreditCard("424242", "242")
		}),
		read("ByBankAccount", "GET /transactions/for-bank-account", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.ByBankAccount("032-002", quickstream.NewSecret("123465"))
		}),
		read("ByNZBankAccount", "GET /transactions/for-nz-bank-account", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.ByNZBankAccount("03", "0123", quickstream.NewSecret("0034141"))
		}),
		read("Suspended", "GET /transactions/suspended", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.Suspended(fill(r.values, func(p *quickstream.SuspendedParams) {
				now := time.Now().UTC() // never a month ahead of Sydney
				p.Month = quickstream.YearMonth{Year: now.Year(), Month: now.Month()}
			}))
		}),
		read("Refunds", "GET /transactions/{receiptNumber}/refunds", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.Refunds(id("receiptNumber"))
		}),
		read("Retries", "GET /transactions/{receiptNumber}/retries", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.Retries(id("receiptNumber"))
		}),
		read("Returned", "GET /transactions/returns", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.Returned(fill[quickstream.ReturnedParams](r.values))
		}),
		read("OpenPreauths", "GET /transactions/open-preauths", func(r *run) quickstream.List[quickstream.Transaction] {
			return r.client.Transactions.OpenPreauths(fill[quickstream.OpenPreauthsParams](r.values))
		}),
	}
}

func report(r *run) quickstream.ReportParams {
	return fill(r.values, func(p *quickstream.ReportParams) {
		p.TransactionStatus = quickstream.TransactionStatusApproved
	})
}
