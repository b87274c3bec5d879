package quickstream

// AgreementStatus is the status of a PayTo agreement.
type AgreementStatus string

// The statuses of an agreement.
const (
	AgreementStatusCreated   AgreementStatus = "CREATED"
	AgreementStatusRejected  AgreementStatus = "REJECTED"  // see RejectionReason
	AgreementStatusPending   AgreementStatus = "PENDING"   // waits for the payer
	AgreementStatusActive    AgreementStatus = "ACTIVE"    // payments and amendments are possible
	AgreementStatusSuspended AgreementStatus = "SUSPENDED" // amendments are possible
	AgreementStatusCancelled AgreementStatus = "CANCELLED" // nothing is possible
)

// AgreementCreationType is the origin of an agreement.
type AgreementCreationType string

// The creation types.
const (
	AgreementCreationTypeAuthorised AgreementCreationType = "AUTHORISED"
	// AgreementCreationTypeMigratedDDR replaces a direct debit. It has to be enabled for the
	// facility.
	AgreementCreationTypeMigratedDDR AgreementCreationType = "MIGRATED_DDR"
)

// AgreementPurpose is what an agreement is for.
type AgreementPurpose string

// The purposes.
const (
	AgreementPurposeMortgage         AgreementPurpose = "MORT"
	AgreementPurposeUtility          AgreementPurpose = "UTIL"
	AgreementPurposeLoan             AgreementPurpose = "LOAN" // other than a mortgage
	AgreementPurposeDependentSupport AgreementPurpose = "DEPD"
	AgreementPurposeGambling         AgreementPurpose = "GAMP"
	AgreementPurposeRetail           AgreementPurpose = "RETL" // electronic commerce included
	AgreementPurposeSalary           AgreementPurpose = "SALA"
	AgreementPurposePersonal         AgreementPurpose = "PERS"
	AgreementPurposeGovernment       AgreementPurpose = "GOVT"
	AgreementPurposePension          AgreementPurpose = "PENS"
	AgreementPurposeTax              AgreementPurpose = "TAXS"
	AgreementPurposeOther            AgreementPurpose = "OTHR"
)

// AgreementFrequency is how often payments are made.
type AgreementFrequency string

// The frequencies, with the range of AgreementTermsParams.PointInTime.
const (
	AgreementFrequencyAdhoc        AgreementFrequency = "ADHO" // none
	AgreementFrequencyDaily        AgreementFrequency = "DAIL" // 1 to 24
	AgreementFrequencyWeekly       AgreementFrequency = "WEEK" // 1 to 7
	AgreementFrequencyFortnightly  AgreementFrequency = "FRTN" // 1 to 14
	AgreementFrequencyMonthly      AgreementFrequency = "MNTH" // 1 to 31
	AgreementFrequencyQuarterly    AgreementFrequency = "QURT" // 1 to 3
	AgreementFrequencySemiAnnually AgreementFrequency = "MIAN" // 1 to 6
	AgreementFrequencyYearly       AgreementFrequency = "YEAR" // 1 to 12
)

// AgreementType says how the amounts of an agreement are set.
type AgreementType string

// The agreement types.
const (
	AgreementTypeBalloon  AgreementType = "BALN" // fixed, with a large last payment
	AgreementTypeFixed    AgreementType = "FIXE"
	AgreementTypeUsage    AgreementType = "USGB" // by usage
	AgreementTypeVariable AgreementType = "VARI" // not by usage
)

// PayToPriority is the priority of an agreement or a PayTo payment. The specification shows two
// values but no list.
type PayToPriority string

// The known priorities.
const (
	PayToPriorityNormal     PayToPriority = "NORM" // of payments
	PayToPriorityUnattended PayToPriority = "UNAT" // of agreements
)

// PayerType says what a payer is.
type PayerType string

// The payer types.
const (
	PayerTypeOrganisation PayerType = "ORGN"
	PayerTypePerson       PayerType = "PERS"
)

// PayIDType is the type of a PayID.
type PayIDType string

// The PayID types.
const (
	PayIDTypeEmail        PayIDType = "EMAL"
	PayIDTypePhone        PayIDType = "TELI"
	PayIDTypeABN          PayIDType = "AUBN"
	PayIDTypeOrganisation PayIDType = "ORGN"
)

