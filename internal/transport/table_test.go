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

// TestTablePromises checks what the table may never say, whatever else changes.
func TestTablePromises(t *testing.T) {
	for _, row := range Table {
		for c, step := range row.Steps {
			assert.Equal(t, row.Reasons[0] == Succeeded, step.End == Success, row.When)
			if Class(c) == Read {
				assert.NotEqual(t, Unknown, step.End, "a read has no unknown outcome")
				continue
			}
			assert.NotEqual(t, Always, step.Again, "no write is repeated at will: %s", row.When)
			assert.True(t, step.Again != SameKey || Class(c) == Keyed, "only where the key counts: %s", row.When)
		}
	}
	for _, lost := range []Reason{Lost, ContextEnded, Inconclusive, Redirected, "another reason"} {
		for _, c := range []Class{Keyed, Post, Change} {
			assert.Equal(t, Unknown, step(lost, c).End, lost)
		}
	}
}

// TestDocumentation compares the table in the package documentation, which is
// what callers read, with the table that the code uses.
func TestDocumentation(t *testing.T) {
	words := map[Step]string{
		{Never, Success}: "ok", {Temporary, NetworkFailed}: "r N", {Always, NetworkFailed}: "r N", {Never, NetworkFailed}: "N",
		{SameKey, Unknown}: "k U", {Never, Unknown}: "U", {Always, Answered}: "r A", {Never, Answered}: "A",
	}
	want := [][]string{{"what happened", "GET", "pay", "POST", "PUT"}}
	for _, row := range Table {
		line := []string{row.When}
		for _, step := range row.Steps {
			line = append(line, words[step])
		}
		want = append(want, line)
	}
	assert.Equal(t, want, documentedTable(t))
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
