package sandbox

import (
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/assumption"
)

// Assumptions are the sandbox's answers to the questions that the public
// contract leaves open. The defaults are the unkind answers, which do not mean
// that the service behaves so: they mean that nothing public says it does not.
// [Assumptions.List] tells what is known about each. Where a field takes one of
// several words, its description names them, the default first.
type Assumptions struct {
	// Look-ups and lists.

	// LookupLag is how long a new transaction is absent from every read.
	LookupLag time.Duration
	// AgreementLookupLag is how long a new PayTo agreement is absent from every
	// read.
	AgreementLookupLag time.Duration
	// ReferenceSearch is how the look-up by reference compares: anyCase, exact,
	// or prefix (any case, and references that begin so).
	ReferenceSearch string
	// ReusedReferences has every reference that is looked up belong to an older
	// payment too, of a month ago: none, declined or approved.
	ReusedReferences string
	// RefundReferences is the reference under which reads know a refund: its own,
	// the original's, or none, so that it is found under its original only.
	RefundReferences string
	// NothingFound answers look-ups by reference, settlement date and account
	// token that find nothing: 404, empty (a list) or null (in place of the
	// list).
	NothingFound string
	// PageSize is the number of items on a page of a paginated list.
	PageSize int
	// Paging is what becomes of the pages of a list while it is read: stable;
	// shifting, as if an item had been added meanwhile, so that a page repeats
	// the end of the one before; lastEmpty, with an empty page at the end; gone,
	// where the second page answers 404 every other time.
	Paging string
	// ListOrder is the order of lists for which none is promised: newest or
	// oldest first, or unstable, where neighbours change places between pages.
	ListOrder string
	// NextLinks is the form of links between pages: absolute, defaultPort,
	// rootRelative, queryOnly, otherScheme (http behind https, and the other way
	// round) or versionPrefix (/v1 in place of /rest/v1).
	NextLinks string
	// AgreementsPaginated puts lists of agreements on pages.
	AgreementsPaginated bool
	// RelatedLinks gives objects links to themselves and to what belongs to them.
	// The links of pages and of the root resource are there in any case.
	RelatedLinks bool
	// SearchIgnoresCase compares customer names and email addresses without
	// regard to case.
	SearchIgnoresCase bool

	// Answers.

	// EchoedReferences is the form in which answers show customerReferenceNumber,
	// paymentReferenceNumber and endToEndId: sent, upper, lower, trimmed or none.
	EchoedReferences string
	// ClockSkew is how far the service's clock is ahead of the sandbox's.
	ClockSkew time.Duration
	// DateHeaderRight keeps the skew of the clock out of the Date header and out
	// of the settlement calendar.
	DateHeaderRight bool
	// TimeForm is the form of times: +1100, +11:00, +11, Z, or the form of the
	// samples with one thing wrong: none (no offset), blank (for the T), minutes
	// (no seconds), fraction (of a second), epoch (a number of milliseconds),
	// absent, or wrong (Sydney time called UTC).
	TimeForm string
	// DateForm is the form of dates: iso, text (20 Nov 2026) or absent.
	DateForm string
	// TextMembers is the type of members that are digits in a text: text or
	// number. They are receipt numbers, summary and response codes, expiry dates,
	// surcharge percentages and values of metadata. A number has no leading
	// zeros.
	TextMembers string
	// AmountForm is the form of amounts in answers: object, number, text,
	// noCurrency (an object without one), principalAsTotal (the principal member
	// of a transaction shows the total) or absent (from transactions).
	AmountForm string
	// FollowUpAmounts is what the amount of a change to a pre-authorisation, and
	// of a cancellation, shows: sent, newTotal (what is held now) or zero.
	FollowUpAmounts string
	// OptionalMembers is how optional members without a value look: null, absent
	// or empty (texts only).
	OptionalMembers string
	// InapplicableMembers is how the objects look that do not apply, such as
	// creditCard for a bank account: null or absent.
	InapplicableMembers string
	// EmptyLists is how empty lists of links look: list, null, object or absent.
	EmptyLists string
	// MemberOrder is the order of the members of objects: declared or reversed.
	MemberOrder string
	// UnknownMembers puts members that nobody knows into every JSON object of
	// every answer: none, new, caseVariants (names that differ from each other in
	// case only) or nested (with known names inside). A bilateral amendment may
	// bring them back.
	UnknownMembers string
	// UnknownEnumValues uses values that nobody knows in members that only
	// inform: source, a link's rel, the card type of some cards.
	UnknownEnumValues bool
	// TransactionAnswers is what the answer to a write of a transaction carries:
	// full, required (optional members left out) or receipt (nothing else). Reads
	// have it all.
	TransactionAnswers string
	// OtherAnswers is what the success of other writes carries: full; 200 for 201
	// and 204; and, where no identifier is lost by it, empty, nested (in an
	// object) or 204.
	OtherAnswers string
	// Metadata is what becomes of the metadata of requests: echoed, dropped or
	// refused.
	Metadata string
	// ErrorForm is the form of error bodies: object, list (of errors at the top),
	// texts (a list of them), map (by field), html or empty. All but object and map are
	// forms in which a gateway could say the same, so that a write that is refused in
	// them has an unknown outcome.
	ErrorForm string
	// ErrorStatusAsString writes the status in error bodies as a string.
	ErrorStatusAsString bool
	// NullErrorList has null, and not an empty list, where an error body has no
	// field errors.
	NullErrorList bool
	// HandleLength is the length of token identifiers.
	HandleLength int

	// Requests.

	// KeyLifetime is how long the answer of a POST is kept, and given again, for its
	// Idempotency-Key; 0 carries every POST out again.
	KeyLifetime time.Duration
	// KeyMismatch answers a key that was used with another body: 422, 409, or
	// replay, which is the first answer as it is.
	KeyMismatch string
	// ReplayHeader is a response header that marks replays; empty for none.
	ReplayHeader string
	// ReplayedStatuses are those whose answers are kept for replay.
	ReplayedStatuses []int
	// UnavailableSpendsKey has a key that was answered with 503 repeat that
	// answer for its lifetime.
	UnavailableSpendsKey bool
	// RefuseUnknownMembers refuses requests with members that the contract does
	// not name.
	RefuseUnknownMembers bool
	// IgnoreUnknownQuery ignores parameters of the query that an operation does not
	// have, in place of refusing the request.
	IgnoreUnknownQuery bool
	// BareKeys accepts the key as the whole of the Basic credentials, without the
	// colon that ends the user name.
	BareKeys bool
	// TokenQuota is how many single-use tokens may be created per
	// TokenQuotaWindow; 0 is no limit.
	TokenQuota int
	// QuotaRetryAfter sends a Retry-After header with the 429 of the quota.
	QuotaRetryAfter bool
	// DeclineConsumesToken makes a token used by a payment that was declined.
	DeclineConsumesToken bool
	// HyphenatedBSB accepts BSBs of direct debit accounts as nnn-nnn only, and
	// not as six digits.
	HyphenatedBSB bool
	// PutRemovesOmitted has an update of a customer remove the optional members
	// that it leaves out.
	PutRemovesOmitted bool
	// NullInPut is what an update of a customer makes of a member that is null:
	// removes, ignored or refused.
	NullInPut string
	// InternationalPhones refuses phone numbers without a country code.
	InternationalPhones bool
	// UsageRequired are the eci values with which storedCredentialData.usage
	// must be given when entryMode is STORED_CREDENTIAL.
	UsageRequired []string
	// StoredCredentialUsages are the accepted values of usage; without any, all are.
	StoredCredentialUsages []string
	// NewAccountIsDefault makes an account the customer's default when it is
	// registered; otherwise only the first one is.
	NewAccountIsDefault bool
	// DisabledCustomers is what customers that are disabled may do: register
	// accounts, pay, all or nothing.
	DisabledCustomers string
	// ThreeDSFlagRequired refuses the use of an authenticated token without
	// threeDS2=true.
	ThreeDSFlagRequired bool
	// ThreeDSBindsUse makes an authentication good only for the use, the amount
	// and the currency that it named.
	ThreeDSBindsUse bool
	// BillingAddressMembers are the members of the billing address that are
	// required in the authentication of a payment; without any, one member does.
	BillingAddressMembers []string
	// LatestKey is what GET /api-keys/latest does: new issues a key when it is
	// asked for with the newest one, latest returns that.
	LatestKey string
	// AllowedOrigins are the origins of browsers that may call the operations of
	// the Publishable key; * is any.
	AllowedOrigins []string

	// Settlement.

	// CutOffHour is the hour of the day, in Sydney, at which the next settlement
	// date begins.
	CutOffHour int
	// SettlementDays are the days on which transactions settle: every, weekdays,
	// or business, which are weekdays without national holidays.
	SettlementDays string
	// LateSettlementDate gives transactions the date of the day on which they
	// were made, also after its cut-off.
	LateSettlementDate bool
	// RefundBeforeCutOff makes payments refundable while they can be voided.
	RefundBeforeCutOff bool
	// RefundsIncludeSurcharge lets the refunds of a payment come to its total;
	// otherwise to its principal.
	RefundsIncludeSurcharge bool
	// VoidableTypes are the types of transaction that can be voided.
	VoidableTypes []string
	// NotVoidableStatus answers a void of what is not voidable.
	NotVoidableStatus int
	// VoidedSummaryCode is the summaryCode of voided transactions.
	VoidedSummaryCode string
	// CaptureLimitFollowsChanges makes the most that can be captured double what
	// is held after top-ups and cancellations; otherwise it is double the amount
	// of the pre-authorisation.
	CaptureLimitFollowsChanges bool
	// SoftDeclineCodes are the response codes of declines that may pass when
	// tried again.
	SoftDeclineCodes []string
	// RetrySchedule is when the service retries a soft-declined payment by
	// itself: the waits between attempts, until one succeeds.
	RetrySchedule []time.Duration
	// BankReturnAfter is how long a bank account payment that will be declined
	// looks approved; 0 declines it in the answer.
	BankReturnAfter time.Duration
	// ReportGeneration is how long it takes to make a CSV report, counted from
	// the first request for it.
	ReportGeneration time.Duration
	// ReportPendingText puts a text into the 202 of an unfinished report.
	ReportPendingText bool
	// FileReports answers reports of a payment file that is not complete with
	// 404, or 202; ready answers with what there is.
	FileReports string
	// FileClearance is how long a payment file with bank accounts is
	// AWAITING_CLEARANCE.
	FileClearance time.Duration

	// PayTo and webhooks.

	// AutoConfirm has payers confirm agreements, and accept bilateral amendments,
	// unless a test BSB says otherwise. Without it they stay as they are until
	// somebody acts through [Sandbox.Agreement].
	AutoConfirm bool
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
	// AgreementTerms is how agreements read back: sent, filled (optional terms
	// filled in by the service), noOffset (in respondByTime) or nullAmount (for
	// paymentAmount).
	AgreementTerms string
	// PayToSynchronous approves PayTo payments in the answer. Otherwise they are
	// Pending.
	PayToSynchronous bool
	// PayToApprovedAfter is how long PayTo payments are Pending.
	PayToApprovedAfter time.Duration
	// Events is when the events arrive that a request causes: before its answer,
	// after it, twice or never.
	Events string
	// UnknownEvents posts kinds of event that nobody knows, to subscriptions
	// without a choice of event types, where something happens for which no kind
	// is known.
	UnknownEvents bool
	// WebhookTimeout is how long a receiver has to answer.
	WebhookTimeout time.Duration
	// RedeliverAfter are the waits before a notification that was not answered
	// with 200 is posted again; after the last one it is abandoned.
	RedeliverAfter []time.Duration
	// RedeliverySignedAnew signs each attempt with its own time; otherwise all have
	// the signature of the first.
	RedeliverySignedAnew bool
	// RedeliveredBody is the body of a notification that is posted again: same;
	// reordered (members); member (one more); or fresher (data as it is by then).
	RedeliveredBody string
	// SignatureHeader is the form of the signature header: plain; blanks (after the
	// comma); swapped (v1 before t); or several (elements, of which one is right).
	SignatureHeader string
}

// DefaultAssumptions returns the assumptions that a client is least prepared for.
func DefaultAssumptions() Assumptions {
	var a Assumptions
	assumption.Defaults(&a)
	return a
}

// Set changes the assumption with a name, such as LookupLag, to a value in the form that
// [Assumptions.List] prints. It is an error if there is no such assumption, or it cannot
// have the value.
func (a *Assumptions) Set(name, value string) error { return assumption.Set(a, name, value) }

// Assumption describes one field of [Assumptions].
type Assumption struct {
	Group string // heading in the list
	Name  string // field
	Value string // current value, as [Assumptions.Set] takes it
	Known string // what public sources say
	Why   string // reason for the default
	// Worlds are the values that the worlds of package sandboxtest/worlds have, the
	// default first; none if all worlds have the default.
	Worlds []string
}

// List describes every assumption, with its current value.
func (a Assumptions) List() []Assumption {
	table := assumption.Table()
	list := make([]Assumption, len(table))
	for i, r := range table {
		list[i] = Assumption{Group: r.Group, Name: r.Name, Value: assumption.Text(&a, r.Name), Known: r.Known, Why: r.Why, Worlds: r.Values()}
	}
	return list
}
