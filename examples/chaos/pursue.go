package main

import (
	"context"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
)

// look goes one step on with a write whose outcome is not known. When it looks, and
// when it stops, is for the policy to say.
func (m *merchant) look(ctx context.Context, o *order, t *try, now time.Time) error {
	before := *t.State
	known := recorded{m.client.Transactions, func(receipt string) bool { return m.table.foreign(receipt, t.Intent.IdempotencyKey) }}
	state := m.policy.Next(before, m.policy.LookUp(ctx, known, before.Intent), now)
	if m.crashes(o, t, "betweenLooks") {
		return nil
	}
	t.State, t.Due = &state, state.NextLook
	switch {
	case state.Status == resolve.StatusSettled:
		return m.end(o, t, state.Outcome, state.Seen.ReceiptNumber, howFound(before), now)
	case !state.NextLook.IsZero():
		return m.table.save(o) // what was given up is looked at on for two weeks
	case state.Status == resolve.StatusNotFound:
		// Nothing, for all that time: this payment was not made, and the order may be
		// paid for again, with a new reference. A careful shop has a person decide.
		t.Ended, t.How = endAbsent, howAbsent
		return m.again(o, t, now)
	default:
		t.Ended, t.How, t.Due = endEscalated, howEscalated, time.Time{}
		if state.Status == resolve.StatusDoubleCharged {
			t.Ended = endTwice
		}
		if t.Kind == kindPayment {
			o.Status = statusEscalated
		}
		return m.table.save(o)
	}
}

// recorded is the service as a merchant with records sees it: a receipt that belongs to
// another intent is not looked at again.
type recorded struct {
	*quickstream.TransactionsService
	foreign func(receipt string) bool
}

// Resume looks for an intent among what no other intent has made.
func (r recorded) Resume(ctx context.Context, intent quickstream.Intent, opts ...quickstream.CallOption) (*quickstream.Transaction, error) {
	return r.TransactionsService.Resume(ctx, intent, append(opts, quickstream.WithForeignReceipts(r.foreign))...)
}

func howFound(before resolve.Case) how {
	for _, look := range before.Lookups {
		switch {
		case look.Retryable:
			return howRetried
		case look.Result == resolve.LookupPending:
			return howLater
		}
	}
	if before.Intent.ReceiptNumber != "" {
		return howByReceipt
	}
	return howByReference
}
