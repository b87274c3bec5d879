package repocheck_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inRoot makes the root of the repository the working directory of a test, and
// returns the paths of all files below it. It reads every directory, so that go test
// runs the test again after any change.
func inRoot(t *testing.T) []string {
	t.Helper()
	t.Chdir(filepath.Join("..", ".."))
	var files []string
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", ".tools", ".release"}, name):
			return fs.SkipDir
		case !entry.IsDir() && name != ".git": // a file in a worktree
			files = append(files, filepath.ToSlash(path))
		}
		return nil
	}))
	require.Contains(t, files, "client.go")
	return files
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
