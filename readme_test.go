package quickstream_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFirstProgramOfTheREADME is an example, which CI runs.
func TestFirstProgramOfTheREADME(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	program, err := os.ReadFile("examples/firstpayment/main.go")
	require.NoError(t, err)
	_, shown, _ := strings.Cut(string(readme), "```go\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	_, body, found := strings.Cut(string(program), "\npackage main\n")
	require.True(t, found)
	assert.Equal(t, "package main\n"+body, shown)
}
