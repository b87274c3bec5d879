// Command quickstream-sandbox serves the simulator of package sandbox on a port, for
// programs in any language:
//
//	go run ./cmd/quickstream-sandbox -world plain
//
// Beside the service it serves two pages and JSON endpoints under /_sandbox/, without an API key. They show
// what happens, and let people and tests make things happen.
//
// It listens on loopback addresses. With -expose it listens on others, and everything under /_sandbox/ needs a
// token. -help prints every flag and endpoint, and a tour with curl; -assumptions prints the assumptions.
package main

import (
	"context"
	_ "embed" // the help
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/quickstream-go/quickstream/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quickstream-sandbox:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	addr, token             string
	hosts, webhookHosts     hosts
	keys                    sandbox.Keys
	shops                   string
	webhook                 subscription
	listAssumptions, expose bool
	assumptions             sandbox.Assumptions
}

func newFlags() (*flag.FlagSet, *settings) {
	s := settings{assumptions: sandbox.DefaultAssumptions()}
	flags := flag.NewFlagSet("quickstream-sandbox", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run returns what is wrong
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8642", "`address` to listen on (127.0.0.1:8642); port 0 takes a free one")
	flags.BoolVar(&s.expose, "expose", false, "let -addr be no loopback address, as in a container; control endpoints then need a token, and other names -host")
	flags.StringVar(&s.token, "token", "", "demand this `text` of at least 16 characters at the control endpoints; -expose makes one up")
	flags.Func("host", "answer to these comma-separated host `names` too, and to no others; the first is the host of printed addresses", s.hosts.add)
	flags.Func("webhook-host", "let webhooks be posted to these comma-separated host `names` or IP addresses too, and to no others", s.webhookHosts.add)
	flags.StringVar(&s.keys.Secret, "secret-key", "", "use this secret `key`, which begins with "+secretPrefix)
	flags.StringVar(&s.keys.Publishable, "publishable-key", "", "use this publishable `key`, which begins with "+publishablePrefix)
	flags.BoolVar(&s.listAssumptions, "assumptions", false, "print what is assumed where the contract is silent, and what is known about it, and exit")
	flags.StringVar(&s.shops, "shop", "", "comma-separated `origins` of shops, whose pages may use the stand-in of the browser script and the payer's page")
	flags.Func("world", "live in a `world`: plain (the default), unkind (the hardest), or differences from either, such as \"unkind PageSize=1\"", s.readWorld)
	flags.Func("facility", "live in the world of a test facility: the `file` that quickstream-conform wrote; a -world after it changes that", s.readFacility)
	flags.StringVar(&s.webhook.URL, "webhook", "", "post all events to this `URL` from the start")
	flags.StringVar(&s.webhook.Secret, "webhook-secret", "whsec", "sign them with this `text` (whsec)")
	return flags, &s
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags, s := newFlags()
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return printHelp(stdout, flags)
	case err != nil:
		return fmt.Errorf("%w (-help lists all)", err)
	case flags.NArg() > 0:
		return fmt.Errorf("unexpected argument %q (-help lists all)", flags.Arg(0))
	case s.listAssumptions:
		return printAssumptions(stdout)
	}
	return s.serve(ctx, stdout, slog.New(slog.NewTextHandler(stderr, nil)))
}

//go:embed help.txt
var help string

//go:embed tour.sh
var tour string

func printHelp(w io.Writer, flags *flag.FlagSet) error {
	_, err := io.WriteString(w, help+"FLAGS\n\n")
	flags.SetOutput(w)
	flags.PrintDefaults()
	if err == nil {
		_, err = io.WriteString(w, "\nA TOUR WITH CURL\n\n"+tour)
	}
	return err
}

func announce(w io.Writer, box *sandbox.Sandbox, origin, token string) error {
	keys := box.Keys()
	lines := []string{
		"export QUICKSTREAM_ENVIRONMENT=" + origin + servicePath,
		"export QUICKSTREAM_SECRET_KEY=" + keys.Secret,
		"export QUICKSTREAM_PUBLISHABLE_KEY=" + keys.Publishable,
		"export SANDBOX=" + origin + controlPath,
		"# supplierBusinessCode: " + sandbox.DefaultBusiness,
		"# what goes on, in a browser: " + origin + controlPath + "/",
		"# all that can be done, with a tour: -help",
	}
	if token != "" {
		lines = append(lines, "export SANDBOX_TOKEN="+token, "# the control endpoints take it as the user name of HTTP Basic: curl -u $SANDBOX_TOKEN:")
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

func printAssumptions(w io.Writer) error {
	var sb strings.Builder
	group := ""
	for _, a := range sandbox.DefaultAssumptions().List() {
		if a.Group != group {
			group = a.Group
			sb.WriteString("\n" + group + "\n\n")
		}
		fmt.Fprintf(&sb, "%s = %s\n    known:  %s\n    differs: %s\n", a.Name, a.Value, a.Known, a.Why)
		if len(a.Worlds) > 1 {
			sb.WriteString("    else:  " + strings.Join(a.Worlds[1:], ", ") + "\n")
		}
	}
	_, err := io.WriteString(w, sb.String())
	return err
}
