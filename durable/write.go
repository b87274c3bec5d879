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
	// made, and store it there: see "Ids" in the package documentation. Required.
	ID string
	// Order is the merchant's order, of the same form. Required for payments. A follow-up has that of
	// its payment, and it may be empty here.
	Order string
	// Title is shown to people beside the payment, such as what was bought; up to 255 bytes.
	Title string
	// Version is that of the payment which a person saw who decided to refund or void it: if it
	// has changed since, the error matches [ErrStale]. Zero is not compared, for programs that decide.
	Version int64
	// By and Note are those of the person who has asked for it, for its history, as in [Decision]. Both
	// are empty if a program has.
	By, Note string
}

// Write is a payment, or a follow-up of one: a refund, a void, a capture, a cancellation or a reversal.
type Write struct {
	ID    string
	Order string
	// Follows is the id of the payment that it follows; empty for a payment or first pre-authorisation.
	Follows   string
	Operation quickstream.Operation
	Title     string
	Standing
	// ReceiptNumber is the service's, once it is known. A void has none of its own.
	ReceiptNumber string
	// Reference is the payment reference that was sent; empty for a void.
	Reference string
	// Amount is the principal, before surcharge.
	Amount   decimal.Decimal
	Currency quickstream.Currency
	// Total is the amount with the surcharge, as the service shows it; zero until it does.
	Total decimal.Decimal
	// Refunded is the sum of the approved refunds of a payment or capture.
	Refunded             decimal.Decimal
	SupplierBusinessCode string
	// SettlementDate is the service's; zero until it says it.
	SettlementDate quickstream.Date
	// CardDigits are the last digits of the card that paid, as far as the service shows them.
	CardDigits string
	// Case is the pursuit of an outcome that is unknown or pending, with all look-ups as evidence; nil
	// before the first look-up and after an answer that settled it.
	Case *resolve.Case
	// ReplacedBy is the payment that was made instead of this one, or that was approved before it.
	ReplacedBy string
	// Problem is the last thing that went wrong, for a person. It shows no secrets and no texts of hooks, and
	// can name receipts: keep it out of logs.
	Problem string
	// Failures counts how often in a row it could not be sent, or OnOutcome has failed.
	Failures int
	// Sends counts the claims under which it may have been sent.
	Sends int
	// Notified reports whether OnOutcome has taken all that is known.
	Notified bool
	// Written is when it was stored, and Changed when it changed last, by the database's clock.
	Written time.Time
	Changed time.Time
	// Due is when there is something to do for it; zero if there is not.
	Due time.Time
	// LookedUp is when the service was last asked and has answered.
	LookedUp time.Time
	// Version counts the changes of the write, and of what follows it that is stored. A person decides
	// about the version that was seen.
	Version int64
}

// IsPayment reports whether it is a payment or first pre-authorisation. Only that says whether its order
// is paid.
func (w Write) IsPayment() bool { return w.Follows == "" }

// Paid reports whether the write is a payment that was taken and has not come back. A pre-authorisation is
// paid from its approval until a void: a capture and a cancellation of it are follow-ups.
func (w Write) Paid() bool { return w.IsPayment() && w.approved() }

// Done reports whether the write is a follow-up that was done, such as a refund or a void. It is false for
// every payment: see Paid.
func (w Write) Done() bool { return !w.IsPayment() && w.approved() }

// MayPayAgain reports whether the order can be paid again, as far as this payment goes: it was declined,
// not sent, voided or returned, or a person has had another one made instead.
func (w Write) MayPayAgain() bool {
	return w.IsPayment() && (w.State.isFree() || w.ReplacedBy != "" && !w.approved())
}

// row is a write as it is stored.
type row struct {
	Write
	source, token           string // digests
	customer                string // digest of the customer's reference
	seen                    int64  // NewWrite.Version of a follow-up, which is not stored
	claim                   string
	keyNumber               int
	firstSent, lastSent     time.Time
	keySent                 time.Time // first under this key
	permit                  permit
	suspect                 int64 // queued before the history of the database changed
	giveUp                  Reason
	changes, notified       int64
	reported                Standing // what OnOutcome last ran with
	settles                 string
	intentText, lookupsText string
	decided                 bool // a person has closed it

	intent  quickstream.Intent // without the request if that was emptied
	lookups resolve.Case       // zero until the first look-up
	now     time.Time          // the database's, when it was read
	// unreadable is why this version of the program cannot read all of it, which then leaves it alone.
	unreadable error

	callsHook bool // the transaction that changes it calls OnOutcome, and needs no job for that
}

// shown returns the row as the merchant sees it.
func (r *row) shown() Write {
	w := r.Write
	w.Notified = r.notified == r.changes
	if r.lookups.Version != 0 {
		looked := r.lookups
		w.Case = &looked
	}
	return w
}

func (r *row) age() time.Duration { return r.now.Sub(r.Written) }

// isVoid reports whether it is sent as a void.
func (r *row) isVoid() bool { return r.intent.Operation == quickstream.OperationVoid }

// refunds reports whether it refunds money in parts.
func (r *row) refunds() bool {
	return r.Operation == quickstream.OperationRefund || r.Operation == OperationReverse
}

// hasNoRequest reports whether what was sent is not known: it was read from the service, as after a restore, or retention
// has removed it.
func (r *row) hasNoRequest() bool {
	return r.intent.Request == nil && r.intent.IdempotencyKey == "" && r.intent.Operation != OperationReverse
}

// was reports whether it was claimed, here or in a history of the database that was lost.
func (r *row) maySent() bool { return r.claim != "" || r.Sends > 0 || r.suspect != 0 }
