package repocheck_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSecurityPage compares SECURITY.md with the tests of all modules: it names each
// TestAttack, and no test that does not exist.
func TestSecurityPage(t *testing.T) {
	declared, tests := regexp.MustCompile(`(?m)^func (Test\w+)\(`), map[string]bool{}
	for _, path := range inRoot(t) {
		if strings.HasSuffix(path, "_test.go") {
			for _, match := range declared.FindAllStringSubmatch(readFile(t, path), -1) {
				tests[match[1]] = true
			}
		}
	}
	named := map[string]bool{}
	for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(readFile(t, "SECURITY.md"), -1) {
		named[name] = true
		assert.True(t, tests[name], "SECURITY.md names %s, which does not exist", name)
	}
	attacks := 0
	for name := range tests {
		if strings.HasPrefix(name, "TestAttack") {
			attacks++
			assert.True(t, named[name], "SECURITY.md does not name %s", name)
		}
	}
	require.Greater(t, attacks, 50)
}
