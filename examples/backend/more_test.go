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
	"github.com/quickstream-go/quickstream/webhooks"
	"github.com/quickstream-go/quickstream/webhooks/signature"
)

const secret = "webhook-secret"

// agree subscribes to events and has a payer agree.
func (f *fixture) agree(reference string) {
	f.t.Helper()
	verifier, err := webhooks.NewVerifier(signature.AssumedHMAC{}, []webhooks.Secret{webhooks.NewSecret(secret)})
	if err != nil {
		f.t.Fatal(err)
	}
	err = f.box.Subscribe(sandbox.Subscription{Handler: f.Webhooks(verifier), Secret: secret, Scheme: signature.AssumedHMAC{}})
	if err != nil {
		f.t.Fatal(err)
	}
	customer, err := f.Customer(f.t.Context(), "C-1", "Jo Citizen")
	if err != nil {
		f.t.Fatal(err)
	}
	payer := quickstream.PayToPayerParams{
		Type: quickstream.PayerTypePerson, ID: "C-1", Name: "Jo Citizen",
		PayIDType: quickstream.PayIDTypeEmail, PayID: quickstream.NewSecret("jo@example.com"),
	}
	if err := f.AskToAgree(f.t.Context(), customer, reference, payer, price); err != nil {
		f.t.Fatal(err)
	}
	if _, err := f.PayByPayTo(f.t.Context(), "A", price, reference); !errors.Is(err, ErrNoAgreement) {
		f.t.Errorf("paid without consent: %v", err)
	}
	time.Sleep(time.Minute)
	agreements := f.box.Agreements()
	if len(agreements) != 1 {
		f.t.Fatalf("%d agreements", len(agreements))
	}
	if err := f.box.Agreement(agreements[0].Token).Confirm(); err != nil {
		f.t.Fatal(err)
	}
	synctest.Wait()
}

func TestPayToIsPendingUntilItsEvent(t *testing.T) {
	for name, faults := range map[string][]sandbox.Fault{
		"well": nil,
		"the agreement's answer is lost": {{
			Operation: "POST /customers/{customerId}/payto-agreements", Kind: sandbox.ResetAfterCommit(),
		}},
		"the payment's answer is lost": {{Operation: pay, Kind: sandbox.ResetAfterCommit()}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				if err := f.box.Inject(faults...); err != nil {
					t.Fatal(err)
				}
				f.agree("M-1")
				if _, err := f.PayByPayTo(t.Context(), "A", price, "M-1"); err != nil {
					t.Fatal(err)
				}
				f.expect("A", quickstream.TransactionTypePayment, Open, 0)
				time.Sleep(2 * time.Minute)
				synctest.Wait()
				f.expect("A", quickstream.TransactionTypePayment, Done, 1)
			})
		})
	}
}

func TestPayToWithoutEventsIsResolved(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.agree("M-1")
		f.box.HoldDeliveries()
		if _, err := f.PayByPayTo(t.Context(), "A", price, "M-1"); err != nil {
			t.Fatal(err)
		}
		f.nights(2)
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestEventAfterAnEscalationCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.agree("M-1")
		f.box.NextTransaction(sandbox.Pending().ThenAfter(72*time.Hour, sandbox.Approved()))
		if _, err := f.PayByPayTo(t.Context(), "A", price, "M-1"); err != nil {
			t.Fatal(err)
		}
		f.nights(4)
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestVoidThatComesLateOrNever(t *testing.T) {
	for name, kind := range map[string]sandbox.FaultKind{
		"late": sandbox.CommitLate(90 * time.Minute), "never": sandbox.ResetBeforeCommit(),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				if _, err := f.card("A", sandbox.CardAttempted); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if err := f.box.Inject(sandbox.Fault{Operation: "POST /transactions/{receiptNumber}/void", Kind: kind, Times: 1}); err != nil {
					t.Fatal(err)
				}
				if _, err := f.GiveBack(t.Context(), "A"); err != nil {
					t.Fatal(err)
				}
				f.nights(4)
				if name == "late" {
					f.expect("A", KindVoid, Done, 0)
				} else {
					f.expect("A", KindVoid, Failed, 1)
					if _, err := f.GiveBack(t.Context(), "A"); err != nil {
						t.Fatal(err)
					}
					f.expect("A", quickstream.TransactionTypeRefund, Done, 1)
				}
				if net := f.box.Ledger().Net("A"); net != 0 {
					t.Errorf("the order cost %d cents in the end", net)
				}
			})
		})
	}
}

