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

// start is how the tour's sandbox is started: in a world that strict decoders of any
// language can read.
const start = `quickstream-sandbox -world "TimeForm=+11:00 UnknownMembers=none UnknownEnumValues=false LookupLag=0s"`

const introduction = `A simulator of the QuickStream payments API on a loopback port, for programs in any language. It keeps state and
moves no money. The public test cards and accounts decide what becomes of a payment. When it starts it prints lines to
paste into a shell: the variables that the Go client reads, and SANDBOX, where the sandbox itself is controlled. To
begin with, this is the world that is easiest to read for clients with strict decoders:`

const resending = `Some HTTP clients send a POST again when its connection ends without an answer, and do not tell. HttpURLConnection
of the JVM does so, unless it runs with -Dsun.net.http.retryPost=false; so does Go's net/http when the request has an
Idempotency-Key header. One payment whose answer is lost then reaches the sandbox twice. With an Idempotency-Key it is
made once, and GET /requests says Replayed of the second; without one it is made twice, as it may be at the service,
and GET /ledger shows both.`

const openQuestions = `What the contract leaves open can be chosen. Each row is an assumption: its default, which is what clients are least
prepared for, and then the values of other worlds. -world takes several assumptions at once, with values from their
rows. -assume takes one; numbers, durations and lists need not be from the row. A world that a test has printed may
also name Fault, Crash and MerchantClock: these are ignored here, and POST /faults does what a Fault does.
-assumptions says what is known about each row, and why the default is what it is.`

const controlling = `These endpoints need no key. They answer programs on this machine and the pages of this port, and nobody else. What
cannot be done gets 422 with a reason. $SANDBOX is http://127.0.0.1:8642/_sandbox unless -addr says otherwise; opened
in a browser it shows the ledger, the requests, the deliveries and the clock as they change. $SANDBOX/payer is the
payer's banking app there, and $SANDBOX/challenge where payers authenticate their cards. The tour sets $CUSTOMER and
$AGREEMENT; $SUSPENDED is a receipt of the ledger, $CHALLENGED one of the challenges, $DELIVERY one of the deliveries.
What has nothing to say answers null.`

func manual() []section {
	var options, controls, dimensions []term
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
	return []section{
		{Title: "quickstream-sandbox", Text: introduction, Code: start},
		{Title: "Flags", Terms: options},
		{Title: "A tour with curl", Code: tour},
		{Title: "Control endpoints", Text: controlling, Terms: controls},
		{Title: "Clients that send a POST again by themselves", Text: resending},
		{Title: "Worlds and assumptions", Text: openQuestions, Terms: dimensions},
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
