package conformance

import "github.com/quickstream-go/quickstream"

func agreementCalls() []clientCall {
	create := func(form string, edit func(*quickstream.CreateAgreementParams)) clientCall {
		return clientCall{"PayTo.Create", "POST /customers/{customerId}/payto-agreements", form, func(r *run) (any, error) {
			return r.client.PayTo.Create(r.ctx, id("customerId"), fill(r.values, edit))
		}}
	}
	return []clientCall{
		create("ad hoc, without an end", func(p *quickstream.CreateAgreementParams) {
			p.Payment.EndDate = quickstream.Date{}
			p.Terms.PointInTime = nil
		}),
		create("regular, with an end", func(p *quickstream.CreateAgreementParams) {
			p.Payment.AutomaticRenewal = false
			p.Terms.Frequency = quickstream.AgreementFrequencyMonthly
		}),
	}
}

func amendmentCalls() []clientCall {
	const operation = "PATCH /payto-agreements/{agreementToken}"
	unilateral := func(form string, edit func(*run, *quickstream.UnilateralDetails)) clientCall {
		return clientCall{"PayTo.AmendUnilaterally", operation, form, func(r *run) (any, error) {
			details, err := r.agreement.Details()
			if err != nil {
				return nil, err
			}
			edit(r, details)
			return nil, r.client.PayTo.AmendUnilaterally(r.ctx, details)
		}}
	}
	bilateral := func(form string, edit func(*run, *quickstream.BilateralTerms)) clientCall {
		return clientCall{"PayTo.AmendBilaterally", operation, form, func(r *run) (any, error) {
			terms, err := r.agreement.Terms()
			if err != nil {
				return nil, err
			}
			edit(r, terms)
			return nil, r.client.PayTo.AmendBilaterally(r.ctx, terms)
		}}
	}
	return []clientCall{
		{"PayTo.Reactivate", operation, "", func(r *run) (any, error) {
			return nil, r.client.PayTo.Reactivate(r.ctx, id("agreementToken"), quickstream.AgreementReason{})
		}},
		unilateral("as it stands", func(*run, *quickstream.UnilateralDetails) {}),
		unilateral("changed", func(r *run, details *quickstream.UnilateralDetails) { refill(r.values, details) }),
		bilateral("as it stands", func(*run, *quickstream.BilateralTerms) {}),
		bilateral("changed", func(r *run, terms *quickstream.BilateralTerms) {
			refill(r.values, terms, func(t *quickstream.BilateralTerms) {
				t.AutomaticRenewal, t.Frequency = false, quickstream.AgreementFrequencyMonthly
			})
		}),
		bilateral("changed, without an end", func(r *run, terms *quickstream.BilateralTerms) {
			refill(r.values, terms, func(t *quickstream.BilateralTerms) {
				t.EndDate, t.Frequency = quickstream.Date{}, quickstream.AgreementFrequencyMonthly
			})
		}),
	}
}
