package repocheck_test

import (
	"bytes"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinks follows each link from a page to a file of the repository, and to a heading in it.
func TestLinks(t *testing.T) {
	files, pages := map[string]bool{}, []string{}
	for _, file := range inRoot(t) {
		for dir := file; dir != "."; dir = path.Dir(dir) {
			files[dir] = true
		}
		if path.Ext(file) == ".md" {
			pages = append(pages, file)
		}
	}
	link := regexp.MustCompile(`\]\(([^)\s]+)\)|(?:href|src|srcset)="([^"]+)"`)
	followed := 0
	for _, page := range pages {
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
			if assert.True(t, files[file], "%s links to %s, which is not there", page, file) && anchor != "" {
				assert.Contains(t, headings(readFile(t, file)), anchor, "%s links to %s", page, file)
			}
		}
	}
	assert.Greater(t, followed, 50)
}

// withoutCode is a page without its fenced blocks.
func withoutCode(page string) string {
	return regexp.MustCompile("(?ms)^ *```.*?^ *```$").ReplaceAllString(page, "")
}

// headings returns the anchors of a page, as the host makes them of its headings.
func headings(page string) []string {
	var anchors []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(withoutCode(page), -1) {
		anchors = append(anchors, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsNumber(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, heading[1]))
	}
	return anchors
}

// TestNoBinaries keeps out what a build leaves in a folder: only pictures are not text, and those
// are small.
func TestNoBinaries(t *testing.T) {
	const most = 300 << 10
	ignored := []string{".test", ".out", ".prof"} // by .gitignore
	for _, file := range inRoot(t) {
		if slices.Contains(ignored, path.Ext(file)) {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if path.Ext(file) != ".png" {
			assert.Negative(t, bytes.IndexByte(text, 0), "%s is no text", file)
		} else {
			assert.Less(t, len(text), most, file)
		}
	}
}
