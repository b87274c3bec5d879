// Command quickstream-conform asks a test facility of the service the questions that its public
// contract leaves open, and writes facility.json. Run it with -help.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/quickstream-go/quickstream"
	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/conform"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "quickstream-conform:", err)
		os.Exit(1)
	}
}

const usage = `quickstream-conform asks a test facility what the public contract leaves open.

It reads QUICKSTREAM_ENVIRONMENT (TestAU, TestNZ or an address on this machine),
QUICKSTREAM_SECRET_KEY and, with -listen, QUICKSTREAM_WEBHOOK_SECRET. It asks no other host.

`

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	cfg := conform.Config{SecretKey: os.Getenv("QUICKSTREAM_SECRET_KEY"), Progress: func(n int) { say(out, "\r%d of at most 300 requests", n) }}
	flags := flag.NewFlagSet("quickstream-conform", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { say(out, usage); flags.PrintDefaults() }
	yes := flags.Bool("yes", false, "do not wait for a confirmation of the plan")
	flags.BoolVar(&cfg.Clean, "clean", false, "undo what earlier runs have made, and exit")
	facility := flags.String("facility", "facility.json", "`file` for what was found; beside it .journal says what was made, and holds no key")
	flags.StringVar(&cfg.Business, "business", "", "supplierBusinessCode (the first of the facility)")
	flags.DurationVar(&cfg.Wait, "wait", 0, "how `long` the run may wait: 15m for keys and lag, 72h for the cut-off and retries, 240h for the slowest PayTo payment")
	listen := flags.String("listen", "", "receive notifications on this `address`, such as 127.0.0.1:8080")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("unexpected argument (-help lists all)")
	}
	cfg.Journal = *facility + ".journal"
	if cfg.Environment, err = quickstream.EnvironmentFromEnv(); err != nil {
		return err
	}
	if !*yes && !cfg.Clean {
		say(out, "%s\nPress Enter to begin, or Ctrl-C.", conform.Plan())
		if _, err := bufio.NewReader(in).ReadString('\n'); err != nil {
			return errors.New("not confirmed; -yes begins without")
		}
	}
	if *listen != "" {
		server, err := receive(ctx, *listen, os.Getenv("QUICKSTREAM_WEBHOOK_SECRET"), &cfg)
		if err != nil {
			return err
		}
		defer func() { _ = server.Close() }()
	}
	report, err := conform.Run(ctx, cfg)
	if len(report.Findings) > 0 { // even if the run was interrupted
		say(out, "\n%s\n", report)
		err = errors.Join(err, report.WriteFile(*facility))
	}
	switch {
	case len(report.Left) > 0:
		err = errors.Join(err, fmt.Errorf("not undone yet: %s; run -clean later", strings.Join(report.Left, ", ")))
	case err == nil:
		say(out, "\nnothing is left\n")
	}
	return err
}

// receive serves the receiver of notifications.
func receive(ctx context.Context, address, secret string, cfg *conform.Config) (*http.Server, error) {
	if secret == "" {
		return nil, errors.New("-listen needs QUICKSTREAM_WEBHOOK_SECRET")
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	cfg.Webhooks = conform.NewReceiver(secret)
	server := &http.Server{Handler: cfg.Webhooks, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // it ends with Close
	return server, nil
}

// say writes to a person, who may have gone.
func say(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
