// Command unknown is the program of docs/unknown-outcomes.md.
package main

import (
	"context"
	"encoding/json"
	"errors"
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
	box := sandbox.New(sandbox.WithClock(clock))
	defer box.Close()
	client, err := quickstream.NewClient(quickstream.CustomURL(box.URL()), sandboxtest.Keys(box),
		quickstream.WithHTTPClient(box.HTTPClient()), quickstream.WithClock(clock.Now))
	if err != nil {
		return err
	}
	if err := box.Inject(sandbox.Fault{Operation: "POST /transactions", Kind: sandbox.ResetAfterCommit()}); err != nil {
		return err
	}

	var intent []byte // a column of your table, inserted before the first byte is sent
	_, err = client.Transactions.Pay(ctx, quickstream.PayParams{
		SupplierBusinessCode: sandbox.DefaultBusiness, CustomerReferenceNumber: "ORDER-1042", ECI: quickstream.ECIPhone,
		Source:          quickstream.FromCard(sandboxtest.Card("4242424242424242")),
		PrincipalAmount: decimal.RequireFromString("49.95"), Currency: quickstream.CurrencyAUD,
		StoredCredential: &quickstream.StoredCredentialData{EntryMode: quickstream.EntryModeManual},
	}, quickstream.WithoutResend(), quickstream.WithBeforeSend(func(_ context.Context, i quickstream.Intent) (err error) {
		intent, err = json.Marshal(i)
		return err
	}))
	fmt.Println("unknown:", errors.Is(err, quickstream.ErrOutcomeUnknown))

	// Another process, after a crash or as a job: only the row is left.
	var sent quickstream.Intent
	if err := json.Unmarshal(intent, &sent); err != nil {
		return err
	}
	policy := resolve.DefaultPolicy(resolve.ServiceRetriesOff()) // a setting of your facility: ask for it
	for c := resolve.Begin(sent, clock.Now()); ; {
		clock.Advance(c.NextLook.Sub(clock.Now())) // in your program a queue waits until NextLook
		c = policy.Next(c, policy.LookUp(ctx, client.Transactions, c), clock.Now())
		fmt.Println("the case:", c.Status, c.Outcome) // and store c, which is JSON
		if c.Status.Final() {
			return nil
		}
	}
}
