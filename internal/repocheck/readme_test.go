package repocheck_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFirstProgramOfTheREADME is an example, which CI runs.
func TestFirstProgramOfTheREADME(t *testing.T) {
	inRoot(t)
	_, shown, _ := strings.Cut(readFile(t, "README.md"), "```go\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	_, body, found := strings.Cut(readFile(t, "examples/firstpayment/main.go"), "\npackage main\n")
	require.True(t, found)
	assert.Equal(t, "package main\n"+body, shown)
}
