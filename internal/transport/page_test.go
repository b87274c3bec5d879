package transport

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPage compares docs/retries.md with the table. A row of the page has the names of rows with the same cells, and one cell for
// both kinds of other writes.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/retries.md")
	require.NoError(t, err)
	page := map[string]string{}
	for line := range strings.Lines(string(text)) {
		names, cells, _ := strings.Cut(strings.Trim(line, "| \r\n"), " | ")
		for name := range strings.SplitSeq(names, "; ") {
			page[name] = cells
		}
	}
	for _, row := range Table[1:] { // the first is success
		var cells []string
		for _, step := range row.Steps[:3] {
			cells = append(cells, map[Again]string{Temporary: "retry, ", Always: "retry, ", SameKey: "same key, "}[step.Again]+
				map[CallResult]string{NetworkFailed: "`NetworkError`", Unknown: "unknown", Answered: "`APIError`"}[step.End])
		}
		assert.Equal(t, row.Steps[2], row.Steps[3], "POST and PUT are one column: %s", row.When)
		assert.Equal(t, strings.Join(cells, " | "), page[row.When], row.When)
	}
}
