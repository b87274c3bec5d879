package conform

import (
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
func (r Report) WriteFile(path string) error { return writeJSON(path, r.Facility) }

// String says what was found and, where that is not the default, what a merchant does differently.
func (r Report) String() string {
	var b strings.Builder
	assumptions := map[string]sandbox.Assumption{}
	for _, a := range sandbox.DefaultAssumptions().List() {
		assumptions[a.Name] = a
	}
	for _, f := range r.Findings {
		switch a := assumptions[f.Name]; {
		case f.Other != "":
			fmt.Fprintf(&b, "%s: something else, which is no value of the sandbox: %s\n", f.Name, f.Other)
		case f.Open != "":
			fmt.Fprintf(&b, "%s: open: %s\n", f.Name, f.Open)
		case f.Value != a.Value:
			fmt.Fprintf(&b, "%s: %s, and not %s: a merchant %s\n", f.Name, f.Value, a.Value, a.Why)
		default:
			fmt.Fprintf(&b, "%s: %s\n", f.Name, f.Value)
		}
	}
	switch {
	case r.SignatureScheme == "":
		b.WriteString("webhook scheme: open: needs -listen, and a notification\n")
	case strings.HasSuffix(r.SignatureScheme, scheme.WithoutTime):
		b.WriteString("webhook scheme: " + r.SignatureScheme + ". A recorded notification can be sent again under a new time, which no tolerance detects: " +
			"remember ID and digest for ever, as an inbox does, and act only on what the API says.\n")
	default:
		b.WriteString("webhook scheme: " + r.SignatureScheme + "\n")
	}
	return b.String()
}

// Plan says what a run will do, before it does anything.
func Plan(w io.Writer) error {
	var b strings.Builder
	b.WriteString("It makes at most 300 requests, at most one a second, with public test numbers and amounts of a few dollars:\n\n")
	for _, q := range questions() {
		fmt.Fprintf(&b, "  %s: %s\n", q.name, q.how)
	}
	b.WriteString("\nquickstream-sandbox -assumptions says what each question means, and its values.\n" +
		"Everything that it makes is voided, refunded or cancelled at the end. Customers are disabled.\n" +
		"Subscriptions that exist at the facility receive the events of what it makes.\n")
	_, err := io.WriteString(w, b.String())
	return err
}
