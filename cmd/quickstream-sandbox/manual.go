package main

import (
	_ "embed" // the tour
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// section is a part of the manual, which -help prints and a page shows.
type section struct {
	Title string
	Text  string
	Terms []term
	Code  string
}

// term is a thing with its explanation.
type term struct{ Name, About, Code string }

//go:embed tour.sh
var tour string

// start is how the tour's sandbox is started.
const start = `quickstream-sandbox -world plain`

const introduction = `A simulator of the QuickStream payments API on a loopback port, for programs in any language. It keeps state and
moves no money. The public test cards and accounts decide what becomes of a payment. When it starts it prints lines to
paste into a shell: the variables that the Go client reads, and SANDBOX, where the sandbox itself is controlled. Then it
logs requests, control calls that change something or are refused, and deliveries to standard error, without keys,
references and bodies. In the repository cmd/quickstream-sandbox/quickstart has programs in Python, Node and PHP that pay,
refund and verify a webhook. Only PayTo has webhooks: the contract names none for cards and refunds. The default world is
the one that clients are least prepared for. This is the world to begin with:`

const container = `The Dockerfile at the root of the repository makes an image of one static binary, which listens on 0.0.0.0:8642
in the container. Name the host by which other containers call it with -host, and those to which it posts webhooks with
-webhook-host: a service of a compose file, or host.docker.internal for the machine itself. Apart from these and from
loopback names, none is answered or posted to, whatever it resolves to. Without -host an -addr that is one address of the
machine is answered too. The control endpoints and pages then need a token, which browsers ask for as a user name; the
payer's page of -shop needs none. Connections are not encrypted: publish the port on 127.0.0.1 only, unless the network
is yours.

With -state a restart keeps the keys, the token, the subscriptions and how far the clock is ahead. It forgets customers,
payments, agreements and all else, faults and outcomes that were set, and what was recorded. Clients that hold a receipt
of the run before get 404.`

const containers = `docker build -t quickstream-sandbox .
docker run -p 127.0.0.1:8642:8642 -v sandbox:/state quickstream-sandbox -state /state/sandbox.json -host sandbox -webhook-host host.docker.internal \
  -token a-token-of-your-own -secret-key SANDBOX_SEC_SHOP -publishable-key SANDBOX_PUB_SHOP`

const resending = `Some HTTP clients send a POST again when its connection ends without an answer, and do not tell. HttpURLConnection
of the JVM does so, unless it runs with -Dsun.net.http.retryPost=false; so does Go's net/http when the request has an
Idempotency-Key header. One payment whose answer is lost then reaches the sandbox twice. With an Idempotency-Key it is
made once, and GET /requests says replayed of the second; without one it is made twice, as it may be at the service,
and GET /ledger shows both.`

const openQuestions = `What the contract leaves open can be chosen. Each row is an assumption: its default, which is what clients are least
prepared for, and then the values of other worlds. -world takes several assumptions at once, with values from their
rows; numbers, durations and lists need not be from the row. -assume takes the same, and may be repeated. -world plain
stands for PLAIN. A world that a test has printed may also name Fault, GatewayBody, Crash and MerchantClock: these are
ignored here, and POST /faults does what a Fault does.
-assumptions says what is known about each row, and why the default is what it is.`

const controlling = `These endpoints need no API key, but the token of -token or -expose, if there is one (curl -u $SANDBOX_TOKEN:). They
answer programs and the pages of this port, and no page of another site. What cannot be done gets 422 with a reason.
Durations are such as 90s, 48h, 2d or 1w. $SANDBOX is http://127.0.0.1:8642/_sandbox unless -addr or -host says otherwise;
opened in a browser it shows the ledger, the clock, and the requests and deliveries with their bodies, with numbers
masked. $SANDBOX/payer is the payer's banking app there, and $SANDBOX/challenge where payers authenticate their cards. The
tour sets $CUSTOMER, $AGREEMENT and $DELIVERY; $SUSPENDED is a receipt of the ledger, $CHALLENGED one of the challenges,
$SUBSCRIPTION one of the subscriptions. What has nothing to say answers null.`

const cardsText = `The sandbox takes the vendor's public test cards and no others, with any expiry date that is to come. The results of
3D Secure are the sandbox's own choice: C waits for the payer, Y and A may pay, the others may not.`

func manual() []section {
	var options, controls, dimensions, cards []term
	flags, _ := newFlags()
	flags.VisitAll(func(f *flag.Flag) {
		name, about := flag.UnquoteUsage(f)
		options = append(options, term{Name: strings.TrimSpace("-" + f.Name + " " + name), About: about})
	})
	for _, e := range (&control{}).endpoints() {
		controls = append(controls, term{e.pattern, e.about, "curl " + e.example})
	}
	for _, a := range sandbox.DefaultAssumptions().List() {
		about := a.Value
		if about == "" {
			about = "(empty)"
		}
		if len(a.Worlds) > 1 {
			about += " | " + strings.Join(a.Worlds[1:], " | ")
		}
		dimensions = append(dimensions, term{Name: a.Name, About: about})
	}
	for _, card := range sandbox.TestCards() {
		about := "approved"
		if card.DeclineCode != "" {
			about = "declined " + card.DeclineCode
		}
		cards = append(cards, term{Name: card.Number, About: about + ", 3D Secure " + string(card.ThreeDS) + ", " + strings.TrimSpace(card.Scheme+" "+card.Type)})
	}
	return []section{
		{Title: "quickstream-sandbox", Text: introduction, Code: start},
		{Title: "Flags", Terms: options},
		{Title: "A tour with curl", Code: tour},
		{Title: "Control endpoints", Text: controlling, Terms: controls},
		{Title: "Test cards", Text: cardsText, Terms: cards},
		{Title: "In a container", Text: container, Code: containers},
		{Title: "Clients that send a POST again by themselves", Text: resending},
		{Title: "Worlds and assumptions", Text: strings.Replace(openQuestions, "PLAIN", plainWorld, 1), Terms: dimensions},
	}
}

func printManual(w io.Writer) error {
	var sb strings.Builder
	for _, s := range manual() {
		sb.WriteString(strings.ToUpper(s.Title) + "\n\n")
		if s.Text != "" {
			sb.WriteString(wrapped(s.Text, "") + "\n")
		}
		widest := 0
		for _, t := range s.Terms {
			widest = max(widest, len(t.Name))
		}
		for _, t := range s.Terms {
			if t.Code == "" {
				fmt.Fprintf(&sb, "%-*s  %s\n", widest, t.Name, t.About)
				continue
			}
			sb.WriteString(t.Name + "\n" + wrapped(t.About, "    ") + indented(t.Code))
		}
		sb.WriteString(indented(s.Code))
		if len(s.Terms) > 0 || s.Code != "" {
			sb.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, sb.String())
	return err
}

// wrapped breaks a text into lines of a width that can be read.
func wrapped(text, indent string) string {
	var sb strings.Builder
	line := indent
	for _, word := range strings.Fields(text) {
		if len(line)+len(word) > 110 {
			sb.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	return sb.String() + strings.TrimRight(line, " ") + "\n"
}

func indented(code string) string {
	var sb strings.Builder
	for line := range strings.Lines(code) {
		sb.WriteString("    " + strings.TrimRight(line, "\n") + "\n")
	}
	return strings.ReplaceAll(sb.String(), "    \n", "\n")
}
