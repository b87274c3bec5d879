package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

// Whatever the network does, no order is charged twice, or believed to be unpaid.
func TestChaos(t *testing.T) {
	books, err := NewShop(t.Context(), nil, ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer books.DB.Close()
	said := func(order string) error {
		return map[string]error{"free": errors.New("not paid"), "held": quickstream.ErrOutcomeUnknown}[books.State(t.Context(), order)]
	}
	sandboxtest.Chaos(t, sandboxtest.ChaosOptions{
		Seed: 1, Orders: 40, Client: facility(),
		Settle: func(ctx context.Context, client *quickstream.Client, order string, now time.Time) error {
			shop := Shop{client, books.DB, books.Policy, func() time.Time { return now }}
			return errors.Join(shop.Resolve(ctx), said(order))
		},
	}, func(ctx context.Context, client *quickstream.Client, order string) error {
		shop := Shop{client, books.DB, books.Policy, time.Now}
		if _, err := books.DB.Exec(`INSERT INTO orders VALUES (?, '49.95')`, order); err != nil {
			return err
		}
		for range 3 { // the customer is stubborn, and clicks twice
			token, err := sandboxtest.CardToken(ctx, client, "4242424242424242")
			if err != nil {
				continue
			}
			var clicks sync.WaitGroup
			for range 2 {
				clicks.Go(func() { submit(ctx, &shop, order, token) })
			}
			clicks.Wait()
		}
		return said(order)
	})
}
