package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// Whatever the network does, and wherever the process ends, no order is charged twice, believed
// to be unpaid, or given back and believed to be paid.
func TestChaos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewStore()
		sandboxtest.Chaos(t, sandboxtest.ChaosOptions{
			Seed: 1, Orders: 24, Declined: 0.3, Erred: 0.2,
			Settle: func(ctx context.Context, client *quickstream.Client, order string, now time.Time) error {
				shop := NewShop(client, store, sandbox.DefaultBusiness, func() time.Time { return now })
				return errors.Join(shop.Recover(ctx), shop.Resolve(ctx), word(store, order))
			},
		}, func(ctx context.Context, client *quickstream.Client, order string) error {
			for range 3 { // the customer is stubborn, and clicks twice
				var clicks sync.WaitGroup
				for range 2 {
					clicks.Go(func() { payAndCrash(ctx, client, store, order) })
				}
				clicks.Wait()
				<-time.After(time.Minute)
			}
			if order[len(order)-2]%2 == 0 {
				_, _ = NewShop(client, store, sandbox.DefaultBusiness, time.Now).GiveBack(ctx, order)
			}
			return word(store, order)
		})
	})
}

// payAndCrash is a process that takes a payment. The order decides where it ends.
func payAndCrash(ctx context.Context, client *quickstream.Client, store *Store, order string) {
	shop, browser := NewShop(client, store, sandbox.DefaultBusiness, time.Now), Browser{Client: client}
	_ = shop.Recover(ctx)
	token, err := browser.TypeCard(ctx, sandbox.CardAttempted)
	if err != nil {
		return
	}
	params, err := shop.byCard(ctx, price(), token, browser.Visitor())
	if err != nil {
		return
	}
	row, err := shop.plan(ctx, order, params)
	switch {
	case err != nil, order[len(order)-1] == '1': // it is planned, and no more
	case order[len(order)-1] == '2': // it is claimed, and not sent
		_ = store.Claim(row.Key, time.Now())(ctx)
	case order[len(order)-1] == '3': // it is sent, and the answer is not stored
		_, _ = client.Transactions.Submit(ctx, row.State.Intent, store.Claim(row.Key, time.Now()))
	default:
		_, _ = shop.send(ctx, row)
	}
}

// word is what the shop says of an order: nil if it is paid.
func word(store *Store, order string) error {
	said := errors.New("not paid")
	for _, row := range store.Rows() {
		switch {
		case row.Order != order || row.Status() == Failed:
		case row.Status() == Open:
			return quickstream.ErrOutcomeUnknown
		case row.Kind == quickstream.TransactionTypePayment:
			said = nil
		default:
			said = errors.New("given back")
		}
	}
	return said
}
