package main

import (
	"context"
	"time"

	"github.com/quickstream-go/quickstream/resolve"
)

// look goes one step on with a payment whose outcome is not known. When it looks,
// and when it stops, is for the policy to say.
func (m *merchant) look(ctx context.Context, o *order, t *try, now time.Time) error {
	before := *t.State
	state := m.policy.Next(before, m.policy.Look(ctx, m.client.Transactions, before.Intent), now)
	t.State = &state
	switch state.Stage {
	case resolve.StageSettled:
		return m.end(o, t, state.Outcome, state.Seen.ReceiptNumber, howFound(before))
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
		switch {
		case look.Retryable:
			return howRetried
		case look.Sighting == resolve.SawNoOutcome:
			return howLater
		}
	}
	if before.Intent.ReceiptNumber != "" {
		return howByReceipt
	}
	return howByReference
}
