package durable

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/quickstream-go/quickstream"
)

// maxID is the longest id and order, in bytes.
const maxID = 255

func (w NewWrite) check(order bool) error {
	valid := func(text string) bool {
		return len(text) <= maxID && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
	}
	switch {
	case w.ID == "" || !valid(w.ID) || order && w.Order == "" || !valid(w.Order):
		return errors.New("durable: ids and orders have 1 to 255 bytes of UTF-8 and no control characters; what takes money needs an order")
	case !valid(w.Title):
		return errors.New("durable: a title has up to 255 bytes of UTF-8 and no control characters")
	case w.By != "" || w.Note != "":
		return checkPerson(w.By, w.Note)
	default:
		return nil
	}
}

// Pay stores a payment, a PayTo collection or a first pre-authorisation of an order in the merchant's
// transaction. It is sent after the commit. The source must be a handle, such as a token. created is false if
// the id was used for the same request before: then payment is the stored write, in any state. Another
// single-use token, IP address, payment reference or metadata does not make another request.
//
// The error matches [ErrIDReused], [ErrOrderOpen] or [ErrTokenUsed] if the write cannot be made, and [quickstream.ErrInvalid]
// if the request breaks a rule; then nothing was stored, and the transaction can go on. With ErrOrderOpen payment is the one
// that the order has. opts are for [quickstream.TransactionsService.Plan]; rules that [quickstream.WithoutRule] switches off
// must be switched off for the engine's client too.
func (e *Engine[TTx]) Pay(ctx context.Context, tx TTx, w NewWrite, params quickstream.TransactionParams, opts ...quickstream.CallOption) (payment Write, created bool, err error) {
	r, err := e.planPayment(ctx, w, params, opts)
	if err != nil {
		return Write{}, false, err
	}
	return shown(e.storeFor(ctx, e.typed.Join(tx), w, r))
}

// storeFor stores a write, and records the person who has asked for it.
func (e *engine) storeFor(ctx context.Context, tx tx, w NewWrite, r *row) (stored *row, created bool, err error) {
	stored, created, err = e.store(ctx, tx, r)
	if err == nil && created && w.By != "" {
		err = e.record(ctx, tx, stored, Event{Kind: EventAsked, By: w.By, Note: w.Note})
	}
	return stored, created, err
}

// shown returns a stored write as the merchant sees it.
func shown(r *row, created bool, err error) (Write, bool, error) {
	if r == nil {
		return Write{}, false, named(err)
	}
	return r.shown(), created, named(err)
}

func (e *engine) planPayment(ctx context.Context, w NewWrite, params quickstream.TransactionParams, opts []quickstream.CallOption) (*row, error) {
	if err := w.check(true); err != nil {
		return nil, err
	}
	r, err := e.plan(ctx, w, params, append(slices.Clone(opts), quickstream.WithMetadata(e.members(w))))
	if err == nil && !takesMoney(r.Operation) {
		err = fmt.Errorf("durable: %s follows a payment: use the method of that name", r.Operation)
	}
	return r, err
}

// plan plans a transaction with the reference and the key that are derived from its id.
func (e *engine) plan(ctx context.Context, w NewWrite, params quickstream.TransactionParams, opts []quickstream.CallOption) (*row, error) {
	all := append([]quickstream.CallOption{quickstream.WithUniqueReference(e.reference(w.ID)), quickstream.WithIdempotencyKey(e.key(w.ID, 1))}, opts...)
	intent, err := e.client.Transactions.Plan(ctx, params, all...)
	if err == nil && intent.ExtraFields != nil {
		err = errors.New("durable: members of WithExtraField cannot be stored")
	}
	if err != nil {
		return nil, err
	}
	return e.rowOf(w, intent), nil
}

// store stores a write and the job that sends it, or returns the write that is there.
func (e *engine) store(ctx context.Context, tx tx, r *row) (*row, bool, error) {
	written := false
	var err error
	if r.IsPayment() { // almost always it is the order's first, and only an index can forbid it
		written, err = e.insert(ctx, tx, r, e.statements.first)
	}
	if err == nil && !written {
		err = e.lock(ctx, tx, r)
	}
	if err != nil {
		return nil, false, err
	}
	if !written {
		if current, err := e.admit(ctx, tx, r); current != nil || err != nil {
			return current, false, err
		}
		if written, err = e.insert(ctx, tx, r, e.statements.insert); err != nil {
			return nil, false, err
		}
	}
	if !written {
		current, err := e.admit(ctx, tx, r)
		if current == nil && err == nil { // another transaction has stored it, and this one does not see it
			err = ErrChanged
		}
		return current, false, err
	}
	if err := e.enqueue(ctx, tx, sendQueue, 0, job{ID: r.ID}); err != nil {
		return nil, false, err
	}
	return r, true, nil
}