// Agreement is a PayTo agreement.
type Agreement struct {
	// AgreementToken identifies the agreement for payments. Store it.
	AgreementToken string          `json:"agreementToken,omitempty" wire:"identifies"`
	Status         AgreementStatus `json:"status,omitempty" wire:"decides"`
	Priority       PayToPriority   `json:"priority,omitempty"`
	// RespondByTime is until when the payer can answer.
	RespondByTime  Timestamp `json:"respondByTime,omitzero"`
	PayeeReference string    `json:"payeeReference,omitempty" wire:"decides"`
	// HasPendingBilateralAmendment is true until the payer answers a bilateral amendment.
	HasPendingBilateralAmendment bool `json:"hasPendingBilateralAmendment" wire:"decides"`
	// RejectionReason is set with [AgreementStatusRejected].
	RejectionReason string            `json:"rejectionReason,omitempty"`
	PaymentDetails  *AgreementPayment `json:"paymentDetails,omitempty" wire:"decides"`
	PaymentTerms    *AgreementTerms   `json:"paymentTerms,omitempty" wire:"decides"`
	PayerDetails    *AgreementPayer   `json:"payerDetails,omitempty" wire:"decides"`
	PayeeDetails    *AgreementPayee   `json:"payeeDetails,omitempty"`
	Links           []Link            `json:"links,omitempty"`

	differences []string
	envelope
}

// Differences names the members that differ from the request and do not decide, such as
// "paymentDetails.startDate": all but the customer, amounts and agreement type, and optional terms
// that the service has filled in or left out. Only Create, Resume and ResumeChange set it; it is not
// stored.
func (a *Agreement) Differences() []string { return a.differences }

// UnmarshalJSON reads an agreement.
func (a *Agreement) UnmarshalJSON(data []byte) error { return decode(data, a) }

// MarshalJSON writes the agreement with its unknown members.
func (a Agreement) MarshalJSON() ([]byte, error) {
	type plain Agreement
	return encode(plain(a), a.envelope)
}

func (a *Agreement) identifier() string { return a.AgreementToken }

// AgreementPayment says what an agreement is for and how long it lasts.
type AgreementPayment struct {
	Purpose     AgreementPurpose `json:"purpose,omitempty"`
	Description string           `json:"description,omitempty"`
	StartDate   Date             `json:"startDate,omitzero"`
	// EndDate is the zero Date if the agreement has no end.
	EndDate               Date   `json:"endDate,omitzero"`
	AutomaticRenewal      bool   `json:"automaticRenewal"`
	AdditionalInformation string `json:"additionalInformation,omitempty"`
}

// AgreementTerms says how much may be taken and how often. An amount without a number is nil,
// because 0.00 would be a different term.
type AgreementTerms struct {
	Frequency                 AgreementFrequency `json:"frequency,omitempty" wire:"decides"`
	NumberOfPaymentsPermitted *int64             `json:"numberOfPaymentsPermitted,omitempty"`
	PointInTime               *int64             `json:"pointInTime,omitempty"`
	Type                      AgreementType      `json:"agreementType,omitempty" wire:"decides"`
	FirstPaymentAmount        *Amount            `json:"firstPaymentAmount,omitempty" wire:"decides"`
	LastPaymentAmount         *Amount            `json:"lastPaymentAmount,omitempty" wire:"decides"`
	PaymentAmount             *Amount            `json:"paymentAmount,omitempty" wire:"decides"`
	MaximumPaymentAmount      *Amount            `json:"maximumPaymentAmount,omitempty" wire:"decides"`
	FirstPaymentDue           Date               `json:"firstPaymentDue,omitzero"`
	LastPaymentDue            Date               `json:"lastPaymentDue,omitzero"`
}

// AgreementPayer is the payer of an agreement, masked.
type AgreementPayer struct {
	// CustomerID is the service's identifier of the customer.
	CustomerID string    `json:"customerId,omitempty" wire:"identifies"`
	Type       PayerType `json:"payerType,omitempty"`
	// ID is the merchant's identifier of the payer.
	ID                  string    `json:"payerId,omitempty"`
	Name                string    `json:"payerName,omitempty"`
	UltimateName        string    `json:"ultimatePayerName,omitempty"`
	Reference           string    `json:"paymentReference,omitempty"`
	MaskedAccountNumber string    `json:"maskedAccountNumber,omitempty"`
	PayIDType           PayIDType `json:"payIdType,omitempty"`
	MaskedPayID         string    `json:"maskedPayId,omitempty"`
}

// AgreementPayee is the merchant's side of an agreement.
type AgreementPayee struct {
	SupplierBusinessCode string `json:"supplierBusinessCode,omitempty"`
	Name                 string `json:"payeeName,omitempty"`
	UltimateName         string `json:"ultimatePayeeName,omitempty"`
	ABN                  string `json:"payeeAbn,omitempty"`
	MaskedAccountNumber  string `json:"maskedAccountNumber,omitempty"`
	InitiatorName        string `json:"initiatorName,omitempty"`
	InitiatorLegalName   string `json:"initiatorLegalName,omitempty"`
	InitiatorABN         string `json:"initiatorAbn,omitempty"`
}
