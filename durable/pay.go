package durable

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
)

// orderMember is the member of a payment's metadata that holds the merchant's order, by
// which a payment is known again that a restored backup has lost.
const orderMember = "quickstreamOrder"

const maxOrderID = 255

// Pay writes a payment or first pre-authorisation of an order, or a follow-up of one, into
// the merchant's transaction, and returns its id. It is sent after the commit. A follow-up
// names the receipt of its transaction. The source must be a handle, such as a token; the
// errors of [quickstream.TransactionsService.Plan] are returned.
//
// If the order has a payment that blocks it, Pay writes nothing and returns the id of that
// payment. The error matches [ErrOtherRequest] if amount, currency or kind differ,
// [ErrFollowUpOpen] if another follow-up is open, [ErrTooMuch] if refunds would exceed the
// payment, and [ErrNotAllowed] if the receipt is another order's. A second refund returns
// the id of the open refund with ErrFollowUpOpen: do not repeat a job on that error. See
// "One order, one payment" in the package documentation.
func (e *Engine[TTx]) Pay(ctx context.Context, tx TTx, orderID string, params quickstream.TransactionParams) (string, error) {
	if len(orderID) == 0 || len(orderID) > maxOrderID || !utf8.ValidString(orderID) || strings.ContainsFunc(orderID, unicode.IsControl) {
		return "", errors.New("durable: an order's id has 1 to 255 bytes of UTF-8 and no control characters")
	}
	intent, err := e.plan(ctx, params, orderID)
	if err != nil {
		return "", err
	}
	return e.write(ctx, tx, e.rowOf(orderID, intent))
}

// Void writes a void of a payment, as Pay does.
func (e *Engine[TTx]) Void(ctx context.Context, tx TTx, orderID, receiptNumber string) (string, error) {
	intent, err := e.client.Transactions.PlanVoid(ctx, receiptNumber)
	if err != nil {
		return "", err
	}
	return e.write(ctx, tx, e.rowOf(orderID, intent))
}

// Change writes a change of a PayTo agreement, as Pay does.
func (e *Engine[TTx]) Change(ctx context.Context, tx TTx, orderID string, change quickstream.AgreementChange) (string, error) {
	intent, err := e.client.PayTo.Plan(ctx, change)
	if err != nil {
		return "", err
	}
	return e.write(ctx, tx, e.rowOf(orderID, intent))
}

// Register writes the registration of an account from a token or a receipt, as Pay does.
func (e *Engine[TTx]) Register(ctx context.Context, tx TTx, orderID, customerID string, params quickstream.RegisterAccountParams) (string, error) {
	intent, err := e.client.Accounts.Plan(ctx, customerID, params)
	if err != nil {
		return "", err
	}
	return e.write(ctx, tx, e.rowOf(orderID, intent))
}

// plan plans a payment that carries its order in the metadata, unless the client's own
// was switched off there because the service refuses it. A restored backup then cannot
// know again what it has lost.
func (e *Engine[TTx]) plan(ctx context.Context, params quickstream.TransactionParams, orderID string) (quickstream.Intent, error) {
	intent, err := e.client.Transactions.Plan(ctx, withOrder(params, orderID))
	if err == nil && intent.MetadataName == "" {
		return e.client.Transactions.Plan(ctx, params)
	}
	return intent, err
}

// write writes a payment, and the job that sends it.
func (e *Engine[TTx]) write(ctx context.Context, tx TTx, r *row) (string, error) {
	r.State, r.Due = StatePrepared, e.opts.Clock()
	if r.ReceiptOf != "" {
		if err := e.checkOrder(ctx, tx, r); err != nil {
			return "", err
		}
		if id, err := e.standing(ctx, tx, r); id != "" || err != nil && !errors.Is(err, ErrOpen) {
			return id, err
		}
		if err := e.checkRefund(ctx, tx, r); err != nil {
			return "", err
		}
	}
	written, err := e.insert(ctx, tx, r)
	if err != nil {
		return "", fmt.Errorf("durable: %w", err)
	}
	if !written {
		return e.standing(ctx, tx, r)
	}
	if err := e.enqueue(ctx, tx, newQueue, paymentJob{ID: r.ID}); err != nil {
		return "", fmt.Errorf("durable: %w", err)
	}
	e.step("before the payment's commit")
	return r.ID, nil
}

