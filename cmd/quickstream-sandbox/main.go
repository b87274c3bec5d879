// Command quickstream-sandbox serves the simulator of package sandbox on a
// loopback port, for programs in any language.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/quickstream-go/quickstream/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quickstream-sandbox:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("quickstream-sandbox", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8642", "loopback `address` to listen on; port 0 takes a free one")
	assumptions := flags.Bool("assumptions", false, "print what the sandbox assumes where the public contract is silent, and exit")
	seed := flags.Uint64("seed", 0, "make keys and identifiers the same in every run; 0 makes them random")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *assumptions {
		return printAssumptions(stdout)
	}

	var opts []sandbox.Option
	if *seed != 0 {
		opts = append(opts, sandbox.WithSeed(*seed))
	}
	box := sandbox.New(opts...)
	defer box.Close()
	url, err := box.Listen(*addr)
	if err != nil {
		return err
	}
	keys := box.Keys()
	if _, err := fmt.Fprintf(stdout, "base URL         %s\nsecret key       %s\npublishable key  %s\nbusiness code    %s\n",
		url, keys.Secret, keys.Publishable, sandbox.DefaultBusiness); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func printAssumptions(w io.Writer) error {
	for _, a := range sandbox.DefaultAssumptions().List() {
		if _, err := fmt.Fprintf(w, "%s = %s\n    known: %s\n    why:   %s\n", a.Name, a.Value, a.Known, a.Why); err != nil {
			return err
		}
	}
	return nil
}
