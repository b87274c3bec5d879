package main

import (
	"context"
	"errors"
	"net/http/httptrace"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/internal/demo"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

const pay = "POST /transactions"

// fixture is a shop, the service and a customer's browser.
type fixture struct {
	*Shop
	t   *testing.T
	box *sandbox.Sandbox
	Browser
}

func inBubble(t *testing.T, test func(t *testing.T, f *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		box, client := sandboxtest.New(t)
		shop, err := NewShop(client, NewStore(), sandbox.DefaultBusiness, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		test(t, &fixture{Shop: shop, t: t, box: box, Browser: Browser{Box: box, Client: client}})
	})
}

// card takes a payment by card.
func (f *fixture) card(order, number string) (Row, error) {
	f.t.Helper()
	return f.PayByCard(f.t.Context(), order, price(), f.token(number), f.Visitor())
}

func (f *fixture) token(number string) string {
	f.t.Helper()
	token, err := f.TypeCard(f.t.Context(), number)
	if err != nil {
		f.t.Fatal(err)
	}
	return token
}

// crash starts another process with what the database kept.
func (f *fixture) crash() {
	shop := *f.Shop
	f.Shop = &shop
}

// nights runs the job every hour of some days.
func (f *fixture) nights(n int) {
	f.t.Helper()
	for range n * 24 {
		<-time.After(time.Hour)
		if err := f.Resolve(f.t.Context()); err != nil {
			f.t.Fatal(err)
		}
	}
}

func (f *fixture) expect(order string, kind quickstream.TransactionType, status Status, charges int) {
	f.t.Helper()
	var got []Status
	for _, row := range f.Store.Rows() {
		if row.Order == order && row.Kind == kind {
			got = append(got, row.Status())
			f.t.Logf("%s %s %s %s %s %d looks", order, kind, row.Status(), row.State.Status, row.State.Outcome, len(row.State.Lookups))
		}
	}
	if len(got) == 0 || got[len(got)-1] != status {
		f.t.Errorf("%s: %s is %v, want %s", order, kind, got, status)
	}
	if charged := f.box.Ledger().Charged(order); len(charged) != charges {
		f.t.Errorf("%s: charged %d times, want %d", order, len(charged), charges)
	}
}

func TestCardIsCharged(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		if _, err := f.card("A", sandbox.CardChallenge); err != nil {
			t.Fatal(err)
		}
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
		if _, err := f.card("A", sandbox.CardChallenge); !errors.Is(err, ErrBusy) {
			t.Errorf("paid again: %v", err)
		}
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestFailedAuthenticationChargesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		if _, err := f.card("A", sandbox.CardNotAuthenticated); !errors.Is(err, ErrNotAuthenticated) {
			t.Errorf("got %v", err)
		}
		if len(f.box.Ledger()) != 0 {
			t.Error("something was charged")
		}
	})
}

func TestDeclineFreesTheOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.box.NextTransaction(sandbox.Declined("04"))
		if _, err := f.card("A", sandbox.CardAttempted); err != nil {
			t.Fatal(err)
		}
		f.expect("A", quickstream.TransactionTypePayment, Failed, 0)
		if _, err := f.card("A", sandbox.CardAttempted); err != nil {
			t.Fatal(err)
		}
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestSoftDeclineIsHeldWhileTheServiceRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.box.NextTransaction(sandbox.Declined("01").ThenRetried(24*time.Hour, sandbox.Approved()))
		if _, err := f.card("A", sandbox.CardAttempted); err != nil {
			t.Fatal(err)
		}
		if _, err := f.card("A", sandbox.CardAttempted); !errors.Is(err, ErrBusy) {
			t.Errorf("paid beside a retry: %v", err)
		}
		f.nights(5)
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
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
			if _, err := f.PayByStoredCard(t.Context(), order, price(), account, f.Visitor()); err != nil {
				t.Fatal(err)
			}
			f.expect(order, quickstream.TransactionTypePayment, Done, 1)
		}
	})
}

// A browser that closes while the payment is on its way does not make it unknown.
func TestBrowserCloses(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		ctx, closeBrowser := context.WithCancel(t.Context())
		trace := &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { closeBrowser() }}
		params, err := f.byCard(t.Context(), price(), f.token(sandbox.CardAttempted), f.Visitor())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.collect(httptrace.WithClientTrace(ctx, trace), "A", params); err != nil || ctx.Err() == nil {
			t.Fatal(err, ctx.Err())
		}
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestImpatientCustomer(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		var clicks sync.WaitGroup
		for range 5 {
			token := f.token(sandbox.CardAttempted)
			clicks.Go(func() { _, _ = f.PayByCard(t.Context(), "A", price(), token, f.Visitor()) })
		}
		clicks.Wait()
		f.expect("A", quickstream.TransactionTypePayment, Done, 1)
	})
}

func TestStory(t *testing.T) {
	if err := demo.Run(t.Context(), run, reportsAtOnce()); err != nil {
		t.Fatal(err)
	}
}