// standing returns the payment that keeps another one from being written.
func (e *Engine[TTx]) standing(ctx context.Context, tx TTx, r *row) (string, error) {
	where, key := "order_id = $1 AND receipt_of = '' AND ("+secondCharge+" OR passed_by = '' AND "+blocking+") ORDER BY passed_by DESC", r.OrderID
	if r.ReceiptOf != "" {
		where, key = followUpOpen, r.ReceiptOf
	}
	other, err := e.one(ctx, tx, where+" LIMIT 1", key)
	if err != nil {
		return "", fmt.Errorf("durable: %w", err)
	}
	if other == nil { // it ended in between, in another transaction
		return "", fmt.Errorf("durable: the order changed at this moment: try again: %w", ErrOpen)
	}
	return r.against(other)
}

// against is the answer to a payment that another one keeps from being written.
func (r *row) against(other *row) (string, error) {
	switch {
	case other.Operation == r.Operation && other.Amount.Equal(r.Amount) && other.Currency == r.Currency && other.OrderID == r.OrderID && !r.refunds():
		return other.ID, nil
	case r.ReceiptOf != "":
		return other.ID, ErrFollowUpOpen
	default:
		return other.ID, ErrOtherRequest
	}
}

// secondCharge is the condition of a payment that stands beside its order's, and in its
// place when that is voided.
const secondCharge = "passed_by <> '' AND state IN ('approved', 'charged twice')"

// followUpOpen is the condition of the follow-up that keeps a receipt from another one.
const followUpOpen = "receipt_of <> '' AND receipt_of = $1 AND state IN ('prepared', 'sending', 'unknown', 'absent', 'escalated')"

// request is what the engine reads of an intent's request.
type request struct {
	TransactionType       quickstream.TransactionType   `json:"transactionType"`
	AuthorisationType     quickstream.AuthorisationType `json:"authorisationType"`
	OriginalReceiptNumber string                        `json:"originalReceiptNumber"`
	PrincipalAmount       decimal.Decimal               `json:"principalAmount"`
	Currency              quickstream.Currency          `json:"currency"`
	SupplierBusinessCode  string                        `json:"supplierBusinessCode"`
	SingleUseTokenID      string                        `json:"singleUseTokenId"`
	PayToData             struct {
		EndToEndID string `json:"endToEndId"`
	} `json:"payToData"`
}

func requestOf(i quickstream.Intent) request {
	var r request
	_ = json.Unmarshal(i.Request, &r) // of an upload there is none
	return r
}

// rowOf returns the row of an intent.
func (e *Engine[TTx]) rowOf(orderID string, i quickstream.Intent) *row {
	request := requestOf(i)
	r := &row{intent: i, endToEnd: request.PayToData.EndToEndID}
	r.ID, r.OrderID, r.Operation, r.Reference = rand.Text(), orderID, i.Operation, i.Reference
	r.Amount, r.Currency, r.ReceiptOf = request.PrincipalAmount, request.Currency, request.OriginalReceiptNumber
	switch {
	case i.Operation == quickstream.OperationVoid:
		r.ReceiptOf, r.Reference = i.Target, ""
	case i.Operation.IsAgreementChange(): // one change of an agreement at a time
		r.ReceiptOf = i.Target
	case !i.Operation.IsTransaction(): // an order may have any number of them
		r.ReceiptOf = r.ID
	}
	return r
}

// withOrder puts the order into the metadata of a payment and a pre-authorisation.
func withOrder(params quickstream.TransactionParams, orderID string) quickstream.TransactionParams {
	add := func(metadata map[string]string) map[string]string {
		with := maps.Clone(metadata)
		if with == nil {
			with = map[string]string{}
		}
		with[orderMember] = orderID
		return with
	}
	switch p := params.(type) {
	case quickstream.PayParams:
		p.Metadata = add(p.Metadata)
		return p
	case quickstream.PreauthoriseParams:
		p.Metadata = add(p.Metadata)
		return p
	default:
		return params
	}
}

