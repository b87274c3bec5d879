package conform

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/quickstream-go/quickstream/cmd/quickstream-conform/internal/scheme"
	"github.com/quickstream-go/quickstream/sandbox"
)

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Path + " " + info.Main.Version
}

// WriteFile writes facility.json.
func (r Report) WriteFile(path string) error {
	raw, err := json.MarshalIndent(r.Facility, "", "  ")
	if err != nil {
		return fmt.Errorf("conform: %w", err)
	}
	return replaceFile(path, append(raw, '\n'))
}

// WriteMarkdown writes the report for people: what was found, and what a merchant does differently.
func (r Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	assumptions := map[string]sandbox.Assumption{}
	for _, a := range sandbox.DefaultAssumptions().List() {
		assumptions[a.Name] = a
	}
	fmt.Fprintf(&b, "# What was found of the facility at %s\n\n%s, %s, %d requests.\n", r.Host, r.Seen.Format("2006-01-02 15:04 MST"), r.Tool, r.Requests)
	b.WriteString("\nWhere a found value is not the default, the last column says what a merchant does differently. *Something else* is no value of the sandbox: please send us the line.\n\n" +
		"| assumption | found | default | what a merchant does | how | when |\n|---|---|---|---|---|---|\n")
	for _, f := range r.Findings {
		a := assumptions[f.Name]
		found, advice := f.Value, ""
		switch {
		case f.Other != "":
			found = "*something else*: " + f.Other
		case f.Open != "":
			found = "*open*: " + f.Open
		case f.Value != a.Value:
			advice = a.Why
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", f.Name, cell(found), a.Value, cell(advice), cell(f.How), f.At.Format("2006-01-02 15:04"))
	}
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

func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// Plan says what a run will do, before it does anything.
func Plan(w io.Writer) error {
	var b strings.Builder
	b.WriteString("It makes at most 300 requests, at most one a second, with public test numbers and amounts of a few dollars:\n\n")
	for _, q := range questions() {
		fmt.Fprintf(&b, "  %s: %s", q.name, q.how)
		if q.calls > 0 {
			fmt.Fprintf(&b, " (requests: about %d)", q.calls)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nquickstream-sandbox -assumptions says what each question means, and its values.\n" +
		"Everything that it makes is voided, refunded or cancelled at the end. Customers are disabled.\n" +
		"Subscriptions that exist at the facility receive the events of what it makes.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
