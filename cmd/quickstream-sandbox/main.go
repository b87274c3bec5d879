// Command quickstream-sandbox serves the simulator of package sandbox on a
// loopback port, for programs in any language.
//
// Beside the service it serves, under /_sandbox/ and without a key, what people
// and tests do to it: a page that shows what goes on, the payer's banking app, the
// challenge of 3D Secure, and JSON endpoints for the clock, faults, outcomes, the
// ledger, the requests, the events and the webhook subscriptions.
//
// It prints the environment variables of the client when it starts, and with -help
// every flag, endpoint and assumption, and a tour with curl.
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

	"github.com/quickstream-go/quickstream/internal/liveclock"
	"github.com/quickstream-go/quickstream/sandbox"
	"github.com/quickstream-go/quickstream/sandbox/sandboxtest/worlds"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstream-sandbox:", err)
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	addr, origins, world string
	shops                string
	webhook              subscription
	listAssumptions      bool
	autoConfirm          bool
	seed                 uint64
	assumed              assumed
}

func newFlags() (*flag.FlagSet, *settings) {
	var s settings
	flags := flag.NewFlagSet("quickstream-sandbox", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run returns what is wrong
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8642", "loopback `address` to listen on (127.0.0.1:8642); port 0 takes a free one")
	flags.BoolVar(&s.listAssumptions, "assumptions", false, "print what is assumed where the contract is silent, and what is known about it, and exit")
	flags.Uint64Var(&s.seed, "seed", 0, "make keys and identifiers the same in every run that has this `number`")
	flags.StringVar(&s.origins, "origins", "", "comma-separated `origins` of browser pages that may create tokens, or *; the service itself allows none")
	flags.StringVar(&s.shops, "shop", "", "comma-separated `origins` of shops, whose pages may use the stand-in of the browser script and the payer's page")
	flags.StringVar(&s.world, "world", "", "live in a `world`: differences from the default, such as \"PageSize=1 LookupLag=5m\"; as tests print it")
	flags.Var(&s.assumed, "assume", "change one assumption, as in `Name=value`; may be repeated, and wins over -world")
	flags.BoolVar(&s.autoConfirm, "auto-confirm", false, "have payers confirm PayTo agreements by themselves")
	flags.StringVar(&s.webhook.URL, "webhook", "", "post all events to this `URL` on this machine from the start")
	flags.StringVar(&s.webhook.Secret, "webhook-secret", "whsec", "sign them with this `text` (whsec)")
	return flags, &s
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags, s := newFlags()
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return printManual(stdout)
	case err != nil:
		return fmt.Errorf("%w (-help lists all)", err)
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q (-help lists all)", flags.Arg(0))
	case s.listAssumptions:
		return printAssumptions(stdout)
	}
	world, err := worlds.Parse(s.world)
	if err != nil {
		return err
	}
	clock := liveclock.New()
	opts := []sandbox.Option{
		sandbox.WithClock(clock.Clock),
		world.Option(),
		sandbox.WithAssumptions(func(a *sandbox.Assumptions) {
			a.AutoConfirm = s.autoConfirm
			if s.origins != "" {
				a.AllowedOrigins = strings.Split(s.origins, ",")
			}
			for _, change := range s.assumed {
				change(a)
			}
		}),
	}
	if s.shops != "" {
		opts = append(opts, sandbox.WithShop(strings.Split(s.shops, ",")...))
	}
	if s.seed != 0 {
		opts = append(opts, sandbox.WithSeed(s.seed))
	}
	box := sandbox.New(opts...)
	defer box.Close()
	if s.webhook.URL != "" {
		if err := s.webhook.add(box); err != nil {
			return err
		}
	}
	return serveBox(ctx, box, clock, s.addr, stdout)
}

// serveBox serves a sandbox until ctx ends.
func serveBox(ctx context.Context, box *sandbox.Sandbox, clock *liveclock.Clock, addr string, stdout io.Writer) error {
	handler, err := newHandler(ctx, box, clock)
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
	ticking.Go(func() { clock.Run(ctx) })
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
	_, err = fmt.Fprintf(w, `export QUICKSTREAM_ENVIRONMENT=%s
export QUICKSTREAM_SECRET_KEY=%s
export QUICKSTREAM_PUBLISHABLE_KEY=%s
export SANDBOX=%s
# supplierBusinessCode: %s
# what goes on, in a browser: %[4]s/
# all that can be done, with a tour: -help, or %[4]s/help
`, host+base.Path, keys.Secret, keys.Publishable, host+controlPath, sandbox.DefaultBusiness)
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
