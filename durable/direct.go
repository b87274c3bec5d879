package durable

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/durable/internal/database"
	"github.com/quickstream-go/quickstream/resolve"
)

// Send makes a write whose request holds secrets or a file: an agreement, an account, an upload, a payment
// by card details. It stores the intent right before the first byte and the result after the answer. After a
// crash the engine looks it up; an account or upload is [StateEscalated] if one may be it.
// call passes the option on, which names a payment as Pay does:
//
//	agreement, err := durable.Send(ctx, engine, w, func(stored quickstream.CallOption) (*quickstream.Agreement, error) {
//		return client.PayTo.Create(ctx, customerID, params, stored)
//	})
//
// It returns what call returns, and reads a decline from its error. The error matches
// [quickstream.ErrNotSent] and [ErrIDReused] or [ErrOrderOpen] if the id was used before, or the order
// is paid or may be, and [ErrNotAllowed] for a refund, a change of an agreement and all else that
// follows another write: see [Engine.Refund]. For 15 minutes after commits may have been lost nothing
// is sent.
func Send[TTx, Result any](ctx context.Context, e *Engine[TTx], w NewWrite, call func(stored quickstream.CallOption) (Result, error)) (Result, error) {
	var r *row
	var c claim
	merchants, ended := ctx, func() {}
	underWay, ok := ctx, false
	defer func() { ended() }()
	before := quickstream.WithBeforeSend(func(ctx context.Context, i quickstream.Intent) error {
		if err := w.check(takesMoney(i.Operation)); err != nil {
			return err
		}
		row := e.rowOf(w, i)
		if row.kind == kindFollowUp || row.follows != "" {
			return fmt.Errorf("%w: what follows another write waits for its turn: use the engine's method", ErrNotAllowed)
		}
		ended() // of another call
		if underWay, ended, ok = e.begins(merchants, 0); !ok {
			return errBusy
		}
		now := e.clock()
		row.Standing, row.claim, row.Sends = standing(StateSending), rand.Text(), 1
		row.firstSent, row.lastSent, row.keySent, row.Due = i.NotBefore, now, now, now.Add(e.longestPay+jobMargin)
		c = claim{text: row.claim}
		err := e.sendingNow(ctx, row, &c)
		if errors.Is(err, errLost) {
			err = e.findLostSend(ctx, *row)
		}
		if err == nil || e.holds(ctx, row.ID, row.claim) {
			r = row // with an error nothing is sent under it, as its answer says
		}
		return err
	})
	result, err := call(quickstream.WithOptions(func(o quickstream.Operation) []quickstream.CallOption {
		return append(e.identified(o, w), before)
	}))
	if r == nil {
		return result, err // nothing was sent
	}
	kept, o := context.WithoutCancel(ctx), e.ofResult(result, err, r)
	answered(underWay, err, o.Resent)
	e.heed(kept, &c, err)
	if stored := e.observe(kept, r.ID, o); stored != nil {
		// The engine looks it up, and notifies OnOutcome.
		e.logger.ErrorContext(ctx, "quickstream: what came of a write could not be stored yet", "id", r.ID, "error", problemOf(stored))
	}
	return result, err
}

// identified are the options by which what the caller sends follows from the id of its write, as in Pay.
func (e *engine) identified(o quickstream.Operation, w NewWrite) (opts []quickstream.CallOption) {
	if o.IsTransaction() {
		opts = append(opts, quickstream.WithReference(e.reference(w.ID)))
	}
	if takesMoney(o) {
		opts = append(opts, quickstream.WithMetadata(e.members(w)))
	}
	return opts
}

// findLostSend looks up a payment that is not sent as long as look-ups may miss what was sent in a lost history.
// One that was sent before is stored. Its error is never nil.
func (e *engine) findLostSend(ctx context.Context, r row) error {
	if !r.isPayment() {
		return errLost
	}
	at := e.clock()
	seen := e.policy.LookUp(ctx, lookupService{e, r.ID}, resolve.Case{Intent: r.intent})
	if seen.Result == resolve.LookupFailed || seen.Result == resolve.LookupNone && len(seen.Candidates) == 0 {
		return errLost
	}
	r.Standing, r.claim, r.lastSent, r.keySent, r.Due, r.Problem = standing(StateResolving), "", time.Time{}, time.Time{}, at, foundLost
	err := within(ctx, e.db, func(tx tx) error {
		if _, err := e.lock(ctx, tx, &r); err != nil {
			return err
		}
		current, err := e.admit(ctx, tx, &r)
		if err == nil && current == nil {
			_, err = e.insert(ctx, tx, &r)
		}
		return err
	})
	if err == nil {
		err = e.observeOne(ctx, r.ID, observed{Kind: sawTransaction, At: at, Sends: r.Sends, Seen: seen, Receipt: seen.ReceiptNumber})
	}
	if err != nil {
		return err
	}
	stored, err := e.peek(ctx, "id = $1", r.ID)
	if err != nil || stored == nil {
		return errors.Join(err, errLost)
	}
	return &IDReusedError{stored.write(), []string{"nothing: it was sent before"}}
}

// sendingNow stores a write that is claimed by the call that sends it.
func (e *engine) sendingNow(ctx context.Context, r *row, c *claim) error {
	if err := e.checkBreaker(ctx); err != nil { // an engine that was not started asks here
		return errors.Join(errPaused, err)
	}
	if err := e.confirm(ctx); err != nil {
		return err
	}
	marked := func() error { return nil }
	err := within(ctx, e.db, func(tx tx) error {
		if _, err := e.lock(ctx, tx, r); err != nil {
			return err
		}
		current, err := e.admit(ctx, tx, r)
		if err == nil && current != nil {
			err = &IDReusedError{current.write(), []string{"nothing: it was sent before"}}
		}
		if err != nil {
			return err
		}
		switch h, err := readHistory(ctx, tx); {
		case err != nil:
			return err
		case h.outdated:
			return errOutdated
		case h.stops():
			return errPausedByPerson
		case h.lost() && h.recent(e.time):
			return errLost
		}
		if marked, err = e.mayClaim(ctx, tx, c); err != nil {
			return err
		}
		written, err := e.insert(ctx, tx, r)
		if err == nil && !written {
			err = ErrChanged
		}
		if err != nil {
			return err
		}
		return e.record(ctx, tx, r, Event{Kind: EventClaimed})
	})
	if errors.Is(err, database.ErrChanged) {
		return errors.Join(err, e.recognise(ctx))
	}
	if err != nil {
		return err
	}
	return marked()
}

// ofResult is the observation of a call of the merchant's. What it returns may be about another call
// that it has made too: only what is surely about the intent is taken, and all else is looked up.
func (e *engine) ofResult(result any, err error, r *row) observed {
	at := e.clock()
	open := observed{Kind: sawTransaction, At: at, Claim: r.claim, Seen: resolve.Observation{Result: resolve.LookupFailed}}
	if !r.Operation.IsTransaction() {
		open = observed{Kind: sawNothing, At: at, Claim: r.claim}
	}
	if shown := answeredWith(nil, err); shown != nil {
		result, err = shown, nil // a decline, or what is not final: it may be another call's too
	}
	if err != nil {
		if operationOf(err) != r.Operation {
			open.Problem = problemOf(err)
			return open
		}
		o := ofAnswer(nil, err, r.claim, at)
		if o.Kind == sawPermit && o.Permit != permitNotExecuted { // the request is not stored, and cannot be sent again
			open.Problem = o.Problem
			return open
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
