package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/internal/oracle"
	"github.com/quickstream-go/quickstream/resolve"
)

const (
	lease    = 2 * time.Minute    // how long a worker has a row to itself before it counts as crashed
	pause    = time.Minute        // before a write that was not carried out is made again
	patience = 12                 // how many tries a write has
	settled  = 6 * 24 * time.Hour // when a payment of any kind can be refunded
)

// merchant does everything right, unless it is naive.
type merchant struct {
	run       *oracle.Run
	client    *quickstream.Client
	table     table
	policy    resolve.Policy
	agreement string
	naive     bool
	reverses  bool // the service voids payments whose answer was lost
	requests  atomic.Int64
	noted     sync.Mutex
	notTaken  []string // answers that the client could not use, in runs without faults
}

// workAll works on all rows that are due, then lets time pass until the next one is, until none is left.
func (m *merchant) workAll(ctx context.Context, workers int) error {
	for {
		_, next := m.table.dueBy(time.Time{})
		if next.IsZero() {
			return nil
		}
		if most := 5000 * int64(len(m.table.rows)); m.requests.Load() > most {
			return fmt.Errorf("nothing comes to an end: %d requests", most)
		}
		if err := m.run.AdvanceTo(ctx, next); err != nil {
			return err
		}
		now := m.run.Now()
		ids, _ := m.table.dueBy(now)
		if err := inParallel(workers, slices.Values(ids), func(id int) error { return m.work(ctx, m.table.load(id), now) }); err != nil {
			return err
		}
	}
}

// work does what a write needs next. An error means that this program is wrong: all that can
// happen to a write is in the table.
func (m *merchant) work(ctx context.Context, w *write, now time.Time) error {
	if w.Intent == nil {
		return m.send(ctx, w, now)
	}
	if w.Case == nil {
		// A worker has crashed. The table cannot tell whether it has sent the write: look the write
		// up, and never send it again.
		w.Case = new(resolve.Begin(*w.Intent, now))
	}
	return m.look(ctx, w, now)
}

var errCrashed = errors.New("crashed")

// send makes a write. As soon as the intent is stored the write counts as sent, even if this
// worker crashes.
func (m *merchant) send(ctx context.Context, w *write, now time.Time) error {
	tx, err := m.call(ctx, w, quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
		w.Intent, w.Due = &intent, now.Add(lease)
		err := m.table.save(w)
		if err == nil && m.crashes(w, "beforeSend") {
			err = errCrashed
		}
		return err
	}))
	_, unknown := errors.AsType[*quickstream.UnknownOutcomeError](err)
	result := resolve.After(tx, err, now)
	switch {
	case w.Intent == nil: // the request is wrong
		return fmt.Errorf("%s: %w", w.Order.ID, err)
	case errors.Is(err, errCrashed), m.crashes(w, "afterAnswer"):
		return nil
	case unknown && m.naive: // a write without an answer counts as failed, and is made again
		return m.end(w, oracle.NotDone, "", m.instead(w, now, true)...)
	case result.Status == resolve.ResultEnded:
		return m.settle(w, result.Outcome, receiptOf(tx, err), now)
	case result.Status == resolve.ResultRefused:
		return m.end(w, oracle.NotDone, "", m.instead(w, now.Add(pause), w.Kind == oracle.Payment)...) // this call took nothing
	case result.Case == nil:
		return fmt.Errorf("%s: %w", w.Order.ID, err)
	default:
		return m.hold(w, *result.Case)
	}
}

// receiptOf returns the receipt of a transaction that has ended.
func receiptOf(tx *quickstream.Transaction, err error) string {
	if declined, ok := errors.AsType[*quickstream.DeclinedError](err); ok {
		tx = declined.Transaction
	}
	return tx.ReceiptNumber
}

func (m *merchant) hold(w *write, pursued resolve.Case) error {
	w.Case, w.Due = &pursued, pursued.NextLook
	return m.table.save(w)
}

// look takes the next step with a write whose outcome is not known. The policy decides when to
// look up and when to stop.
func (m *merchant) look(ctx context.Context, w *write, now time.Time) error {
	seen := m.policy.LookUp(ctx, m.client.Transactions, *w.Case)
	found := m.policy.Next(*w.Case, seen, now)
	once := w.Case.Status != resolve.StatusSettled || seen.Result == resolve.LookupFailed
	switch {
	case m.crashes(w, "betweenLooks"):
		return nil
	case found.Status == resolve.StatusSettled && m.reverses && once && !found.NextLook.IsZero():
		return m.hold(w, found) // act only after it was seen twice
	case found.Status == resolve.StatusSettled && m.reverses && seen.Result == resolve.LookupFailed:
		return m.end(w, oracle.Held, "") // it was not seen twice
	case found.Status == resolve.StatusSettled:
		return m.settle(w, found.Outcome, found.Seen.ReceiptNumber, now)
	case !found.NextLook.IsZero():
		return m.hold(w, found) // also after giving up, look-ups go on for two weeks
	}
	w.Case = &found
	switch found.Status {
	case resolve.StatusNotFound:
		return m.end(w, oracle.NotFound, "") // absence of evidence: a person decides
	case resolve.StatusDoubleCharged:
		return m.end(w, oracle.DoubleCharged, "")
	default:
		return m.end(w, oracle.Held, "") // technical support has to say
	}
}

// settle stores the end of a write that is settled, and the writes that follow from it.
func (m *merchant) settle(w *write, outcome quickstream.Outcome, receipt string, now time.Time) error {
	done := quickstream.OutcomeApproved
	if w.Kind == oracle.Void {
		done = quickstream.OutcomeVoided
	}
	var next []write
	switch outcome {
	case done:
		if w.Kind != oracle.Payment && w.Kind != oracle.Preauth {
			return m.end(w, oracle.Done, receipt)
		}
		for i, step := range w.Order.Then {
			due := now.Add(settled)
			switch {
			case step.Kind == oracle.Void:
				due = now
			case w.Kind == oracle.Preauth: // before it expires
				due = now.Add(time.Duration(i) * 24 * time.Hour)
			}
			next = append(next, write{Order: w.Order, Step: step, Original: receipt, Due: due})
		}
		return m.end(w, oracle.Done, receipt, next...)
	case quickstream.OutcomeDeclined, quickstream.OutcomeRejected, quickstream.OutcomeVoided:
		if w.Kind == oracle.Payment && w.Order.Again > 0 { // the customer takes another card, an hour later
			next = m.instead(w, now.Add(time.Hour), true)
			for i := range next {
				next[i].Order.Again--
			}
		}
		if outcome == quickstream.OutcomeVoided { // its answer was lost, and the service took it back
			return m.end(w, oracle.Reversed, receipt, next...)
		}
		return m.end(w, oracle.Declined, receipt, next...)
	default:
		return fmt.Errorf("%s: a %s is %s", w.Order.ID, w.Kind, outcome)
	}
}
