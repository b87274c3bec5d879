package durable

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// workLookUp looks up a write that is due, and returns after how long its job runs again; zero for never.
func (e *engine) workLookUp(ctx context.Context, id string) (time.Duration, error) {
	r, err := e.one(ctx, e.db, "id = $1", id)
	switch {
	case err != nil || r == nil || r.Due.IsZero() || r.State == StateQueued:
		return 0, err
	case r.State == StateSending:
		return e.abandoned(ctx, r)
	case r.Due.After(r.now):
		return snooze(r.Due, r.now), nil
	}
	if err := e.lookUp(ctx, r, nil); err != nil || r.Due.IsZero() || r.State == StateQueued {
		return 0, err
	}
	return snooze(r.Due, r.now), nil
}

// lookUp looks up a write that may have been sent, and applies the result. person names the person who asked, or is nil.
func (e *engine) lookUp(ctx context.Context, r *row, person *Event) error {
	looked := r.lookups
	if looked.Version == 0 {
		looked.Intent = r.sentIntent()
	}
	seen := e.policy.LookUp(ctx, lookupService{e, r.ID}, looked)
	if ctx.Err() != nil && seen.Result == resolve.LookupFailed {
		return ctx.Err() // the job runs again; this look-up was cut short
	}
	return e.observe(ctx, r, observed{kind: EventLookedUp, at: r.now, sends: r.Sends, seen: seen, person: person})
}

// lookupService looks up at the service, and takes no receipt that the database knows as another write's.
type lookupService struct {
	e  *engine
	id string
}

var errUnread = errors.New("the database could not say whose receipt was found")

func (s lookupService) Resume(ctx context.Context, i quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
	answer, note := s.e.dated()
	t, err := s.e.client.Transactions.Resume(ctx, i, append(opts, answer)...)
	note(ctx)
	if err != nil || i.Operation == quickstream.OperationVoid {
		return t, err
	}
	other, err := s.e.isOther(ctx, s.e.db, s.id, t.ReceiptNumber)
	switch {
	case err != nil:
		return nil, errUnread // the receipt may be another write's
	case other:
		return nil, &quickstream.UnknownOutcomeError{Intent: &i, Candidates: []quickstream.Candidate{{Transaction: t, Reasons: []string{"its receipt is that of another write"}}}}
	}
	return t, nil
}

func (s lookupService) Retries(receipt string, opts ...quickstream.CallOption) quickstream.List[quickstream.Transaction] {
	return s.e.client.Transactions.Retries(receipt, opts...)
}

// isOther reports whether a receipt is that of another write.
func (e *engine) isOther(ctx context.Context, from reader, id, receipt string) (bool, error) {
	found, err := texts(ctx, from, "SELECT id FROM quickstream.write WHERE "+ofReceipt+" AND id <> $2 LIMIT 1", receipt, id)
	return len(found) > 0, err
}

// about returns the write that a transaction belongs to, or nil. It looks for the receipt, then for the id in the metadata,
// and then for the reference that is derived from an id. By id and reference the type must agree too: a refund can carry
// the metadata and the reference of its payment.
func (e *engine) about(ctx context.Context, from reader, t *quickstream.Transaction) (*row, error) {
	if t.ReceiptNumber != "" {
		if r, err := e.one(ctx, from, ofReceipt+" LIMIT 1", t.ReceiptNumber); err != nil || r != nil {
			return r, err
		}
	}
	if id := t.Metadata[writeMember]; id != "" && t.Metadata[installationMember] == e.installation {
		r, err := e.one(ctx, from, "id = $1", id)
		if err != nil || r != nil && r.Order == t.Metadata[orderMember] && r.hasTypeOf(t) && r.hasIDOf(t) {
			return r, err
		}
	}
	references := []string{t.PaymentReferenceNumber}
	if t.PayToData != nil {
		references = append(references, t.PayToData.EndToEndID)
	}
	for _, reference := range slices.Compact(references) {
		r, err := e.one(ctx, from, "reference <> '' AND reference = $1 LIMIT 1", reference)
		if err != nil || r != nil && reference == e.reference(r.ID) && r.hasTypeOf(t) && r.hasIDOf(t) {
			return r, err
		}
	}
	return nil, nil //nolint:nilnil // there is none
}

// hasIDOf reports whether a transaction shows no other id than the write's.
func (r *row) hasIDOf(t *quickstream.Transaction) bool {
	shown := t.Metadata[r.intent.MetadataName]
	return r.intent.MetadataName == "" || shown == "" || shown == r.intent.ID
}

// hasTypeOf reports whether a transaction may be of the write's type: a refund can carry its payment's reference
// and metadata.
func (r *row) hasTypeOf(t *quickstream.Transaction) bool {
	if r.hasNoRequest() && r.IsPayment() {
		return mayPay(t)
	}
	kind := requestOf(r.intent).TransactionType
	return t.TransactionType == "" || kind == t.TransactionType || kind == "" && !r.isVoid()
}

// mayPay reports whether a transaction can be an order's payment or first pre-authorisation.
func mayPay(t *quickstream.Transaction) bool {
	switch t.TransactionType {
	case quickstream.TransactionTypePayment, quickstream.TransactionTypePreauth, "":
		return t.AuthorisationType == ""
	default:
		return false
	}
}

func approved(t *quickstream.Transaction) bool {
	return t.Outcome() == quickstream.OutcomeApproved
}

// clockSkew is how far the service's clock was ahead of the database's, by an answer.
type clockSkew struct {
	ahead time.Duration
	at    time.Time
}

// dated returns an option for a call, and a function that notes the Date of its answer.
func (e *engine) dated() (option quickstream.CallOption, note func(ctx context.Context)) {
	answer := new(quickstream.Response)
	return quickstream.WithResponseInto(answer), func(ctx context.Context) {
		date, err := http.ParseTime(answer.Header.Get("Date"))
		if err != nil {
			return
		}
		now := e.guess()
		if date.Sub(now).Abs() > time.Minute { // the guess may be old
			if g, err := e.gates(ctx, e.db); err == nil {
				now = g.now
			}
		}
		e.service.Store(&clockSkew{date.Sub(now.Truncate(time.Second)), now})
	}
}
