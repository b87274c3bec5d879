package sandbox

import (
	"fmt"
	"net/http"
	"time"
)

// Assumptions are the sandbox's answers to the questions that the public
// contract leaves open. The defaults are the unkind answers, which do not mean
// that the service behaves so: they mean that nothing public says it does not.
// [Assumptions.List] tells what is known about each.
type Assumptions struct {
	// LookupLag is how long a new transaction is absent from every read.
	LookupLag time.Duration
	// NotFoundByReference makes look-ups by reference that find nothing answer
	// 404; otherwise they answer an empty list.
	NotFoundByReference bool
	// PageSize is the number of items on a page of a paginated list.
	PageSize int
	// RecentLimit bounds the list of recent transactions, which is not paginated.
	RecentLimit int

	// UnknownMembers puts a member that nobody knows into every JSON object of
	// every answer. A bilateral amendment may bring it back.
	UnknownMembers bool
	// UnknownEnumValues uses values that nobody knows in members that only
	// inform: source, a link's rel, the card type of some cards.
	UnknownEnumValues bool
	// RelatedLinks gives objects links to themselves and to what belongs to them.
	// The links of pages and of the root resource are there in any case.
	RelatedLinks bool
	// RefuseUnknownMembers refuses requests with members that the contract does
	// not name.
	RefuseUnknownMembers bool
	// HandleLength is the length of token identifiers.
	HandleLength int
	// TimestampLayout is the form of timestamps, which are in Sydney time.
	TimestampLayout string

	// ErrorStatusAsString writes the status in error bodies as a string.
	ErrorStatusAsString bool
	// NullErrorList has null, and not an empty list, where an error body has no
	// field errors.
	NullErrorList bool
	// MalformedBodyStatus answers a body that is not a JSON object.
	MalformedBodyStatus int

	// ReplayHonoured gives the stored answer to a POST whose Idempotency-Key was
	// used before. Without it every POST is carried out again.
	ReplayHonoured bool
	// KeyLifetime is how long the answer of an idempotency key is kept.
	KeyLifetime time.Duration
	// KeyMaximumLength is the longest idempotency key accepted.
	KeyMaximumLength int
	// KeyInFlightStatus answers a key whose first request is being processed.
	KeyInFlightStatus int
	// KeyMismatchStatus answers a key that was used with another body.
	KeyMismatchStatus int
	// ReplayHeader is a response header that marks replays; empty for none.
	ReplayHeader string
	// ReplayedStatuses are those whose answers are kept for replay.
	ReplayedStatuses []int
	// UnavailableSpendsKey has a key that was answered with 503 repeat that
	// answer for its lifetime.
	UnavailableSpendsKey bool

	// CustomerCreatedStatus answers the creation of a customer.
	CustomerCreatedStatus int
	// PutRemovesOmitted has an update of a customer remove the optional members
	// that it leaves out.
	PutRemovesOmitted bool
	// SearchIgnoresCase compares customer names and email addresses without
	// regard to case.
	SearchIgnoresCase bool

	// TokenQuota is how many single-use tokens may be created per
	// TokenQuotaWindow; 0 is no limit.
	TokenQuota int
	// TokenQuotaWindow is the time in which the quota counts.
	TokenQuotaWindow time.Duration
	// QuotaRetryAfter sends a Retry-After header with the 429 of the quota.
	QuotaRetryAfter bool
	// DeclineConsumesToken makes a token used by a payment that was declined.
	DeclineConsumesToken bool
	// HyphenatedBSB accepts BSBs of direct debit accounts as nnn-nnn only, and
	// not as six digits.
	HyphenatedBSB bool
	// MaskedBSB and MaskedAccount are printf formats for the last three digits.
	MaskedBSB     string
	MaskedAccount string

	// UsageRequired are the eci values with which storedCredentialData.usage
	// must be given when entryMode is STORED_CREDENTIAL.
	UsageRequired []string
	// StoredCredentialUsages are the accepted values of usage; without any, all are.
	StoredCredentialUsages []string

	// CutOffHour is the hour of the day, in Sydney, at which the next settlement
	// date begins.
	CutOffHour int
	// RefundBeforeCutOff makes payments refundable while they can be voided.
	RefundBeforeCutOff bool
	// ErredStatus is the status member of transactions with summaryCode 2.
	ErredStatus string
	// SuspendedSummaryCode is the summaryCode of suspended transactions.
	SuspendedSummaryCode string
	// BankReturnAfter is how long a bank account payment that will be declined
	// looks approved; 0 declines it in the answer.
	BankReturnAfter time.Duration

	// NotFoundByFilter makes look-ups by settlement date and by account token
	// that find nothing answer 404; otherwise they answer an empty list.
	NotFoundByFilter bool
	// FollowUpsKeepBusiness refuses a supplierBusinessCode other than the
	// original's in refunds, captures and the like.
	FollowUpsKeepBusiness bool
	// RefundsIncludeSurcharge lets the refunds of a payment come to its total;
	// otherwise to its principal.
	RefundsIncludeSurcharge bool
	// VoidableTypes are the types of transaction that can be voided.
	VoidableTypes []string
	// NotVoidableStatus answers a void of what is not voidable.
	NotVoidableStatus int
	// VoidedSummaryCode is the summaryCode of voided transactions.
	VoidedSummaryCode string
	// PreauthLifetime is how long a pre-authorisation, an extension and a
	// re-authorisation hold.
	PreauthLifetime time.Duration
	// CaptureLimitFollowsChanges makes the most that can be captured double what
	// is held after top-ups and cancellations; otherwise it is double the amount
	// of the pre-authorisation.
	CaptureLimitFollowsChanges bool
	// PortalCancelCode is the response code of a suspended transaction that was
	// cancelled in the portal.
	PortalCancelCode string
	// SoftDeclineCodes are the response codes of declines that may pass when
	// tried again.
	SoftDeclineCodes []string
	// RetrySchedule is when the service retries a soft-declined payment by
	// itself: the waits between attempts, until one succeeds.
	RetrySchedule []time.Duration

	// ThreeDSFlagRequired refuses the use of an authenticated token without
	// threeDS2=true.
	ThreeDSFlagRequired bool
	// ThreeDSBindsUse makes an authentication good only for the use, the amount
	// and the currency that it named.
	ThreeDSBindsUse bool
	// BillingAddressMembers are the members of the billing address that are
	// required in the authentication of a payment; without any, one member does.
	BillingAddressMembers []string
	// AccountCreatedStatus answers the registration of an account.
	AccountCreatedStatus int
	// NewAccountIsDefault makes an account the customer's default when it is
	// registered; otherwise only the first one is.
	NewAccountIsDefault bool

	// ReportGeneration is how long it takes to make a CSV report, counted from
	// the first request for it.
	ReportGeneration time.Duration
	// ReportKept is how long a finished report is kept as it is; after that it is
	// made again.
	ReportKept time.Duration
	// ReportPendingText puts a text into the 202 of an unfinished report.
	ReportPendingText bool
	// ReportDateLayout and ReportTimeLayout are the forms of dates and times in
	// reports, which are in Sydney time.
	ReportDateLayout string
	ReportTimeLayout string

	// UploadedStatus answers the upload of a payment file, and NoCSRFHeaderStatus
	// one without the header Prevent-CSRF.
	UploadedStatus     int
	NoCSRFHeaderStatus int
	// FileQueued, FileProcessing and FileClearance are how long a payment file is
	// QUEUED, PROCESSING and, when it has bank accounts, AWAITING_CLEARANCE.
	FileQueued     time.Duration
	FileProcessing time.Duration
	FileClearance  time.Duration
	// FileSource and ScheduleSource are the source codes of transactions made by
	// payment files and by recurring payments.
	FileSource     string
	ScheduleSource string
	// KeyRenewalOverlap is how long a Secret key works after it was renewed, and
	// RenewedKeyLifetime how long the new one does.
	KeyRenewalOverlap  time.Duration
	RenewedKeyLifetime time.Duration
	// AllowedOrigins are the origins of browsers that may call the operations of
	// the Publishable key; * is any.
	AllowedOrigins []string

	// AgreementLookupLag is how long a new PayTo agreement is absent from every
	// read.
	AgreementLookupLag time.Duration
	// AgreementsPaginated puts lists of agreements on pages.
	AgreementsPaginated bool
	// AutoConfirm has payers confirm agreements, and accept bilateral amendments,
	// unless a test BSB says otherwise. Without it they stay as they are until
	// somebody acts through [Sandbox.Agreement].
	AutoConfirm bool
	// PayerAnswersAfter is how long the payers of test BSBs, and of AutoConfirm,
	// take to answer.
	PayerAnswersAfter time.Duration
	// DelayedCreation is how long an agreement stays CREATED with the test BSB for
	// delayed creation, and CreationRetryAfter with the one for a retry.
	DelayedCreation    time.Duration
	CreationRetryAfter time.Duration
	// MigratedDDRActive allows agreementCreationType MIGRATED_DDR.
	MigratedDDRActive bool
	// TwoDecimalStrings refuses amounts of agreements without exactly two
	// decimals.
	TwoDecimalStrings bool
	// PastStartRefused refuses agreements that begin before today, in Sydney,
	// unless they are migrated.
	PastStartRefused bool
	// OnePayerRoute refuses payers with an account and a PayID.
	OnePayerRoute bool
	// InvalidPayIDLimit is how many attempts with invalid PayIDs a day takes until
	// all PayIDs are refused; 0 is no limit.
	InvalidPayIDLimit int
	// MaskedPayID is a printf format for the last three characters, or none.
	MaskedPayID string
	// SameStatusRefused refuses an amendment to the status that an agreement has.
	SameStatusRefused bool
	// OneAmendmentAtATime refuses a bilateral amendment while another is pending;
	// otherwise it takes the other's place.
	OneAmendmentAtATime bool
	// TermsEnforced refuses payments outside the dates, amounts and number that an
	// agreement permits.
	TermsEnforced bool
	// EndToEndIDLength is the longest endToEndId accepted; 0 is no limit.
	EndToEndIDLength int
	// PayToSynchronous approves PayTo payments in the answer. Otherwise they are
	// Pending, and approved when PayToApprovedAfter has passed.
	PayToSynchronous   bool
	PayToApprovedAfter time.Duration
	// PendingSummaryCode is the summaryCode of Pending transactions.
	PendingSummaryCode string
	// EventsBeforeAnswer posts the events that a request causes, once, before the
	// request is answered.
	EventsBeforeAnswer bool
	// UnknownEvents posts kinds of event that nobody knows, to subscriptions
	// without a choice of event types, where something happens for which no kind
	// is known.
	UnknownEvents bool
	// WebhookTimeout is how long a receiver has to answer.
	WebhookTimeout time.Duration
	// RedeliverAfter are the waits before a notification that was not answered
	// with 200 is posted again; after the last one it is abandoned.
	RedeliverAfter []time.Duration

	// IgnoreUnknownQuery ignores parameters of the query that an operation does not
	// have, in place of refusing the request.
	IgnoreUnknownQuery bool
	// BareKeys accepts the key as the whole of the Basic credentials, without the
	// colon that ends the user name.
	BareKeys bool
	// DisabledCustomersPay and DisabledCustomersRegister let the accounts of disabled
	// customers be paid with, and accounts be registered for them.
	DisabledCustomersPay      bool
	DisabledCustomersRegister bool
	// NullInPut is what an update of a customer makes of a member that is null:
	// NullRemoves, NullIgnored or NullRefused.
	NullInPut string
	// InternationalPhones refuses phone numbers without a country code.
	InternationalPhones bool
	// LatestKeyIsNew has GET /api-keys/latest issue a key; otherwise it returns the
	// latest that there is.
	LatestKeyIsNew bool
}

