package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The password of the back office is the text of a file, which has to have some.
func TestPasswordFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("correct horse\n"), 0o600))
	password, err := passwordIn(file)
	require.NoError(t, err)
	assert.Equal(t, "correct horse", password)
	require.NoError(t, os.WriteFile(file, []byte(" \n"), 0o600))
	require.ErrorContains(t, run(t.Context(), []string{"-password-file", file}), "the file is empty")
	require.ErrorContains(t, run(t.Context(), []string{"-password-file", file + "-none"}), "no such file")
}
