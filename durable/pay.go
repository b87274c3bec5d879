package durable

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/quickstream-go/quickstream"
)

// maxID is the longest id and order, in bytes.
const maxID = 255

func (w NewWrite) check(order bool) error {
	valid := func(text string) bool {
		return text != "" && len(text) <= maxID && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
	}
	if !valid(w.ID) || (order || w.Order != "") && !valid(w.Order) {
		return errors.New("durable: ids and orders have 1 to 255 bytes of UTF-8 and no control characters; what takes money needs an order")
	}
	return nil
}

// Pay stores a payment, a PayTo payment or the first pre-authorisation of an order in the merchant's
// transaction, by PayParams, CollectParams or PreauthoriseParams. It is sent after the commit. The
// source must be a handle, such as a token. created is false if the id is
// that of the same request: then payment is that write as it stands, in any state. Another single-use
// token, IP address, payment reference or metadata does not make another request.
//
// The error matches [ErrIDReused], [ErrOrderOpen], [ErrTokenUsed] or [ErrOtherBusiness] if the write
// cannot be made, and [quickstream.ErrInvalid] if the request breaks a rule; then nothing was stored, and
// the transaction goes on. opts are for [quickstream.TransactionsService.Plan]; rules that
// [quickstream.WithoutRule] switches off must be switched off for the engine's client too.
func (e *Engine[TTx]) Pay(ctx context.Context, tx TTx, w NewWrite, params quickstream.TransactionParams, opts ...quickstream.CallOption) (payment Payment, created bool, err error) {
	r, created, err := e.pay(ctx, e.typed.Join(tx), w, params, opts)
	return paymentOf(r), created, err
}

func paymentOf(r *row) Payment {
	if r == nil {
		return Payment{}
	}
	return Payment{r.Record}
}

func (e *engine) pay(ctx context.Context, tx tx, w NewWrite, params quickstream.TransactionParams, opts []quickstream.CallOption) (*row, bool, error) {
	r, err := e.planPayment(ctx, w, params, opts)
	if err != nil {
		return nil, false, err
	}
	return e.store(ctx, tx, r)
}

func (e *engine) planPayment(ctx context.Context, w NewWrite, params quickstream.TransactionParams, opts []quickstream.CallOption) (*row, error) {
	if err := w.check(true); err != nil {
		return nil, err
	}
	r, err := e.plan(ctx, w, e.named(params, w), opts)
	if err == nil && r.intent.MetadataName == "" { // the service refuses metadata: see WithIntentMetadata
		r, err = e.plan(ctx, w, params, opts)
	}
	if err == nil && !r.isPayment() {
		err = fmt.Errorf("durable: %s follows a payment: use the method of that name", r.Operation)
	}
	return r, err
}

// plan plans a transaction under the references and the key that follow from its id.
func (e *engine) plan(ctx context.Context, w NewWrite, params quickstream.TransactionParams, opts []quickstream.CallOption) (*row, error) {
	all := append([]quickstream.CallOption{quickstream.WithReference(e.reference(w.ID)), quickstream.WithIdempotencyKey(e.key(w.ID, 1))}, opts...)
	intent, err := e.client.Transactions.Plan(ctx, params, all...)
	if err == nil && intent.ExtraFields != nil {
		err = errors.New("durable: members of WithExtraField cannot be stored")
	}
	if err != nil {
		return nil, err
	}
	r := e.rowOf(w, intent)
	if len(opts) > 0 {
		r.request = requestDigest(intent)
	}
	return r, nil
}

// store stores a write and the job that sends it, or returns the write that is there.
func (e *engine) store(ctx context.Context, tx tx, r *row) (*row, bool, error) {
	r.Due = e.clock()
	related, err := e.lock(ctx, tx, r)
	if err != nil {
		return nil, false, fmt.Errorf("durable: %w", err)
	}
	if related { // otherwise only an index can forbid it
		if current, err := e.admit(ctx, tx, r); current != nil || err != nil {
			return current, false, err
		}
	}
	written, err := e.insert(ctx, tx, r)
	if err != nil {
		return nil, false, fmt.Errorf("durable: %w", err)
	}
	if !written {
		current, err := e.admit(ctx, tx, r)
		if current == nil && err == nil { // another transaction has stored it, and this one does not see it
			err = ErrChanged
		}
		return current, false, err
	}
	if err := e.enqueue(ctx, tx, newQueue, writeJob{ID: r.ID}); err != nil {
		return nil, false, fmt.Errorf("durable: %w", err)
	}
	e.step("before the write's commit")
	return r, true, nil
}

