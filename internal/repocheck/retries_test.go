package repocheck_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/quickstream-go/quickstream/internal/transport"
)

// TestRetriesPage compares docs/retries.md with the table that the code uses. A row of the page has the
// names of rows with the same cells, and one cell for both kinds of other writes.
func TestRetriesPage(t *testing.T) {
	page := map[string]string{}
	for line := range strings.Lines(readFile(t, "docs/retries.md")) {
		names, cells, _ := strings.Cut(strings.Trim(line, "| \n"), " | ")
		for name := range strings.SplitSeq(names, "; ") {
			page[name] = cells
		}
	}
	for _, row := range transport.Table[1:] { // the first is success
		var cells []string
		for _, step := range row.Steps[:3] {
			cells = append(cells, map[transport.Again]string{transport.Temporary: "retry, ", transport.Always: "retry, ", transport.SameKey: "same key, "}[step.Again]+
				map[transport.CallResult]string{transport.NetworkFailed: "`NetworkError`", transport.Unknown: "unknown", transport.Answered: "`APIError`"}[step.End])
		}
		assert.Equal(t, row.Steps[2], row.Steps[3], "POST and PUT are one column: %s", row.When)
		assert.Equal(t, strings.Join(cells, " | "), page[row.When], "docs/retries.md: %s", row.When)
	}
}
