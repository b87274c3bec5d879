// Command quickstream-sandbox serves the simulator of package sandbox on a
// loopback port, for programs in any language.
//
// Beside the service it serves, under /_sandbox/ and without a key, what people
// and tests do to it: the payer's banking app, the challenge of 3D Secure, and
// JSON endpoints for the clock, faults, outcomes, the ledger, the requests, the
// webhook subscriptions and the assumptions.
//
//	curl -d '{"advance":"48h"}' http://127.0.0.1:8642/_sandbox/clock
//	curl -d '{"operation":"POST /transactions","nth":1,"kind":"ResetAfterCommit"}' http://127.0.0.1:8642/_sandbox/faults
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"sync"
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
	origins := flags.String("origins", "", "comma-separated `origins` of browser pages that may create tokens, or *; the service itself allows none")
	worldText := flags.String("world", "", "live in a `world`, as printed by what it broke: differences from the default, such as \"PageSize=1 LookupLag=5m\"")
	var assumed assumed
	flags.Var(&assumed, "assume", "change one assumption, as in `Name=value`; may be repeated")
	autoConfirm := flags.Bool("auto-confirm", false, "have payers confirm PayTo agreements by themselves")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *assumptions {
		return printAssumptions(stdout)
	}

	world, err := sandbox.ParseWorld(*worldText)
	if err != nil {
		return err
	}
	if *origins != "" {
		assumed = append(assumed, func(a *sandbox.Assumptions) { a.AllowedOrigins = strings.Split(*origins, ",") })
	}
	clock := newLiveClock()
	opts := []sandbox.Option{
		sandbox.WithClock(clock.Clock),
		sandbox.WithWorld(world),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			a.AutoConfirm = *autoConfirm
			for _, change := range assumed {
				change(a)
			}
		}),
	}
	if *seed != 0 {
		opts = append(opts, sandbox.WithSeed(*seed))
	}
	return serveBox(ctx, sandbox.New(opts...), clock, *addr, stdout)
}

// serveBox serves a sandbox until ctx ends.
func serveBox(ctx context.Context, box *sandbox.Sandbox, clock *liveClock, addr string, stdout io.Writer) error {
	defer box.Close()
	handler, err := newHandler(box, clock)
	if err != nil {
		return err
	}
	l, err := listen(ctx, addr)
	if err != nil {
		return err
	}
	var ticking sync.WaitGroup
	defer ticking.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ticking.Go(func() { clock.run(ctx) })
	if err := announce(stdout, box, "http://"+l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	return serve(ctx, l, handler, box)
}

// assumed is the flag -assume: changes that are known to be possible.
type assumed []func(*sandbox.Assumptions)

// String implements flag.Value.
func (*assumed) String() string { return "" }

// Set implements flag.Value.
func (list *assumed) Set(text string) error {
	name, value, _ := strings.Cut(text, "=")
	tried := sandbox.DefaultAssumptions()
	if err := tried.Set(name, value); err != nil {
		return err
	}
	*list = append(*list, func(a *sandbox.Assumptions) { _ = a.Set(name, value) }) // it was tried
	return nil
}

func announce(w io.Writer, box *sandbox.Sandbox, host string) error {
	base, err := url.Parse(box.URL())
	if err != nil {
		return err
	}
	keys := box.Keys()
	_, err = fmt.Fprintf(w, "base URL         %s\nsecret key       %s\npublishable key  %s\nbusiness code    %s\ncontrol          %s\n",
		host+base.Path, keys.Secret, keys.Publishable, sandbox.DefaultBusiness, host+controlPath+"/")
	return err
}

func printAssumptions(w io.Writer) error {
	group := ""
	for _, a := range sandbox.DefaultAssumptions().List() {
		if a.Group != group {
			group = a.Group
			if _, err := fmt.Fprintf(w, "\n%s\n\n", group); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(w, "%s = %s\n    known: %s\n    why:   %s\n", a.Name, a.Value, a.Known, a.Why); err != nil {
			return err
		}
		if len(a.Worlds) > 1 {
			if _, err := fmt.Fprintf(w, "    else:  %s\n", strings.Join(a.Worlds[1:], ", ")); err != nil {
				return err
			}
		}
	}
	return nil
}
