// Command startup is the program of docs/going-live.md.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// connect makes the client of a program. vault reads the keys from your store of secrets, before each call; cache them.
// store inserts an intent: it runs before every write that has an intent.
func connect(ctx context.Context, environment quickstream.Environment, vault func(context.Context) (quickstream.Keys, error),
	store func(context.Context, quickstream.Intent) error, opts ...quickstream.ClientOption,
) (*quickstream.Client, error) {
	client, err := quickstream.NewClient(environment, quickstream.Keys{}, append(opts,
		quickstream.WithKeySource(vault), quickstream.WithBeforeSend(store),
		quickstream.WithSupplierBusinessCode("SANDBOX01"), quickstream.WithCurrency(quickstream.CurrencyAUD), // yours
		quickstream.WithFinalDeclines(true), // only if your bank says so; the policy of look-ups has to agree
	)...)
	if err != nil {
		return nil, err
	}
	return client, client.Check(ctx) // address, network, key: before the first customer
}

func run(ctx context.Context) error {
	box := sandbox.New()
	defer box.Close()
	vault := func(context.Context) (quickstream.Keys, error) { return sandboxtest.Keys(box), nil }
	store := func(context.Context, quickstream.Intent) error { return nil }
	client, err := connect(ctx, quickstream.CustomURL(box.URL()), vault, store, quickstream.WithHTTPClient(box.HTTPClient()))
	fmt.Println("at the start:", err)
	if err != nil {
		return err
	}
	box.RenewKey(sandbox.KeySecret, 0) // the key is rotated; the old one is refused from now on
	fmt.Println("after the rotation:", client.Check(ctx))
	return nil
}
