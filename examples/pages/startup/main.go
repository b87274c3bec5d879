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

func run(ctx context.Context) error {
	box := sandbox.New()
	defer box.Close()
	vault := func(context.Context) (quickstream.Keys, error) { return sandboxtest.Keys(box), nil } // read from your store of secrets
	client, err := quickstream.NewClient(
		quickstream.CustomURL(box.URL()), // quickstream.EnvironmentFromEnv() in production
		quickstream.Keys{}, quickstream.WithKeySource(vault), quickstream.WithHTTPClient(box.HTTPClient()),
		quickstream.WithBeforeSend(func(_ context.Context, intent quickstream.Intent) error {
			fmt.Println("store", intent.Reference) // INSERT; it runs for writes of this client, whoever calls it
			return nil
		}),
	)
	if err != nil {
		return err
	}
	fmt.Println("at the start:", client.Check(ctx)) // address, network, key: before the first customer
	box.RenewKey(sandbox.KeySecret, 0)              // the key is rotated; the old one is refused from now on
	fmt.Println("after the rotation:", client.Check(ctx))
	return nil
}
