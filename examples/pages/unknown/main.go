// Command unknown is the program of docs/unknown-outcomes.md.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/resolve"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	clock := sandbox.NewClock(time.Date(2026, time.July, 1, 0, 0, 0, 0, time.UTC)) // 10:00 in Sydney
	box, client, err := sandboxtest.Open(sandbox.WithClock(clock))
	if err != nil {
		return err
	}
	defer box.Close()
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}); err != nil {
		return err
	}
	row, err := pay(ctx, client, quickstream.PayParams{
		CustomerReferenceNumber: "ORDER-1042", ECI: quickstream.ECIPhone,
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("49.95"),
	}, clock.Now)
	for err == nil && row != nil {
		var c resolve.Case
		if err := json.Unmarshal(row, &c); err != nil || c.NextLook.IsZero() {
			return err
		}
		clock.Advance(c.NextLook.Sub(clock.Now()))
		row, err = look(ctx, client, row, clock.Now)
	}
	return err
}

// pay returns what to store for the job, or nil if there is nothing to look up.
func pay(ctx context.Context, client *quickstream.Client, params quickstream.PayParams, now func() time.Time) (row []byte, err error) {
	payment, err := client.Transactions.Pay(ctx, params,
		quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) (err error) {
			row, err = json.Marshal(resolve.Begin(intent, now())) // INSERT: all that is left after a crash
			return err
		}))
	result := resolve.After(payment, err, now())
	fmt.Println("the call:", result.Status)
	if result.Case == nil {
		return nil, err // UPDATE: the order is paid, or this call took nothing and err says why
	}
	return json.Marshal(result.Case) // UPDATE: it knows more than the row
}

// look is the job. It is due at the case's NextLook, and over when that is zero.
func look(ctx context.Context, client *quickstream.Client, row []byte, now func() time.Time) ([]byte, error) {
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff()) // a setting of your facility: ask your bank
	var c resolve.Case
	if err := json.Unmarshal(row, &c); err != nil {
		return nil, err
	}
	c = policy.Next(c, policy.LookUp(ctx, client.Transactions, c), now())
	fmt.Println("the case:", c.Status, c.Outcome)
	return json.Marshal(c) // UPDATE, with what the status says of the order
}
