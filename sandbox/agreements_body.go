package sandbox

// agreementBody is the PayTo Agreement Model.
type agreementBody struct {
	Links               []link               `json:"links"`
	Token               string               `json:"agreementToken"`
	Status              string               `json:"status"`
	Priority            string               `json:"priority"`
	RespondByTime       string               `json:"respondByTime"`
	PayeeReference      *string              `json:"payeeReference"`
	HasPendingAmendment bool                 `json:"hasPendingBilateralAmendment"`
	RejectionReason     *string              `json:"rejectionReason"`
	PaymentDetails      agreementPurposeBody `json:"paymentDetails"`
	PaymentTerms        agreementTermsBody   `json:"paymentTerms"`
	PayerDetails        payerBody            `json:"payerDetails"`
	PayeeDetails        payeeBody            `json:"payeeDetails"`
}

type agreementPurposeBody struct {
	Purpose               string  `json:"purpose"`
	Description           string  `json:"description"`
	StartDate             string  `json:"startDate"`
	EndDate               *string `json:"endDate"`
	AutomaticRenewal      bool    `json:"automaticRenewal"`
	AdditionalInformation *string `json:"additionalInformation"`
}

type agreementTermsBody struct {
	Frequency                 string      `json:"frequency"`
	NumberOfPaymentsPermitted *int64      `json:"numberOfPaymentsPermitted"`
	PointInTime               *int64      `json:"pointInTime"`
	AgreementType             string      `json:"agreementType"`
	FirstPaymentAmount        *amountBody `json:"firstPaymentAmount"`
	LastPaymentAmount         *amountBody `json:"lastPaymentAmount"`
	PaymentAmount             *amountBody `json:"paymentAmount"`
	MaximumPaymentAmount      *amountBody `json:"maximumPaymentAmount"`
	FirstPaymentDue           *string     `json:"firstPaymentDue"`
	LastPaymentDue            *string     `json:"lastPaymentDue"`
}

type payerBody struct {
	CustomerID          string  `json:"customerId"`
	PayerType           string  `json:"payerType"`
	PayerID             string  `json:"payerId"`
	PayerName           string  `json:"payerName"`
	UltimatePayerName   string  `json:"ultimatePayerName"`
	PaymentReference    *string `json:"paymentReference"`
	MaskedAccountNumber *string `json:"maskedAccountNumber"`
	PayIDType           *string `json:"payIdType"`
	MaskedPayID         *string `json:"maskedPayId"`
}

type payeeBody struct {
	SupplierBusinessCode string `json:"supplierBusinessCode"`
	PayeeName            string `json:"payeeName"`
	UltimatePayeeName    string `json:"ultimatePayeeName"`
	PayeeABN             string `json:"payeeAbn"`
	MaskedAccountNumber  string `json:"maskedAccountNumber"`
	InitiatorName        string `json:"initiatorName"`
	InitiatorLegalName   string `json:"initiatorLegalName"`
	InitiatorABN         string `json:"initiatorAbn"`
}

const (
	priorityOfAgreements = "UNAT" // the one value that the contract shows
	sandboxABN           = "00000000000"
	sandboxInitiator     = "Sandbox Community"
)

func (b *Sandbox) agreementBody(c *call, a *agreement) agreementBody {
	body := agreementBody{
		Links: c.related(
			get("self", c.href("payto-agreements", a.token)),
			get("customer", c.href("customers", a.customer.ID)),
		),
		Token: a.token, Status: string(a.status), Priority: priorityOfAgreements,
		RespondByTime: b.timestamp(a.respondBy), PayeeReference: optional(a.reference),
		HasPendingAmendment: a.amendment != nil, RejectionReason: optional(a.rejection),
		PaymentDetails: agreementPurposeBody{
			Purpose: a.purpose.purpose, Description: a.purpose.description,
			StartDate: a.purpose.start, EndDate: optional(a.purpose.end), AutomaticRenewal: a.purpose.renews,
			AdditionalInformation: optional(a.purpose.information),
		},
		PaymentTerms: agreementTermsBody{
			Frequency: a.terms.frequency, NumberOfPaymentsPermitted: a.terms.permitted, PointInTime: a.terms.pointInTime,
			AgreementType:      a.terms.kind,
			FirstPaymentAmount: amountOrNull(a.terms.first), LastPaymentAmount: amountOrNull(a.terms.last),
			PaymentAmount: amountOrNull(a.terms.each), MaximumPaymentAmount: amountOrNull(a.terms.maximum),
			FirstPaymentDue: optional(a.terms.firstDue), LastPaymentDue: optional(a.terms.lastDue),
		},
		PayerDetails: payerBody{
			CustomerID: a.customer.ID, PayerType: a.payer.kind, PayerID: a.payer.id, PayerName: a.payer.name,
			UltimatePayerName: a.payer.ultimateName, PaymentReference: optional(a.payer.reference),
			MaskedAccountNumber: optional(a.payer.maskedAccount),
			PayIDType:           optional(a.payer.payIDType), MaskedPayID: optional(a.payer.maskedPayID),
		},
		PayeeDetails: payeeBody{
			SupplierBusinessCode: a.shop.code, PayeeName: a.shop.name, UltimatePayeeName: a.shop.name, PayeeABN: sandboxABN,
			MaskedAccountNumber: b.maskedMerchantAccount(),
			InitiatorName:       sandboxInitiator, InitiatorLegalName: sandboxInitiator, InitiatorABN: sandboxABN,
		},
	}
	switch terms := &body.PaymentTerms; b.assume.AgreementTerms {
	case "filled":
		terms.fill(a)
	case "nullAmount":
		terms.PaymentAmount = nil
	}
	return body
}

// fill puts in what the terms leave open, as the service understands it.
func (t *agreementTermsBody) fill(a *agreement) {
	if t.PointInTime == nil && t.Frequency != frequencyAdhoc {
		first := int64(1)
		t.PointInTime = &first
	}
	if t.FirstPaymentDue == nil {
		t.FirstPaymentDue = optional(a.purpose.start)
	}
	if t.LastPaymentDue == nil {
		t.LastPaymentDue = optional(a.purpose.end)
	}
}

// maskedMerchantAccount is the settlement account, which is the same for all
// businesses.
func (b *Sandbox) maskedMerchantAccount() string {
	return b.maskedAccount(merchantBSB, merchantAccount)
}

func amountOrNull(c *cents) *amountBody {
	if c == nil {
		return nil
	}
	body := amountOf("AUD", *c)
	return &body
}
