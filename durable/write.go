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
	// Order is the merchant's id of the order, in the same form. Required for payments. A follow-up has
	// the order of its payment, so it may be empty here.
	Order string
	// Title is shown to people beside the payment, such as what was bought; up to 255 bytes.
	Title string
	// Version is the Version of the payment that a person saw and decided to refund, void or have paid again: if the
	// payment has changed since, the error matches [ErrStale]. Zero, for programs that decide, is not compared.
	Version int64
	// By and Note name the person who asked for the write, and why, for its history, as in [Decision].
	// Both are empty if a program asked for it. [Engine.PayAgain] is for persons only.
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
	// Case is the search for an unknown or pending outcome, with all look-ups as evidence; nil
	// before the first look-up and after an answer that settled it.
	Case *resolve.Case
	// ReplacedBy is the id of the payment that counts for the order instead of this one.
	ReplacedBy string
	// Problem is the last thing that went wrong, for a person. It shows no secrets and no texts of hooks, but
	// can name receipts: keep it out of logs.
	Problem string
	// Failures counts how often in a row it could not be sent, or OnOutcome has failed.
	Failures int
	// Sends counts the claims under which it may have been sent, with one that a lost history may hold.
	Sends int
	// Notified reports whether OnOutcome has been notified of all that is known.
	Notified bool
	// Written is when it was stored, and Changed when it changed last, by the database's clock.
	Written time.Time
	Changed time.Time
	// Due is when the engine works on it next; zero if nothing is left to do.
	Due time.Time
	// LookedUp is when a look-up last succeeded; zero before any.
	LookedUp time.Time
	// Version counts the changes of the write, the follow-ups that are stored for it or end without effect, and those of
	// another payment of its order that was taken too. A person decides about the version that they saw.
	Version int64
}

// IsPayment reports whether the write is a payment or first pre-authorisation. Only such a write says
// whether its order is paid.
func (w Write) IsPayment() bool { return w.Follows == "" }

// Paid reports whether the write is a payment whose money was taken and has not come back. A pre-authorisation
// is paid from its approval until a void: its captures and its cancellation are follow-ups.
func (w Write) Paid() bool { return w.IsPayment() && w.approved() }

// Done reports whether the write is a follow-up that was done, such as a refund or a void. It is false for
// every payment: see Paid.
func (w Write) Done() bool { return !w.IsPayment() && w.approved() }

// MayPayAgain reports whether the order can be paid again, as far as this payment goes: it was declined,
// not sent, voided or returned, or it is not_found and a person has had another one made instead.
func (w Write) MayPayAgain() bool {
	return w.IsPayment() && (w.State.isFree() || w.ReplacedBy != "" && w.Reason == ReasonNotFound)
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
	reported                Standing // the last one that OnOutcome was notified of
	settles                 string
	intentText, lookupsText string
	decided                 bool // a person has closed it

	intent  quickstream.Intent // without the request if that was emptied
	lookups resolve.Case       // zero until the first look-up
	now     time.Time          // the database's, when it was read
	// unreadable is why this version of the program cannot read the whole row; the engine then leaves it alone.
	unreadable error
	others     []*row // the other payments of the order that are not free, if locked has read it

	callsHook bool // the transaction that changes it calls OnOutcome, and needs no job for that
	byPerson  bool // the change is a person's decision
}

// shown returns the row as the merchant sees it.
func (r *row) shown() Write {
	w := r.Write
	w.Notified = r.notified == r.changes
	if r.suspect != 0 {
		w.Sends = max(w.Sends, 1)
	}
	if r.lookups.Version != 0 {
		looked := r.lookups
		w.Case = &looked
	}
	return w
}

func (r *row) age() time.Duration { return r.now.Sub(r.Written) }

// isVoid reports whether it is sent as a void.
func (r *row) isVoid() bool { return r.intent.Operation == quickstream.OperationVoid }

// refunds reports whether it is a refund or a reversal.
func (r *row) refunds() bool {
	return r.Operation == quickstream.OperationRefund || r.Operation == OperationReverse
}

// hasNoRequest reports whether the row has no request: the write was read from the service, as after a restore, or it was
// emptied.
func (r *row) hasNoRequest() bool {
	return r.intent.Request == nil && r.intent.IdempotencyKey == "" && r.intent.Operation != OperationReverse
}

// maySent reports whether it was claimed, here or possibly in a lost history of the database.
func (r *row) maySent() bool { return r.claim != "" || r.Sends > 0 || r.suspect != 0 }
