package durable

import (
	"cmp"
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// Details are a write, its follow-ups and its history. The write is read first: a decision needs its Version.
type Details struct {
	Write Write
	// CustomerReferenceNumber is that of the request; empty if it has none or was emptied.
	CustomerReferenceNumber string
	// Source is what a payment was made with; empty if that is not known.
	Source SourceKind
	// FollowUps are the writes that follow it, the oldest first.
	FollowUps []Write
	// Events are its history, the oldest first.
	Events []Event
	// At is when they were read, by the database's clock.
	At time.Time
	// Taken is what an approved payment or capture has taken: its amount, and the surcharge that the service has added.
	Taken decimal.Decimal
	// Left is what can still be refunded of an approved payment or capture, by what the engine knows.
	Left decimal.Decimal
	// NotDecidable is the error that any [Decision] about this version would get now; nil if a person can decide.
	NotDecidable error
}

// SourceKind is what a payment was made with.
type SourceKind string

// The kinds of sources.
const (
	SourceToken     SourceKind = "single_use_token"
	SourceAccount   SourceKind = "account" // a stored card or bank account
	SourceAgreement SourceKind = "agreement"
)

// Details returns a write, its follow-ups and its history. The error matches [ErrNoWrite] if there is
// no such write.
func (e *Engine[TTx]) Details(ctx context.Context, id string) (Details, error) {
	var d Details
	r, err := e.one(ctx, e.db, "id = $1", id)
	if err != nil || r == nil {
		return d, named(cmp.Or(err, ErrNoWrite))
	}
	request := requestOf(r.intent)
	d.Write, d.CustomerReferenceNumber = r.shown(), request.CustomerReference
	switch {
	case request.SingleUseTokenID != "":
		d.Source = SourceToken
	case request.AccountToken != "" || request.CustomerID != "":
		d.Source = SourceAccount
	case request.PayToData.AgreementToken != "":
		d.Source = SourceAgreement
	}
	err = e.each(ctx, e.db, func(r *row) { d.FollowUps = append(d.FollowUps, r.shown()) }, "follows <> '' AND follows = $1 ORDER BY written_at, id", id)
	if err != nil {
		return d, named(err)
	}
	d.At, d.NotDecidable = r.now, e.notDecidable(r)
	takes := takesMoney(r.Operation) && r.Operation != quickstream.OperationPreauthorise || r.Operation == quickstream.OperationCapture
	if takes && r.approved() {
		d.Taken = decimal.Max(r.Amount, r.Total)
		refunded, err := e.refunded(ctx, e.db, &row{Write: Write{Follows: id}}, r.Amount)
		if err != nil {
			return d, named(err)
		}
		d.Left = decimal.Max(decimal.Zero, r.Amount.Sub(refunded))
	}
	stored, err := e.events(ctx, "write_id = $1 ORDER BY number", id)
	d.Events = append([]Event{r.queued()}, stored...)
	return d, named(err)
}
