package conformance

import (
	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

func agreementCalls() []clientCall {
	create := func(form string, edit func(*quickstream.AgreementCreateParams)) clientCall {
		return clientCall{"PayTo.Create", "POST /customers/{customerId}/payto-agreements", form, func(r *run) (any, error) {
			return r.client.PayTo.Create(r.ctx, id("customerId"), fill(r.values, edit))
		}}
	}
	return []clientCall{
		create("regular, with an end", func(p *quickstream.AgreementCreateParams) {
			p.Payment.AutomaticRenewal = false
			p.Terms.Frequency = quickstream.PayToFrequencyMonthly
		}),
		create("ad hoc, without an end", func(p *quickstream.AgreementCreateParams) {
			p.Payment.EndDate = quickstream.Date{}
			p.Terms.PointInTime = nil
		}),
		{"PayTo.Get", "GET /payto-agreements/{agreementToken}", "", func(r *run) (any, error) {
			return r.client.PayTo.Get(r.ctx, id("agreementToken"))
		}},
		{"PayTo.List", "GET /customers/{customerId}/payto-agreements", "", func(r *run) (any, error) {
			return pages(r, r.client.PayTo.List(id("customerId"), fill[quickstream.AgreementListParams](r.values)))
		}},
	}
}

func amendmentCalls() []clientCall {
	const operation = "PATCH /payto-agreements/{agreementToken}"
	bilateral := func(form string, changes func(r *run) quickstream.BilateralAmendmentParams) clientCall {
		return clientCall{"PayTo.AmendBilaterally", operation, form, func(r *run) (any, error) {
			return nil, r.client.PayTo.AmendBilaterally(r.ctx, r.agreement, changes(r))
		}}
	}
	return []clientCall{
		{"PayTo.Recall", operation, "", func(r *run) (any, error) {
			return nil, r.client.PayTo.Recall(r.ctx, id("agreementToken"))
		}},
		{"PayTo.Suspend", operation, "", func(r *run) (any, error) {
			return nil, r.client.PayTo.Suspend(r.ctx, id("agreementToken"), fill[quickstream.StatusReason](r.values))
		}},
		{"PayTo.Reactivate", operation, "", func(r *run) (any, error) {
			return nil, r.client.PayTo.Reactivate(r.ctx, id("agreementToken"), quickstream.StatusReason{})
		}},
		{"PayTo.Cancel", operation, "", func(r *run) (any, error) {
			return nil, r.client.PayTo.Cancel(r.ctx, id("agreementToken"), fill[quickstream.StatusReason](r.values))
		}},
		{"PayTo.RecallAmendment", operation, "", func(r *run) (any, error) {
			return nil, r.client.PayTo.RecallAmendment(r.ctx, id("agreementToken"))
		}},
		{"PayTo.AmendUnilaterally", operation, "as it stands", func(r *run) (any, error) {
			return nil, r.client.PayTo.AmendUnilaterally(r.ctx, r.agreement, quickstream.UnilateralAmendmentParams{})
		}},
		{"PayTo.AmendUnilaterally", operation, "changed", func(r *run) (any, error) {
			return nil, r.client.PayTo.AmendUnilaterally(r.ctx, r.agreement, fill(r.values, func(p *quickstream.UnilateralAmendmentParams) {
				p.Description, p.PayeeReference = quickstream.Set("a description"), quickstream.Set("a reference")
			}))
		}},
		bilateral("as it stands", func(*run) quickstream.BilateralAmendmentParams { return quickstream.BilateralAmendmentParams{} }),
		bilateral("changed", func(r *run) quickstream.BilateralAmendmentParams {
			return fill(r.values, func(p *quickstream.BilateralAmendmentParams) {
				day, amount := fill[quickstream.Date], fill[decimal.Decimal]
				p.EndDate = quickstream.Set(day(r.values))
				*p.AutomaticRenewal = false
				p.AdditionalInformation = quickstream.Set("information")
				*p.Frequency = quickstream.PayToFrequencyMonthly
				p.NumberOfPaymentsPermitted, p.PointInTime = quickstream.Set[int64](12), quickstream.Set[int64](5)
				p.FirstPaymentAmount, p.LastPaymentAmount = quickstream.Set(amount(r.values)), quickstream.Set(amount(r.values))
				p.PaymentAmount, p.MaximumPaymentAmount = quickstream.Set(amount(r.values)), quickstream.Set(amount(r.values))
				p.FirstPaymentDue, p.LastPaymentDue = quickstream.Set(day(r.values)), quickstream.Set(day(r.values))
			})
		}),
	}
}
