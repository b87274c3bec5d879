package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func TestLostAnswer(t *testing.T) {
	faults := map[string]sandbox.FaultKind{
		"reset":      sandbox.ResetAfterCommit(),
		"garbage":    sandbox.Garbage(sandbox.BrokenJSON),
		"500":        sandbox.StatusAfterCommit(500, sandbox.HTML),
		"late":       sandbox.CommitLate(5 * time.Minute),
		"never":      sandbox.ResetBeforeCommit(),
		"not answer": sandbox.HangAfterCommit(),
	}
	for name, kind := range faults {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				if err := f.box.Inject(sandbox.Fault{Operation: pay, Kind: kind}); err != nil { // every time
					t.Fatal(err)
				}
				row, err := f.card("A", sandbox.CardAttempted)
				if err != nil || row.Status() != Open {
					t.Fatal(row.Status(), err)
				}
				f.box.ClearFaults()
				if _, err := f.card("A", sandbox.CardAttempted); !errors.Is(err, ErrBusy) {
					t.Errorf("paid again: %v", err)
				}
				f.nights(4)
				if name == "never" {
					f.expect("A", quickstream.TransactionTypePayment, Open, 0) // absent: for a person
					return
				}
				f.expect("A", quickstream.TransactionTypePayment, Done, 1)
			})
		})
	}
}

func TestNothingSentFreesTheOrder(t *testing.T) {
	for name, kind := range map[string]sandbox.FaultKind{
		"refused": sandbox.Unreachable(sandbox.ConnectionRefused), "host": sandbox.Unreachable(sandbox.UnknownHost), "503": sandbox.Status(503, sandbox.ServiceError),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				if err := f.box.Inject(sandbox.Fault{Operation: pay, Kind: kind, Times: 9}); err != nil {
					t.Fatal(err)
				}
				_, err := f.card("A", sandbox.CardAttempted)
				t.Log(err)
				f.box.ClearFaults()
				if _, err := f.card("A", sandbox.CardAttempted); err != nil {
					t.Fatal(err)
				}
				f.expect("A", quickstream.TransactionTypePayment, Done, 1)
			})
		})
	}
}

func TestCrash(t *testing.T) {
	crashes := []struct {
		name    string
		until   func(f *fixture, row Row) error
		status  Status
		charges int
	}{
		{"stored, not sent", func(*fixture, Row) error { return nil }, Done, 1},
		{"claimed, not sent", func(f *fixture, row Row) error {
			return f.Store.Claim(row.Key, f.Now())(f.t.Context())
		}, Open, 0},
		{"sent, not recorded", func(f *fixture, row Row) error {
			_, err := f.Shop.Client.Transactions.Submit(f.t.Context(), row.State.Intent, f.Store.Claim(row.Key, f.Now()))
			return err
		}, Done, 1},
	}
	for _, crash := range crashes {
		t.Run(crash.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				params, err := f.byCard(t.Context(), price(), f.token("4242424242424242"), f.Visitor())
				if err != nil {
					t.Fatal(err)
				}
				row, err := f.plan(t.Context(), "A", params)
				if err != nil {
					t.Fatal(err)
				}
				if err := crash.until(f, row); err != nil {
					t.Fatal(err)
				}
				f.crash()
				if err := errors.Join(f.Recover(t.Context()), f.Recover(t.Context())); err != nil {
					t.Fatal(err)
				}
				if _, err := f.send(t.Context(), row); !errors.Is(err, ErrClaimed) {
					t.Errorf("sent again: %v", err)
				}
				f.nights(4)
				f.expect("A", quickstream.TransactionTypePayment, crash.status, crash.charges)
			})
		})
	}
}

func TestUnknownToTheServiceIsEscalated(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.box.NextTransaction(sandbox.Erred())
		row, err := f.card("A", sandbox.CardAttempted)
		if err != nil {
			t.Fatal(err)
		}
		f.nights(4)
		row, err = f.Store.Update(row.Key, func(*Row) {})
		if err != nil || row.State.Status != resolve.StatusEscalated {
			t.Error(row.State.Status, err)
		}
	})
}

// Whatever the network does, no order is charged twice or believed to be unpaid.
func TestChaos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := NewStore()
		word := func(order string) error {
			for _, row := range store.Rows() {
				switch {
				case row.Order != order || row.Status() == Failed:
				case row.Status() == Done:
					return nil
				default:
					return quickstream.ErrOutcomeUnknown
				}
			}
			return errors.New("not paid")
		}
		sandboxtest.Chaos(t, sandboxtest.ChaosOptions{
			Seed: 1, Orders: 40, Declined: 0.3, Erred: 0.2,
			Settle: func(ctx context.Context, client *quickstream.Client, order string, now time.Time) error {
				shop, err := NewShop(client, store, sandbox.DefaultBusiness, func() time.Time { return now })
				if err != nil {
					return err
				}
				if err := shop.Resolve(ctx); err != nil {
					return err
				}
				return word(order)
			},
		}, func(ctx context.Context, client *quickstream.Client, order string) error {
			shop, err := NewShop(client, store, sandbox.DefaultBusiness, time.Now)
			if err != nil {
				return err
			}
			browser := Browser{Client: client}
			for range 3 { // the customer is stubborn
				if token, err := browser.TypeCard(ctx, "4242424242424242"); err == nil {
					_, _ = shop.PayByCard(ctx, order, price(), token, browser.Visitor())
				}
			}
			return word(order)
		})
	})
}
