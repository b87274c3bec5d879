// Command shop is a small shop with a sandbox of the payment service: see -help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/quickstream-go/quickstream/shop/machine"
	"github.com/quickstream-go/quickstream/shop/store"
)

const help = `A small shop to click through, on durable payments, with a sandbox of the payment service. No account, no settings:
nothing here takes real money, and all is gone when it ends.

    go -C shop run .

Then open http://127.0.0.1:8080/ and buy something with a public test card. http://127.0.0.1:8080/trouble has switches
for what goes wrong: try to be charged twice, and read in the ledger beside them that you were not.

The back office is at http://127.0.0.1:8080/office/. Its password is printed at the start, and is another one each time
unless -password-file or -password says which; the name is anybody's. It is durable's console: payments as they change,
what is known of each, and what needs a person. Figures are for Prometheus at http://127.0.0.1:8080/metrics. Passwords are
compared one at a time: after a wrong one the next waits, a second at first and half a minute at most. A login lasts for
12 hours.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "shop:", err)
		os.Exit(1)
	}
}

// passwordIn reads the password that is all of a file. White space around it is none of it.
func passwordIn(file string) (string, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the operator names it
	password := strings.TrimSpace(string(text))
	if err == nil && password == "" {
		err = errors.New("the file is empty")
	}
	return password, err
}

func run(ctx context.Context, args []string) error {
	var config machine.Config
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	flags.StringVar(&config.Listen, "listen", "127.0.0.1:8080", "loopback `address` of the shop; port 0 takes a free one")
	flags.StringVar(&config.Password, "password", "", "`password` of the back office; a new one at each start unless it is given")
	flags.Func("password-file", "`file` that holds the password, so that no list of processes shows it", func(file string) (err error) {
		config.Password, err = passwordIn(file)
		return err
	})
	traces := flags.String("traces", "", "`file` to write OpenTelemetry spans into, one in a line of JSON; none unless it is given")
	serve := flags.Bool("serve", false, "be the merchant's program alone, configured by the environment, as package store says")
	child := flags.Bool("child", false, "be that, for as long as the standard input lasts: how the shop starts itself")
	flags.Usage = func() {
		_, _ = fmt.Fprint(flags.Output(), help)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q (-help lists all)", flags.Arg(0))
	}
	if *child {
		ctx = machine.UntilStdinEnds(ctx)
	}
	if *serve || *child {
		own, err := store.ConfigFromEnv()
		if err != nil {
			return err
		}
		return store.Run(ctx, own)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	config.Child = []string{self, "-child"}
	if *traces != "" {
		config.Env = append(config.Env, "SHOP_TRACES="+*traces)
	}
	return machine.Run(ctx, config, os.Stdout)
}
