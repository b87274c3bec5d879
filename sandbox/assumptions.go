package sandbox

import (
	"time"

	"github.com/quickstream-go/quickstream/sandbox/internal/assumption"
)

// Assumptions are the sandbox's answers to the questions that the public contract leaves
// open. The defaults are the choices that a client is least prepared for. They do not mean
// that the service behaves so: no public source says that it does not. [Assumptions.List]
// returns what is known about each. If a field is one of several words, its description lists
// them, the default first.
type Assumptions struct {
	// Look-ups and lists.

	// LookupLag is how long a new transaction is absent from every read.
	LookupLag time.Duration
	// AgreementLookupLag is how long a new PayTo agreement is absent from every read.
	AgreementLookupLag time.Duration
	// ReferenceSearch is how the look-up by reference compares: anyCase, exact, or prefix
	// (any case; the reference may be longer than the search).
	ReferenceSearch string
	// ReusedReferences adds an older payment, of a month ago, to every look-up by reference:
	// none, declined or approved.
	ReusedReferences string
	// StoredReferences is the form in which references are stored, searched and read: sent,
	// lower, upper or trimmed. With ReferenceSearch=exact a search finds that form only.
	StoredReferences string
	// RefundReferences is the reference in the reads of a refund: its own, the original's,
	// or none. With none, only the list of the original's refunds has it.
	RefundReferences string
	// FollowUpReferences is the same for captures and for changes and cancellations of a
	// pre-authorisation. With none, they are in lists without a reference only.
	FollowUpReferences string
	// RepeatedReceipts lists a transaction whose state has changed twice, with its state
	// before the change too: none, olderFirst or newerFirst.
	RepeatedReceipts string
	// NothingFound is the answer to look-ups by reference, settlement date and account token
	// that find nothing: 404, empty (a list) or null (in place of the list).
	NothingFound string
	// PageSize is the number of items on a page of a paginated list.
	PageSize int
	// Paging is how the pages of a list change while it is read: stable; shifting (a page
	// repeats the end of the page before, as if an item had been added); lastEmpty (an empty
	// page at the end); or gone (the second page answers 404 every other time).
	Paging string
	// ListOrder is the order of lists for which the contract promises none: newest first,
	// oldest first, or unstable (two items change places between pages).
	ListOrder string
	// NextLinks is the form of the links between pages: absolute, defaultPort, rootRelative,
	// queryOnly, otherScheme (http for https and the other way round) or versionPrefix (/v1
	// for /rest/v1).
	NextLinks string
	// AgreementsPaginated puts lists of agreements on pages.
	AgreementsPaginated bool
	// RelatedLinks gives objects links to themselves and to related objects. Pages and the
	// root resource always have their links.
	RelatedLinks bool
	// SearchIgnoresCase ignores case in searches by customer name and email address.
	SearchIgnoresCase bool

	// Answers.

	// EchoedReferences is the form in which answers show customerReferenceNumber,
	// paymentReferenceNumber and endToEndId: sent, upper, lower, trimmed or none.
	EchoedReferences string
	// ClockSkew is how far the service's clock is ahead of the sandbox's.
	ClockSkew time.Duration
	// DateHeaderRight applies the clock skew to times only, and not to the Date header or
	// the settlement calendar.
	DateHeaderRight bool
	// TimeForm is the form of times: +1100, +11:00, +11, Z, or the form of the samples with
	// one difference: none (no offset), blank (in place of the T), minutes (no seconds),
	// fraction (of a second), epoch (milliseconds as a number), absent, or wrong (Sydney
	// time labelled UTC).
	TimeForm string
	// TransactionTimes is the transactionTime: made, or changed (of the last change).
	TransactionTimes string
	// DateForm is the form of dates: iso, text (20 Nov 2026) or absent.
	DateForm string
	// TextMembers is the type of members that are texts of digits: text or number. They are
	// receipt numbers, summary and response codes, expiry dates, surcharge percentages and
	// values of metadata. A number has no leading zeros.
	TextMembers string
	// AmountForm is the form of amounts in answers: object, number, text, noCurrency (an
	// object without a currency), principalAsTotal (the principal amount of a transaction
	// shows its total) or absent (from transactions).
	AmountForm string
	// FollowUpAmounts is the amount in the answer to a change or a cancellation of a
	// pre-authorisation: sent, newTotal (the amount that is held now) or zero.
	FollowUpAmounts string
	// OptionalMembers is the form of optional members without a value: null, absent or empty
	// (texts only).
	OptionalMembers string
	// InapplicableMembers is the form of objects that do not apply, such as creditCard for a
	// bank account: null or absent.
	InapplicableMembers string
	// EmptyLists is the form of empty lists of links: list, null, object or absent.
	EmptyLists string
	// MemberOrder is the order of the members of objects: declared or reversed.
	MemberOrder string
	// UnknownMembers adds members that are not in the contract to every JSON object of every
	// answer: none, new, caseVariants (names that differ only in case) or nested (with known
	// names inside). A bilateral amendment may send them back.
	UnknownMembers string
	// UnknownEnumValues uses values that are not in the contract in members that only
	// inform: source, a link's rel, the card type of some cards.
	UnknownEnumValues bool
	// TransactionAnswers is the content of the answer to a write of a transaction: full,
	// required (without optional members) or receipt (nothing else). Reads are always full.
	TransactionAnswers string
	// StatusForm is the form of a transaction's status: listed; otherCase; or, for final
	// states, unlisted (Settled, Refused, Reversed) or absent (unless Voided).
	StatusForm string
	// Location puts the address of a new transaction into a header of that name: none or
	// created.
	Location string
	// OtherAnswers is the content of successful answers to other writes: full; 200 (in place
	// of 201 and 204); and, if the answer holds no new identifier, empty, nested (in an
	// object) or 204.
	OtherAnswers string
	// Metadata is what happens to the metadata of requests: echoed, dropped or refused; or
	// its values come back with a blank at the end, in otherCase, cut (after 16 characters),
	// quoted or masked (but for the last four).
	Metadata string
	// ErrorForm is the form of error bodies: object, list (of errors at the top), texts (a
	// list of them), map (by field), data (a list of that name, or an errorNumber for a server's
	// error, as a sister product has it), html or empty. Others could send all forms but object
	// and map: the outcome of a write that is refused in one of those is unknown.
	ErrorForm string
	// ErrorStatusAsString writes the status in error bodies as a string.
	ErrorStatusAsString bool
	// NullErrorList writes null and not an empty list if an error body has no field errors.
	NullErrorList bool
	// HandleLength is the length of token identifiers.
	HandleLength int

	// Requests.

	// KeyForm is the form of idempotency keys that are accepted: text or uuid.
	KeyForm string
	// KeyLifetime is how long the answer to a POST is kept and repeated for its
	// Idempotency-Key. With 0, every POST is carried out again.
	KeyLifetime time.Duration
	// KeyMismatch is the answer to a key that was used with another body: 422, 409, or
	// replay (the first answer, unchanged).
	KeyMismatch string
	// ReplayHeader is the name of a response header that marks replays; empty for none.
	ReplayHeader string
	// ReplayedStatuses are the statuses of the answers that are kept for replay.
	ReplayedStatuses []int
	// UnavailableSpendsKey repeats an answer 503 for the lifetime of its idempotency key.
	UnavailableSpendsKey bool
	// RefuseUnknownMembers refuses requests with members that the contract does
	// not name.
	RefuseUnknownMembers bool
	// IgnoreUnknownQuery ignores unknown parameters of the query. Otherwise the request is
	// refused.
	IgnoreUnknownQuery bool
	// BareKeys accepts Basic credentials that are the key alone, without the colon that ends
	// the user name.
	BareKeys bool
	// TokenQuota is how many single-use tokens may be created in a minute; 0 is no limit.
	TokenQuota int
	// QuotaRetryAfter sends a Retry-After header with the 429 of the quota.
	QuotaRetryAfter bool
	// DeclineConsumesToken uses up the single-use token of a payment that is declined.
	DeclineConsumesToken bool
	// BSBForm is the form of BSBs of direct debit accounts that is accepted: either, dash
	// (nnn-nnn) or digits (six).
	BSBForm string
	// PutRemovesOmitted removes the optional members that an update of a customer leaves
	// out.
	PutRemovesOmitted bool
	// NullInPut is what a null member does in an update of a customer: removes, ignored or
	// refused.
	NullInPut string
	// InternationalPhones refuses phone numbers without a country code.
	InternationalPhones bool
	// UsageRequired are the values of eci that require storedCredentialData.usage when
	// entryMode is STORED_CREDENTIAL.
	UsageRequired []string
	// StoredCredentialUsages are the accepted values of usage; empty accepts all.
	StoredCredentialUsages []string
	// NewAccountIsDefault makes each account that is registered the customer's default.
	// Otherwise only the first account is.
	NewAccountIsDefault bool
	// DisabledCustomers is what disabled customers may do: register (accounts), pay, all or
	// nothing.
	DisabledCustomers string
	// ThreeDSFlagRequired refuses an authenticated token without threeDS2=true.
	ThreeDSFlagRequired bool
	// ThreeDSBindsUse limits an authentication to the use, the amount and the currency that
	// it named.
	ThreeDSBindsUse bool
	// PayerAddress is when a single-use token needs the payer's address: internet (unless eci says
	// that the payer did not order over the Internet), always, or only (as internet, and for those
	// other orders any address is refused).
	PayerAddress string
	// BillingAddressMembers are the required members of the billing address in the
	// authentication of a payment. If empty, any one member is enough.
	BillingAddressMembers []string
	// LatestKey is what GET /api-keys/latest does: new issues a key if the request has the
	// newest key; latest returns the newest key.
	LatestKey string
	// AllowedOrigins are the origins of browser pages that may call the operations of the
	// Publishable key; * is any.
	AllowedOrigins []string

	// Settlement.

	// CutOffHour is the hour of the day, in Sydney, at which the next settlement
	// date begins.
	CutOffHour int
	// SettlementDays are the days on which transactions settle: every, weekdays,
	// or business, which are weekdays without national holidays.
	SettlementDays string
	// LateSettlementDate gives transactions the date of the day on which they were made,
	// even after its cut-off.
	LateSettlementDate bool
	// RefundBeforeCutOff makes payments refundable while they can still be voided.
	RefundBeforeCutOff bool
	// RefundsIncludeSurcharge limits the refunds of a payment to its total. Otherwise the
	// limit is its principal.
	RefundsIncludeSurcharge bool
	// VoidableTypes are the types of transaction that can be voided.
	VoidableTypes []string
	// NotVoidableStatus is the status of the answer to a void of a transaction that is not
	// voidable.
	NotVoidableStatus int
	// VoidedSummaryCode is the summaryCode of voided transactions.
	VoidedSummaryCode string
	// CaptureLimitFollowsChanges limits a capture to double the amount that is held after
	// top-ups and cancellations. Otherwise the limit is double the pre-authorised amount.
	CaptureLimitFollowsChanges bool
	// SoftDeclineCodes are the response codes of declines that may succeed later.
	SoftDeclineCodes []string
	// RetriesOf is what a second retry is a retry of, and in the list of: the first payment,
	// or the previous retry.
	RetriesOf string
	// RetrySchedule is when the service retries a soft-declined payment by itself: the waits
	// between attempts, until one succeeds.
	RetrySchedule []time.Duration
	// BankReturnAfter is how long a bank account payment looks approved before it is
	// declined. With 0, the answer declines it.
	BankReturnAfter time.Duration
	// ReportGeneration is how long a CSV report takes, from the first request for it.
	ReportGeneration time.Duration
	// ReportPendingText puts a text into the answer 202 of an unfinished report.
	ReportPendingText bool
	// FileReports is the answer to reports of a payment file that is not complete: 404, 202,
	// or ready (the report as it is now).
	FileReports string
	// FileClearance is how long a payment file with bank accounts is AWAITING_CLEARANCE.
	FileClearance time.Duration

	// PayTo and webhooks.

	// AutoConfirm makes payers confirm agreements and accept bilateral amendments, unless a
	// test BSB says otherwise. Without it they wait for [Sandbox.Payer].
	AutoConfirm bool
	// MigratedDDRActive allows agreementCreationType MIGRATED_DDR.
	MigratedDDRActive bool
	// TwoDecimalStrings refuses amounts of agreements and authentications without exactly two
	// decimals.
	TwoDecimalStrings bool
	// PastStartRefused refuses agreements that begin before today, in Sydney,
	// unless they are migrated.
	PastStartRefused bool
	// OnePayerRoute refuses payers that have both an account and a PayID.
	OnePayerRoute bool
	// AgreementCodesRequired refuses agreements without purpose, frequency, agreementType or
	// payerType.
	AgreementCodesRequired bool
	// AdhocNumberRequired refuses terms with frequency ADHO without numberOfPaymentsPermitted.
	AdhocNumberRequired bool
	// PayerRouteRequired refuses payers with neither an account nor a PayID.
	PayerRouteRequired bool
	// InvalidPayIDLimit is how many attempts with invalid PayIDs are allowed in a day. After
	// that all PayIDs are refused. 0 is no limit.
	InvalidPayIDLimit int
	// SameStatusRefused refuses an amendment to the status that an agreement has.
	SameStatusRefused bool
	// OneAmendmentAtATime refuses a bilateral amendment while another is pending. Otherwise
	// it replaces the other.
	OneAmendmentAtATime bool
	// TermsEnforced refuses payments outside the dates, amounts and number of payments of
	// their agreement, and for another business.
	TermsEnforced bool
	// EndToEndIDLength is the longest endToEndId accepted; 0 is no limit.
	EndToEndIDLength int
	// AgreementTerms is how agreements are read back: sent, filled (the service fills in
	// optional terms), noOffset (in respondByTime) or nullAmount (for paymentAmount).
	AgreementTerms string
	// AgreementTexts is the form of texts of agreements that are read back: sent, folded (one
	// blank for several) or bankNames (names as the payer's bank has them).
	AgreementTexts string
	// PayToSynchronous approves PayTo payments in the answer. Otherwise they are Pending
	// first.
	PayToSynchronous bool
	// PendingSummaryCode is the summaryCode of PayTo payments that are Pending: 0 or 2.
	PendingSummaryCode string
	// PayToApprovedAfter is how long PayTo payments are Pending.
	PayToApprovedAfter time.Duration
	// Events is when the events that a request causes arrive: before its answer, after it,
	// twice or never.
	Events string
	// UnknownEvents posts event types that are not public, for changes without a public
	// event type. Subscriptions with EventTypes do not get them.
	UnknownEvents bool
	// WebhookTimeout is how long a receiver may take to answer.
	WebhookTimeout time.Duration
	// RedeliverAfter are the waits before a notification that was not answered with 200 is
	// posted again. After the last one it is abandoned.
	RedeliverAfter []time.Duration
	// RedeliverySignedAnew signs each attempt with its own time. Otherwise all attempts have
	// the signature of the first.
	RedeliverySignedAnew bool
	// RedeliveredBody is the body of a notification that is posted again: same, reordered
	// (members), member (one more) or fresher (with the current data).
	RedeliveredBody string
	// SignatureHeader is the form of the signature header: plain, blanks (after the comma),
	// swapped (v1 before t) or several (signatures, one of them right).
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
	Group string `json:"group"` // heading in the list
	Name  string `json:"name"`  // field
	Value string `json:"value"` // current value, as [Assumptions.Set] takes it
	Known string `json:"known"` // what public sources say
	Why   string `json:"why"`   // reason for the default
	// Worlds are the values that the worlds of package sandboxtest/worlds have, the
	// default first; none if all worlds have the default.
	Worlds []string `json:"worlds"`
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
