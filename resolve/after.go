package resolve

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/wire"
)

// ResultStatus says whether a call has ended, was refused or is open.
type ResultStatus string

// The statuses of results.
const (
	// ResultEnded: Outcome says how the transaction ended.
	ResultEnded ResultStatus = "ended"
	// ResultRefused: this call took nothing. The order is free if every other call for it has ended
	// without taking money.
	ResultRefused ResultStatus = "refused"
	// ResultOpen: the transaction may still take the money. Hold the order, and look up the Case.
	ResultOpen ResultStatus = "open"
)

// Result is the judgement of a call by [After].
type Result struct {
	Status ResultStatus
	// Outcome is set with [ResultEnded].
	Outcome quickstream.Outcome
	// Case is set if there is something to look up: store it, and look it up at its NextLook. An
	// approved payment that was sent again after a lost answer has one, because the customer may
	// have paid twice.
	Case *Case
}

// After judges a call by its two results: those of Pay, Submit, Void and the other methods that
// make a transaction, or of Get. A transaction beside an error that is not about it counts alone. An error that proves nothing, such as any error of Get, is open,
// without a Case if it has no intent to look up. A transaction that was read is judged by its
// outcome alone: compare its amount, or give it to Intent.Match.
//
// A decline that the service may retry is open, unless the client was told that the service retries
// none: see [quickstream.WithFinalDeclines].
func After(t *quickstream.Transaction, err error, now time.Time) Result {
	declined, isDeclined := errors.AsType[*quickstream.DeclinedError](err)
	pending, isPending := errors.AsType[*quickstream.PendingError](err)
	lost, isUnknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	switch {
	case isUnknown && lost.Intent != nil:
		c := Begin(*lost.Intent, now)
		if c.Intent.Answered {
			c.Step = stepHeld
		}
		return Result{Status: ResultOpen, Case: &c}
	case t != nil: // an error beside a transaction came after it, as from what a function of the merchant did next
	case isDeclined && !isUnknown:
		t = declined.Transaction
	case isPending:
		t = pending.Transaction
	case !isUnknown && tookNothing(err):
		return Result{Status: ResultRefused}
	}
	if t == nil {
		return Result{Status: ResultOpen}
	}
	if outcome := t.Outcome(); outcome.Final() && t.NextStep() != quickstream.NextStepCheckRetries {
		return Result{Status: ResultEnded, Outcome: outcome, Case: resent(t, now)}
	}
	c := ofTransaction(t, now)
	return Result{Status: ResultOpen, Case: &c}
}

// tookNothing reports whether an error proves that a write took nothing. An error of a read proves
// nothing about the transaction.
func tookNothing(err error) bool {
	if notSent(err) {
		return true
	}
	if errors.Is(err, wire.ErrReadNotSent) {
		return false
	}
	if api, ok := errors.AsType[*quickstream.APIError](err); ok {
		return api.Method != http.MethodGet
	}
	if network, ok := errors.AsType[*quickstream.NetworkError](err); ok && network.Method == http.MethodGet {
		return false
	}
	return errors.Is(err, quickstream.ErrNotSent)
}

// notSent reports whether an error itself says that nothing was sent, whatever the cause that it wraps is about.
func notSent(err error) bool {
	switch wrapped := err.(type) { //nolint:errorlint // it goes through the tree itself
	case interface{ Unwrap() error }:
		return notSent(wrapped.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.Contains(wrapped.Unwrap(), quickstream.ErrNotSent)
	default:
		return err == quickstream.ErrNotSent //nolint:errorlint // likewise
	}
}

// ofTransaction returns the case of a transaction whose receipt is known.
func ofTransaction(t *quickstream.Transaction, now time.Time) Case {
	intent := *t.Intent()
	if intent.MadeAt.After(now) {
		intent.MadeAt = now
	}
	c := Begin(intent, now)
	c.Step, c.Unanswered = stepHeld, false
	return c
}

// resent returns the case of an approved transaction that was sent again after a lost answer; nil for
// any other. It is settled, and is looked up by reference after 15 minutes and after the cut-off. A
// second approval makes it [StatusDoubleCharged].
func resent(t *quickstream.Transaction, now time.Time) *Case {
	intent := t.Intent()
	if !intent.Resent || t.Outcome() != quickstream.OutcomeApproved {
		return nil
	}
	c := Begin(*intent, now)
	c.Intent.ReceiptNumber, c.Intent.Answered = "", false
	c.Status, c.Seen = StatusSettled, observed(t)
	c.Outcome = c.Seen.Outcome
	c.NextLook = c.NextLook.Add(again)
	return &c
}