// DefaultAssumptions returns the unkind choices.
func DefaultAssumptions() Assumptions {
	a := Assumptions{
		LookupLag:             2 * time.Second,
		NotFoundByReference:   true,
		PageSize:              3,
		RecentLimit:           20,
		UnknownMembers:        true,
		UnknownEnumValues:     true,
		RefuseUnknownMembers:  true,
		HandleLength:          255,
		TimestampLayout:       "2006-01-02T15:04:05-0700",
		ErrorStatusAsString:   true,
		NullErrorList:         true,
		MalformedBodyStatus:   http.StatusBadRequest,
		ReplayHonoured:        true,
		KeyLifetime:           5 * time.Minute,
		KeyMaximumLength:      64,
		KeyInFlightStatus:     http.StatusConflict,
		KeyMismatchStatus:     http.StatusUnprocessableEntity,
		ReplayedStatuses:      []int{http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusUnprocessableEntity},
		UnavailableSpendsKey:  true,
		CustomerCreatedStatus: http.StatusCreated,
		SearchIgnoresCase:     true,
		TokenQuota:            100,
		TokenQuotaWindow:      time.Minute,
		DeclineConsumesToken:  true,
		MaskedBSB:             "xxx-%s",
		MaskedAccount:         "xxxxxx%s",
		CutOffHour:            18,
		ErredStatus:           "Declined",
		SuspendedSummaryCode:  "1",
		BankReturnAfter:       24 * time.Hour,
	}
	a.defaultFollowUps()
	a.defaultPayTo()
	a.defaultRequests()
	return a
}

