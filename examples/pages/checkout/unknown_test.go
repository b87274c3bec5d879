package checkout_test

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/examples/pages/checkout"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func TestTheOutcomeIsUnknown(t *testing.T) {
	clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)) // 10:00 in Sydney
	box, client := sandboxtest.New(t, sandbox.WithClock(clock))
	rows := table{}
	shop := checkout.Shop{Client: client, Business: sandbox.DefaultBusiness, Intents: rows}
	err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit(), Times: 3})
	if err != nil {
		t.Fatal(err)
	}
	order := checkout.Order{Number: "ORDER-1042", Amount: decimal.RequireFromString("49.95"), IP: netip.MustParseAddr("203.0.113.10")}
	for _, want := range []error{quickstream.ErrOutcomeUnknown, quickstream.ErrNotSent} { // the customer presses twice
		token, err := sandboxtest.CardToken(t.Context(), client, "4242424242424242")
		if err != nil {
			t.Fatal(err)
		}
		if _, err = shop.Pay(t.Context(), order, token); !errors.Is(err, want) {
			t.Errorf("want %v, got %v", want, err)
		}
	}

	// A job, for each row without an outcome.
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff()) // a setting of your facility: ask for it
	c := resolve.Begin(rows[order.Number], clock.Now())
	for !c.Status.Final() {
		clock.Advance(c.NextLook.Sub(clock.Now())) // in your program a queue waits until NextLook
		c = policy.Next(c, policy.LookUp(t.Context(), client.Transactions, c), clock.Now())
	}

	if c.Status != resolve.StatusSettled || c.Outcome != quickstream.OutcomeApproved {
		t.Errorf("the case is %s %s", c.Status, c.Outcome)
	}
	if charged := box.Ledger().Charged(order.Number); len(charged) != 1 {
		t.Errorf("%d charges", len(charged))
	}
}
