package main

import (
	_ "embed" // the tour
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/quickstream-go/quickstream/sandbox"
)

// section is a part of the manual, which -help prints.
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
const start = `quickstream-sandbox`

const introduction = `A simulator of the QuickStream payments API on a loopback port, for programs in any language. It keeps state and
moves no money. The public test cards and accounts decide what becomes of a payment. When it starts it prints lines to
paste into a shell: the variables that the Go client reads, and SANDBOX, where the sandbox itself is controlled. Then it
logs requests, control calls that change something or are refused, and deliveries to standard error, without keys,
references and bodies. In the repository cmd/quickstream-sandbox/quickstart has programs in Python, Node and PHP that pay,
refund and verify a webhook. Only PayTo has webhooks: the contract names none for cards and refunds. The default world is
what the contract and the vendor's public pages describe; -world unkind has what is hardest, and -assumptions lists all
that the contract leaves open, with what a merchant does differently because of it. A world that a test has printed may name Fault, GatewayBody, Crash and
MerchantClock too: these are ignored here, and POST /faults does what a Fault does:`

const controlling = `These endpoints need no API key, but the token of -token or -expose, if there is one (curl -u $SANDBOX_TOKEN:). They
answer programs and the pages of this port, and no page of another site. What cannot be done gets 422 with a reason.
Durations are such as 90s, 48h, 2d or 1w. $SANDBOX is http://127.0.0.1:8642/_sandbox unless -addr or -host says otherwise;
opened in a browser it shows what happens: requests and deliveries with their bodies, numbers masked, and the ledger.
$SANDBOX/make makes things happen: test cards, payers, 3D Secure, faults, events and time. The
tour sets $CUSTOMER, $AGREEMENT and $DELIVERY; $SUSPENDED is a receipt of the ledger, $CHALLENGED one of the challenges,
$SUBSCRIPTION one of the subscriptions. What has nothing to say answers null.`

const cardsText = `The sandbox takes the vendor's public test cards and no others, with any expiry date that is to come. The results of
3D Secure are the sandbox's own choice: C waits for the payer, Y and A may pay, the others may not.`

func manual() []section {
	var options, controls, cards []term
	flags, _ := newFlags()
	flags.VisitAll(func(f *flag.Flag) {
		name, about := flag.UnquoteUsage(f)
		options = append(options, term{Name: strings.TrimSpace("-" + f.Name + " " + name), About: about})
	})
	for _, e := range (&control{}).endpoints() {
		controls = append(controls, term{e.pattern, e.about, "curl " + e.example})
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
