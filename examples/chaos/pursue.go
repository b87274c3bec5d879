package main

import (
	"context"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// look goes one step on with a payment whose outcome is not known. When it looks,
// and when it stops, is for the policy to say.
func (m *merchant) look(ctx context.Context, o *order, t *try, now time.Time) error {
	before := *t.State
	found, err := m.client.Transactions.Reconcile(ctx, before.Intent)
	state := m.policy.Next(before, resolve.Observe(found, err), now)
	t.State = &state
	switch state.Stage {
	case resolve.StageSettled:
		return m.answered(o, t, found.Transaction, howFound(before), now)
	case resolve.StageAbsent:
		// Two days, and nothing: this payment was not made, and the order may be
		// paid for again, with a new reference. A careful shop has a person decide.
		t.Ended, t.How = endAbsent, howAbsent
		return m.table.save(o, now)
	case resolve.StageEscalated:
		t.Ended, t.How = endEscalated, howEscalated
		o.Status = statusEscalated
		return m.table.save(o, time.Time{})
	default:
		return m.table.save(o, state.NextLook)
	}
}

func howFound(before resolve.State) how {
	for _, look := range before.Looks {
		if look.Sighting == resolve.SawNoOutcome {
			return howLater
		}
	}
	if before.Intent.ReceiptNumber != "" {
		return howByReceipt
	}
	return howByReference
}

// The service retries soft-declined payments by itself, on a schedule that the
// merchant agrees with it: here after one day and two more days.
const (
	retriesPause = 24 * time.Hour
	retriesEnd   = 4 * 24 * time.Hour
)

// readRetries finds out whether the service has charged a payment that it declined
// at first. Paying again before that is known could be a second charge.
func (m *merchant) readRetries(ctx context.Context, o *order, t *try, now time.Time) error {
	undecided := false
	for retry, err := range m.client.Transactions.Retries(t.SoftDeclined).All(ctx) {
		if err != nil {
			return m.table.save(o, now.Add(pause))
		}
		switch retry.Outcome() {
		case quickstream.OutcomeApproved:
			return m.answered(o, t, retry, howRetried, now)
		case quickstream.OutcomeDeclined, quickstream.OutcomeRejected:
		default:
			undecided = true
		}
	}
	if undecided || now.Before(t.RetriesUntil) {
		return m.table.save(o, now.Add(retriesPause))
	}
	t.Ended, t.How = endDeclined, howRetried
	o.Status = statusUnpaid
	return m.table.save(o, time.Time{})
}
