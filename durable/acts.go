package durable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/quickstream-go/quickstream"
)

// LookUp asks the service what became of a write, now and not when it is due, and returns the write
// as it stands then. A person asks before a [Decision]. by and note are as there. A look-up that fails is
// in Evidence as one that failed. The error matches [ErrNotAllowed] if the write was never sent or was
// emptied, and is a [StillSendingError] while a process may be sending it.
func (e *Engine[TTx]) LookUp(ctx context.Context, id, by, note string) (Write, error) {
	if err := e.lookUpNow(ctx, id, by, note); err != nil {
		return nil, err
	}
	return e.Write(ctx, id)
}

func (e *engine) lookUpNow(ctx context.Context, id, by, note string) error {
	if err := checkPerson(by, note); err != nil {
		return err
	}
	var asked *row
	err := e.asked(ctx, id, by, note, func(_ tx, r *row) error {
		asked = r
		switch until := e.ends(r); {
		case r.State == StateSending && !until.IsZero():
			return &StillSendingError{until}
		case r.emptied() || r.State == StateRefused || r.State == StateNotSent || r.State == StateQueued && r.Sends == 0:
			return fmt.Errorf("%w: it is %s", ErrNotAllowed, r.Text())
		default:
			return nil
		}
	})
	if err != nil {
		return err
	}
	if err := e.lookUp(ctx, asked); err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
}

// CheckReceipt asks the service whether the transaction of a receipt can be the write that a person is about to
// decide as approved: it was approved itself, with the same amount, and is of the same kind. An error that matches
// [ErrNotAllowed] says what differs.
func (e *Engine[TTx]) CheckReceipt(ctx context.Context, id, receipt string) error {
	w, err := e.Write(ctx, id)
	if err != nil {
		return err
	}
	r, original := w.Common(), ""
	if f, follows := w.(FollowUp); follows {
		of, err := e.Write(ctx, f.Follows)
		if err != nil {
			return err
		}
		original = of.Common().ReceiptNumber
	}
	t, err := e.client.Transactions.Get(ctx, receipt)
	if err != nil {
		return fmt.Errorf("durable: the transaction of the receipt: %w", err)
	}
	var differs string
	switch {
	case !approved(t):
		differs = "was not approved"
	case t.PrincipalAmount == nil || !t.PrincipalAmount.Amount.Equal(r.Amount) || t.PrincipalAmount.Currency != r.Currency:
		differs = "has another amount"
	case (r.Operation == quickstream.OperationPay || r.Operation == quickstream.OperationCollect) && t.TransactionType != quickstream.TransactionTypePayment:
		differs = "is no payment"
	case original != "" && t.OriginalReceiptNumber != original:
		differs = "does not follow the same payment"
	default:
		return nil
	}
	return fmt.Errorf("%w: the transaction of that receipt %s", ErrNotAllowed, differs)
}

// NotifyAgain notifies OnOutcome now of what it has refused of a write. If it has refused nothing it is
// notified once more of how the write stands, with Before the same: for a hook that has lost what it was
// told. by and note are as in [Decision]. Errors and panics of the hook are returned as types and places. The
// error matches [ErrInProgress] if there is nothing to tell yet.
func (e *Engine[TTx]) NotifyAgain(ctx context.Context, id, by, note string) error {
	if err := checkPerson(by, note); err != nil {
		return err
	}
	return e.asked(ctx, id, by, note, func(tx tx, r *row) error {
		switch {
		case len(r.pending) > 0:
			return e.apply(ctx, tx, id, nil)
		case r.State.InProgress():
			return ErrInProgress
		}
		if err := e.notify(ctx, tx, r, r.Standing); err != nil {
			return err
		}
		return e.record(ctx, tx, r, Event{Kind: EventNotified})
	})
}

// asked records that a person has asked for something about a write, and does it in the same transaction.
func (e *engine) asked(ctx context.Context, id, by, note string, act func(tx tx, r *row) error) error {
	err := within(ctx, e.db, func(tx tx) error {
		r, err := e.read(ctx, tx, id)
		if err != nil || r == nil {
			return errors.Join(err, ErrNoWrite)
		}
		if err := e.record(ctx, tx, r, Event{Kind: EventAsked, By: by, Note: note}); err != nil {
			return err
		}
		return act(tx, r)
	})
	if err != nil && !errors.Is(err, ErrNoWrite) && !errors.Is(err, ErrNotAllowed) && !errors.Is(err, ErrInProgress) {
		err = fmt.Errorf("durable: %w", err)
	}
	return err
}

// pauseName is the name under which the pause of a person stands.
const pauseName = "pause"

// personsPause is a pause that a person has made.
type personsPause struct {
	Since time.Time `json:"since"`
	By    string    `json:"by"`
	Note  string    `json:"note"`
}

var errPausedByPerson = errors.New("a person has paused the installation: nothing is sent until Unpause")

// Pause stops the claims of the installation, of all its processes, until [Engine.Unpause]: nothing is
// sent any more, what is under way ends, and payments are accepted and look-ups made as always. What
// waits for longer than Options.SendWithin ends not_sent. by and note are as in [Decision].
func (e *Engine[TTx]) Pause(ctx context.Context, by, note string) error {
	return e.setPause(ctx, EventPaused, by, note)
}

// Unpause ends a [Engine.Pause]. by and note are as in [Decision].
func (e *Engine[TTx]) Unpause(ctx context.Context, by, note string) error {
	return e.setPause(ctx, EventUnpaused, by, note)
}

func (e *engine) setPause(ctx context.Context, kind EventKind, by, note string) error {
	if err := checkPerson(by, note); err != nil {
		return err
	}
	err := e.retried(ctx, func(tx tx) error {
		h, err := readHistory(ctx, tx)
		if err != nil {
			return err
		}
		text := ""
		if kind == EventPaused {
			data, err := json.Marshal(personsPause{e.clock().UTC(), by, note})
			if err != nil {
				return err
			}
			text = string(data)
		}
		if err := setMeta(ctx, tx, pauseName, text); err != nil {
			return err
		}
		if err := e.record(ctx, tx, &row{}, Event{Kind: kind, By: by, Note: note}); err != nil {
			return err
		}
		if kind == EventPaused {
			return nil
		}
		return e.wake(ctx, tx, e.time.passed(h.pause.Since))
	})
	if err != nil {
		return fmt.Errorf("durable: %w", err)
	}
	return nil
}
