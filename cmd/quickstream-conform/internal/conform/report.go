package conform

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

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

// WriteMarkdown writes the report for people: what differs from our defaults, what holds, what
// stays open, and what has changed since an earlier file, if one is given.
func (r Report) WriteMarkdown(w io.Writer, before *sandbox.Facility) error {
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
	section(&b, "What differs from our defaults", "What our default is for is what no longer holds at this facility.", "| assumption | found | default | why the default | when |", differs)
	section(&b, "What is something else", "No value of the sandbox describes it: please send these lines to us.", "| assumption | form | how | when |", others)
	section(&b, "What holds", "", "| assumption | found | how | when |", holds)
	section(&b, "What stays open", "The page questions.md of conform says which run answers a question, and what hides its answer.", "| assumption | why | how |", open)
	if r.SignatureScheme != "" {
		fmt.Fprintf(&b, "\n## Webhooks\n\nNotifications are signed by: %s.\n", r.SignatureScheme)
	}
	var members []string
	for _, path := range slices.Sorted(maps.Keys(r.Members)) {
		members = append(members, fmt.Sprintf("| %s | %s |", path, r.Members[path]))
	}
	section(&b, "Members that the client does not model", "", "| member | JSON type |", members)
	if len(r.Columns) > 0 {
		fmt.Fprintf(&b, "\n## Columns of the transaction report\n\n%s\n", strings.Join(r.Columns, ", "))
	}
	if before != nil {
		section(&b, "What has changed since "+before.Seen.Format("2006-01-02"), "", "| assumption | before | now |", changes(*before, r.Facility))
	}
	b.WriteString(lines)
	if len(r.Left) > 0 {
		fmt.Fprintf(&b, "\n## What is left\n\nNot undone yet: %d things. Run `quickstream-conform -clean` later: it names those that stay.\n", len(r.Left))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const lines = `
## The lines to write

` + "```go" + `
file, err := os.Open("facility.json")
// handle err; defer file.Close()
facility, err := sandbox.ReadFacility(file)
// handle err
box := sandbox.New(sandbox.WithFacility(facility)) // your tests run in the world of your facility
` + "```" + `

Or ` + "`quickstream-sandbox -facility facility.json`" + `. The file never sets the client: one observation must not widen a window or
drop a check. A duration was seen once, and may be longer at another time.
`

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

// changes compares two files.
func changes(before, now sandbox.Facility) (rows []string) {
	say := func(f sandbox.FacilityFinding) string {
		switch {
		case f.Value != "":
			return f.Value
		case f.Other != "":
			return "something else: " + f.Other
		default:
			return "open: " + f.Open
		}
	}
	for _, f := range now.Findings {
		for _, old := range before.Findings {
			if old.Name == f.Name && say(old) != say(f) {
				rows = append(rows, fmt.Sprintf("| %s | %s | %s |", f.Name, cell(say(old)), cell(say(f))))
			}
		}
	}
	return rows
}

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
	say("what these read: verifications, a card payment, a bank account payment with its refund, a pre-authorisation", 15, []string{"the questions about lists, references and forms"})
	b.WriteString("\nThe page questions.md of conform says what each question means, its values, and which run answers it.\n" +
		"Everything that it makes is voided, refunded, recalled or cancelled at the end. Customers are disabled.\n" +
		"Subscriptions that exist at the facility receive the events of what it makes.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