// PayAgain writes another payment for an order whose payment is absent, which is the
// only way past it: a person or a policy has decided that it will not come any more. It
// is looked for on, and should it be found after all and the new one be approved too,
// that is [StateTwice]. reason is kept. For a follow-up that is absent, [Engine.Decide]
// that it was not sent, and write it again.
func (e *Engine[TTx]) PayAgain(ctx context.Context, tx TTx, orderID, absentID, reason string, params quickstream.TransactionParams) (string, error) {
	absent, err := e.read(ctx, tx, absentID)
	switch {
	case err != nil:
		return "", fmt.Errorf("durable: %w", err)
	case absent == nil || absent.OrderID != orderID:
		return "", ErrNoPayment
	case absent.State != StateAbsent || absent.PassedBy != "":
		return "", fmt.Errorf("%w: it is %s", ErrNotAllowed, absent.State)
	case len(absent.pending) > 0:
		return "", errPending
	case reason == "":
		return "", errors.New("durable: a reason is required")
	}
	intent, err := e.plan(ctx, params, orderID)
	if err != nil {
		return "", err
	}
	r, passed := e.rowOf(orderID, intent), *absent
	if absent.ReceiptOf != "" || r.ReceiptOf != "" {
		return "", fmt.Errorf("%w: a follow-up is decided, and written anew", ErrNotAllowed)
	}
	passed.PassedBy, passed.Problem = r.ID, "paid again: "+reason
	if err := e.save(ctx, tx, absent, &passed); err != nil {
		return "", err
	}
	id, err := e.write(ctx, tx, r)
	if err != nil || id == r.ID {
		return id, err
	}
	before := passed // an earlier payment was found meanwhile, and stands in its place
	passed.PassedBy = id
	return id, e.save(ctx, tx, &before, &passed)
}

// errPending means that more is known of a payment than its state says.
var errPending = fmt.Errorf("%w: OnOutcome has refused what was seen of it, and is told again", ErrNotAllowed)

// Decide closes a payment that is unknown, absent or escalated, by the word of a person
// who has asked technical support, or has seen the transaction. verdict is approved,
// declined, not sent, voided or returned; an approved one needs its receipt. who and
// reason are kept. What is seen of it later, by an event or a comparison, is told all
// the same. OnOutcome is told in tx. What OnOutcome has refused of the payment comes
// first: until it has taken that the error matches [ErrNotAllowed].
func (e *Engine[TTx]) Decide(ctx context.Context, tx TTx, id string, verdict State, receiptNumber, who, reason string) error {
	r, err := e.read(ctx, tx, id)
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	if r == nil {
		return ErrNoPayment
	}
	switch r.State {
	case StateUnknown, StateAbsent, StateEscalated:
	default:
		return fmt.Errorf("%w: it is %s", ErrNotAllowed, r.State)
	}
	if len(r.pending) > 0 {
		return errPending
	}
	switch verdict {
	case StateApproved, StateDeclined, StateNotSent, StateVoided, StateReturned:
	default:
		return fmt.Errorf("durable: %q is no verdict", verdict)
	}
	if who == "" || reason == "" {
		return errors.New("durable: who has decided, and why, is required")
	}
	if verdict == StateApproved && receiptNumber == "" && r.ReceiptNumber == "" {
		return errors.New("durable: what is approved has a receipt number")
	}
	if receiptNumber != "" {
		if _, err := e.client.Transactions.PlanVoid(ctx, receiptNumber); err != nil { // nothing could be done with it
			return fmt.Errorf("durable: the receipt number: %w", err)
		}
		other, err := e.one(ctx, tx, ofReceipt+" AND id <> $2 LIMIT 1", receiptNumber, id)
		if err != nil {
			return fmt.Errorf("durable: %w", err)
		}
		if other != nil {
			return fmt.Errorf("%w: the receipt is that of another payment", ErrNotAllowed)
		}
	}
	now := e.opts.Clock()
	return e.apply(ctx, tx, id, &observed{
		Kind: sawDecision, At: now, Receipt: receiptNumber,
		Decision: &Decision{Verdict: verdict, Who: who, Reason: reason, At: now},
	})
}

// Wait returns a payment when its outcome is known, for handlers that can wait for a
// moment. When ctx ends first it returns the payment as it stands, and an error that
// matches [ErrOpen]: the outcome comes to OnOutcome.
func (e *Engine[TTx]) Wait(ctx context.Context, id string) (Payment, error) {
	for try := 0; ; try++ {
		p, err := e.Payment(context.WithoutCancel(ctx), id)
		if err != nil || !p.State.Open() {
			return p, err
		}
		if !wait(ctx, min(20*time.Millisecond<<min(try/2, 6), time.Second)) {
			return p, ErrOpen
		}
	}
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
