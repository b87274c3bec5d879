package quickstream_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAttackTable demands a test for each of the known attacks and of the findings of the
// review, and 25 of our own; and a row of SECURITY.md for each test.
func TestAttackTable(t *testing.T) {
	table, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	tests := testNames(t)
	named, cases, findings, own := map[string]bool{"TestAttackTable": true}, map[int]bool{}, map[int]bool{}, 0
	for line := range strings.Lines(string(table)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 {
			continue
		}
		number, names := strings.TrimSpace(cells[1]), regexp.MustCompile(`Test\w+`).FindAllString(cells[4], -1)
		if len(names) == 0 {
			continue
		}
		for _, name := range names {
			named[name] = true
			assert.True(t, tests[name], "there is no %s", name)
		}
		assert.NotEmpty(t, strings.TrimSpace(cells[5]), "%s: what falls for it?", names[0])
		switch finding, isFinding := strings.CutPrefix(number, "row "); {
		case number == "own":
			own++
		case isFinding:
			findings[atoi(t, finding)] = true
		default:
			for n := range strings.SplitSeq(number, ",") {
				cases[atoi(t, n)] = true
			}
		}
	}
	for n := 1; n <= 61; n++ {
		assert.True(t, cases[n], "case %d has no test", n)
	}
	for n := 1; n <= 11; n++ {
		assert.True(t, findings[n], "finding %d has no test", n)
	}
	assert.GreaterOrEqual(t, own, 25, "attacks of our own")
	for name := range tests {
		if strings.HasPrefix(name, "TestAttack") {
			assert.True(t, named[name], "%s is not in SECURITY.md", name)
		}
	}
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(text))
	require.NoError(t, err)
	return n
}

// testNames finds the tests of all modules.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	found, declared := map[string]bool{}, regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, match := range declared.FindAllStringSubmatch(string(source), -1) {
			found[match[1]] = true
		}
		return err
	}))
	return found
}
