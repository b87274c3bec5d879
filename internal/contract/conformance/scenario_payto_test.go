package conformance

import (
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
)

// agreement makes one whose payer is as the edits say.
func (s *stage) agreement(customer *quickstream.Customer, edits ...func(*quickstream.CreateAgreementParams)) *quickstream.Agreement {
	s.Helper()
	amount := func(dollars int64) *decimal.Decimal { return new(decimal.New(dollars, 0)) }
	start := today(s).AddDays(1)
	params := quickstream.CreateAgreementParams{
		SupplierBusinessCode: shop, RespondByTimeMinutes: new(int64(60)), PayeeReference: "INV-1",
		Payment: quickstream.AgreementPaymentParams{
			Purpose: quickstream.PayToPurposeRetail, Description: "Power", StartDate: start, EndDate: start.AddDays(700), AdditionalInformation: "Meter 1",
		},
		Terms: quickstream.AgreementTermsParams{
			Frequency: quickstream.PayToFrequencyMonthly, NumberOfPaymentsPermitted: new(int64(99)), PointInTime: new(int64(15)),
			Type: quickstream.PayToAgreementTypeBalloon, FirstPaymentAmount: amount(10), LastPaymentAmount: amount(100),
			PaymentAmount: amount(10), MaximumPaymentAmount: amount(100), FirstPaymentDue: start, LastPaymentDue: start.AddDays(700),
		},
		Payer: quickstream.PayToPayerParams{
			Type: quickstream.PayerTypePerson, ID: "P-1", Name: "Sam Sample", Reference: "INV-1", BSB: "650000", AccountNumber: quickstream.NewSecret("123456"),
		},
	}
	for _, edit := range edits {
		edit(&params)
	}
	made := must(s.client.PayTo.Create(s.Context(), customer.CustomerID, params))(s)
	s.wait(time.Minute)
	return made
}

func byPayID(id string) func(*quickstream.CreateAgreementParams) {
	return func(p *quickstream.CreateAgreementParams) {
		p.Payer.BSB, p.Payer.AccountNumber = "", quickstream.Secret{}
		p.Payer.PayIDType, p.Payer.PayID = quickstream.PayIDTypeEmail, quickstream.NewSecret(id)
	}
}

func byBSB(bsb string) func(*quickstream.CreateAgreementParams) {
	return func(p *quickstream.CreateAgreementParams) { p.Payer.BSB = bsb }
}

// unrestricted are terms that any payment fits.
func unrestricted(p *quickstream.CreateAgreementParams) {
	p.Payment.StartDate = p.Payment.StartDate.AddDays(-1)
	p.Payment.EndDate, p.Payment.AutomaticRenewal = quickstream.Date{}, true
	p.Terms = quickstream.AgreementTermsParams{
		Frequency: quickstream.PayToFrequencyAdhoc, NumberOfPaymentsPermitted: new(int64(99)), Type: quickstream.PayToAgreementTypeVariable,
	}
}

func (s *stage) agreements(customer *quickstream.Customer) {
	path := "/customers/" + customer.CustomerID + "/payto-agreements"
	s.agreement(customer, byPayID(sandbox.ConfirmingPayID))
	s.agreement(customer, byPayID("waits@example.com"))
	for _, bsb := range []string{"032001", "032003", "032004", "032005", "032006"} {
		s.agreement(customer, byBSB(bsb))
	}
	recalled := s.agreement(customer)
	s.check(s.client.PayTo.Recall(s.Context(), recalled.AgreementToken))
	s.send(http.StatusUnprocessableEntity, "PATCH", "/payto-agreements/"+recalled.AgreementToken, object{
		"updateType": "RECALL_PAYTO_AGREEMENT", "recallPayToAgreement": object{"statusCode": "CANCELLED"},
	})
	s.agreement(customer, unrestricted, func(p *quickstream.CreateAgreementParams) {
		p.CreationType, p.Payment.AdditionalInformation = quickstream.AgreementCreationTypeMigratedDDR, "123456"
	})
	s.refused(http.StatusUnprocessableEntity, "POST", path, object{"supplierBusinessCode": "NOBODY"})
	all(s, s.client.PayTo.List(customer.CustomerID, quickstream.ListAgreementsParams{}))
	all(s, s.client.PayTo.List(customer.CustomerID, quickstream.ListAgreementsParams{
		SupplierBusinessCode: shop, Status: quickstream.AgreementStatusRejected,
	}))
}

