package repocheck_test

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestModulesAreUpdated: dependabot.yml needs a list, and names every module.
func TestModulesAreUpdated(t *testing.T) {
	var modules, updated []string
	for _, file := range inRoot(t) {
		if path.Base(file) == "go.mod" {
			modules = append(modules, path.Join("/", path.Dir(file)))
		}
	}
	_, list, _ := strings.Cut(readFile(t, ".github/dependabot.yml"), "directories:")
	list, _, _ = strings.Cut(list, "schedule:")
	for _, match := range regexp.MustCompile(`(?m)^ +- (/.*)$`).FindAllStringSubmatch(list, -1) {
		updated = append(updated, match[1])
	}
	assert.ElementsMatch(t, modules, updated)
}
