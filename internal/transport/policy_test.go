package transport

import (
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTable writes the policy down a second time, cell by cell.
func TestTable(t *testing.T) {
	want := map[Situation][4]Step{ // Read, Keyed, Post, Change
		Succeeded:    {{Never, Success}, {Never, Success}, {Never, Success}, {Never, Success}},
		NeverSent:    {{Temporary, Network}, {Temporary, Network}, {Temporary, Network}, {Temporary, Network}},
		Lost:         {{Always, Network}, {SameKey, Unknown}, {Never, Unknown}, {Never, Unknown}},
		ContextEnded: {{Never, Network}, {Never, Unknown}, {Never, Unknown}, {Never, Unknown}},
		Failed:       {{Always, Answered}, {Never, Unknown}, {Never, Unknown}, {Never, Unknown}},
		Unavailable:  {{Always, Answered}, {NewKey, Answered}, {Never, Answered}, {Never, Answered}},
		NotEnabled:   {{Never, Answered}, {Never, Answered}, {Never, Answered}, {Never, Answered}},
		Throttled:    {{Always, Answered}, {Never, Answered}, {Never, Answered}, {Never, Answered}},
		Refused:      {{Never, Answered}, {Never, Answered}, {Never, Answered}, {Never, Answered}},
		Redirected:   {{Never, Answered}, {Never, Unknown}, {Never, Unknown}, {Never, Unknown}},
	}
	require.Len(t, Situations(), len(want))
	require.Equal(t, []Class{Read, Keyed, Post, Change}, Classes())
	cells := 0
	for _, s := range Situations() {
		require.Contains(t, want, s)
		for i, c := range Classes() {
			cells++
			assert.Equal(t, want[s][i], Lookup(s, c), "situation %d, class %d", s, c)
			// A forgotten cell would hold the zero Step, which is "success".
			assert.Equal(t, s == Succeeded, Lookup(s, c).Verdict == Success, "situation %d, class %d", s, c)
		}
	}
	assert.Equal(t, int(situations)*int(classes), cells)
}

// TestTablePromises checks what the table may never say, whatever else changes.
func TestTablePromises(t *testing.T) {
	for _, s := range Situations() {
		for _, c := range Classes() {
			step := Lookup(s, c)
			if c == Read {
				assert.NotEqual(t, Unknown, step.Verdict, "a read has no unknown outcome")
				continue
			}
			assert.NotEqual(t, Always, step.Again, "no write is repeated at will: situation %d, class %d", s, c)
			assert.True(t, step.Again != SameKey && step.Again != NewKey || c == Keyed, "only where the key counts: situation %d, class %d", s, c)
			for _, lost := range []Situation{Lost, ContextEnded, Failed, Redirected} {
				assert.True(t, s != lost || step.Verdict == Unknown, "situation %d, class %d", s, c)
			}
		}
	}
}

func TestSettle(t *testing.T) {
	for _, s := range Situations() {
		for _, c := range Classes() {
			assert.Equal(t, Lookup(s, c).Verdict, settle(s, c, false))
			want := Unknown
			if c == Read || s == Succeeded {
				want = Lookup(s, c).Verdict
			}
			assert.Equal(t, want, settle(s, c, true), "situation %d, class %d", s, c)
		}
	}
}

// TestDocumentation compares the table in the package documentation, which is
// what callers read, with the table that the code uses.
func TestDocumentation(t *testing.T) {
	rows := documentedTable(t)
	require.Len(t, rows, len(Situations())+1)
	assert.Equal(t, []string{"what happened", "GET", "payment POST", "other POST", "PATCH, PUT"}, rows[0])
	labels := map[Situation]string{
		Succeeded: "answered with success", NeverSent: "never sent", Lost: "lost after sending", ContextEnded: "context ended after sending",
		Failed: "408, 5xx, undecodable 2xx", Unavailable: "503 in the service's words", NotEnabled: "503 on 3D Secure",
		Throttled: "429", Refused: "other 4xx", Redirected: "3xx, never followed",
	}
	words := map[Step]string{
		{Never, Success}: "result", {Temporary, Network}: "retry, N", {Always, Network}: "retry, N", {Never, Network}: "N",
		{SameKey, Unknown}: "same key, then U", {Never, Unknown}: "U", {Always, Answered}: "retry, A", {NewKey, Answered}: "A (or new key)",
		{Never, Answered}: "A",
	}
	for i, s := range Situations() {
		want := []string{labels[s]}
		for _, c := range Classes() {
			want = append(want, words[Lookup(s, c)])
		}
		assert.Equal(t, want, rows[i+1])
	}
}

// documentedTable returns the cells of the package documentation's table.
func documentedTable(t *testing.T) [][]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../doc.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	require.NoError(t, err)
	var rows [][]string
	gaps := regexp.MustCompile(`\s{2,}`)
	for line := range strings.Lines(file.Doc.Text()) {
		if strings.HasPrefix(line, "\twhat happened") || len(rows) > 0 && strings.HasPrefix(line, "\t") {
			rows = append(rows, gaps.Split(strings.TrimSpace(line), -1))
		} else if len(rows) > 0 {
			break
		}
	}
	return rows
}