func (s *stage) amendments(customer *quickstream.Customer) {
	payTo := s.client.PayTo
	made := s.agreement(customer)
	token := made.AgreementToken
	s.check(s.box.Payer(token, sandbox.ConfirmAgreement))
	reason := quickstream.StatusReason{Code: quickstream.ReasonCodeInitiatingParty, Description: "asked to"}
	s.check(payTo.Suspend(s.Context(), token, reason))
	s.check(payTo.Reactivate(s.Context(), token, quickstream.StatusReason{}))
	current := must(payTo.Get(s.Context(), token))(s)
	details := must(current.Details())(s)
	details.Description = "Power and gas"
	s.check(payTo.AmendUnilaterally(s.Context(), details))
	for _, accept := range []bool{true, false} {
		current = must(payTo.Get(s.Context(), token))(s)
		terms := must(current.Terms())(s)
		terms.RespondByTimeMinutes, terms.MaximumPaymentAmount = new(int64(60)), new(decimal.New(200, 0))
		s.check(payTo.AmendBilaterally(s.Context(), terms))
		if pending := must(payTo.Get(s.Context(), token))(s); !pending.HasPendingBilateralAmendment {
			s.Error("no amendment is pending")
		}
		if accept {
			s.check(s.box.Payer(token, sandbox.AcceptAmendment))
		} else {
			s.check(payTo.RecallAmendment(s.Context(), token))
		}
	}
	s.send(http.StatusUnprocessableEntity, "PATCH", "/payto-agreements/"+token, object{"updateType": "RECALL_BILATERAL_AMENDMENT"})
	s.check(payTo.Cancel(s.Context(), token, reason))
	s.refused(http.StatusUnprocessableEntity, "PATCH", "/payto-agreements/"+token, object{"updateType": "NONE"})
}

func (s *stage) agreementPayments(customer *quickstream.Customer) {
	made := s.agreement(customer, unrestricted)
	s.check(s.box.Payer(made.AgreementToken, sandbox.ConfirmAgreement))
	once := func(bsb string) quickstream.PayToSource {
		return quickstream.FromPayToWithAgreement(quickstream.PayToPaymentWithAgreement{
			SupplierBusinessCode: shop, Purpose: quickstream.PayToPurposeRetail, Description: "An order", RemittanceInformation1: "INV-1",
			Payer: quickstream.PayToPayerParams{
				Type: quickstream.PayerTypeOrganisation, ID: "P-2", Name: "Kim Lee", UltimateName: "Lee Limited", BSB: bsb, AccountNumber: quickstream.NewSecret("123456"),
			},
		})
	}
	byAgreement := quickstream.FromPayTo(quickstream.PayToPayment{
		AgreementToken: made.AgreementToken, RemittanceInformation1: "INV-1", FinalPayment: new(false),
	})
	byPayIDs := quickstream.FromPayTo(quickstream.PayToPayment{
		AgreementToken: s.agreement(customer, unrestricted, byPayID(sandbox.ConfirmingPayID)).AgreementToken,
	})
	for _, source := range []quickstream.PayToSource{byAgreement, byPayIDs, once("032004"), once("032001"), once("650000")} {
		payment := s.collect(source)
		s.wait(5 * time.Minute)
		must(s.client.Transactions.Get(s.Context(), payment.ReceiptNumber))(s)
	}
	s.box.NextTransaction(sandbox.Declined("AM04"))
	s.collect(byAgreement)
	s.wait(5 * time.Minute)
}

func (s *stage) collect(source quickstream.PayToSource) *quickstream.Transaction {
	s.Helper()
	return answered(s.client.PayTo.Collect(s.Context(), quickstream.CollectParams{
		SupplierBusinessCode: shop, Source: source, PrincipalAmount: decimal.New(1050, -2), Currency: quickstream.CurrencyAUD,
		CustomerReferenceNumber: "C-1", PaymentReferenceNumber: "payto", Comment: "a comment", Metadata: map[string]string{"order": "payto"},
	}))(s)
}
