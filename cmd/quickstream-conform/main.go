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

type settings struct {
	cfg              conform.Config
	facility, listen string
	yes              bool
}

func parse(args []string, out io.Writer) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("quickstream-conform", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { say(out, usage); flags.PrintDefaults() }
	flags.BoolVar(&s.yes, "yes", false, "do not wait for a confirmation of the plan")
	flags.BoolVar(&s.cfg.Clean, "clean", false, "undo what earlier runs have made, and exit")
	flags.StringVar(&s.facility, "facility", "facility.json", "`file` for what was found; beside it .journal says what was made, and holds no key")
	flags.StringVar(&s.cfg.Business, "business", "", "supplierBusinessCode (the first of the facility)")
	flags.DurationVar(&s.cfg.Wait, "wait", 0, "how `long` the run may wait: 15m for keys and lag, 72h for the cut-off and retries, 240h for the slowest PayTo payment")
	flags.StringVar(&s.listen, "listen", "", "receive notifications on this `address`, such as 127.0.0.1:8080")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, errors.New("unexpected argument (-help lists all)")
	}
	s.cfg.Journal = s.facility + ".journal"
	return s, nil
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	s, err := parse(args, out)
	if err != nil {
		return err
	}
	if s.cfg.Environment, err = quickstream.EnvironmentFromEnv(); err != nil {
		return err
	}
	s.cfg.SecretKey = os.Getenv("QUICKSTREAM_SECRET_KEY")
	s.cfg.Progress = func(n int) { say(out, "\r%d of at most 300 requests", n) }
	if !s.yes && !s.cfg.Clean {
		if err := conform.Plan(out); err != nil {
			return err
		}
		say(out, "\nPress Enter to begin, or Ctrl-C.")
		if _, err := bufio.NewReader(in).ReadString('\n'); err != nil {
			return errors.New("not confirmed; -yes begins without")
		}
	}
	if s.listen != "" {
		stop, err := s.receive(ctx, os.Getenv("QUICKSTREAM_WEBHOOK_SECRET"))
		if err != nil {
			return err
		}
		defer stop()
	}
	return s.ask(ctx, out)
}

// receive serves the receiver of notifications.
func (s *settings) receive(ctx context.Context, secret string) (stop func(), err error) {
	if secret == "" {
		return nil, errors.New("-listen needs QUICKSTREAM_WEBHOOK_SECRET")
	}
	s.cfg.Webhooks, s.cfg.WebhookSecret = conform.NewReceiver(), secret
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", s.listen)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: s.cfg.Webhooks, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(l) }() // it ends with Close
	return func() { _ = server.Close() }, nil
}

// ask runs, and writes what was found even if the run was interrupted.
func (s *settings) ask(ctx context.Context, out io.Writer) error {
	report, err := conform.Run(ctx, s.cfg)
	if len(report.Findings) > 0 {
		say(out, "\n%s\n", report)
		err = errors.Join(err, report.WriteFile(s.facility))
	}
	if len(report.Left) > 0 {
		return errors.Join(err, fmt.Errorf("not undone yet: %s; run -clean later", strings.Join(report.Left, ", ")))
	}
	if err == nil {
		say(out, "\nnothing is left\n")
	}
	return err
}

// say writes to a person, who may have gone.
func say(out io.Writer, format string, args ...any) { _, _ = fmt.Fprintf(out, format, args...) }