// admit returns the write of the same id, or an error if a write must not be stored. What it reads is
// locked.
func (e *engine) admit(ctx context.Context, tx tx, r *row) (current *row, err error) {
	same, err := e.one(ctx, tx, "id = $1", r.ID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("durable: %w", err)
	case same == nil:
	case len(r.differs(same)) > 0:
		return nil, &IDReusedError{same.write(), r.differs(same)}
	default:
		return same, nil
	}
	if r.isPayment() {
		if err := e.admitPayment(ctx, tx, r); err != nil {
			return nil, err
		}
	} else if err := e.admitFollowUp(ctx, tx, r); err != nil {
		return nil, err
	}
	if r.token == "" {
		return nil, nil //nolint:nilnil // it can be stored
	}
	other, err := e.one(ctx, tx, "token <> '' AND token = $1 AND state <> 'not_sent' LIMIT 1", r.token)
	if err == nil && other != nil {
		err = &TokenUsedError{other.write()}
	}
	return nil, err
}

// admitPayment refuses a payment of an order that is paid, may be, or is another business's.
func (e *engine) admitPayment(ctx context.Context, tx tx, r *row) error {
	other, err := e.one(ctx, tx, "order_id = $1 AND kind = 'payment' AND ("+secondCharge()+" OR replaced_by = '' AND "+sqlBlocks()+") ORDER BY replaced_by DESC LIMIT 1", r.Order)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	if other == nil {
		other, err = e.one(ctx, tx, "order_id = $1 AND kind = 'payment' AND business <> '' AND business <> $2 AND NOT "+sqlIn("state", StateRefused, StateNotSent)+" LIMIT 1", r.Order, r.Business)
	} else if other.Business == "" || r.Business == "" || other.Business == r.Business {
		return &OrderOpenError{Payment{other.Record}}
	}
	if err == nil && other != nil {
		err = fmt.Errorf("%w: %q", ErrOtherBusiness, other.Business)
	}
	return err
}

// secondCharge is the condition of a payment that was taken beside its order's, and counts if that
// is voided.
func secondCharge() string { return "replaced_by <> '' AND " + sqlPaid() }

// differs names in what a request differs from a write of the same id.
func (r *row) differs(other *row) (in []string) {
	differ := func(what string, differs bool) {
		if differs {
			in = append(in, what)
		}
	}
	found := other.adopted() // what was read from the service does not name its source
	differ("operation", r.Operation != other.Operation)
	differ("order", r.Order != other.Order)
	differ("amount", !r.Amount.Equal(other.Amount) && r.Operation != OperationReverse)
	differ("currency", r.Currency != other.Currency)
	differ("business", r.Business != other.Business && !(found && other.Business == ""))
	differ("follows", r.follows != other.follows)
	differ("source", r.source != other.source && !found)
	differ("request", r.request != other.request && !found)
	return in
}

// Change stores a change of a PayTo agreement, as Pay does. Changes of one agreement are sent one
// after the other.
func (e *Engine[TTx]) Change(ctx context.Context, tx TTx, w NewWrite, change quickstream.AgreementChange) (write OtherWrite, created bool, err error) {
	return e.storeOther(ctx, e.typed.Join(tx), w, func() (quickstream.Intent, error) { return e.client.PayTo.Plan(ctx, change) })
}

// Register stores the registration of an account from a token or a receipt, as Pay does.
func (e *Engine[TTx]) Register(ctx context.Context, tx TTx, w NewWrite, customerID string, params quickstream.RegisterAccountParams) (write OtherWrite, created bool, err error) {
	return e.storeOther(ctx, e.typed.Join(tx), w, func() (quickstream.Intent, error) {
		return e.client.Accounts.Plan(ctx, customerID, params, quickstream.WithIdempotencyKey(e.key(w.ID, 1)))
	})
}

// Verify stores the verification of an account, as Pay does.
func (e *Engine[TTx]) Verify(ctx context.Context, tx TTx, w NewWrite, params quickstream.VerifyAccountParams) (write OtherWrite, created bool, err error) {
	if err := w.check(false); err != nil {
		return OtherWrite{}, false, err
	}
	r, err := e.plan(ctx, w, params, nil)
	if err != nil {
		return OtherWrite{}, false, err
	}
	return other(e.store(ctx, e.typed.Join(tx), r))
}

func (e *engine) storeOther(ctx context.Context, tx tx, w NewWrite, plan func() (quickstream.Intent, error)) (OtherWrite, bool, error) {
	if err := w.check(false); err != nil {
		return OtherWrite{}, false, err
	}
	intent, err := plan()
	if err != nil {
		return OtherWrite{}, false, err
	}
	r := e.rowOf(w, intent)
	r.request = requestDigest(intent)
	return other(e.store(ctx, tx, r))
}

func other(r *row, created bool, err error) (OtherWrite, bool, error) {
	if r == nil {
		return OtherWrite{}, false, err
	}
	return OtherWrite{r.Record}, created, err
}

// wait reports whether the time passed before the context ended.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
