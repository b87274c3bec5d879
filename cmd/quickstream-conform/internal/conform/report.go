package conform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quickstream-go/quickstream/sandbox"
)

// Facility has the observations of a facility of the real service. It is the content of facility.json, which
// sandbox.ReadFacility reads. It holds no key, no identifier and no personal data.
type Facility struct {
	Format   int       `json:"format"` // of the file: 1
	Host     string    `json:"host"`
	Seen     time.Time `json:"seen"`
	Findings []Finding `json:"findings"`
	// SignatureScheme is how notifications are signed; "none fits" if no plausible scheme does; empty if
	// that was not asked.
	SignatureScheme string `json:"signatureScheme,omitempty"`
}

// Finding is what was found about one assumption. Exactly one of Value, Other and Open is set.
type Finding struct {
	Name  string `json:"name"`            // of the assumption
	Value string `json:"value,omitempty"` // as the assumption has it
	Other string `json:"other,omitempty"` // what the facility does, if no value of the assumption is that
	Open  string `json:"open,omitempty"`  // why nothing is known
	How   string `json:"how"`             // what was done to find out
}

// result is the answer to one question, before it has a name.
type result = Finding

func is(value string) result   { return result{Value: value} }
func other(form string) result { return result{Other: form} }
func open(why string) result   { return result{Open: why} }

// unusable is why many questions have no answer.
const unusable = "no usable answer came"

// one returns the value if it is listed, and another form if not.
func one(value string, listed ...string) result {
	if slices.Contains(listed, value) {
		return is(value)
	}
	return other(value)
}

// Report is what a run has found.
type Report struct {
	Facility
	// Left names the things that are not undone yet, by the references that the run gave them. The next run undoes them.
	Left []string
}

// WriteFile writes facility.json.
func (r Report) WriteFile(path string) error { return writeJSON(path, r.Facility) }

// String says what was found and, if that is not the default, what a merchant does differently.
func (r Report) String() string {
	var b strings.Builder
	for _, f := range r.Findings {
		switch a := assumption(f.Name); {
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
	b.WriteString("webhook scheme: " + cmp.Or(r.SignatureScheme, "open: needs -listen, and a notification") + "\n")
	if strings.HasSuffix(r.SignatureScheme, withoutTime) {
		b.WriteString("A recorded notification can be sent again under a new time, which no tolerance detects: " +
			"remember ID and digest for ever, as an inbox does, and act only on what the API says.\n")
	}
	return b.String()
}

// assumption returns the sandbox's assumption with a name. The first of its Worlds is the default.
func assumption(name string) sandbox.Assumption {
	for _, a := range sandbox.DefaultAssumptions().List() {
		if a.Name == name {
			return a
		}
	}
	return sandbox.Assumption{}
}

// Plan says what a run will do, before it does anything.
func Plan() string {
	var b strings.Builder
	b.WriteString("It makes at most 300 requests, at most one a second, with public test numbers and amounts of a few dollars:\n\n")
	for _, q := range questions() {
		fmt.Fprintf(&b, "  %s: %s\n", q.name, q.how)
	}
	b.WriteString("\nquickstream-sandbox -assumptions says what each question means, and its values.\n" +
		"Everything that it makes is voided, refunded or cancelled at the end. Customers are disabled.\n" +
		"Subscriptions that exist at the facility receive the events of what it makes.\n")
	return b.String()
}
