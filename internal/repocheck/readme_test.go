package repocheck_test

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestREADMEIsShort holds the README to one sitting: its program is on the first screen. A test of
// examples/pages compares and runs the program.
func TestREADMEIsShort(t *testing.T) {
	inRoot(t)
	text := readFile(t, "README.md")
	assert.LessOrEqual(t, len(strings.Fields(text)), 1000, "words")
	before, program, found := strings.Cut(text, "```go\n")
	require.True(t, found)
	program, _, _ = strings.Cut(program, "```\n")
	assert.LessOrEqual(t, strings.Count(program, "\n"), 30, "lines of the first program")
	assert.LessOrEqual(t, strings.Count(before, "\n"), 10, "lines before the first program")
}

// TestFiguresOfTheREADME compares the table of the core with the code: lines rounded up, and
// exported names as the budget counts them.
func TestFiguresOfTheREADME(t *testing.T) {
	lines, exported := map[string]int{}, map[string]int{}
	for _, file := range inRoot(t) {
		dir, _, nested := strings.Cut(path.Dir(file), "/")
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") || nested && dir != "webhooks" {
			continue
		}
		if dir == "." {
			dir = modulePath[strings.LastIndex(modulePath, "/")+1:]
		}
		_, n := exportedNames(t, file)
		lines[dir] += strings.Count(readFile(t, file), "\n")
		exported[dir] += n
	}
	rows := regexp.MustCompile("(?m)^\\| `(\\w+)`[^|]*\\| ([0-9,]+) \\| (\\d+) \\|$").FindAllStringSubmatch(readFile(t, "README.md"), -1)
	require.Len(t, rows, 4)
	for _, row := range rows {
		shown, err := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		require.NoError(t, err)
		assert.Equal(t, (lines[row[1]]+49)/50*50, shown, "lines of %s", row[1])
		assert.Equal(t, strconv.Itoa(exported[row[1]]), row[3], "exported names of %s", row[1])
	}
}
