package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestSurvivorsExist: each line of survivors.txt explains a mutant of the code as it is.
func TestSurvivorsExist(t *testing.T) {
	t.Chdir("../..")
	_, mutants := read()
	assert.Greater(t, len(mutants), 1000)
	there := map[string]bool{}
	for _, m := range mutants {
		there[m.String()] = true
	}
	for name, why := range explanations() {
		assert.True(t, there[name], "%s is gone: remove its line", name)
		assert.NotEmpty(t, why, name)
	}
	assert.Equal(t, strings.Count(explained, "\n")-1, len(explanations()), "a line for each, after the heading")
}
