package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream"
)

// Send makes a write whose request holds secrets or a file, and so cannot wait in the
// database: the creation of an agreement, the registration of an account, an upload, a
// payment by a card's details. Its intent is stored right before the first byte, and what
// came of it after the answer. After a crash in between the engine looks for it, and tells
// OnOutcome: payments and agreements are found again. Of accounts and uploads the service
// does not say which request made them: where there is one that may be it, the write is
// [StateEscalated], and its Problem names what a person has to compare. call gives the
// option to the method:
//
//	agreement, err := durable.Send(ctx, engine, orderID, func(stored quickstream.CallOption) (*quickstream.Agreement, error) {
//		return client.PayTo.Create(ctx, customerID, params, stored)
//	})
//
// It returns what call returns. An order that has a payment already is not paid: the
// error matches [quickstream.ErrNotSent].
func Send[TTx, Result any](ctx context.Context, e *Engine[TTx], orderID string, call func(stored quickstream.CallOption) (Result, error)) (Result, error) {
	var r *row
	result, err := call(quickstream.WithBeforeSend(func(ctx context.Context, i quickstream.Intent) error {
		r = e.rowOf(orderID, i)
		r.State, r.claim, r.Due = StateSending, i.IdempotencyKey, e.opts.Clock().Add(e.opts.LongestPay+jobMargin)
		if r.claim == "" {
			r.claim = r.ID
		}
		return within(ctx, e.db, func(tx TTx) error {
			written, err := e.insert(ctx, tx, r)
			if err == nil && !written {
				err = fmt.Errorf("%w: the order %q", ErrOtherRequest, orderID)
			}
			return err
		})
	}))
	if r == nil {
		return result, err // nothing was sent
	}
	stored := e.observe(context.WithoutCancel(ctx), r.ID, e.ofResult(result, err, r.claim))
	if stored != nil && !errors.Is(stored, ErrNoPayment) { // which it is when the hook was refused
		// The engine looks it up, and tells OnOutcome.
		e.opts.Logger.ErrorContext(ctx, "quickstream: what came of a write could not be stored yet", "id", r.ID, "error", stored)
	}
	return result, err
}

// ofResult is the observation of a call of the merchant's.
func (e *Engine[TTx]) ofResult(result any, err error, claim string) observed {
	at := e.opts.Clock()
	if err != nil {
		o := ofAnswer(nil, err, claim, at)
		if o.Kind == sawNotDone { // the request is not stored, and cannot be sent again
			o.Kind = sawRefusal
		}
		return o
	}
	switch result := result.(type) {
	case *quickstream.Transaction:
		return ofAnswer(result, nil, claim, at)
	case *quickstream.Agreement:
		return observed{Kind: sawDone, At: at, Claim: claim, Receipt: result.AgreementToken}
	case *quickstream.Account:
		return observed{Kind: sawDone, At: at, Claim: claim, Receipt: result.AccountToken}
	case *quickstream.PaymentFile:
		return observed{Kind: sawDone, At: at, Claim: claim, Receipt: result.PaymentFileID}
	default:
		return observed{Kind: sawDone, At: at, Claim: claim}
	}
}
