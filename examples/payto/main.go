// Command payto takes a whole PayTo collection: it finds or creates the
// customer, asks the payer for an agreement, waits for the confirmation, takes a
// payment against the agreement and waits for its approval.
//
// Without arguments it starts a sandbox of the service in its own process and a
// webhook receiver on loopback; nothing needs an account or a network. With
// QUICKSTREAM_SECRET_KEY and -business it runs against the service's test
// environment, by polling, because webhooks need a public address there. It
// refuses production, and ends with a status other than zero when any step does
// not hold.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/quickstream-go/quickstream"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "payto:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("payto", flag.ContinueOnError)
	environment := flags.String("url", string(quickstream.TestAU), "base address of the test environment, used when QUICKSTREAM_SECRET_KEY is set")
	business := flags.String("business", "", "supplierBusinessCode in the test environment")
	listen := flags.String("listen", "", "address on which to receive the test environment's webhooks behind your own public address, such as :8080")
	secret := flags.String("webhook-secret", "", "secret of the webhook subscription, with -listen")
	timeout := flags.Duration("timeout", 10*time.Minute, "how long to wait altogether")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()

	timeline := newTimeline(os.Stdout)
	keys := quickstream.KeysFromEnv()
	if keys.Secret.IsZero() {
		return collectFromSandbox(ctx, timeline)
	}
	env := quickstream.CustomURL(*environment)
	if env.IsProduction() {
		return errors.New("this example refuses production: it would ask a real payer for real money")
	}
	if *business == "" {
		return errors.New("QUICKSTREAM_SECRET_KEY is set: give your supplierBusinessCode with -business, or unset it to use the sandbox")
	}
	client, err := quickstream.NewClient(env, keys)
	if err != nil {
		return err
	}
	merchant := &merchant{client: client, business: *business, poll: 5 * time.Second, inbox: newInbox(), timeline: timeline}
	if *listen == "" {
		timeline.note("Webhooks need an address that the service can reach; without -listen the state is polled.")
		return merchant.collect(ctx)
	}
	address, closeReceiver, err := merchant.receive(ctx, *listen, *secret)
	if err != nil {
		return err
	}
	defer closeReceiver()
	timeline.note("Receiving webhooks on " + address + "/webhooks/quickstream, and polling besides.")
	return merchant.collect(ctx)
}