func TestMoneyIsGivenBackOnce(t *testing.T) {
	cases := []struct {
		name  string
		after time.Duration
		kind  quickstream.TransactionType
		op    string
	}{
		{"before settlement", time.Minute, KindVoid, "POST /transactions/{receiptNumber}/void"},
		{"after settlement", 48 * time.Hour, quickstream.TransactionTypeRefund, pay},
	}
	for _, c := range cases {
		for _, lost := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, f *fixture) {
					if _, err := f.card("A", sandbox.CardAttempted); err != nil {
						t.Fatal(err)
					}
					time.Sleep(c.after)
					if lost {
						if err := f.box.Inject(sandbox.Fault{Operation: c.op, Kind: sandbox.ResetAfterCommit()}); err != nil {
							t.Fatal(err)
						}
					}
					row, err := f.GiveBack(t.Context(), "A")
					if err != nil || (row.Status() == Open) != lost {
						t.Fatal(row.Status(), err)
					}
					f.box.ClearFaults()
					time.Sleep(time.Minute)
					if _, err := f.GiveBack(t.Context(), "A"); err == nil {
						t.Error("given back again")
					}
					f.nights(3)
					if _, err := f.GiveBack(t.Context(), "A"); err == nil {
						t.Error("given back again")
					}
					charges := 1
					if c.kind == KindVoid {
						charges = 0
					}
					f.expect("A", c.kind, Done, charges)
					if net := f.box.Ledger().Net("A"); net != 0 {
						t.Errorf("the order cost %d cents in the end", net)
					}
				})
			})
		}
	}
}

func TestStoredCard(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		customer, err := f.Customer(t.Context(), "C-1", "Jo Citizen")
		if err != nil {
			t.Fatal(err)
		}
		account, err := f.StoreCard(t.Context(), customer, f.token(sandbox.CardChallenge), f.Visitor())
		if err != nil {
			t.Fatal(err)
		}
		for _, order := range []string{"A", "B"} {
			if _, err := f.PayByStoredCard(t.Context(), order, price, account, f.Visitor()); err != nil {
				t.Fatal(err)
			}
			f.expect(order, quickstream.TransactionTypePayment, Done, 1)
		}
	})
}

func TestImpatientCustomer(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		var clicks sync.WaitGroup
		for range 5 {
			token := f.token(sandbox.CardAttempted)
			clicks.Go(func() { _, _ = f.PayByCard(t.Context(), "A", price, token, f.Visitor()) })
		}
		clicks.Wait()
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestReportMatchesTheBooks(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		for _, order := range []string{"A", "B", "C"} {
			if _, err := f.card(order, sandbox.CardAttempted); err != nil {
				t.Fatal(err)
			}
		}
		day := f.Store.Rows()[0].Seen().SettlementDate
		time.Sleep(time.Minute)
		if _, err := f.GiveBack(t.Context(), "B"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(48 * time.Hour)
		refund, err := f.GiveBack(t.Context(), "C")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(48 * time.Hour)
		for _, day := range []quickstream.Date{day, refund.Seen().SettlementDate} {
			differences, err := f.Compare(t.Context(), day)
			if err != nil || len(differences) != 0 {
				t.Error(differences, err)
			}
		}
		f.Store = NewStore()
		if differences, err := f.Compare(t.Context(), day); err != nil || len(differences) != 2 {
			t.Error(differences, err)
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
			Seed: 1, Orders: 80, Declined: 0.3, Erred: 0.2,
			// A single browser would use up its quota of tokens at once.
			Sandbox: []sandbox.Option{sandbox.WithAssumptions(func(a *sandbox.Assumptions) { a.TokenQuota = 0 })},
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
					_, _ = shop.PayByCard(ctx, order, price, token, browser.Visitor())
				}
			}
			return word(order)
		})
	})
}
