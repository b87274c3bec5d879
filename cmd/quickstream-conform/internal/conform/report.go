package conform

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/scheme"
	"github.com/quickstream-go/quickstream/sandbox"
)

// WriteFile writes facility.json.
func (r Report) WriteFile(path string) error {
	raw, err := json.MarshalIndent(r.Facility, "", "  ")
	if err != nil {
		return fmt.Errorf("conform: %w", err)
	}
	return replaceFile(path, append(raw, '\n'))
}

// WriteMarkdown writes the report for people: what differs from our defaults, what holds, and what
// stays open.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	assumptions := map[string]sandbox.Assumption{}
	for _, a := range sandbox.DefaultAssumptions().List() {
		assumptions[a.Name] = a
	}
	fmt.Fprintf(&b, "# What was found of the facility at %s\n\n%s, %s, %d requests.\n", r.Host, r.Seen.Format("2006-01-02 15:04 MST"), r.Tool, r.Requests)
	var differs, holds, others, open []string
	for _, f := range r.Findings {
		a := assumptions[f.Name]
		at := f.At.Format("2006-01-02 15:04")
		switch {
		case f.Other != "":
			others = append(others, fmt.Sprintf("| %s | %s | %s | %s |", f.Name, cell(f.Other), cell(f.How), at))
		case f.Open != "":
			open = append(open, fmt.Sprintf("| %s | %s | %s |", f.Name, cell(f.Open), cell(f.How)))
		case f.Value == a.Value:
			holds = append(holds, fmt.Sprintf("| %s | %s | %s | %s |", f.Name, f.Value, cell(f.How), at))
		default:
			differs = append(differs, fmt.Sprintf("| %s | %s | %s | %s | %s |", f.Name, f.Value, a.Value, cell(a.Why), at))
		}
	}
	section(&b, "What differs from our defaults", "What a merchant does differently stands beside it.", "| assumption | found | default | what a merchant does | when |", differs)
	section(&b, "What is something else", "No value of the sandbox describes it: please send these lines to us.", "| assumption | form | how | when |", others)
	section(&b, "What holds", "", "| assumption | found | how | when |", holds)
	section(&b, "What stays open", "", "| assumption | why | how |", open)
	if r.SignatureScheme != "" {
		fmt.Fprintf(&b, "\n## Webhooks\n\nNotifications are signed by: %s.\n", r.SignatureScheme)
		if strings.HasSuffix(r.SignatureScheme, scheme.WithoutTime) {
			b.WriteString("A recorded notification can be sent again under a new time, which no tolerance detects. Remember ID and digest for ever, as an inbox does, and act only on what the API says.\n")
		}
	}
	b.WriteString("\nThe file sets the world of a sandbox, and never a client: one observation must not widen a window or drop a check.\n" +
		"A duration was seen once, and may be longer at another time.\n")
	if len(r.Left) > 0 {
		fmt.Fprintf(&b, "\n## What is left\n\nNot undone yet: %d things. Run `quickstream-conform -clean` later: it names those that stay.\n", len(r.Left))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, title, text, header string, rows []string) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	if text != "" {
		fmt.Fprintf(b, "%s\n\n", text)
	}
	fmt.Fprintf(b, "%s\n|%s\n%s\n", header, strings.Repeat("---|", strings.Count(header, "|")-1), strings.Join(rows, "\n"))
}

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// Plan says what a run will do, before it does anything.
func Plan(w io.Writer) error {
	var b strings.Builder
	b.WriteString("It makes at most 300 requests, at most one a second, with public test numbers and amounts of a few dollars:\n\n")
	say := func(how string, calls int, names []string) {
		if calls > 0 {
			how += fmt.Sprintf(" (requests: about %d)", calls)
		}
		fmt.Fprintf(&b, "  %s: %s\n", how, strings.Join(names, ", "))
	}
	for _, p := range table() {
		say(p.how, p.calls, p.names)
	}
	for _, o := range onsets() {
		say(o.how, len(o.ages), []string{o.name})
	}
	say("what these read: verifications, a card payment, a bank account payment with its refund, a pre-authorisation", 15, []string{"the questions about references and statuses"})
	b.WriteString("\nquickstream-sandbox -assumptions says what each question means, and its values.\n" +
		"Everything that it makes is voided, refunded, recalled or cancelled at the end. Customers are disabled.\n" +
		"Subscriptions that exist at the facility receive the events of what it makes.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
