package durable

import (
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// NewWrite identifies a write that the merchant makes.
type NewWrite struct {
	// ID is the merchant's, 1 to 255 bytes without control characters, and unique for ever in the
	// installation: one id for one attempt. Make it when the form is rendered or the decision is
	// made, and store it there, so that a repeated request has the same id. An id that is made from
	// the order alone returns the first decline again and again. An id that is made in the handler
	// charges a stored account again if an old request is repeated after a decline. Required.
	ID string
	// Order is the merchant's order, of the same form. Required for payments. Of a follow-up it is
	// the order of what it follows, and may be empty.
	Order string
	// Version is that of the payment which a person saw who decided to refund, void or replace it: if it
	// has changed since, the error matches [ErrStale]. Zero is not compared, for programs that decide by themselves.
	Version int64
	// By and Note are those of the person who has asked for a follow-up, for its history, as in [Decision]. Both are
	// empty if a program has.
	By, Note string
}

// Write is a [Payment], a [FollowUp] or an [OtherWrite]: what the engine was asked to send, and what
// became of it.
type Write interface {
	// Common returns what all writes have.
	Common() Record
}

// Payment is a payment or the first pre-authorisation of an order.
type Payment struct{ Record }

// FollowUp is a refund, a void, or a capture or another change of a pre-authorisation.
type FollowUp struct {
	Record
	// Follows is the id of the write that it follows.
	Follows string
}

// OtherWrite is a change of an agreement, a registration, a verification, an agreement or an upload.
type OtherWrite struct{ Record }

// Record is what all writes have.
type Record struct {
	ID        string
	Order     string
	Operation quickstream.Operation
	Standing
	// ReceiptNumber is the service's, once it is known. Of an agreement or an account
	// it is the token, of an upload the identifier of the file.
	ReceiptNumber string
	Reference     string
	Amount        decimal.Decimal
	Currency      quickstream.Currency
	Business      string
	SettlesOn     quickstream.Date
	// Seen is the last observation, with outcome, response code and next step.
	Seen resolve.Observation
	// Evidence are all look-ups, for technical support.
	Evidence []resolve.Lookup
	// ReplacedBy is the payment that was made instead of this one, or that was approved before it.
	ReplacedBy string
	// Problem is the last thing that went wrong, for a person. It can name receipts and tokens, and has
	// no secrets and no texts of hooks: keep it out of logs.
	Problem string
	// Failures counts how often in a row it could not be sent, or OnOutcome has failed.
	Failures int
	// Sends counts the claims under which it may have been sent, with one more for what a lost history of the
	// database may hold.
	Sends   int
	Written time.Time
	Changed time.Time
	// Due is when there is something to do for it; zero if there is not.
	Due time.Time
	// Version counts the changes of the write, and those of what follows it that is stored. A person decides
	// about the version that was seen: see [Decision] and NewWrite.Version.
	Version int64
}

// Common returns the record.
func (r Record) Common() Record { return r }

// kind is the type of a write.
type kind string

const (
	kindPayment  kind = "payment"
	kindFollowUp kind = "follow_up"
	kindOther    kind = "other"
)

// row is a write as it is stored.
type row struct {
	Record
	kind                      kind
	follows                   string
	source, token, request    string // digests
	customer                  string // digest of the customer's reference
	seen                      int64  // NewWrite.Version of a follow-up, which is not stored
	claim                     string
	keyNumber                 int
	firstSent, lastSent       time.Time
	keySent                   time.Time // first under this key
	permit                    permit
	databaseTime              time.Time // Written by the database's clock
	intentID, endToEnd        string
	total                     decimal.Decimal
	settles                   string
	intentText, lookupsText   string
	pendingText, decisionText string

	intent   quickstream.Intent // zero if it was emptied
	lookups  resolve.Case       // zero until the first look-up
	pending  []observed         // what OnOutcome has refused
	decision *verdict
	age      time.Duration // since it was written, by the database's clock
	past     history       // by which it is decided what comes before it is sent
}

// verdict is what a person has decided.
type verdict struct {
	Standing Standing `json:"standing"`
	By       string   `json:"by"`
	Note     string   `json:"note"`
}

// write returns the row as the merchant sees it.
func (r *row) write() Write {
	switch r.kind {
	case kindPayment:
		return Payment{r.Record}
	case kindFollowUp:
		return FollowUp{r.Record, r.follows}
	default:
		return OtherWrite{r.Record}
	}
}

func (r *row) isPayment() bool { return r.kind == kindPayment }

// refunds reports whether it refunds money in parts.
func (r *row) refunds() bool {
	return r.Operation == quickstream.OperationRefund || r.Operation == OperationReverse
}

// adopted reports whether a payment was read from the service, as after a restore.
func (r *row) adopted() bool {
	return r.isPayment() && !r.emptied() && r.intent.Request == nil && r.intent.IdempotencyKey == ""
}

// emptied reports whether retention has removed what was sent.
func (r *row) emptied() bool { return r.intentText == "" }
