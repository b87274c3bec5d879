package durable

import (
	"context"
	"errors"
	"fmt"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

// Send makes a write whose request holds secrets or a file: an agreement, an account, an
// upload, a payment by card details. It stores the intent right before the first byte and
// the result after the answer. After a crash the engine looks the write up. The service does
// not say which request made an account or upload: if one may be it, the write is
// [StateEscalated], and its Problem names what a person compares. call passes the option on:
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
		return e.sendingNow(ctx, r)
	}))
	if r == nil {
		return result, err // nothing was sent
	}
	e.heed(ctx, err)
	stored := e.observe(context.WithoutCancel(ctx), r.ID, e.ofResult(result, err, r))
	if stored != nil && !errors.Is(stored, ErrNoPayment) { // which it is when the hook was refused
		// The engine looks it up, and tells OnOutcome.
		e.opts.Logger.ErrorContext(ctx, "quickstream: what came of a write could not be stored yet", "id", r.ID, "error", stored)
	}
	return result, err
}

// sendingNow writes a payment down that is claimed by the call that sends it, as claim
// does for one that waits.
func (e *Engine[TTx]) sendingNow(ctx context.Context, r *row) error {
	if err := e.checkPause(ctx); err != nil { // an engine that was not started asks here
		return errors.Join(errPaused, err)
	}
	marked := func() error { return nil }
	err := within(ctx, e.db, func(tx TTx) (err error) {
		if marked, err = e.mayClaim(ctx, tx); err != nil {
			return err
		}
		if err := errors.Join(e.checkOrder(ctx, tx, r), e.checkRefund(ctx, tx, r)); err != nil {
			return err
		}
		written, err := e.insert(ctx, tx, r)
		if err == nil && !written {
			err = fmt.Errorf("%w: the order %q", ErrOtherRequest, r.OrderID)
		}
		return err
	})
	if errors.Is(err, database.ErrRestored) {
		return errors.Join(err, e.recognise(ctx))
	}
	if err != nil {
		return err
	}
	return marked()
}

// ofResult is the observation of a call of the merchant's. What it returns may be about
// another call that it has made too: only what is surely about the intent is taken, and
// all else is looked up.
func (e *Engine[TTx]) ofResult(result any, err error, r *row) observed {
	at := e.opts.Clock()
	open := observed{Kind: sawTransaction, At: at, Claim: r.claim, Seen: resolve.Observation{Result: resolve.LookupFailed}}
	if !r.Operation.IsTransaction() {
		open = observed{Kind: sawNothing, At: at, Claim: r.claim}
	}
	if err != nil {
		if operationOf(err) != r.Operation {
			open.Problem = err.Error()
			return open
		}
		o := ofAnswer(nil, err, r.claim, at)
		if o.Kind == sawNotDone { // the request is not stored, and cannot be sent again
			o.Kind = sawRefusal
		}
		return o
	}
	done := observed{Kind: sawDone, At: at, Claim: r.claim}
	switch result := result.(type) {
	case *quickstream.Transaction:
		if result != nil && r.Operation.IsTransaction() && (result.PaymentReferenceNumber == r.Reference || r.intent.ID != "" && result.Metadata[r.intent.MetadataName] == r.intent.ID) {
			return ofAnswer(result, nil, r.claim, at)
		}
	case *quickstream.Agreement:
		if result != nil && r.Operation == quickstream.OperationCreateAgreement {
			done.Receipt = result.AgreementToken
			return done
		}
	case *quickstream.Account:
		if result != nil && r.Operation == quickstream.OperationRegisterAccount {
			done.Receipt = result.AccountToken
			return done
		}
	case *quickstream.PaymentFile:
		if result != nil && r.Operation == quickstream.OperationUploadPaymentFile {
			done.Receipt = result.PaymentFileID
			return done
		}
	}
	return open
}

// operationOf is the method whose error it is.
func operationOf(err error) quickstream.Operation {
	var unknown *quickstream.UnknownOutcomeError
	var api *quickstream.APIError
	var network *quickstream.NetworkError
	switch {
	case errors.As(err, &unknown):
		return unknown.Operation
	case errors.As(err, &api):
		return api.Operation
	case errors.As(err, &network):
		return network.Operation
	default:
		return ""
	}
}
