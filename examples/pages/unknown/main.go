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

	var row []byte // a column of your table
	payment, err := client.Transactions.Pay(ctx, quickstream.PayParams{
		CustomerReferenceNumber: "ORDER-1042", ECI: quickstream.ECIPhone,
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("49.95"),
	}, quickstream.WithoutResend(), quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) (err error) {
		row, err = json.Marshal(resolve.Begin(intent, clock.Now())) // INSERT: all that is left after a crash
		return err
	}))
	result := resolve.After(payment, err, clock.Now())
	fmt.Println("the call:", result.Status)
	if result.Case != nil {
		if row, err = json.Marshal(result.Case); err != nil { // UPDATE
			return err
		}
	}

	// A job, in this process or another: only the row is left.
	var c resolve.Case
	if err := json.Unmarshal(row, &c); err != nil {
		return err
	}
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff()) // a setting of your facility: ask for it
	for {
		clock.Advance(c.NextLook.Sub(clock.Now())) // in your program a queue waits until NextLook
		c = policy.Next(c, policy.LookUp(ctx, client.Transactions, c), clock.Now())
		fmt.Println("the case:", c.Status, c.Outcome) // and store c, which is JSON
		if c.Status.Final() {
			return nil
		}
	}
}