// admit returns the stored write of the same id, or an error if r must not be stored: ErrOrderOpen with the order's
// payment. It is called after lock.
func (e *engine) admit(ctx context.Context, tx tx, r *row) (current *row, err error) {
	same, err := e.one(ctx, tx, "id = $1", r.ID)
	switch {
	case err != nil:
		return nil, err
	case same == nil:
	case len(r.differs(same)) > 0:
		return nil, &IDReusedError{same.shown(), r.differs(same)}
	default:
		return same, nil
	}
	if r.IsPayment() {
		current, err = e.admitPayment(ctx, tx, r)
	} else {
		err = e.admitFollowUp(ctx, tx, r)
	}
	if err != nil || r.token == "" {
		return current, err
	}
	other, err := e.one(ctx, tx, "token <> '' AND token = $1 AND state <> 'not_sent' LIMIT 1", r.token)
	if err == nil && other != nil {
		err = fmt.Errorf("%w: %q is %s", ErrTokenUsed, other.ID, other.Text())
	}
	return nil, err
}

// admitPayment refuses a payment of an order that is paid, or may be.
func (e *engine) admitPayment(ctx context.Context, tx tx, r *row) (other *row, err error) {
	other, err = e.one(ctx, tx, "order_id = $1 AND follows = '' AND "+sqlHolds()+" ORDER BY CASE WHEN "+sqlApproved()+" THEN 0 ELSE 1 END, replaced_by DESC LIMIT 1", r.Order)
	if err == nil && other != nil {
		err = fmt.Errorf("%w: payment %q is %s", ErrOrderOpen, other.ID, other.Text())
	}
	return other, err
}

// differs names what a request asks for differently from the stored write of the same id.
func (r *row) differs(other *row) (in []string) {
	differ := func(what string, differs bool) {
		if differs {
			in = append(in, what)
		}
	}
	found := other.hasNoRequest() && other.source == "" && other.token == "" // a write that was read from the service names no source
	differ("operation", r.Operation != other.Operation && !(found && takesMoney(r.Operation) && takesMoney(other.Operation)))
	differ("order", r.Order != other.Order)
	differ("amount", !r.Amount.Equal(other.Amount) && r.Operation != OperationReverse)
	differ("currency", r.Currency != other.Currency)
	differ("business", r.SupplierBusinessCode != other.SupplierBusinessCode && !(found && other.SupplierBusinessCode == ""))
	differ("follows", r.Follows != other.Follows)
	differ("source", r.source != other.source && !found)
	return in
}

// Cancel ends a payment or a follow-up that is still queued: it is not sent. It takes the same lock as a claim: the error
// matches [ErrTooLate] if the write was sent, or may have been. A queued write that the service has refused so far, or that
// was queued before a restore or during one, is looked up first, and ends not_sent if nothing is found. by and note are as in [Decision].
func (e *Engine[TTx]) Cancel(ctx context.Context, id, by, note string) error {
	if err := checkPerson(by, note); err != nil {
		return err
	}
	return e.asked(ctx, id, Event{Kind: EventCancelled, By: by, Note: note}, func(tx tx, r *row) error {
		if r.State == StateNotSent && r.Reason == ReasonCancelled {
			return nil
		}
		if r.State != StateQueued {
			return fmt.Errorf("%w: it is %s", ErrTooLate, r.Text())
		}
		now, err := e.gates(ctx, tx)
		if err != nil {
			return err
		}
		next := *r
		if !r.maySent() && !now.restoring.lags(now.now, e.lag) {
			next = r.ended(standing(StateNotSent, ReasonCancelled))
			return e.change(ctx, tx, r, &next)
		}
		next.giveUp, next.Problem, next.Due = ReasonCancelled, "a person has cancelled it", r.now
		return e.save(ctx, tx, r, &next)
	})
}
