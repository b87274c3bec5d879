// Command shop is a small shop with a sandbox of the payment service: see -help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/quickstream-go/quickstream/shop/store"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	serve := flags.Bool("serve", false, "be the merchant's program, configured by the environment")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !*serve {
		return errors.New("only -serve is known")
	}
	config, err := store.ConfigFromEnv()
	if err != nil {
		return err
	}
	return store.Run(ctx, config)
}