// Assumption describes one field of [Assumptions].
type Assumption struct {
	Name  string // the field
	Value string // in force
	Known string // what public sources say
	Why   string // the reason for the default
}

// List describes every assumption with its value in force.
func (a Assumptions) List() []Assumption {
	row := func(name string, value any, known, why string) Assumption {
		return Assumption{Name: name, Value: fmt.Sprint(value), Known: known, Why: why}
	}
	rows := []Assumption{
		row("LookupLag", a.LookupLag, "nothing", "a look-up right after a lost answer must not be taken for proof that nothing happened"),
		row("NotFoundByReference", a.NotFoundByReference, "404 is listed for the look-up, its cause is not", "404 and an empty list both mean not found yet"),
		row("PageSize", a.PageSize, "lists are paginated by next and prev links; sizes are not stated", "every list of some length has a second page"),
		row("RecentLimit", a.RecentLimit, "up to 20", "as stated"),
		row("UnknownMembers", a.UnknownMembers, "response members may be added without a new version", "strict decoders break here first"),
		row("UnknownEnumValues", a.UnknownEnumValues, "cardType may get values; others are not closed", "closed enumerations break here first"),
		row("RelatedLinks", a.RelatedLinks, "objects carry links; of the names only next and prev are known", "nothing to rely on"),
		row("RefuseUnknownMembers", a.RefuseUnknownMembers, "nothing", "finds misspelt members, which a lenient service would silently drop"),
		row("HandleLength", a.HandleLength, "identifiers may change form, up to 255 characters", "columns that are too short show at once"),
		row("TimestampLayout", a.TimestampLayout, "the samples have +1100, without a colon", "RFC 3339 parsers refuse it"),
		row("ErrorStatusAsString", a.ErrorStatusAsString, "public client code declares a string", "a client may expect the number"),
		row("NullErrorList", a.NullErrorList, "nothing", "null where a list is usual"),
		row("MalformedBodyStatus", a.MalformedBodyStatus, "nothing", "a status that the contract does not list"),
		row("ReplayHonoured", a.ReplayHonoured, "vendor's public pages: resend with the same key after a network error", "without it the documented advice would charge twice"),
		row("KeyLifetime", a.KeyLifetime, "nothing", "a resend after a pause is not safe for ever"),
		row("KeyMaximumLength", a.KeyMaximumLength, "nothing", "a UUID fits, a concatenation of references does not"),
		row("KeyInFlightStatus", a.KeyInFlightStatus, "nothing", "a resend can meet its own first attempt; its refusal does not settle the first"),
		row("KeyMismatchStatus", a.KeyMismatchStatus, "nothing", "a key stands for one request"),
		row("ReplayHeader", a.ReplayHeader, "nothing", "a replay cannot be told from a first answer"),
		row("ReplayedStatuses", a.ReplayedStatuses, "nothing", "a refused request burns its key: the corrected one needs another"),
		row("UnavailableSpendsKey", a.UnavailableSpendsKey, "vendor's public pages: after 503 use a new key", "the old key never works again"),
		row("CustomerCreatedStatus", a.CustomerCreatedStatus, "public client code accepts 200, 201 and 204", "clients that want 200 show"),
		row("PutRemovesOmitted", a.PutRemovesOmitted, "public client code sends only enabled to change the status", "that call must work"),
		row("SearchIgnoresCase", a.SearchIgnoresCase, "name and email match partially; case is not stated", "searches find more than was asked for"),
		row("TokenQuota", a.TokenQuota, "429 exists, no figure", "a limit that a loop reaches"),
		row("TokenQuotaWindow", a.TokenQuotaWindow, "nothing", "short enough to wait for in a test"),
		row("QuotaRetryAfter", a.QuotaRetryAfter, "nothing", "the client must choose its own wait"),
		row("DeclineConsumesToken", a.DeclineConsumesToken, "a token is used once to take a payment", "a second try needs a new token"),
		row("HyphenatedBSB", a.HyphenatedBSB, "bank-state-branch, form not stated; the public test BSBs are printed with a hyphen, PayTo wants six digits", "what the contract does not forbid is taken"),
		row("MaskedBSB", a.MaskedBSB, "masked, form not stated", "does not parse as a BSB"),
		row("MaskedAccount", a.MaskedAccount, "masked, form not stated", "does not parse as a number"),
		row("UsageRequired", a.UsageRequired, "required in some cases with STORED_CREDENTIAL; which is not stated", "what the contract does not forbid is taken"),
		row("StoredCredentialUsages", a.StoredCredentialUsages, "three values are shown", "what the contract does not forbid is taken"),
		row("CutOffHour", a.CutOffHour, "vendor's public pages: 18:00 Sydney for cards", "as stated; used for all account types"),
		row("RefundBeforeCutOff", a.RefundBeforeCutOff, "vendor's public pages: a card payment can be voided until cut-off and refunded after", "a refund on the same day needs a void"),
		row("ErredStatus", a.ErredStatus, "nothing for summaryCode 2", "reading status alone would report a payment as failed that may yet succeed"),
		row("SuspendedSummaryCode", a.SuspendedSummaryCode, "response code 34 and status Suspended are known", "reading summaryCode alone would report as declined what may yet be completed"),
		row("BankReturnAfter", a.BankReturnAfter, "vendor's public pages: the customer's bank may decline for up to 3 banking days", "approved is not final for bank accounts"),
	}
	rows = append(rows, a.followUpRows(row)...)
	rows = append(rows, a.payToRows(row)...)
	return append(rows, a.requestRows(row)...)
}
