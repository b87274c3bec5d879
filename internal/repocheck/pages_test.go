package repocheck_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the directory of the repository.
const root = "../.."

// repository returns the paths of all files. It reads every directory, so that go test runs the
// test again after any change.
func repository(t *testing.T) []string {
	t.Helper()
	var files []string
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", ".tools", ".release"}, name):
			return fs.SkipDir
		case !entry.IsDir():
			files = append(files, path)
		}
		return nil
	}))
	require.Contains(t, files, "client.go")
	return files
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestLinks follows each link from a page to a file of the repository, and to a heading in it.
func TestLinks(t *testing.T) {
	files := repository(t)
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|(?:href|src|srcset)="([^"]+)"`)
	followed := 0
	for _, page := range files {
		if path.Ext(page) != ".md" {
			continue
		}
		for _, found := range link.FindAllStringSubmatch(withoutCode(readFile(t, page)), -1) {
			target, anchor, _ := strings.Cut(found[1]+found[2], "#")
			if strings.Contains(target, ":") {
				continue // of another site
			}
			file := page
			if target != "" {
				file = path.Join(path.Dir(page), target)
			}
			followed++
			there := slices.ContainsFunc(files, func(f string) bool { return f == file || strings.HasPrefix(f, file+"/") })
			if assert.True(t, there, "%s links to %s, which is not there", page, file) && anchor != "" {
				assert.Contains(t, headings(readFile(t, file)), anchor, "%s links to %s", page, file)
			}
		}
	}
	assert.NotZero(t, followed)
}

// withoutCode is a page without its fenced blocks.
func withoutCode(page string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(page, "")
}

// headings returns the anchors of a page, as the host makes them of its headings.
func headings(page string) (anchors []string) {
	dropped := regexp.MustCompile(`[^\pL\pN_ -]`)
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(withoutCode(page), -1) {
		anchors = append(anchors, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-"))
	}
	return anchors
}

// TestModulesAreUpdated: dependabot.yml names every module.
func TestModulesAreUpdated(t *testing.T) {
	updated := readFile(t, ".github/dependabot.yml")
	for _, file := range repository(t) {
		if path.Base(file) == "go.mod" {
			assert.Contains(t, updated, "- "+path.Join("/", path.Dir(file))+"\n")
		}
	}
}
